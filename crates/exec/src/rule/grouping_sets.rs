//! Hides the order of rows from aggregations by several grouping sets.
//!
//! DataFusion gives groups out as soon as a key that the rows are ordered by changes, a constant among them.
//! A row of an aggregation by several sets has NULL for the keys that its set leaves out: such a key
//! changes from row to row, and groups would come out in pieces.

use std::sync::Arc;

use basalt_analyzer::plan::StreamOperator;
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;

use crate::stream::StreamExec;

/// The aggregation over rows in no order, if it has several grouping sets and reads an input.
pub(super) fn over_no_order(
    node: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else {
        return Ok(None);
    };
    let input = aggregate.input();
    if aggregate.group_expr().is_single() || is_in_no_order(input) || is_aggregate(input) {
        return Ok(None);
    }
    let hidden = StreamExec::try_new(Arc::clone(input), StreamOperator::Unordered)?;
    replace_children_if_necessary(Arc::clone(node), vec![Arc::new(hidden)]).map(Some)
}

fn is_in_no_order(node: &Arc<dyn ExecutionPlan>) -> bool {
    let step = node.downcast_ref::<StreamExec>();
    step.is_some_and(|step| matches!(step.operator(), StreamOperator::Unordered))
}

fn is_aggregate(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<AggregateExec>()
}
