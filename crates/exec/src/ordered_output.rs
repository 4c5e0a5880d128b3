//! Keeps the order of sorted rows on their way to the reader.
//!
//! DataFusion deals sorted rows out to all threads where an expensive projection or filter stands above them,
//! as nothing in the plan asks for their order any more. Who writes `SELECT f(x) FROM (SELECT … ORDER BY x)`
//! does, and ClickHouse gives it.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};

/// The rule that takes out what mixes up sorted rows between their sort and the reader.
#[derive(Debug, Default)]
pub struct OrderedOutput;

impl PhysicalOptimizerRule for OrderedOutput {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        in_order(plan)
    }

    fn name(&self) -> &str {
        "OrderedOutput"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn in_order(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(dealt) = plan.downcast_ref::<RepartitionExec>() {
        let input = dealt.input();
        let is_sorted = input.output_ordering().is_some();
        let is_one = input.output_partitioning().partition_count() == 1;
        let is_in_turn = matches!(dealt.partitioning(), Partitioning::RoundRobinBatch(_));
        return Ok(if is_sorted && is_one && is_in_turn {
            Arc::clone(input)
        } else {
            plan
        });
    }
    let row_by_row = plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<FilterExec>().is_some();
    let children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
        Ok([child]) if row_by_row => {
            let ordered = in_order(child)?;
            replace_children_if_necessary(plan, vec![ordered])
        }
        _ => Ok(plan),
    }
}
