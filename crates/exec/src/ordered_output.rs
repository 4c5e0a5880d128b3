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
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

use crate::group_by::GroupByExec;
use crate::rule::{follows_sort, keeps_order, swapped};
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
            if !follows_sort(node) {
                return Ok(None);
            }
            let group_by = node.downcast_ref::<GroupByExec>();
            let sorted_only = !group_by.is_some_and(GroupByExec::follows_order);
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
        let is_sorted = !sorted_only || input.output_ordering().is_some() || is_kept(input);
        let is_one = input.output_partitioning().partition_count() == 1;
        let is_in_turn = matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_));
        return Ok(if is_sorted && is_one && is_in_turn {
            Arc::clone(input)
        } else {
            plan
        });
    }
    let row_by_row = keeps_order(&plan);
    let children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
        Ok([child]) if row_by_row => {
            let ordered = in_order(child, sorted_only)?;
            replace_children_if_necessary(plan, vec![ordered])
        }
        _ => Ok(plan),
    }
}

/// Whether the rows come from a sort that an aggregate above needs, even if its keys are no columns here.
fn is_kept(plan: &Arc<dyn ExecutionPlan>) -> bool {
    match plan.downcast_ref::<StreamExec>().map(StreamExec::operator) {
        Some(StreamOperator::Ordered) => true,
        _ => keeps_order(plan) && plan.children().into_iter().any(is_kept),
    }
}
