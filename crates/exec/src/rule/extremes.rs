//! Lets scans give the least and greatest values of columns in place of all values, where nobody asks for more.
//!
//! `SELECT min(a), max(b) FROM t` asks so. A group of rows in files whose metadata know these values need not be
//! read at all.

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::group_by::{AggregateSpec, Grouping};
use crate::scan::ScanExec;

/// The input of an aggregation with a scan that gives only extremes; none if more is asked for, or the scan
/// knows none.
pub(super) fn input_of_extremes(
    input: &Arc<dyn ExecutionPlan>,
    grouping: &Grouping,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let asks_no_more = grouping.keys.is_empty() && grouping.aggregates.iter().all(is_extreme);
    match asks_no_more && !grouping.aggregates.is_empty() {
        true => with_extremes(input),
        false => Ok(None),
    }
}

/// Whether an aggregate is the least or the greatest value of a column.
pub(super) fn is_extreme(aggregate: &AggregateSpec) -> bool {
    let name = &aggregate.bound.name;
    let is_named = ["min", "max"].iter().any(|n| name.eq_ignore_ascii_case(n));
    is_named && aggregate.args.iter().all(is_column)
}

pub(super) fn is_column(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.is::<Column>()
}

/// The plan with another scan, if it only names the columns of one.
fn with_extremes(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = plan.downcast_ref::<ScanExec>() {
        return Ok(scan.of_extremes().map(|scan| Arc::new(scan) as _));
    }
    let Some(projection) = plan.downcast_ref::<ProjectionExec>() else {
        return Ok(None);
    };
    if !projection.expr().iter().all(|p| is_column(&p.expr)) {
        return Ok(None);
    }
    let input = with_extremes(projection.input())?;
    input
        .map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input]))
        .transpose()
}
