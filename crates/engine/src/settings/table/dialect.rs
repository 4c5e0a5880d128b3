//! Declares what queries mean: names, NULLs, types, functions, results.

use super::{Setting, setting};
use crate::settings::kind::Kind::{self, Bool, Text, UInt64, Word};

const SET_MODE: Kind = Word("SetOperationMode", &["", "ALL", "DISTINCT"]);

pub(super) const SETTINGS: &[Setting] = &[
    setting(
        "limit",
        UInt64,
        "0",
        "Rows of any result, in addition to the query's LIMIT; 0 is no limit.",
    ),
    setting("offset", UInt64, "0", "Rows of any result to skip."),
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
        "joined_subquery_requires_alias",
        Bool,
        "1",
        "Subqueries and table functions that are joined need an alias.",
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
        "decimal_check_overflow",
        Bool,
        "1",
        "Arithmetic of decimals that overflows is an error; else it wraps.",
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
        "allow_deprecated_error_prone_window_functions",
        Bool,
        "0",
        "Allows functions whose results depend on how rows are cut into blocks: neighbor and the like.",
    ),
    setting(
        "log_comment",
        Text,
        "",
        "A remark about the query, for its log.",
    ),
    setting(
        "asterisk_include_materialized_columns",
        Bool,
        "0",
        "Whether * shows MATERIALIZED columns.",
    ),
    setting(
        "asterisk_include_alias_columns",
        Bool,
        "0",
        "Whether * shows ALIAS columns.",
    ),
    setting(
        "enable_unaligned_array_join",
        Bool,
        "0",
        "ARRAY JOIN fills shorter arrays with the type's default instead of being an error.",
    ),
];
