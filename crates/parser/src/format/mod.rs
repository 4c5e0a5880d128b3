//! Writes syntax trees as text, in ClickHouse's layout.
//!
//! | module | owns |
//! |---|---|
//! | [`writer`] | line breaks and indentation, or none of them |
//! | [`text`] | quoting of names and strings, numbers |
//! | [`expr`], [`operator`], [`matcher`], [`data_type`] | expressions and types |
//! | [`query`], [`from`] | SELECT |
//! | [`statement`], [`create`], [`alter`], [`insert`] | statements |
//!
//! Invariant: what is written parses to an equal tree.

mod alter;
mod create;
mod data_type;
mod expr;
mod from;
mod insert;
mod matcher;
mod operator;
mod query;
mod statement;
mod text;
mod writer;

use crate::ast::{DataType, Expr, OrderItem, Setting, Statement};
use writer::Writer;

pub(crate) use text::{backticked, float, identifier, quoted, shortest};

/// A statement over several lines, as ClickHouse's `formatQuery` lays it out.
pub fn format_statement(statement: &Statement) -> String {
    statement_text(Writer::multi_line, statement)
}

/// A statement on one line, as ClickHouse's `formatQuerySingleLine` writes it.
pub fn format_one_line(statement: &Statement) -> String {
    statement_text(Writer::one_line, statement)
}

fn statement_text(make: fn() -> Writer, statement: &Statement) -> String {
    let reads_back =
        |text: &str| crate::parse_statement(text).is_ok_and(|p| p.statement == *statement);
    Writer::written(make, |w| w.statement(statement), reads_back)
}

/// An expression on one line.
pub fn format_expr(expr: &Expr) -> String {
    let reads_back = |text: &str| crate::parse_expr(text).is_ok_and(|e| e == *expr);
    Writer::written(Writer::one_line, |w| w.expr(expr), reads_back)
}

/// A type in its canonical form: `Array(Decimal(10, 2))`.
pub fn format_data_type(data_type: &DataType) -> String {
    let mut w = Writer::one_line();
    w.data_type(data_type);
    w.finish()
}

/// `name = value, …` on one line.
pub(crate) fn settings_text(settings: &[Setting]) -> String {
    let mut w = Writer::one_line();
    w.settings(settings);
    w.finish()
}

/// The value of a setting on one line.
pub(crate) fn setting_text(value: &Expr) -> String {
    let mut w = Writer::one_line();
    w.setting_value(value);
    w.finish()
}

/// What stands behind an expression of ORDER BY.
pub(crate) fn format_order_suffix(item: &OrderItem) -> String {
    let mut w = Writer::one_line();
    w.order_suffix(item);
    w.finish()
}
