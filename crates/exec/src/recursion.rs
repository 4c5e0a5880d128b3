//! Ends WITH RECURSIVE that would go on for ever: counts its rounds and looks whether the query may go on.
//!
//! DataFusion runs the recursive branch once for each round, as often as the round before gave rows.
//! Both branches are put below a [`RoundExec`]: the branch that starts sets the count back, so that a
//! recursion inside another one begins anew, and the recursive one counts.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use basalt_analyzer::into_plan_error;
use basalt_error::{Error, ErrorCode};
use datafusion::common::config::ConfigOptions;
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;

use crate::QueryControl;

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
        Arc::new(RoundExec {
            branch: Arc::clone(branch),
            control: Arc::clone(&self.control),
            max_rounds: self.max_rounds,
            num_rounds: Arc::clone(num_rounds),
            is_start,
        })
    }
}

impl PhysicalOptimizerRule for BoundRecursions {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let count = |node: Arc<dyn ExecutionPlan>| {
            let Some(recursion) = node.downcast_ref::<RecursiveQueryExec>() else {
                return Ok(Transformed::no(node));
            };
            let num_rounds = Arc::default();
            let branches = vec![
                self.branch(recursion.static_term(), &num_rounds, true),
                self.branch(recursion.recursive_term(), &num_rounds, false),
            ];
            replace_children_if_necessary(node, branches).map(Transformed::yes)
        };
        plan.transform_up(count).data()
    }

    fn name(&self) -> &str {
        "BoundRecursions"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A branch of a recursion.
#[derive(Debug)]
struct RoundExec {
    branch: Arc<dyn ExecutionPlan>,
    control: Arc<QueryControl>,
    max_rounds: u64,
    /// Rounds of the recursion that runs; both of its branches share it.
    num_rounds: Arc<AtomicU64>,
    is_start: bool,
}

impl RoundExec {
    /// Counts a round that begins.
    fn begin(&self) -> basalt_error::Result<()> {
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

impl DisplayAs for RoundExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RoundExec")
    }
}

impl ExecutionPlan for RoundExec {
    fn name(&self) -> &str {
        "RoundExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.branch.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.branch]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
            Ok([branch]) => Ok(Arc::new(Self {
                branch,
                control: Arc::clone(&self.control),
                max_rounds: self.max_rounds,
                num_rounds: Arc::clone(&self.num_rounds),
                is_start: self.is_start,
            })),
            Err(_) => internal_err!("a round of a recursion is one branch"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.begin().map_err(into_plan_error)?;
        let control = Arc::clone(&self.control);
        let batches = self.branch.execute(partition, context)?;
        let batches = batches.map(move |batch| {
            control.check().map_err(into_plan_error)?;
            batch
        });
        let schema = self.branch.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}
