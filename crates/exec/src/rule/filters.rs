//! Gives conditions to kernels, and to the aggregation above them where no rows need to be copied;
//! holds back what may fail on rows that an AND or OR has decided.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::projection::ProjectionExec;

use crate::group_by::GroupByExec;
use crate::predicate::PredicateExpr;
use basalt_analyzer::lazy_logic::made_lazy;

/// Swaps conditions in a plan in which nothing is arranged any more: what DataFusion knows of a
/// condition's meaning is lost here.
#[derive(Debug)]
pub struct SwapFilters;

/// The operator at `node` with its conditions, or its input's, evaluated by kernels and no more than
/// needed.
fn swap(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(group_by) = node.downcast_ref::<GroupByExec>() {
        let ours = match group_by.fused_with_filter()? {
            Some(fused) => Some(fused),
            None => match group_by.with_lazy_logic()? {
                Some(lazy) => Some(lazy),
                None => group_by.with_compiled()?,
            },
        };
        return Ok(ours.map(|ours| Arc::new(ours) as _));
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        return projected(projection);
    }
    let Some(filter) = node.downcast_ref::<FilterExec>() else {
        return Ok(None);
    };
    let (condition, schema) = (filter.predicate(), filter.input().schema());
    let predicate = match PredicateExpr::try_new(condition, &schema) {
        Some(predicate) => Some(predicate),
        None => made_lazy(condition)?,
    };
    let Some(predicate) = predicate else {
        return Ok(None);
    };
    let filter = FilterExecBuilder::from(filter).with_predicate(predicate);
    Ok(Some(Arc::new(filter.build()?)))
}

/// The projection with sides of AND and OR held back, if there are such.
fn projected(projection: &ProjectionExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let mut exprs = projection.expr().to_vec();
    let mut is_changed = false;
    for projected in &mut exprs {
        if let Some(lazy) = made_lazy(&projected.expr)? {
            projected.expr = lazy;
            is_changed = true;
        }
    }
    if !is_changed {
        return Ok(None);
    }
    let input = Arc::clone(projection.input());
    Ok(Some(Arc::new(ProjectionExec::try_new(exprs, input)?)))
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
