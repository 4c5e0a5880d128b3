//! Runs EXPLAIN: the stages that a query passes through, as text.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{
    Explain, ExplainKind, ExprKind, FromElement, Literal, ObjectName, SetExpr, Span, Statement,
    TableExpr, TableSource,
};
use basalt_types::DataType;
use datafusion::physical_plan::displayable;

use super::result::{strings, write_rows};
use super::{analyze, query};
use crate::session::{Io, RunningQuery, Session, Summary};

/// `EXPLAIN AST | SYNTAX | PLAN | PIPELINE | ANALYZE statement`.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    io: Io<'_>,
) -> Result<Summary> {
    check_settings(explain)?;
    if explain.kind == ExplainKind::CurrentTransaction {
        let nothing = vec!["<no current transaction>".to_owned()];
        return write(session, query, explain, nothing, io);
    }
    let statement = explain
        .statement
        .as_deref()
        .ok_or_else(|| Error::not_implemented("EXPLAIN without a statement"))?;
    let text = match explain.kind {
        ExplainKind::Ast => basalt_parser::explain_ast(statement),
        ExplainKind::Syntax => {
            // One value of several lines, as ClickHouse gives it.
            let statement = &with_from(statement);
            let one_line = explain.settings.iter().any(|s| s.name == "oneline");
            let text = if one_line {
                basalt_parser::format_one_line(statement)
            } else {
                basalt_parser::format_statement(statement)
            };
            return write(session, query, explain, vec![text], io);
        }
        ExplainKind::Plan => plan_text(session, query, statement)?,
        ExplainKind::Pipeline => pipeline_text(session, query, statement)?,
        ExplainKind::QueryTree => return Err(Error::not_implemented("EXPLAIN QUERY TREE")),
        ExplainKind::Estimate => return estimate(session, query, explain, statement, io),
        ExplainKind::Analyze => {
            let lines = analyze::lines(session, query, explain, statement)?;
            return write(session, query, explain, lines, io);
        }
        _ => {
            return Err(Error::not_implemented("EXPLAIN of this kind"));
        }
    };
    let lines = text.lines().map(str::to_owned).collect();
    write(session, query, explain, lines, io)
}

/// Settings of each kind of EXPLAIN; those that change nothing here are taken, as in ClickHouse.
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

fn check_settings(explain: &Explain) -> Result<()> {
    let known = settings_of(explain.kind);
    for setting in &explain.settings {
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

/// What MergeTree tables would have to read: there are none, so nothing.
fn estimate(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    statement: &Statement,
    io: Io<'_>,
) -> Result<Summary> {
    if let Statement::Query(select) = statement {
        query::plan(session, query, select)?;
    }
    let names = ["database", "table"].map(|n| (n, DataType::String, strings(Vec::<String>::new())));
    let counts = ["parts", "rows", "marks"].map(|n| {
        let none: ArrayRef = Arc::new(UInt64Array::from(Vec::<u64>::new()));
        (n, DataType::UInt64, none)
    });
    let columns = names.into_iter().chain(counts).collect();
    write_rows(session, query, columns, &explain.output, io)
}

/// A SELECT without FROM reads `system.one`, and EXPLAIN SYNTAX says so.
fn with_from(statement: &Statement) -> Statement {
    let mut shown = statement.clone();
    if let Statement::Query(query) = &mut shown
        && let SetExpr::Select(select) = &mut query.body
        && select.from.is_empty()
    {
        let name = ObjectName {
            database: Some("system".to_owned()),
            ..ObjectName::bare("one")
        };
        let table = TableExpr {
            source: TableSource::Table(name),
            alias: None,
            column_aliases: Vec::new(),
            final_: false,
            sample: None,
            span: Span::default(),
        };
        select.from.push(FromElement::Table {
            join: None,
            table: Box::new(table),
        });
    }
    shown
}

fn plan_text(session: &Session, query: &RunningQuery<'_>, statement: &Statement) -> Result<String> {
    let Statement::Query(select) = statement else {
        return Err(Error::not_implemented(
            "EXPLAIN PLAN of a statement that is no query",
        ));
    };
    let planned = query::plan(session, query, select)?;
    let plan = query.execution.optimized(&planned.plan)?;
    Ok(plan.display_indent().to_string())
}

fn pipeline_text(
    session: &Session,
    query: &RunningQuery<'_>,
    statement: &Statement,
) -> Result<String> {
    let Statement::Query(select) = statement else {
        return Err(Error::not_implemented(
            "EXPLAIN PIPELINE of a statement that is no query",
        ));
    };
    let planned = query::plan(session, query, select)?;
    let plan = query.execution.optimized(&planned.plan)?;
    let physical = query.execution.physical(&plan)?;
    Ok(displayable(physical.as_ref()).indent(false).to_string())
}
