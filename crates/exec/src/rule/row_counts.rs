//! Lets scans tell how many rows fulfil a condition, where nobody asks for more.
//!
//! `SELECT count() FROM t WHERE x != 0` asks so. A group of rows in files whose metadata know that number need not
//! be read at all.

use std::sync::Arc;

use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::group_by::{AggregateSpec, Grouping};
use crate::scan::ScanExec;

/// Whether an argument is a constant that is not NULL.
pub(super) fn is_value(arg: &Arc<dyn PhysicalExpr>) -> bool {
    let literal = arg.downcast_ref::<Literal>();
    literal.is_some_and(|literal| !literal.value().is_null())
}

/// The input of an aggregation as rows without columns, if it only counts those that fulfil a condition and
/// the scan knows how many do.
pub(super) fn input_of_counts(
    input: &Arc<dyn ExecutionPlan>,
    grouping: &Grouping,
) -> Option<Arc<dyn ExecutionPlan>> {
    let counts_rows = |aggregate: &AggregateSpec| {
        aggregate.args.iter().all(is_value) && aggregate.bound.name.eq_ignore_ascii_case("count")
    };
    let only_counts = grouping.keys.is_empty() && grouping.aggregates.iter().all(counts_rows);
    let filter = match input.downcast_ref::<ProjectionExec>() {
        Some(projection) if projection.expr().is_empty() => projection.input(),
        _ => input,
    };
    let filter = filter.downcast_ref::<FilterExec>()?;
    if !only_counts || filter.fetch().is_some() {
        return None;
    }
    let scan = filter.input().downcast_ref::<ScanExec>()?;
    Some(Arc::new(scan.counting(filter.predicate())?))
}
