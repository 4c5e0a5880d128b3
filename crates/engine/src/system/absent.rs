//! Gives the tables of `system` about things that Basalt does not have: they are empty.
//!
//! Clients ask for merges, clusters or dictionaries when they connect; no rows is the true answer.

use basalt_analyzer::TableEntry;
use basalt_error::Result;

use super::rows::Rows;

/// Names and structures, as in ClickHouse for what clients ask for.
pub(super) const TABLES: &[(&str, &str)] = &[
    (
        "clusters",
        "cluster String, shard_num UInt32, shard_name String, shard_weight UInt32, \
         internal_replication UInt8, replica_num UInt32, host_name String, host_address String, \
         port UInt16, is_local UInt8, user String, default_database String, errors_count UInt32, \
         slowdowns_count UInt32, estimated_recovery_time UInt32, database_shard_name String, \
         database_replica_name String, is_active Nullable(UInt8)",
    ),
    (
        "constraints",
        "database String, table String, name String, type Enum8('CHECK' = 0, 'ASSUME' = 1), \
         expression String",
    ),
    (
        "current_roles",
        "role_name String, with_admin_option UInt8, is_default UInt8",
    ),
    (
        "dictionaries",
        "database String, name String, uuid UUID, status Enum8('NOT_LOADED' = 0, 'LOADED' = 1, \
         'FAILED' = 2, 'LOADING' = 3, 'FAILED_AND_RELOADING' = 4, 'LOADED_AND_RELOADING' = 5, \
         'NOT_EXIST' = 6), origin String, type String, `key.names` Array(String), \
         `key.types` Array(String), `attribute.names` Array(String), \
         `attribute.types` Array(String), bytes_allocated UInt64, query_count UInt64, \
         hit_rate Float64, found_rate Float64, element_count UInt64, load_factor Float64, \
         source String, lifetime_min UInt64, lifetime_max UInt64, loading_start_time DateTime, \
         last_successful_update_time DateTime, loading_duration Float32, last_exception String, \
         comment String",
    ),
    (
        "enabled_roles",
        "role_name String, with_admin_option UInt8, is_current UInt8, is_default UInt8",
    ),
    ("macros", "macro String, substitution String"),
    (
        "merge_tree_settings",
        "name String, value String, default String, changed UInt8, description String, \
         min Nullable(String), max Nullable(String), readonly UInt8, type String, \
         is_obsolete UInt8",
    ),
    (
        "projections",
        "database String, table String, name String, type Enum8('Normal' = 0, 'Aggregate' = 1), \
         sorting_key Array(String), query String",
    ),
    (
        "replicas",
        "database String, table String, engine String, is_leader UInt8, can_become_leader UInt8, \
         is_readonly UInt8, is_session_expired UInt8, future_parts UInt32, \
         parts_to_check UInt32, zookeeper_name String, zookeeper_path String, \
         replica_name String, replica_path String, columns_version Int32, queue_size UInt32, \
         inserts_in_queue UInt32, merges_in_queue UInt32, part_mutations_in_queue UInt32, \
         absolute_delay UInt64, total_replicas UInt32, active_replicas UInt32",
    ),
    ("roles", "name String, id UUID, storage String"),
    (
        "storage_policies",
        "policy_name String, volume_name String, volume_priority UInt64, disks Array(String), \
         volume_type Enum8('JBOD' = 0, 'SINGLE_DISK' = 1, 'UNKNOWN' = 2), \
         max_data_part_size UInt64, move_factor Float32, prefer_not_to_merge UInt8",
    ),
    ("warnings", "message String"),
];

/// The empty table of that structure.
pub(super) fn table(structure: &str) -> Result<TableEntry> {
    Rows::default().filled(structure)?.table()
}
