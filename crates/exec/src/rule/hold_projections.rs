//! Keeps DataFusion from computing expressions for rows that a condition or a sort of first rows drops.
//!
//! It moves a projection that has fewer columns than its input below a filter or a sort, whatever the projection
//! computes. Then a division fails for rows that its condition has ruled out, `rowNumberInAllBlocks()` numbers
//! them, and all of it takes time.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::{ProjectionExec, try_embed_projection};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};

use super::swapped;
use crate::one_input::{ReadExec, Reading};

/// The rule that moves projections down.
pub(super) const MOVES_PROJECTIONS: &str = "ProjectionPushdown";

/// That rule, which finds no filter and no sort of first rows below a projection that computes something.
#[derive(Debug)]
pub(super) struct HoldProjections(pub(super) Arc<dyn PhysicalOptimizerRule + Send + Sync>);

/// Stands between them while the rule runs: it lets no projection through.
#[derive(Debug)]
struct Held;

impl Reading for Held {
    const NAME: &'static str = "HeldExec";

    fn anew(&self) -> Self {
        Self
    }

    fn read(&self, batches: SendableRecordBatchStream, _: usize) -> SendableRecordBatchStream {
        batches
    }
}

impl PhysicalOptimizerRule for HoldProjections {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let held = swapped(plan, |node| match computes(node) {
            Some(projection) => {
                let input = held(projection.input())?;
                let with = |input| replace_children_if_necessary(Arc::clone(node), vec![input]);
                input.map(with).transpose()
            }
            None => Ok(None),
        })?;
        swapped(self.0.optimize(held, config)?, released)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// The operator as a projection that does more than to pick columns.
fn computes(node: &Arc<dyn ExecutionPlan>) -> Option<&ProjectionExec> {
    let projection = node.downcast_ref::<ProjectionExec>()?;
    let mut outputs = projection.expr().iter();
    outputs
        .any(|output| !output.expr.is::<Column>())
        .then_some(projection)
}

/// The plan with the operator held back that leaves out rows, if a projection above would get there.
fn held(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let passes = plan.is::<CoalescePartitionsExec>()
        || plan.is::<RepartitionExec>()
        || plan.is::<SortPreservingMergeExec>()
        // The rule makes one of two projections.
        || plan.is::<ProjectionExec>();
    let takes_first = (passes || plan.is::<SortExec>()) && plan.fetch().is_some();
    if takes_first || plan.is::<FilterExec>() {
        return Ok(Some(Arc::new(ReadExec::new(Arc::clone(plan), Held))));
    }
    match plan.children().as_slice() {
        [child] if passes => {
            let with = |child| replace_children_if_necessary(Arc::clone(plan), vec![child]);
            held(child)?.map(with).transpose()
        }
        _ => Ok(None),
    }
}

/// The operator without what held it; a filter gives a projection right above it the columns that this reads.
fn released(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(held) = node.downcast_ref::<ReadExec<Held>>() {
        return Ok(Some(Arc::clone(held.input())));
    }
    let Some(projection) = computes(node) else {
        return Ok(None);
    };
    let filter = projection.input().downcast_ref::<FilterExec>();
    match filter {
        Some(filter) => try_embed_projection(projection, filter),
        None => Ok(None),
    }
}
