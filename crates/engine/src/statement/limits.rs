//! Checks statements against the settings that limit them.

use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::{ReadLimits, SpeedLimits};
use basalt_parser::Parsed;
use basalt_parser::ast::Statement;
use basalt_parser::lexer::Lexer;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;

use crate::settings::Settings;

/// What a query may read.
pub(crate) fn of_reading(settings: &Settings) -> ReadLimits {
    ReadLimits {
        max_rows: settings.number("max_rows_to_read"),
        max_bytes: settings.number("max_bytes_to_read"),
        breaks: settings.get("read_overflow_mode") == "break",
        max_leaf_rows: settings.number("max_rows_to_read_leaf"),
        max_leaf_bytes: settings.number("max_bytes_to_read_leaf"),
        leaf_breaks: settings.get("read_overflow_mode_leaf") == "break",
        block_rows: settings.number("max_block_size"),
    }
}

/// How fast a query has to read, if a setting says so.
pub(crate) fn of_speed(settings: &Settings) -> Option<SpeedLimits> {
    let seconds = |name| {
        let seconds = settings.get(name).parse().unwrap_or(0.0);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    };
    let limits = SpeedLimits {
        not_before: seconds("timeout_before_checking_execution_speed"),
        min_rows: settings.number("min_execution_speed"),
        min_bytes: settings.number("min_execution_speed_bytes"),
        max_estimated: seconds("max_estimated_execution_time"),
    };
    let is_set = limits.min_rows > 0 || limits.min_bytes > 0 || !limits.max_estimated.is_zero();
    is_set.then_some(limits)
}

/// Checks the length of a statement's text, without the data of an INSERT.
///
/// # Errors
/// `SYNTAX_ERROR` at the first word that ends beyond `max_query_size`.
pub(crate) fn check_length(text: &[u8], parsed: &Parsed, settings: &Settings) -> Result<()> {
    let limit = usize::try_from(settings.number("max_query_size")).unwrap_or(usize::MAX);
    let span = &parsed.span;
    if limit == 0 || span.len() <= limit {
        return Ok(());
    }
    let last = span.start + limit;
    let mut tokens = Lexer::starting_at(text, span.start);
    let beyond = tokens.find(|token| token.span.end as usize > last);
    let start = beyond.map_or(last, |token| token.span.start as usize);
    let message = format!(
        "Max query size exceeded: raise max_query_size, the query has {} bytes, allowed are {limit}",
        span.len()
    );
    Err(Error::new(ErrorCode::SYNTAX_ERROR, message).at(basalt_parser::position_of(text, start)))
}

/// Checks the size of a statement's syntax tree.
///
/// # Errors
/// `TOO_DEEP_AST`, `TOO_BIG_AST`, `TOO_DEEP_SUBQUERIES`.
pub(crate) fn check_tree(statement: &Statement, settings: &Settings) -> Result<()> {
    // By default the parser's own limits hold.
    let limit = |name| match settings.changed().contains_key(name) {
        true => usize::try_from(settings.number(name)).unwrap_or(usize::MAX),
        false => 0,
    };
    let [depth, elements, subqueries] =
        ["max_ast_depth", "max_ast_elements", "max_subquery_depth"].map(limit);
    if depth == 0 && elements == 0 && subqueries == 0 {
        return Ok(());
    }
    let statement = match statement {
        Statement::Explain(explain) => explain.statement.as_deref().unwrap_or(statement),
        _ => statement,
    };
    let tree = basalt_parser::explain_ast(statement);
    let check = |code, limit: usize, size: usize, what: &str| {
        if limit == 0 || size <= limit {
            return Ok(());
        }
        let text = format!("Raise the limit or simplify the query: {what}. Maximum: {limit}");
        Err(Error::new(code, text))
    };
    let level = |line: &str| line.len() - line.trim_start().len() + 1;
    let deepest = tree.lines().map(level).max().unwrap_or(0);
    check(ErrorCode::TOO_DEEP_AST, depth, deepest, "AST is too deep")?;
    let size = tree.lines().count();
    check(ErrorCode::TOO_BIG_AST, elements, size, "AST is too big")?;
    let mut around: Vec<usize> = Vec::new();
    let mut nested = 0;
    for line in tree.lines() {
        around.retain(|outer| *outer < level(line));
        if line.trim_start().starts_with("Subquery") {
            around.push(level(line));
            nested = nested.max(around.len());
        }
    }
    let code = ErrorCode::TOO_DEEP_SUBQUERIES;
    check(code, subqueries, nested, "Too deep subqueries")
}

/// Checks how many columns an optimized plan reads of a table.
///
/// # Errors
/// `TOO_MANY_COLUMNS`.
pub(crate) fn check_columns(plan: &LogicalPlan, limit: u64) -> Result<()> {
    let mut most = 0;
    let found = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            most = most.max(scan.projected_schema.fields().len() as u64);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found.map_err(basalt_analyzer::plan_error)?;
    if limit == 0 || most <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::TOO_MANY_COLUMNS,
        format!(
            "Raise max_columns_to_read or name fewer columns. Requested: {most}, maximum: {limit}"
        ),
    ))
}
