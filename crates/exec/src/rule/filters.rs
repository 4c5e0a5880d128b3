//! Gives conditions to kernels, and to the aggregation above them where no rows need to be copied.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};

use crate::group_by::GroupByExec;
use crate::predicate::PredicateExpr;

/// Swaps conditions in a plan in which nothing is arranged any more: what DataFusion knows of a
/// condition's meaning is lost here.
#[derive(Debug)]
pub struct SwapFilters;

/// The operator at `node` with its condition, or its input's, evaluated by kernels.
fn swap(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(group_by) = node.downcast_ref::<GroupByExec>() {
        let fused = group_by.fused_with_filter()?;
        return Ok(fused.map(|fused| Arc::new(fused) as _));
    }
    let Some(filter) = node.downcast_ref::<FilterExec>() else {
        return Ok(None);
    };
    let Some(predicate) = PredicateExpr::try_new(filter.predicate()) else {
        return Ok(None);
    };
    let filter = FilterExecBuilder::from(filter).with_predicate(predicate);
    Ok(Some(Arc::new(filter.build()?)))
}

impl PhysicalOptimizerRule for SwapFilters {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // From the top: an aggregation takes a condition before the filter below it is swapped.
        let swap = |node: Arc<dyn ExecutionPlan>| {
            Ok(match swap(&node)? {
                Some(ours) => Transformed::yes(ours),
                None => Transformed::no(node),
            })
        };
        plan.transform_down(swap).data()
    }

    fn name(&self) -> &str {
        "SwapFilters"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
