//! Notes what the plans of a query did, and keeps the choices of the last queries.
//!
//! | module | owns |
//! |---|---|
//! | [`choices`] | the choices of the last queries, for `system.adaptive_choices` |
//! | [`names`] | what columns of a plan stand for |
//! | [`tree`] | a plan that was measured, for EXPLAIN ANALYZE |

pub(crate) mod choices;
mod names;
pub(crate) mod tree;

use std::sync::Arc;
use std::time::Duration;

use basalt_adapt::ArmRecord;
use basalt_exec::report::{self, Decision};
use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;

use names::Names;
use tree::Node;

/// What was noted of the plans that one query ran: its own, and those of its constant subqueries.
#[derive(Debug)]
pub(crate) struct Observation {
    /// Choices of kernels before the query, if its operators are measured.
    kernels: Option<Vec<ArmRecord>>,
    runs: Mutex<Vec<Run>>,
    decisions: Mutex<Vec<(String, Decision)>>,
}

/// A plan that ran.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) elapsed: Duration,
    pub(crate) tree: Node,
}

impl Observation {
    /// Nothing yet; measures every operator if `is_measured`.
    pub(crate) fn new(is_measured: bool) -> Self {
        Self {
            kernels: is_measured.then(basalt_adapt::decisions),
            runs: Mutex::default(),
            decisions: Mutex::default(),
        }
    }

    /// Whether every operator is to be measured.
    pub(crate) fn is_measured(&self) -> bool {
        self.kernels.is_some()
    }

    /// Notes a plan that ran.
    pub(crate) fn note(&self, plan: &Arc<dyn ExecutionPlan>, elapsed: Duration) {
        let found = report::decisions(plan.as_ref());
        self.decisions.lock().extend(found);
        if self.is_measured() {
            let tree = Node::of(plan, &mut Names::default());
            self.runs.lock().push(Run { elapsed, tree });
        }
    }

    /// The plans that ran, in their order.
    pub(crate) fn take_runs(&self) -> Vec<Run> {
        std::mem::take(&mut *self.runs.lock())
    }

    /// The decisions of all operators, each with its operator's name.
    pub(crate) fn take_decisions(&self) -> Vec<(String, Decision)> {
        std::mem::take(&mut *self.decisions.lock())
    }

    /// What kernels did since the query began: arms with the pulls of this time. Queries that run
    /// meanwhile count, too.
    pub(crate) fn kernels(&self) -> Vec<ArmRecord> {
        let before = self.kernels.as_deref().unwrap_or_default();
        let pulls_before = |arm: &ArmRecord| {
            let same = |b: &&ArmRecord| b.name == arm.name && b.arm == arm.arm;
            before.iter().find(same).map_or(0, |b| b.pulls)
        };
        let since = basalt_adapt::decisions().into_iter().map(|arm| {
            let pulls = arm.pulls - pulls_before(&arm);
            ArmRecord { pulls, ..arm }
        });
        since.filter(|arm| arm.pulls > 0).collect()
    }
}
