//! Tells a GROUP BY which groups the ORDER BY … LIMIT above it wants.

use std::sync::Arc;

use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

use crate::group_by::{GroupByExec, TopOrder};

/// The input of a sort with a limit, if that can leave out groups.
pub(super) fn sort_of_top(sort: &SortExec) -> Option<Arc<dyn ExecutionPlan>> {
    let first = sort.expr().first();
    let column = first.expr.downcast_ref::<Column>()?.index();
    let order = TopOrder {
        is_descending: first.options.descending,
        num_rows: sort.fetch()?,
        with_ties: sort.expr().len() > 1,
    };
    limited(sort.input(), column, order)
}

/// `plan` without groups that are not among the best by `column`, if it is a grouping below steps that
/// give a row for each row.
fn limited(
    plan: &Arc<dyn ExecutionPlan>,
    column: usize,
    order: TopOrder,
) -> Option<Arc<dyn ExecutionPlan>> {
    if let Some(grouping) = plan.downcast_ref::<GroupByExec>() {
        let limited = grouping.with_top(column, order)?;
        return Some(Arc::new(limited));
    }
    let projection = plan.downcast_ref::<ProjectionExec>()?;
    let column = projection.expr().get(column)?;
    let column = column.expr.downcast_ref::<Column>()?.index();
    let input = limited(projection.input(), column, order)?;
    replace_children_if_necessary(Arc::clone(plan), vec![input]).ok()
}
