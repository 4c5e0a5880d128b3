//! Runs SELECT: plans it, streams its rows into the output.

use arrow::array::RecordBatch;
use basalt_analyzer::Planned;
use basalt_analyzer::plan::limited_rows;
use basalt_error::{Error, Result};
use basalt_parser::ast::{self, SetExpr};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;

use super::extremes::Extremes;
use super::result::{Header, ResultWriter, format_name};
use crate::sending::BatchReader;
use crate::session::{Io, RunningQuery, Session, Summary};

/// Runs a query and writes its result.
pub(crate) fn run(
    session: &Session,
    query: &RunningQuery<'_>,
    select: &ast::Query,
    io: Io<'_>,
) -> Result<Summary> {
    let planned = plan(session, query, select)?;
    let header: Header = planned
        .columns
        .iter()
        .map(|c| (c.name.clone(), c.data_type.clone()))
        .collect();
    let plan = limited(planned.plan, query)?;
    let num_rows = rows_of_nothing(&plan);
    query.control.count(num_rows, num_rows);
    let has_output = !format_name(session, query, &select.output).eq_ignore_ascii_case("Null");
    let writer = ResultWriter::new(session, query, &header, &select.output, io.out)?;
    let extremes = query.settings.flag("extremes");
    let extremes = extremes.then(|| Extremes::new(&header)).transpose()?;
    let mut output = Output { writer, extremes };
    query.execution.for_each(&plan, has_output, &mut output)?;
    let Output {
        mut writer,
        extremes,
    } = output;
    let counted = query.execution.rows_before_limit();
    if let Some(totals) = planned.totals {
        for batch in query.execution.collect(&totals)? {
            writer.totals(&batch)?;
        }
    }
    if let Some(extremes) = extremes.filter(|_| writer.summary.result_rows > 0) {
        writer.extremes(&extremes.finish()?)?;
    }
    let rows_before_limit =
        has_limit(&select.body).then(|| counted.unwrap_or_else(|| query.control.rows_read()));
    writer.finish(rows_before_limit)
}

/// Where the rows of a query go.
struct Output<'a, 'o> {
    writer: ResultWriter<'a, 'o>,
    extremes: Option<Extremes>,
}

impl BatchReader for Output<'_, '_> {
    fn read(&mut self, batch: RecordBatch) -> Result<bool> {
        if let Some(extremes) = &mut self.extremes {
            extremes.add(&batch)?;
        }
        self.writer.batch(&batch)
    }

    fn on_wait(&mut self) -> Result<()> {
        self.writer.show()
    }
}

/// Plans a query of the statement.
pub(crate) fn plan(
    session: &Session,
    query: &RunningQuery<'_>,
    select: &ast::Query,
) -> Result<Planned> {
    let environment = session.environment(query);
    query.analyzer(&environment).plan(select)
}

/// The plan under the settings `limit` and `offset`.
pub(crate) fn limited(plan: LogicalPlan, query: &RunningQuery<'_>) -> Result<LogicalPlan> {
    let rows = |name| usize::try_from(query.settings.number(name)).unwrap_or(usize::MAX);
    let (limit, offset) = (rows("limit"), rows("offset"));
    if limit == 0 && offset == 0 {
        return Ok(plan);
    }
    limited_rows(plan, offset, (limit > 0).then_some(limit))
}

/// Rows of SELECTs without a table: one each, as if there was a table of one row, of one byte.
fn rows_of_nothing(plan: &LogicalPlan) -> usize {
    let mut num_rows = 0;
    // The closure never fails.
    let _ = plan.apply(|step| {
        if let LogicalPlan::EmptyRelation(empty) = step
            && empty.produce_one_row
        {
            num_rows += 1;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    num_rows
}

fn has_limit(set: &SetExpr) -> bool {
    match set {
        SetExpr::Select(select) => select.limit.is_some(),
        SetExpr::Nested(inner) => has_limit(inner),
        SetExpr::Operation { .. } => false,
    }
}

/// The query of a text that the engine itself writes.
pub(crate) fn parse_query(text: &str) -> Result<ast::Query> {
    match basalt_parser::parse_statement(text)?.statement {
        ast::Statement::Query(query) => Ok(*query),
        _ => Err(Error::bug(format!("no query: {text}"))),
    }
}
