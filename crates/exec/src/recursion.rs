//! Ends WITH RECURSIVE that would go on for ever: counts its rounds and looks whether the query may go on.
//!
//! DataFusion runs the recursive branch once for each round, as often as the round before gave rows.
//! Both branches are read by [`Round`]: the branch that starts sets the count back, so that a
//! recursion inside another one begins anew, and the recursive one counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_analyzer::into_plan_error;
use basalt_error::{Error, ErrorCode};
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};

use crate::QueryControl;
use crate::interruptible::until_end;
use crate::one_input::{ReadExec, Reading};
use crate::rule::swapped;

/// The rule that counts the rounds of recursions.
#[derive(Debug)]
pub struct BoundRecursions {
    control: Arc<QueryControl>,
    max_rounds: u64,
}

impl BoundRecursions {
    /// For the query that `control` belongs to; more than `max_rounds` are an error.
    pub fn new(control: Arc<QueryControl>, max_rounds: u64) -> Self {
        Self {
            control,
            max_rounds,
        }
    }

    fn branch(
        &self,
        branch: &Arc<dyn ExecutionPlan>,
        num_rounds: &Arc<AtomicU64>,
        is_start: bool,
    ) -> Arc<dyn ExecutionPlan> {
        let round = Round {
            control: Arc::clone(&self.control),
            max_rounds: self.max_rounds,
            num_rounds: Arc::clone(num_rounds),
            is_start,
        };
        Arc::new(ReadExec::new(Arc::clone(branch), round))
    }
}

impl PhysicalOptimizerRule for BoundRecursions {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            let Some(recursion) = node.downcast_ref::<RecursiveQueryExec>() else {
                return Ok(None);
            };
            let num_rounds = Arc::default();
            let branches = vec![
                self.branch(recursion.static_term(), &num_rounds, true),
                self.branch(recursion.recursive_term(), &num_rounds, false),
            ];
            replace_children_if_necessary(Arc::clone(node), branches).map(Some)
        })
    }

    fn name(&self) -> &str {
        "BoundRecursions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Counts the rounds of a recursion.
#[derive(Debug)]
struct Round {
    control: Arc<QueryControl>,
    max_rounds: u64,
    /// Rounds of the recursion that runs; both of its branches share it.
    num_rounds: Arc<AtomicU64>,
    is_start: bool,
}

impl Round {
    /// Counts a round that begins.
    fn count(&self) -> basalt_error::Result<()> {
        if self.is_start {
            self.num_rounds.store(0, Ordering::Relaxed);
            return Ok(());
        }
        self.control.check()?;
        if self.num_rounds.fetch_add(1, Ordering::Relaxed) < self.max_rounds {
            return Ok(());
        }
        let text = "Raise max_recursive_cte_evaluation_depth or let the recursion end with a WHERE";
        let text = format!("{text}: more than {} rounds", self.max_rounds);
        Err(Error::new(ErrorCode::TOO_DEEP_RECURSION, text))
    }
}

impl Reading for Round {
    const NAME: &'static str = "RoundExec";

    fn anew(&self) -> Self {
        Self {
            control: Arc::clone(&self.control),
            max_rounds: self.max_rounds,
            num_rounds: Arc::clone(&self.num_rounds),
            is_start: self.is_start,
        }
    }

    fn begin(&self) -> Result<()> {
        self.count().map_err(into_plan_error)
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        _partition: usize,
    ) -> SendableRecordBatchStream {
        until_end(&self.control, batches)
    }
}
