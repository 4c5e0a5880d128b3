//! Deals the batches of few streams out to more threads, which take them as they are ready.
//!
//! DataFusion's exchange runs each input ahead in a task of its own and sends its batches to the outputs in
//! turn. These queue at outputs that are slow while others wait, and count in the query's memory with all
//! bytes of their buffers, even where a hundred of them are slices of the same ones. Here an output that
//! wants a batch takes the next one of an input that nobody else reads just now: nothing queues, nothing
//! counts, and no thread waits while an input is free.
//!
//! [`inputs`] has the streams that are shared.

mod inputs;

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, SendableRecordBatchStream,
};
use futures::stream;
use parking_lot::Mutex;

use self::inputs::Inputs;
use crate::one_input::only_input;
use crate::rule::swapped;

/// The rule that swaps exchanges that deal batches out in turn for [`DealExec`].
#[derive(Debug, Default)]
pub struct DealBatches;

impl PhysicalOptimizerRule for DealBatches {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            let exchange = node.downcast_ref::<RepartitionExec>();
            let deal = exchange.and_then(DealExec::instead_of);
            Ok(deal.map(|deal| Arc::new(deal) as _))
        })
    }

    fn name(&self) -> &str {
        "DealBatches"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An operator whose outputs share the batches of its inputs, each batch for whichever output asks first.
#[derive(Debug)]
pub struct DealExec {
    input: Arc<dyn ExecutionPlan>,
    /// Those of the exchange; nothing changes a plan behind [`DealBatches`].
    properties: Arc<PlanProperties>,
    run: Mutex<Run>,
}

/// How far outputs have begun to run.
#[derive(Debug, Default)]
enum Run {
    #[default]
    New,
    /// The inputs run, and so many outputs have not begun.
    Begun(Arc<Inputs>, usize),
    /// Inputs belong to the outputs alone, and end with these.
    Taken,
}

impl DealExec {
    /// What does the work of `exchange`, if that deals batches out in turn and keeps no order of several inputs.
    fn instead_of(exchange: &RepartitionExec) -> Option<Self> {
        let is_in_turn = matches!(exchange.partitioning(), Partitioning::RoundRobinBatch(_));
        (is_in_turn && !exchange.preserve_order()).then(|| Self {
            input: Arc::clone(exchange.input()),
            properties: Arc::clone(exchange.properties()),
            run: Mutex::default(),
        })
    }

    fn num_inputs(&self) -> usize {
        self.input.output_partitioning().partition_count()
    }

    fn num_outputs(&self) -> usize {
        self.properties.partitioning.partition_count()
    }

    /// The inputs, all running, for one more output.
    fn taken(&self, context: &Arc<TaskContext>) -> Result<Arc<Inputs>> {
        let mut run = self.run.lock();
        let (inputs, num_left) = match std::mem::replace(&mut *run, Run::Taken) {
            Run::New => {
                let begin = |partition| self.input.execute(partition, Arc::clone(context));
                let streams = (0..self.num_inputs()).map(begin);
                let inputs = Inputs::new(streams.collect::<Result<_>>()?);
                (Arc::new(inputs), self.num_outputs())
            }
            Run::Begun(inputs, num_left) => (inputs, num_left),
            Run::Taken => return internal_err!("each output runs once"),
        };
        if num_left > 1 {
            *run = Run::Begun(Arc::clone(&inputs), num_left - 1);
        }
        Ok(inputs)
    }
}

impl DisplayAs for DealExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (num_inputs, num_outputs) = (self.num_inputs(), self.num_outputs());
        write!(f, "DealExec: inputs={num_inputs}, outputs={num_outputs}")
    }
}

impl ExecutionPlan for DealExec {
    fn name(&self) -> &'static str {
        "DealExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.num_inputs() == 1]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
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
        Ok(Arc::new(Self {
            input: only_input(children)?,
            properties: Arc::clone(&self.properties),
            run: Mutex::default(),
        }))
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let inputs = self.taken(&context)?;
        let batches = stream::unfold(inputs, |inputs| async move {
            let batch = inputs.next().await?;
            Some((batch, inputs))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }

    fn child_stats_requests(&self, _partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(None)]
    }

    /// Of all outputs together; nobody knows what one of them will take.
    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match inputs {
            [input] if args.partition().is_none() => Ok(Arc::clone(input)),
            _ => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
    use datafusion::execution::TaskContext;
    use datafusion::physical_plan::repartition::RepartitionExec;
    use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
    use datafusion::physical_plan::test::TestMemoryExec;
    use datafusion::physical_plan::{ExecutionPlan, Partitioning};
    use futures::executor::block_on;
    use futures::{StreamExt, TryStreamExt, stream};

    use super::DealExec;

    fn batch(num_rows: u64) -> RecordBatch {
        let values: ArrayRef = Arc::new(UInt64Array::from_iter_values(0..num_rows));
        RecordBatch::try_from_iter([("x", values)]).unwrap()
    }

    #[test]
    fn it_knows_the_rows_of_its_input_and_runs_each_output_once() {
        let batches = [vec![batch(10), batch(0), batch(20)]];
        let schema = batches[0][0].schema();
        let input = TestMemoryExec::try_new_exec(&batches, schema, None).unwrap();
        let dealt = Partitioning::RoundRobinBatch(2);
        let exchange = RepartitionExec::try_new(input, dealt).unwrap();
        let exec = Arc::new(DealExec::instead_of(&exchange).unwrap());
        let told = StatisticsContext::new().compute(exec.as_ref(), &StatisticsArgs::new());
        assert_eq!(told.unwrap().num_rows.get_value(), Some(&30));
        let context = Arc::new(TaskContext::default());
        for exec in [
            Arc::clone(&exec) as Arc<dyn ExecutionPlan>,
            exec.reset_state().unwrap(),
        ] {
            let outputs = [0, 1].map(|i| exec.execute(i, Arc::clone(&context)).unwrap());
            assert!(exec.execute(0, Arc::clone(&context)).is_err());
            let found = block_on(async {
                let batches = stream::iter(outputs).flatten();
                batches
                    .map_ok(|batch| batch.num_rows())
                    .try_collect::<Vec<_>>()
                    .await
            });
            assert_eq!(found.unwrap(), [10, 20], "without the one that is empty");
        }
    }
}
