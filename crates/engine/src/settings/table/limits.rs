//! Declares what a query may use, and what happens where it uses more.

use super::{Setting, setting};
use crate::settings::kind::Kind::{self, Ratio, Seconds, UInt64, Word};
use crate::settings::kind::OVERFLOW_MODE;

const OVERFLOW: Kind = Word(OVERFLOW_MODE, &["throw", "break"]);

pub(super) const SETTINGS: &[Setting] = &[
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
        "max_rows_to_read_leaf",
        UInt64,
        "0",
        "As max_rows_to_read, on the server that has the rows, which is always this one; beyond it is an error. 0 is no limit.",
    ),
    setting(
        "max_bytes_to_read_leaf",
        UInt64,
        "0",
        "As max_bytes_to_read, on the server that has the rows, which is always this one; beyond it is an error. 0 is no limit.",
    ),
    setting(
        "max_rows_to_transfer",
        UInt64,
        "0",
        "Rows that a query sends to other servers, which is none.",
    ),
    setting(
        "max_bytes_to_transfer",
        UInt64,
        "0",
        "Bytes that a query sends to other servers, which is none.",
    ),
    setting(
        "max_query_size",
        UInt64,
        "262144",
        "Bytes of a statement, without the data of an INSERT; 0 is no limit.",
    ),
    setting(
        "max_rows_to_group_by",
        UInt64,
        "0",
        "Groups of a GROUP BY; 0 is no limit.",
    ),
    setting(
        "group_by_overflow_mode",
        Word("OverflowModeGroupBy", &["throw", "break", "any"]),
        "throw",
        "What happens at max_rows_to_group_by: an error, the end of the rows, or the end of rows with other keys.",
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
        "Rows that an ORDER BY keeps; those beyond a LIMIT it does not. 0 is no limit.",
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
        OVERFLOW,
        "throw",
        "What happens at max_rows_in_set: an error, or the end of the rows; constants are always taken.",
    ),
    setting(
        "max_columns_to_read",
        UInt64,
        "0",
        "Columns that a query may read of one table; 0 is no limit.",
    ),
    setting(
        "max_temporary_columns",
        UInt64,
        "0",
        "Different expressions, constants too, of one step of a query; 0 is no limit.",
    ),
    setting(
        "max_temporary_non_const_columns",
        UInt64,
        "0",
        "Different expressions of one step of a query; 0 is no limit.",
    ),
    setting(
        "max_parser_depth",
        UInt64,
        "1000",
        "Depth of a statement's text; checked where it is set, the stack allows no more than 1000.",
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
        "max_expanded_ast_elements",
        UInt64,
        "500000",
        "Expressions of a query after aliases are put in; 0 is no limit.",
    ),
    setting(
        "max_subquery_depth",
        UInt64,
        "100",
        "Depth of subqueries; counted where it is set.",
    ),
    setting(
        "max_recursive_cte_evaluation_depth",
        UInt64,
        "1000",
        "Rounds of a WITH RECURSIVE.",
    ),
    setting(
        "readonly",
        UInt64,
        "0",
        "1 allows only queries that change nothing, 2 also settings.",
    ),
    setting(
        "function_range_max_elements_in_block",
        UInt64,
        "500000000",
        "Function range makes at most so many numbers for the rows of a block.",
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
];
