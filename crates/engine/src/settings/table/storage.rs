//! Declares how tables are made, filled, read and altered.

use super::{Setting, setting};
use crate::settings::kind::Kind::{Bool, NonZeroUInt64, Seconds, UInt64};

pub(super) const SETTINGS: &[Setting] = &[
    setting(
        "use_uncompressed_cache",
        Bool,
        "1",
        "Decoded blocks of tables on disk are kept in memory for later queries.",
    ),
    setting(
        "uncompressed_cache_size",
        UInt64,
        "8589934592",
        "Bytes of decoded blocks that are kept for the queries of all sessions, set by SET or on the command line, and never more than an eighth of the machine's memory.",
    ),
    setting(
        "max_insert_block_size",
        NonZeroUInt64,
        "1048449",
        "Rows of a batch that an INSERT forms, at most.",
    ),
    setting(
        "max_partitions_per_insert_block",
        UInt64,
        "100",
        "Partitions that an INSERT may make parts of; 0 is no limit.",
    ),
    setting(
        "async_insert",
        Bool,
        "1",
        "INSERTs with few rows in them that come at the same time are written together.",
    ),
    setting(
        "wait_for_async_insert",
        Bool,
        "1",
        "Such an INSERT waits until its rows are written; else it ends before, and nobody hears of its errors.",
    ),
    setting(
        "wait_for_async_insert_timeout",
        Seconds,
        "120",
        "Seconds after which an INSERT that waits ends with an error, though its rows may be written later.",
    ),
    setting(
        "async_insert_max_data_size",
        UInt64,
        "10485760",
        "Bytes of rows in memory from which on an INSERT is written by itself, and those that wait wait no longer.",
    ),
    setting(
        "async_insert_busy_timeout_max_ms",
        UInt64,
        "200",
        "Milliseconds that rows wait for others at most.",
    ),
    setting(
        "async_insert_busy_timeout_ms",
        UInt64,
        "200",
        "Another name of async_insert_busy_timeout_max_ms.",
    ),
    setting(
        "async_insert_use_adaptive_busy_timeout",
        Bool,
        "1",
        "Rows wait only while several INSERTs come at a time, and no longer than these would take one by one; else always the longest time.",
    ),
    setting(
        "engine_file_truncate_on_insert",
        Bool,
        "0",
        "INSERT INTO FUNCTION file replaces what the file holds; else rows are appended to it.",
    ),
    setting(
        "data_type_default_nullable",
        Bool,
        "0",
        "Columns of CREATE TABLE are Nullable unless they say NOT NULL.",
    ),
    setting(
        "final",
        Bool,
        "0",
        "Tables that combine rows of the same key are read as with FINAL.",
    ),
    setting(
        "check_query_single_value_result",
        Bool,
        "0",
        "CHECK TABLE gives 1 or 0 instead of a row for each part.",
    ),
    setting(
        "allow_drop_detached",
        Bool,
        "0",
        "Accepted for clients that set it: DROP DETACHED needs no permission.",
    ),
    setting(
        "mutations_sync",
        UInt64,
        "0",
        "Accepted for clients that set it: ALTER TABLE always waits until rows are changed.",
    ),
    setting(
        "insert_null_as_default",
        Bool,
        "1",
        "INSERT … SELECT of NULL into a column that holds none gives its default.",
    ),
];
