//! Declares the settings of ClickHouse that clients set and Basalt has no use for.

use super::limits::OVERFLOW;
use super::{Setting, setting};
use crate::settings::kind::Kind::{self, Bool, NonZeroUInt64, Seconds, Text, UInt64};

const fn ignored(name: &'static str, kind: Kind, default: &'static str) -> Setting {
    setting(
        name,
        kind,
        default,
        "Accepted for clients that set it; has no effect.",
    )
}

pub(super) const SETTINGS: &[Setting] = &[
    ignored(
        "function_sleep_max_microseconds_per_block",
        UInt64,
        "3000000",
    ),
    ignored("async_insert_deduplicate", Bool, "0"),
    ignored("async_insert_max_query_number", UInt64, "450"),
    ignored("async_insert_poll_timeout_ms", UInt64, "10"),
    ignored("async_insert_busy_timeout_min_ms", UInt64, "50"),
    ignored("async_insert_busy_timeout_increase_rate", Text, "0.2"),
    ignored("async_insert_busy_timeout_decrease_rate", Text, "0.2"),
    ignored("async_insert_threads", UInt64, "16"),
    ignored("send_logs_level", Text, "fatal"),
    ignored("use_cache_for_count_from_files", Bool, "1"),
    ignored("log_queries", Bool, "1"),
    ignored("load_balancing", Text, "random"),
    ignored("max_compress_block_size", UInt64, "1048576"),
    ignored("allow_experimental_analyzer", Bool, "1"),
    ignored("enable_analyzer", Bool, "1"),
    ignored("allow_suspicious_low_cardinality_types", Bool, "0"),
    ignored("allow_suspicious_variant_types", Bool, "0"),
    ignored("allow_experimental_variant_type", Bool, "0"),
    ignored("compile_expressions", Bool, "1"),
    ignored("min_count_to_compile_expression", UInt64, "3"),
    ignored("send_progress_in_http_headers", Bool, "0"),
    ignored("wait_end_of_query", Bool, "0"),
    ignored("connect_timeout", Seconds, "10"),
    ignored("receive_timeout", Seconds, "300"),
    ignored("send_timeout", Seconds, "300"),
    ignored("max_execution_time_leaf", Seconds, "0"),
    ignored("timeout_overflow_mode_leaf", OVERFLOW, "throw"),
    ignored("max_pipeline_depth", UInt64, "0"),
    ignored("max_analyze_depth", UInt64, "5000"),
    ignored("max_sessions_for_user", UInt64, "0"),
    ignored("max_memory_usage_for_user", UInt64, "0"),
    ignored("max_concurrent_queries_for_user", UInt64, "0"),
    ignored("max_concurrent_queries_for_all_users", UInt64, "0"),
    ignored("max_network_bandwidth", UInt64, "0"),
    ignored("max_network_bytes", UInt64, "0"),
    ignored("max_untracked_memory", UInt64, "4194304"),
    ignored("group_by_two_level_threshold", UInt64, "100000"),
    ignored("group_by_two_level_threshold_bytes", UInt64, "50000000"),
    ignored("optimize_aggregation_in_order", Bool, "0"),
    ignored("max_bytes_before_remerge_sort", UInt64, "1000000000"),
    ignored("max_bytes_before_external_join", UInt64, "0"),
    ignored("max_bytes_before_external_distinct", UInt64, "0"),
    ignored("max_joined_block_size_rows", UInt64, "65409"),
    ignored("max_joined_block_size_bytes", UInt64, "4194304"),
    ignored("min_insert_block_size_rows", UInt64, "1048449"),
    ignored("min_insert_block_size_bytes", UInt64, "268402944"),
    ignored("preferred_block_size_bytes", UInt64, "1000000"),
    ignored("max_read_buffer_size", NonZeroUInt64, "1048576"),
    ignored("max_table_size_to_drop", UInt64, "50000000000"),
    ignored("max_partition_size_to_drop", UInt64, "50000000000"),
];
