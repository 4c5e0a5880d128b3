//! Keeps the order of sorted rows on their way to the reader.
//!
//! DataFusion deals sorted rows out to all threads where an expensive projection or filter stands above them,
//! as nothing in the plan asks for their order any more. Who writes `SELECT f(x) FROM (SELECT … ORDER BY x)`
//! does, and ClickHouse gives it. So it gives aggregates such as `groupArray` the rows of one source in order,
//! in however small batches they come.

use std::sync::Arc;

use basalt_analyzer::plan::StreamOperator;
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

use crate::rule::{follows_rows, follows_sort, keeps_order, swapped};
use crate::stream::StreamExec;

/// The rule that takes out what mixes up sorted rows between their sort and the reader.
#[derive(Debug, Default)]
pub struct OrderedOutput;

impl PhysicalOptimizerRule for OrderedOutput {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = swapped(plan, |node| {
            if !follows_sort(node) && !takes_first_rows(node) {
                return Ok(None);
            }
            let sorted_only = !follows_rows(node);
            let children = node.children().into_iter();
            let children: Result<Vec<_>> = children
                .map(|c| in_order(Arc::clone(c), sorted_only))
                .collect();
            replace_children_if_necessary(Arc::clone(node), children?).map(Some)
        })?;
        in_order(plan, true)
    }

    fn name(&self) -> &str {
        "OrderedOutput"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Takes out what deals the rows of one stream out; if `sorted_only`, those of a sort.
fn in_order(plan: Arc<dyn ExecutionPlan>, sorted_only: bool) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(dealt) = plan.downcast_ref::<RepartitionExec>() {
        let input = dealt.input();
        let is_wanted = !sorted_only || is_sorted(input);
        let is_in_turn = matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_));
        return Ok(if is_wanted && is_one(input) && is_in_turn {
            Arc::clone(input)
        } else {
            plan
        });
    }
    let collected = plan.downcast_ref::<CoalescePartitionsExec>();
    let needs_collecting = collected.is_none_or(|collected| collected.fetch().is_some());
    let row_by_row = keeps_order(&plan) || collected.is_some() || takes_first_rows(&plan);
    let children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
        Ok([child]) if row_by_row => {
            let ordered = in_order(child, sorted_only)?;
            if is_one(&ordered) && !needs_collecting {
                return Ok(ordered);
            }
            replace_children_if_necessary(plan, vec![ordered])
        }
        _ => Ok(plan),
    }
}

fn is_one(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.output_partitioning().partition_count() == 1
}

/// Whether it leaves out rows by their place among all rows, and keeps the order of the others.
fn takes_first_rows(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let step = plan.downcast_ref::<StreamExec>().map(StreamExec::operator);
    matches!(
        step,
        Some(
            StreamOperator::AtMost(_)
                | StreamOperator::LimitBy { .. }
                | StreamOperator::LimitRows { .. }
        )
    ) || plan.is::<GlobalLimitExec>()
        || plan.is::<LocalLimitExec>()
}

/// Whether the rows come from a sort, even if its keys are no columns here.
fn is_sorted(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let step = plan.downcast_ref::<StreamExec>().map(StreamExec::operator);
    let by_itself = matches!(
        step,
        Some(
            StreamOperator::Ordered
                | StreamOperator::WithFill { .. }
                | StreamOperator::LimitWithTies { .. }
        )
    );
    let passes = keeps_order(plan) || takes_first_rows(plan);
    by_itself
        || plan.output_ordering().is_some()
        || (passes && plan.children().into_iter().any(is_sorted))
}
