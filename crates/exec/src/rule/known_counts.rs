//! Tells counts of rows, and of values that are not NULL, where a scan knows them, and least and greatest values beside
//! them.
//!
//! `SELECT count(), count(a), min(b) FROM t` asks so. What is left to calculate are extremes, which the scan may know
//! of most groups of rows, too.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

use super::extremes::{input_of_extremes, is_column, is_extreme};
use super::row_counts::is_value;
use crate::group_by::{AggregateSpec, Grouping};
use crate::scan::ScanExec;

/// Makes our operator for a grouping.
pub(super) type Make<'a> =
    &'a dyn Fn(Arc<dyn ExecutionPlan>, Grouping) -> Result<Arc<dyn ExecutionPlan>>;

/// A plan that counts nothing, in place of an aggregation over `input`; none if its scan does not know all counts, or
/// more is asked for.
pub(super) fn known_counts(
    input: &Arc<dyn ExecutionPlan>,
    grouping: &Grouping,
    make: Make<'_>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if !grouping.keys.is_empty() || grouping.top.is_some() {
        return Ok(None);
    }
    let mut extremes = Vec::new();
    let mut results = Vec::new();
    for (i, (aggregate, field)) in aggregates(grouping).enumerate() {
        let expr: Arc<dyn PhysicalExpr> = if is_extreme(aggregate) {
            extremes.push(i);
            Arc::new(Column::new(field.name(), extremes.len() - 1))
        } else if *field.data_type() == DataType::UInt64
            && let Some(count) = known_count(input, aggregate)
        {
            Arc::new(Literal::new(ScalarValue::UInt64(Some(count as u64))))
        } else {
            return Ok(None);
        };
        let alias = field.name().clone();
        results.push(ProjectionExpr { expr, alias });
    }
    let is_of_column = |aggregate: &AggregateSpec| aggregate.args.iter().any(is_column);
    if extremes.len() == results.len() || !grouping.aggregates.iter().any(is_of_column) {
        // Rows without columns are counted as fast.
        return Ok(None);
    }
    let Some(rest) = rest(input, grouping, &extremes, make)? else {
        return Ok(None);
    };
    Ok(Some(Arc::new(ProjectionExec::try_new(results, rest)?)))
}

fn aggregates(grouping: &Grouping) -> impl Iterator<Item = (&AggregateSpec, &FieldRef)> {
    grouping.aggregates.iter().zip(grouping.schema.fields())
}

/// One row with these aggregates, which are extremes; none if all rows have to be read for them.
fn rest(
    input: &Arc<dyn ExecutionPlan>,
    grouping: &Grouping,
    extremes: &[usize],
    make: Make<'_>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if extremes.is_empty() {
        let schema = Arc::new(Schema::empty());
        return Ok(Some(Arc::new(PlaceholderRowExec::new(schema))));
    }
    let grouping = Grouping {
        aggregates: extremes
            .iter()
            .map(|i| grouping.aggregates[*i].clone())
            .collect(),
        schema: Arc::new(grouping.schema.project(extremes)?),
        ..grouping.clone()
    };
    match input_of_extremes(input, &grouping)? {
        Some(input) => make(input, grouping).map(Some),
        None => Ok(None),
    }
}

/// How many rows, or values of a column that are not NULL, an input has, if its scan knows it.
fn known_count(input: &Arc<dyn ExecutionPlan>, aggregate: &AggregateSpec) -> Option<usize> {
    if !aggregate.bound.name.eq_ignore_ascii_case("count") {
        return None;
    }
    match aggregate.args.as_slice() {
        args if args.iter().all(is_value) => counted(input, None),
        [arg] if is_column(arg) => counted(input, Some(arg.downcast_ref::<Column>()?.index())),
        _ => None,
    }
}

/// The rows of a scan, or the values of one of its columns, through projections that only name columns.
fn counted(plan: &Arc<dyn ExecutionPlan>, column: Option<usize>) -> Option<usize> {
    if let Some(scan) = plan.downcast_ref::<ScanExec>() {
        return scan.num_values(column);
    }
    let projection = plan.downcast_ref::<ProjectionExec>()?;
    let column = match column {
        Some(column) => {
            let expr = &projection.expr()[column].expr;
            Some(expr.downcast_ref::<Column>()?.index())
        }
        None => None,
    };
    counted(projection.input(), column)
}
