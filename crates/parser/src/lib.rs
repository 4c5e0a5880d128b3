//! Reads and writes ClickHouse's SQL: lexer, syntax tree, parser and formatter.
//!
//! Knows no tables, types or functions: only their spelling.
//!
//! | module | owns |
//! |---|---|
//! | [`ast`] | the syntax tree |
//! | [`lexer`] | tokens with spans, also for highlighting |
//! | [`keywords`] | the list of keywords, also for completion |
//! | `parser` | recursive descent: tokens to tree |
//! | [`script`] | [`parse_statement`], [`parse_statements`] and the other entry points |
//! | `format` | tree to text: [`format_statement`], [`format_one_line`] |
//! | `column_name` | [`column_name`]: the name of a result's column |
//! | `explain` | [`explain_ast`], [`explained_tree`]: the tree as EXPLAIN AST prints it |

#![forbid(unsafe_code)]

pub mod ast;
mod column_name;
mod explain;
mod format;
pub mod keywords;
pub mod lexer;
mod parser;
pub mod script;

pub use column_name::{column_name, column_names, literal_name};
pub use explain::{explain_ast, explained_tree};
pub use format::{format_data_type, format_expr, format_one_line, format_statement};
pub use parser::{max_depth, use_stack};
pub use script::{
    Parsed, Statements, is_incomplete, parse_data_type, parse_expr, parse_statement,
    parse_statements, parse_structure, position_behind, position_of,
};
