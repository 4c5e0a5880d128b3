//! Runs EXPLAIN: the stages that a query passes through, as text.
//!
//! | module | owns |
//! |---|---|
//! | [`plan_json`] | the document of EXPLAIN PLAN json = 1 |
//! | [`syntax`] | the form of a statement that EXPLAIN SYNTAX prints |

mod plan_json;
mod syntax;

use std::any::Any;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_analyzer::{Analyzer, TableEntry};
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::scan::{MergeTreeTable, SourceTable};
use basalt_parser::ast::{Explain, ExplainKind, ExprKind, Literal, Setting, Span, Statement};
use basalt_types::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::displayable;

use super::result::{strings, write_rows};
use super::{analyze, query};
use crate::environment::QueryEnvironment;
use crate::session::{Io, RunningQuery, Session, Summary};
use crate::system::rows::Rows;

/// `EXPLAIN AST | SYNTAX | PLAN | PIPELINE | ANALYZE statement`.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    io: Io<'_>,
) -> Result<Summary> {
    check_settings(explain).map_err(|(e, span)| query.placed(e, span))?;
    match (explain.kind, explain.statement.as_deref()) {
        (ExplainKind::Estimate, Some(statement)) => {
            estimate(session, query, explain, statement, io)
        }
        (ExplainKind::Analyze, Some(statement)) => {
            let lines = analyze::lines(session, query, explain, statement)?;
            write(session, query, explain, lines, io)
        }
        _ => {
            let environment = session.environment(query);
            let lines = lines(&environment, &query.analyzer(&environment), explain)?;
            write(session, query, explain, lines, io)
        }
    }
}

/// The rows of `(EXPLAIN … SELECT …)` in FROM.
///
/// # Errors
/// What is wrong with the query, `NOT_IMPLEMENTED` for kinds that only stand alone.
pub(crate) fn table(environment: &QueryEnvironment<'_>, explain: &Explain) -> Result<TableEntry> {
    check_settings(explain).map_err(|(e, _)| e)?;
    match explain.kind {
        ExplainKind::Analyze => Err(Error::not_implemented("EXPLAIN ANALYZE in FROM")),
        ExplainKind::Estimate => {
            let none = || Vec::<String>::new();
            Rows::default()
                .text("database", none())
                .text("table", none())
                .number("parts", [])
                .number("rows", [])
                .number("marks", [])
                .table()
        }
        _ => {
            let analyzer = Analyzer::new(environment, b"");
            Rows::default()
                .text("explain", lines(environment, &analyzer, explain)?)
                .table()
        }
    }
}

/// What a kind of EXPLAIN tells, line by line.
fn lines(
    environment: &QueryEnvironment<'_>,
    analyzer: &Analyzer<'_>,
    explain: &Explain,
) -> Result<Vec<String>> {
    if explain.kind == ExplainKind::CurrentTransaction {
        return Ok(vec!["<no current transaction>".to_owned()]);
    }
    let statement = explain
        .statement
        .as_deref()
        .ok_or_else(|| Error::not_implemented("EXPLAIN without a statement"))?;
    let text = match explain.kind {
        ExplainKind::Ast => basalt_parser::explained_tree(explain),
        ExplainKind::Syntax => {
            // One value of several lines, as ClickHouse gives it.
            let statement = &syntax::rewritten(statement, analyzer)?;
            let one_line = explain.settings.iter().any(|s| s.name == "oneline");
            return Ok(vec![if one_line {
                basalt_parser::format_one_line(statement)
            } else {
                basalt_parser::format_statement(statement)
            }]);
        }
        ExplainKind::Plan => {
            let plan = optimized(environment, analyzer, statement, "EXPLAIN PLAN")?;
            if is_set(explain, "json") == Some(true) {
                let has_descriptions = is_set(explain, "description") != Some(false);
                return Ok(vec![plan_json::text(&plan, has_descriptions)?]);
            }
            plan.display_indent().to_string()
        }
        ExplainKind::Pipeline => {
            let plan = optimized(environment, analyzer, statement, "EXPLAIN PIPELINE")?;
            let physical = environment.execution.physical(&plan)?;
            displayable(physical.as_ref()).indent(false).to_string()
        }
        ExplainKind::QueryTree => {
            return Err(Error::not_implemented(
                "EXPLAIN QUERY TREE (EXPLAIN AST and EXPLAIN PLAN show what Basalt has)",
            ));
        }
        _ => return Err(Error::not_implemented("EXPLAIN of this kind")),
    };
    Ok(text.lines().map(str::to_owned).collect())
}

