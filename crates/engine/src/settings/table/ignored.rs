//! Declares the settings of ClickHouse that clients set and Basalt has no use for.

use super::{Setting, setting};
use crate::settings::kind::Kind::{self, Bool, Seconds, Text, UInt64};

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
    ignored("send_logs_level", Text, "fatal"),
    ignored("use_cache_for_count_from_files", Bool, "1"),
    ignored("log_queries", Bool, "1"),
    ignored("use_uncompressed_cache", Bool, "0"),
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
];
