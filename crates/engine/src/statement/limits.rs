//! What settings let a statement do: its length and tree, its time, memory and rows.

use std::collections::HashSet;
use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::{QueryControl, ReadLimits, SpeedLimits};
use basalt_parser::Parsed;
use basalt_parser::ast::Statement;
use basalt_parser::lexer::Lexer;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::settings::Settings;

/// What ends a query: its time, what it reads, how fast, its memory.
pub(crate) fn control(settings: &Settings) -> QueryControl {
    let deadline = settings.seconds("max_execution_time");
    QueryControl::new(Some(deadline).filter(|d| !d.is_zero()))
        .breaking_at_deadline(settings.get("timeout_overflow_mode") == "break")
        .with_read_limits(of_reading(settings))
        .with_speed_limits(of_speed(settings))
        .with_memory_limit(settings.number("max_memory_usage"))
}

fn of_reading(settings: &Settings) -> ReadLimits {
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

/// How fast a query has to read and may, if a setting says so.
fn of_speed(settings: &Settings) -> Option<SpeedLimits> {
    let seconds = |name| {
        let seconds = settings.get(name).parse().unwrap_or(0.0);
        Duration::try_from_secs_f64(seconds).unwrap_or_default()
    };
    let limits = SpeedLimits {
        not_before: seconds("timeout_before_checking_execution_speed"),
        min_rows: settings.number("min_execution_speed"),
        min_bytes: settings.number("min_execution_speed_bytes"),
        max_rows: settings.number("max_execution_speed"),
        max_bytes: settings.number("max_execution_speed_bytes"),
        max_estimated: seconds("max_estimated_execution_time"),
    };
    let speeds = [
        limits.min_rows,
        limits.min_bytes,
        limits.max_rows,
        limits.max_bytes,
    ];
    let is_set = speeds.iter().any(|speed| *speed > 0) || !limits.max_estimated.is_zero();
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

/// Checks the depth of a statement's text and the size of its syntax tree.
///
/// # Errors
/// `TOO_DEEP_RECURSION`, `TOO_DEEP_AST`, `TOO_BIG_AST`, `TOO_DEEP_SUBQUERIES`.
pub(crate) fn check_tree(parsed: &Parsed, settings: &Settings) -> Result<()> {
    // By default the parser's own limits hold.
    let limit = |name| match settings.changed().contains_key(name) {
        true => usize::try_from(settings.number(name)).unwrap_or(usize::MAX),
        false => 0,
    };
    let [depth, elements, subqueries] =
        ["max_ast_depth", "max_ast_elements", "max_subquery_depth"].map(limit);
    let of_text = limit("max_parser_depth");
    if of_text > 0 && parsed.depth as usize > of_text {
        let text = format!(
            "Raise max_parser_depth or simplify the query. Maximum parse depth ({of_text}) exceeded"
        );
        return Err(Error::new(ErrorCode::TOO_DEEP_RECURSION, text));
    }
    if depth == 0 && elements == 0 && subqueries == 0 {
        return Ok(());
    }
    let statement = match &parsed.statement {
        Statement::Explain(explain) => explain.statement.as_deref().unwrap_or(&parsed.statement),
        statement => statement,
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

/// How many columns a plan may use; 0 is no limit.
#[derive(Clone)]
pub(crate) struct PlanLimits {
    to_read: u64,
    temporary: u64,
    temporary_non_const: u64,
}

pub(crate) fn of_plans(settings: &Settings) -> PlanLimits {
    PlanLimits {
        to_read: settings.number("max_columns_to_read"),
        temporary: settings.number("max_temporary_columns"),
        temporary_non_const: settings.number("max_temporary_non_const_columns"),
    }
}

/// Checks how many columns an optimized plan reads of a table, and computes in one step.
///
/// # Errors
/// `TOO_MANY_COLUMNS`, `TOO_MANY_TEMPORARY_COLUMNS`, `TOO_MANY_TEMPORARY_NON_CONST_COLUMNS`.
pub(crate) fn check_plan(plan: &LogicalPlan, limits: &PlanLimits) -> Result<()> {
    let counts_expressions = limits.temporary > 0 || limits.temporary_non_const > 0;
    let (mut read, mut all, mut varying) = (0, 0, 0);
    let found = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            read = read.max(scan.projected_schema.fields().len() as u64);
        }
        if counts_expressions {
            let (constants, others) = expressions(node)?;
            all = all.max(constants + others);
            varying = varying.max(others);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found.map_err(basalt_analyzer::plan_error)?;
    let check = |code, name: &str, limit: u64, found: u64| match limit == 0 || found <= limit {
        true => Ok(()),
        false => Err(Error::new(
            code,
            format!("Raise {name} or name fewer columns. Requested: {found}, maximum: {limit}"),
        )),
    };
    let code = ErrorCode::TOO_MANY_COLUMNS;
    check(code, "max_columns_to_read", limits.to_read, read)?;
    let code = ErrorCode::TOO_MANY_TEMPORARY_COLUMNS;
    check(code, "max_temporary_columns", limits.temporary, all)?;
    let code = ErrorCode::TOO_MANY_TEMPORARY_NON_CONST_COLUMNS;
    let name = "max_temporary_non_const_columns";
    check(code, name, limits.temporary_non_const, varying)
}

/// How many different constants and other expressions a step of a plan has.
fn expressions(node: &LogicalPlan) -> datafusion::error::Result<(u64, u64)> {
    let (mut constants, mut others) = (HashSet::new(), HashSet::new());
    node.apply_expressions(|expr| {
        expr.apply(|part| {
            let list = match part {
                Expr::Literal(..) => &mut constants,
                _ => &mut others,
            };
            list.insert(part.to_string());
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok((constants.len() as u64, others.len() as u64))
}