/// The optimized plan of a query.
fn optimized(
    environment: &QueryEnvironment<'_>,
    analyzer: &Analyzer<'_>,
    statement: &Statement,
    construct: &str,
) -> Result<LogicalPlan> {
    let Statement::Query(select) = statement else {
        return Err(Error::not_implemented(format!(
            "{construct} of a statement that is no query"
        )));
    };
    environment
        .execution
        .optimized(&analyzer.plan(select)?.plan)
}

/// The value of a setting that was checked, if it is told.
fn is_set(explain: &Explain, name: &str) -> Option<bool> {
    let setting = explain.settings.iter().rfind(|s| s.name == name)?;
    let value = setting.value.as_ref().map(|v| &v.kind);
    Some(!matches!(
        value,
        Some(ExprKind::Literal(Literal::UInt(0) | Literal::Bool(false)))
    ))
}

/// Settings of each kind of EXPLAIN; those that only add details are taken and change nothing.
fn settings_of(kind: ExplainKind) -> &'static [&'static str] {
    match kind {
        ExplainKind::Ast => &["graph", "optimize"],
        ExplainKind::Syntax => &[
            "oneline",
            "query_tree_passes",
            "run_query_tree_passes",
            "single_record",
        ],
        ExplainKind::QueryTree => &[
            "dump_ast",
            "dump_passes",
            "dump_tree",
            "passes",
            "run_passes",
        ],
        ExplainKind::Pipeline => &[
            "compact",
            "compact_repeated_processor_chains",
            "distributed",
            "graph",
            "header",
        ],
        _ => &[
            "actions",
            "column_structure",
            "compact",
            "description",
            "distributed",
            "estimates",
            "header",
            "indexes",
            "indices",
            "input_headers",
            "json",
            "keep_logical_steps",
            "optimize",
            "pretty",
            "projections",
            "sorting",
        ],
    }
}

fn check_settings(explain: &Explain) -> Result<(), (Error, Span)> {
    let check = |setting| check_setting(explain, setting).map_err(|e| (e, setting.span));
    explain.settings.iter().try_for_each(check)
}

fn check_setting(explain: &Explain, setting: &Setting) -> Result<()> {
    let known = settings_of(explain.kind);
    let name = setting.name.as_str();
    if !known.contains(&name) {
        let near = basalt_functions::registry::nearest(name, known.iter().copied());
        let hint = near.first().map(|n| format!("Maybe you meant {n}? "));
        let text = format!(
            "{}Unknown setting {name} of this EXPLAIN, which has {}",
            hint.unwrap_or_default(),
            known.join(", ")
        );
        return Err(Error::new(ErrorCode::UNKNOWN_SETTING, text));
    }
    let value = setting.value.as_ref().map(|v| &v.kind);
    if !matches!(
        value,
        None | Some(ExprKind::Literal(Literal::UInt(0 | 1) | Literal::Bool(_)))
    ) {
        return Err(Error::new(
            ErrorCode::INVALID_SETTING_VALUE,
            format!("Give {name} 0 or 1"),
        ));
    }
    if name == "graph" && is_set(explain, name) == Some(true) {
        return Err(Error::not_implemented(format!(
            "Leave it out: {name} = 1 of this EXPLAIN"
        )));
    }
    Ok(())
}

fn write(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    lines: Vec<String>,
    io: Io<'_>,
) -> Result<Summary> {
    let column = ("explain", DataType::String, strings(lines));
    let mut output = explain.output.clone();
    // The format of a query that ran is not that of what is told of it.
    if explain.kind == ExplainKind::Analyze && analyze::is_null(explain) {
        output.format = None;
    }
    write_rows(session, query, vec![column], &output, io)
}

/// Whether a plan reads a table on disk.
fn reads_parts(plan: &LogicalPlan) -> bool {
    plan.exists(|node| {
        let LogicalPlan::TableScan(scan) = node else {
            return Ok(false);
        };
        let provider = source_as_provider(&scan.source)?;
        let provider: &dyn Any = provider.as_ref();
        Ok(provider.is::<SourceTable<MergeTreeTable>>())
    })
    .unwrap_or(false)
}

/// What MergeTree tables would have to read: nothing for a query that reads no such table.
fn estimate(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    statement: &Statement,
    io: Io<'_>,
) -> Result<Summary> {
    if let Statement::Query(select) = statement {
        let planned = query::plan(session, query, select)?;
        if reads_parts(&planned.plan) {
            return Err(Error::not_implemented(
                "EXPLAIN ESTIMATE of a query that reads a MergeTree table",
            ));
        }
    }
    let names = ["database", "table"].map(|n| (n, DataType::String, strings(Vec::<String>::new())));
    let counts = ["parts", "rows", "marks"].map(|n| {
        let none: ArrayRef = Arc::new(UInt64Array::from(Vec::<u64>::new()));
        (n, DataType::UInt64, none)
    });
    let columns = names.into_iter().chain(counts).collect();
    write_rows(session, query, columns, &explain.output, io)
}
