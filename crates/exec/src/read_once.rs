//! Lets a join that compares all rows of both sides read its left side only once.
//!
//! DataFusion's join runs its left side again, into a temporary file, when memory ends while it
//! collects these rows. Sources and exchanges of a plan cannot run twice: they have given their rows
//! away. Besides, that way gives rows of outer joins twice where the right side has several
//! partitions. So the second run is an error, the same as without temporary files.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::config::ConfigOptions;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};

use crate::one_input::{ReadExec, Reading};
use crate::rule::swapped;

/// The rule that guards left sides of such joins.
#[derive(Debug)]
pub struct ReadLeftOnce;

impl PhysicalOptimizerRule for ReadLeftOnce {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() else {
                return Ok(None);
            };
            let (left, right) = (Arc::clone(join.left()), Arc::clone(join.right()));
            let left = Arc::new(ReadExec::new(left, Once::default()));
            replace_children_if_necessary(Arc::clone(node), vec![left, right]).map(Some)
        })
    }

    fn name(&self) -> &str {
        "ReadLeftOnce"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Fails when it begins a second time. Such an input has one partition.
#[derive(Debug, Default)]
struct Once {
    has_begun: AtomicBool,
}

impl Reading for Once {
    const NAME: &'static str = "ReadOnceExec";

    fn anew(&self) -> Self {
        Self::default()
    }

    fn begin(&self) -> Result<()> {
        if self.has_begun.swap(true, Ordering::Relaxed) {
            return Err(DataFusionError::ResourcesExhausted(
                "the rows of one side of a JOIN do not fit".to_owned(),
            ));
        }
        Ok(())
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        _partition: usize,
    ) -> SendableRecordBatchStream {
        batches
    }
}
