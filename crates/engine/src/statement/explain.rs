//! Runs EXPLAIN: the stages that a query passes through, as text.

use basalt_error::{Error, Result};
use basalt_parser::ast::{Explain, ExplainKind, Statement};
use basalt_types::DataType;
use datafusion::physical_plan::displayable;

use super::query;
use super::result::{strings, write_rows};
use crate::session::{Io, RunningQuery, Session, Summary};

/// `EXPLAIN AST | SYNTAX | PLAN | PIPELINE statement`.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    io: Io<'_>,
) -> Result<Summary> {
    let statement = explain
        .statement
        .as_deref()
        .ok_or_else(|| Error::not_implemented("EXPLAIN without a statement"))?;
    let text = match explain.kind {
        ExplainKind::Ast => basalt_parser::explain_ast(statement),
        ExplainKind::Syntax => {
            // One value of several lines, as ClickHouse gives it.
            let text = basalt_parser::format_statement(statement);
            return write(session, query, explain, vec![text], io);
        }
        ExplainKind::Plan => plan_text(session, query, statement)?,
        ExplainKind::Pipeline => pipeline_text(session, query, statement)?,
        ExplainKind::QueryTree => return Err(Error::not_implemented("EXPLAIN QUERY TREE")),
        ExplainKind::Estimate => return Err(Error::not_implemented("EXPLAIN ESTIMATE")),
        ExplainKind::Analyze => return Err(Error::not_implemented("EXPLAIN ANALYZE")),
        _ => {
            return Err(Error::not_implemented("EXPLAIN of this kind"));
        }
    };
    let lines = text.lines().map(str::to_owned).collect();
    write(session, query, explain, lines, io)
}

fn write(
    session: &Session,
    query: &RunningQuery<'_>,
    explain: &Explain,
    lines: Vec<String>,
    io: Io<'_>,
) -> Result<Summary> {
    let column = ("explain", DataType::String, strings(lines));
    write_rows(session, query, vec![column], &explain.output, io)
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
