//! Tells a GROUP BY which groups the ORDER BY … LIMIT above it wants, or the LIMIT alone.

use std::sync::Arc;

use arrow::compute::SortOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

use crate::group_by::{FirstKeys, GroupByExec, TopOrder};
use crate::one_input::ReadExec;
use crate::sort::key_column;

/// The input of a sort with a limit, if that can leave out groups.
pub(super) fn sort_of_top(sort: &SortExec) -> Option<Arc<dyn ExecutionPlan>> {
    let num_rows = sort.fetch()?;
    let of_results = || {
        let keys = sort.expr();
        let first = keys.first();
        let order = TopOrder {
            is_descending: first.options.descending,
            num_rows,
            with_ties: keys.len() > 1,
        };
        limited(
            sort.input(),
            key_column(first.expr.as_ref())?.index(),
            order,
        )
    };
    of_results().or_else(|| {
        let first = sort.expr().first();
        let column = first.expr.downcast_ref::<Column>()?.index();
        with_first_keys(sort.input(), column, first.options, num_rows)
    })
}

/// The input of a limit over groups in no order with the groups in the order of their keys, if the others
/// need not be made then.
pub(super) fn first_groups(limit: &GlobalLimitExec) -> Option<Arc<dyn ExecutionPlan>> {
    let num_rows = limit.skip().checked_add(limit.fetch()?)?;
    let local = limit.input().downcast_ref::<LocalLimitExec>();
    let input = local.map_or(limit.input(), LocalLimitExec::input);
    sorted_groups(input, num_rows)
}

fn sorted_groups(plan: &Arc<dyn ExecutionPlan>, num_rows: usize) -> Option<Arc<dyn ExecutionPlan>> {
    let Some(grouping) = plan.downcast_ref::<GroupByExec>() else {
        let projection = plan.downcast_ref::<ProjectionExec>()?;
        let input = sorted_groups(projection.input(), num_rows)?;
        return replace_children_if_necessary(Arc::clone(plan), vec![input]).ok();
    };
    if !grouping.takes_first_by_key() {
        return None;
    }
    let options = SortOptions::new(false, false);
    let bounded = with_first_keys(plan, 0, options, num_rows)?;
    let schema = plan.schema();
    let keys = 0..grouping.grouping().keys.len();
    let order = keys.map(|i| {
        let column = Column::new(schema.field(i).name(), i);
        PhysicalSortExpr::new(Arc::new(column), options)
    });
    let sort = SortExec::new(LexOrdering::new(order)?, bounded);
    Some(Arc::new(sort.with_fetch(Some(num_rows))))
}

/// `plan` whose grouping gets only rows of the first groups by column `column`, a key, and some others that
/// come after them.
fn with_first_keys(
    plan: &Arc<dyn ExecutionPlan>,
    column: usize,
    options: SortOptions,
    num_groups: usize,
) -> Option<Arc<dyn ExecutionPlan>> {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let column = projection.expr().get(column)?;
        let column = column.expr.downcast_ref::<Column>()?.index();
        let input = with_first_keys(projection.input(), column, options, num_groups)?;
        return replace_children_if_necessary(Arc::clone(plan), vec![input]).ok();
    }
    let grouping = plan.downcast_ref::<GroupByExec>()?;
    // DISTINCT takes rows as they come, and tells how many different ones there are.
    if grouping.grouping().aggregates.is_empty() {
        return None;
    }
    let key = grouping.grouping().keys.get(column)?;
    let key = key.downcast_ref::<Column>()?.index();
    let input = Arc::clone(*grouping.children().first()?);
    let schema = input.schema();
    let first = FirstKeys::new((key, schema.field(key).data_type()), options, num_groups)?;
    let input = Arc::new(ReadExec::new(input, first));
    replace_children_if_necessary(Arc::clone(plan), vec![input]).ok()
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
