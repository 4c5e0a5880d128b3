//! Declares every setting: name, kind, default, description.
//!
//! Flags of the command line, `SET`, `SETTINGS`, `system.settings` and the docs come from here.

use basalt_error::{Error, ErrorCode, Result};

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number from 0 up; sizes may end in K, M, G, T or Ki, Mi, Gi, Ti.
    UInt64,
    /// As `UInt64`, but not 0.
    NonZeroUInt64,
    /// 0 or 1.
    Bool,
    /// Seconds, with a fraction.
    Seconds,
    /// A part of a whole: from 0 to less than 1.
    Ratio,
    /// One of a list of words; ClickHouse's name of the kind stands before them.
    Word(&'static str, &'static [&'static str]),
    /// Any text.
    Text,
}

impl Kind {
    /// The value in its usual form.
    ///
    /// # Errors
    /// If the text is no value of this kind.
    pub fn normalize(self, name: &str, text: &str) -> Result<String> {
        let bad = |code, what: &str| {
            Error::new(code, format!("Give setting {name} {what}, not '{text}'"))
        };
        match self {
            Self::NonZeroUInt64 => match Self::UInt64.normalize(name, text)? {
                zero if zero == "0" => Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!("Setting {name} must be greater than 0"),
                )),
                number => Ok(number),
            },
            Self::UInt64 if text == "auto" => Ok("0".to_owned()),
            Self::UInt64 if text.starts_with('-') && text[1..].parse::<u64>().is_ok() => {
                Err(bad(ErrorCode::CANNOT_CONVERT_TYPE, "a number from 0 up"))
            }
            Self::UInt64 => parse_size(text).map(|n| n.to_string()).ok_or_else(|| {
                bad(
                    ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                    "a number from 0 up",
                )
            }),
            Self::Bool => match text {
                "1" | "true" => Ok("1".to_owned()),
                "0" | "false" => Ok("0".to_owned()),
                _ if text.parse::<f64>().is_ok() => {
                    Err(bad(ErrorCode::CANNOT_CONVERT_TYPE, "0 or 1"))
                }
                _ => Err(bad(ErrorCode::CANNOT_PARSE_BOOL, "0 or 1")),
            },
            Self::Seconds => match text.parse::<f64>() {
                Ok(seconds) if seconds > MAX_SECONDS => {
                    Err(bad(ErrorCode::BAD_ARGUMENTS, "fewer seconds"))
                }
                Ok(seconds) if seconds >= 0.0 => Ok(text.to_owned()),
                _ => Err(bad(ErrorCode::CANNOT_PARSE_NUMBER, "a number of seconds")),
            },
            Self::Ratio => match text.parse::<f64>() {
                Ok(ratio) if (0.0..1.0).contains(&ratio) => Ok(text.to_owned()),
                Ok(_) => Err(bad(ErrorCode::BAD_ARGUMENTS, "a part from 0 to below 1")),
                Err(_) => Err(bad(ErrorCode::CANNOT_PARSE_NUMBER, "a number")),
            },
            Self::Word(kind, words) => match words.iter().find(|w| w.eq_ignore_ascii_case(text)) {
                Some(word) => Ok((*word).to_owned()),
                None if is_overflow_mode(kind, text) => {
                    Err(Error::not_implemented(format!("Setting {name} = '{text}'")))
                }
                None => {
                    let code = match kind.starts_with(OVERFLOW_MODE) {
                        true => ErrorCode::UNKNOWN_OVERFLOW_MODE,
                        false => ErrorCode::BAD_ARGUMENTS,
                    };
                    let what = format!("one of {}", words.join(", "));
                    Err(bad(code, &what))
                }
            },
            Self::Text => Ok(text.to_owned()),
        }
    }

    /// Name of the kind in `system.settings`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UInt64 => "UInt64",
            Self::NonZeroUInt64 => "NonZeroUInt64",
            Self::Bool => "Bool",
            Self::Seconds => "Seconds",
            Self::Ratio => "Double",
            Self::Word(kind, _) => kind,
            Self::Text => "String",
        }
    }
}

/// How the names of kinds of overflow modes begin.
const OVERFLOW_MODE: &str = "OverflowMode";

/// Whether ClickHouse's settings of that kind know the word.
fn is_overflow_mode(kind: &str, word: &str) -> bool {
    match kind {
        OVERFLOW_MODE => matches!(word, "throw" | "break"),
        "OverflowModeGroupBy" => matches!(word, "throw" | "break" | "any"),
        _ => false,
    }
}

/// Whose microseconds still fit a signed number of 64 bits.
const MAX_SECONDS: f64 = 9.2e12;

fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" | "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "T" => 1_000_000_000_000,
        "Ki" | "KiB" => 1 << 10,
        "Mi" | "MiB" => 1 << 20,
        "Gi" | "GiB" => 1 << 30,
        "Ti" | "TiB" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name, ClickHouse's where it has the setting.
    pub name: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Value where none is set.
    pub default: &'static str,
    /// What it does, in one or two sentences.
    pub description: &'static str,
}

impl Setting {
    /// Name of the kind of values in `system.settings`.
    pub fn type_name(&self) -> &'static str {
        match self.name {
            "max_threads" => "MaxThreads",
            "limit" | "offset" => "Double",
            "session_timezone" => "Timezone",
            "send_logs_level" => "LogsLevel",
            "load_balancing" => "LoadBalancing",
            _ => self.kind.name(),
        }
    }
}

const fn setting(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    description: &'static str,
) -> Setting {
    Setting {
        name,
        kind,
        default,
        description,
    }
}

use Kind::{Bool, NonZeroUInt64, Ratio, Seconds, Text, UInt64, Word};

const OVERFLOW: Kind = Word(OVERFLOW_MODE, &["throw", "break"]);
const SET_MODE: Kind = Word("SetOperationMode", &["", "ALL", "DISTINCT"]);

/// Every setting, but those of formats.
pub const SETTINGS: &[Setting] = &[
    setting(
        "max_threads",
        UInt64,
        "0",
        "Threads of a query; 0 is one for each processor.",
    ),
    setting(
        "max_block_size",
        NonZeroUInt64,
        "65409",
        "Rows of a batch between operators, at most.",
    ),
    setting(
        "max_insert_block_size",
        NonZeroUInt64,
        "1048449",
        "Rows of a batch that an INSERT forms, at most.",
    ),
    setting(
        "max_memory_usage",
        UInt64,
        "0",
        "Memory of a query in bytes; 0 is no limit.",
    ),
    setting(
        "max_execution_time",
        Seconds,
        "0",
        "Time of a query in seconds; 0 is no limit.",
    ),
    setting(
        "timeout_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_execution_time: an error, or the end of the result.",
    ),
    setting(
        "max_result_rows",
        UInt64,
        "0",
        "Rows of a result; 0 is no limit.",
    ),
    setting(
        "result_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_result_rows and max_result_bytes: an error, or the blocks so far.",
    ),
    setting(
        "max_result_bytes",
        UInt64,
        "0",
        "Bytes of a result, as they lie in memory; 0 is no limit.",
    ),
    setting(
        "max_rows_to_read",
        UInt64,
        "0",
        "Rows that numbers and the like may give to a query; 0 is no limit.",
    ),
    setting(
        "max_bytes_to_read",
        UInt64,
        "0",
        "Bytes that numbers and the like may give to a query; 0 is no limit.",
    ),
    setting(
        "read_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_rows_to_read and max_bytes_to_read: an error, or the end of the rows.",
    ),
    setting(
        "max_rows_to_group_by",
        UInt64,
        "0",
        "Groups of a GROUP BY; 0 is no limit.",
    ),
    setting(
        "group_by_overflow_mode",
        Word("OverflowModeGroupBy", &["throw"]),
        "throw",
        "What happens at max_rows_to_group_by: an error.",
    ),
    setting(
        "max_rows_in_distinct",
        UInt64,
        "0",
        "Rows that DISTINCT leaves; 0 is no limit.",
    ),
    setting(
        "distinct_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_rows_in_distinct: an error, or the end of the rows.",
    ),
    setting(
        "max_rows_to_sort",
        UInt64,
        "0",
        "Rows of an ORDER BY without LIMIT; 0 is no limit.",
    ),
    setting(
        "sort_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_rows_to_sort: an error, or the end of the rows.",
    ),
    setting(
        "max_rows_in_join",
        UInt64,
        "0",
        "Rows of the right side of a JOIN; 0 is no limit.",
    ),
    setting(
        "join_overflow_mode",
        OVERFLOW,
        "throw",
        "What happens at max_rows_in_join: an error, or the end of the rows.",
    ),
    setting(
        "max_rows_in_set",
        UInt64,
        "0",
        "Different values of the set of IN; 0 is no limit.",
    ),
    setting(
        "set_overflow_mode",
        Word(OVERFLOW_MODE, &["throw"]),
        "throw",
        "What happens at max_rows_in_set: an error.",
    ),
    setting(
        "max_columns_to_read",
        UInt64,
        "0",
        "Columns that a query may read of one table; 0 is no limit.",
    ),
    setting(
        "max_ast_depth",
        UInt64,
        "1000",
        "Depth of a statement's syntax tree; beyond 1000 it is the parser's that counts.",
    ),
    setting(
        "max_ast_elements",
        UInt64,
        "50000",
        "Nodes of a statement's syntax tree, as EXPLAIN AST shows them; counted where it is set.",
    ),
    setting(
        "max_subquery_depth",
        UInt64,
        "100",
        "Depth of subqueries; counted where it is set.",
    ),
    setting(
        "max_query_size",
        UInt64,
        "262144",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "readonly",
        UInt64,
        "0",
        "1 allows only queries that change nothing, 2 also settings.",
    ),
    setting(
        "limit",
        UInt64,
        "0",
        "Rows of any result, in addition to the query's LIMIT; 0 is no limit.",
    ),
    setting("offset", UInt64, "0", "Rows of any result to skip."),
    setting(
        "engine_file_truncate_on_insert",
        Bool,
        "0",
        "INSERT INTO FUNCTION file replaces what the file holds; else rows are appended to it.",
    ),
    setting(
        "extremes",
        Bool,
        "0",
        "Write the least and the greatest value of each column below the result.",
    ),
    setting(
        "join_use_nulls",
        Bool,
        "0",
        "Outer joins fill with NULL instead of the type's default.",
    ),
    setting(
        "enable_unaligned_array_join",
        Bool,
        "0",
        "ARRAY JOIN fills shorter arrays with the type's default instead of being an error.",
    ),
    setting(
        "group_by_use_nulls",
        Bool,
        "0",
        "ROLLUP, CUBE and GROUPING SETS fill keys with NULL instead of the type's default.",
    ),
    setting(
        "aggregate_functions_null_for_empty",
        Bool,
        "0",
        "Aggregate functions over no rows give NULL.",
    ),
    setting(
        "cast_keep_nullable",
        Bool,
        "0",
        "CAST of a Nullable gives a Nullable.",
    ),
    setting(
        "data_type_default_nullable",
        Bool,
        "0",
        "Columns of CREATE TABLE are Nullable unless they say NOT NULL.",
    ),
    setting(
        "enable_positional_arguments",
        Bool,
        "1",
        "Integers in GROUP BY, ORDER BY and LIMIT BY are positions of the select list.",
    ),
    setting(
        "prefer_column_name_to_alias",
        Bool,
        "0",
        "A name means the column rather than the alias.",
    ),
    setting(
        "totals_mode",
        Word(
            "TotalsMode",
            &[
                "before_having",
                "after_having_exclusive",
                "after_having_inclusive",
                "after_having_auto",
            ],
        ),
        "after_having_exclusive",
        "Whether WITH TOTALS counts the rows of groups that HAVING leaves out.",
    ),
    setting("transform_null_in", Bool, "0", "NULL IN (NULL) is true."),
    setting(
        "describe_compact_output",
        Bool,
        "0",
        "DESCRIBE gives only names and types.",
    ),
    setting(
        "use_legacy_to_time",
        Bool,
        "1",
        "toTime gives a DateTime on a fixed date; Basalt has no type Time.",
    ),
    setting(
        "union_default_mode",
        SET_MODE,
        "",
        "What UNION alone means.",
    ),
    setting(
        "except_default_mode",
        SET_MODE,
        "ALL",
        "What EXCEPT alone means.",
    ),
    setting(
        "intersect_default_mode",
        SET_MODE,
        "ALL",
        "What INTERSECT alone means.",
    ),
    setting(
        "count_distinct_implementation",
        Word(
            "String",
            &[
                "uniqExact",
                "uniq",
                "uniqCombined",
                "uniqCombined64",
                "uniqHLL12",
            ],
        ),
        "uniqExact",
        "The function that count(DISTINCT x) stands for.",
    ),
    setting(
        "session_timezone",
        Text,
        "",
        "Time zone of types that name none; empty is UTC.",
    ),
    setting(
        "enable_extended_results_for_datetime_functions",
        Bool,
        "0",
        "Functions of dates return the types with the wide range.",
    ),
    setting(
        "short_circuit_function_evaluation",
        Word(
            "ShortCircuitFunctionEvaluation",
            &["enable", "force_enable", "disable"],
        ),
        "enable",
        "Branches that are not taken are not evaluated; Basalt always does so.",
    ),
    setting(
        "function_sleep_max_microseconds_per_block",
        UInt64,
        "3000000",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "optimize_group_by_function_keys",
        Bool,
        "1",
        "GROUP BY computes keys that are functions of other keys after the grouping.",
    ),
    setting(
        "optimize_injective_functions_in_group_by",
        Bool,
        "1",
        "GROUP BY takes x for f(x) where f gives different values for different ones.",
    ),
    setting(
        "group_by_strategy",
        Word(
            "Enum",
            &[
                "auto",
                "dense",
                "trivial",
                "trivial_parallel",
                "two_level",
                "splitting",
                "splitting_fast_range",
                "local_shared",
                "local_splitting_queues",
                "local_buffered_shared",
                "datafusion",
            ],
        ),
        "auto",
        "How threads share the work of GROUP BY; auto decides while it runs. datafusion is the operator of that library.",
    ),
    setting(
        "group_by_thresholds",
        Word("Enum", &["usual", "tiny"]),
        "usual",
        "When GROUP BY changes its way of working: where it pays, or after a handful of rows, for tests.",
    ),
    setting(
        "group_by_hash",
        Word("Enum", &["fold", "zero"]),
        "fold",
        "The hash of keys in GROUP BY; zero is the same for all of them, for tests.",
    ),
    setting(
        "sort_strategy",
        Word(
            "Enum",
            &[
                "auto",
                "top",
                "counting",
                "radix",
                "comparison",
                "datafusion",
            ],
        ),
        "auto",
        "How ORDER BY puts rows in order: auto decides by the rows, counting counts keys of few bits, radix counts digits, comparison compares packed keys. top keeps the best rows only wherever there is a limit. datafusion is the operator of that library.",
    ),
    setting(
        "simd_level",
        Word("Enum", &["auto", "scalar", "sse42", "avx2", "avx512"]),
        "auto",
        "The widest instructions that loops may use, as far as the processor has them; for the whole process until its next query.",
    ),
    setting(
        "optimizer",
        Bool,
        "1",
        "Rewrite plans before they run; off only for tests.",
    ),
    setting(
        "send_logs_level",
        Text,
        "fatal",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "log_queries",
        Bool,
        "1",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "use_uncompressed_cache",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "load_balancing",
        Text,
        "random",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "log_comment",
        Text,
        "",
        "A remark about the query, for its log.",
    ),
    setting(
        "max_compress_block_size",
        UInt64,
        "1048576",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "allow_experimental_analyzer",
        Bool,
        "1",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "enable_analyzer",
        Bool,
        "1",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "allow_suspicious_low_cardinality_types",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "function_range_max_elements_in_block",
        UInt64,
        "500000000",
        "Function range makes at most so many numbers for the rows of a block.",
    ),
    setting(
        "allow_suspicious_types_in_group_by",
        Bool,
        "0",
        "Lets Variants be keys of GROUP BY and PARTITION BY.",
    ),
    setting(
        "allow_suspicious_types_in_order_by",
        Bool,
        "0",
        "Lets Variants be keys of ORDER BY.",
    ),
    setting(
        "allow_suspicious_variant_types",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "allow_experimental_variant_type",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "compile_expressions",
        Bool,
        "1",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "compile_aggregate_expressions",
        Bool,
        "1",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "min_count_to_compile_expression",
        UInt64,
        "3",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "max_bytes_before_external_group_by",
        UInt64,
        "0",
        "Memory of a GROUP BY in bytes from which on its groups go to temporary files; 0 leaves it to max_bytes_ratio_before_external_group_by.",
    ),
    setting(
        "max_bytes_ratio_before_external_group_by",
        Ratio,
        "0.5",
        "The part of max_memory_usage from which on the groups of a GROUP BY go to temporary files; 0 is never.",
    ),
    setting(
        "max_bytes_before_external_sort",
        UInt64,
        "0",
        "Memory of an ORDER BY in bytes from which on its rows go to temporary files; 0 leaves it to max_bytes_ratio_before_external_sort.",
    ),
    setting(
        "max_bytes_ratio_before_external_sort",
        Ratio,
        "0.5",
        "The part of max_memory_usage from which on the rows of an ORDER BY go to temporary files; 0 is never.",
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
    setting(
        "allow_deprecated_error_prone_window_functions",
        Bool,
        "0",
        "Allows functions whose results depend on how rows are cut into blocks: neighbor and the like.",
    ),
    setting(
        "send_progress_in_http_headers",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "wait_end_of_query",
        Bool,
        "0",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "connect_timeout",
        Seconds,
        "10",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "receive_timeout",
        Seconds,
        "300",
        "Accepted for clients that set it; has no effect.",
    ),
    setting(
        "send_timeout",
        Seconds,
        "300",
        "Accepted for clients that set it; has no effect.",
    ),
];

/// The setting of that name.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.name == name)
}
