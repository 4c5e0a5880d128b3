//! What operators with one input do alike, and the operator that only reads its input in its own way.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};

/// The input that an operator is given anew.
pub(crate) fn only_input(inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
    match <[Arc<dyn ExecutionPlan>; 1]>::try_from(inputs) {
        Ok([input]) => Ok(input),
        Err(inputs) => internal_err!("one input, not {}", inputs.len()),
    }
}

/// A way to read the batches of an operator, which stay as they are.
pub(crate) trait Reading: fmt::Debug + Send + Sync + 'static {
    /// Name of the operator that reads so.
    const NAME: &'static str;

    /// The same way for another operator.
    fn anew(&self) -> Self;

    /// Called before a partition is run.
    ///
    /// # Errors
    /// If it must not run.
    fn begin(&self) -> Result<()> {
        Ok(())
    }

    /// The stream of a partition, read in this way.
    fn read(
        &self,
        batches: SendableRecordBatchStream,
        partition: usize,
    ) -> SendableRecordBatchStream;

    /// What was counted meanwhile.
    fn metrics(&self) -> Option<MetricsSet> {
        None
    }
}

/// An operator that is read in a way of its own; plans know the same of it as without.
#[derive(Debug)]
pub(crate) struct ReadExec<R> {
    input: Arc<dyn ExecutionPlan>,
    reading: R,
}

impl<R> ReadExec<R> {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, reading: R) -> Self {
        Self { input, reading }
    }

    /// The operator that is read.
    pub(crate) fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    pub(crate) fn reading(&self) -> &R {
        &self.reading
    }
}

impl<R: Reading> DisplayAs for ReadExec<R> {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(R::NAME)
    }
}

impl<R: Reading> ExecutionPlan for ReadExec<R> {
    fn name(&self) -> &str {
        R::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        let input = only_input(children)?;
        Ok(Arc::new(Self::new(input, self.reading.anew())))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.reading.begin()?;
        let batches = self.input.execute(partition, context)?;
        Ok(self.reading.read(batches, partition))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match inputs {
            [input] => Ok(Arc::clone(input)),
            _ => internal_err!("statistics of one input, not {}", inputs.len()),
        }
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.reading.metrics()
    }
}
