//! Deals the batches of few streams out to more threads, which take them as they are ready.
//!
//! DataFusion's exchange runs each input ahead in a task of its own and sends its batches to the outputs in
//! turn. These queue at outputs that are slow while others wait, and count in the query's memory with all
//! bytes of their buffers, even where a hundred of them are slices of the same ones. Here an output that
//! wants a batch takes the next one of an input that nobody else reads just now: nothing queues, nothing
//! counts, and no thread waits while an input is free.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, SendableRecordBatchStream,
};
use futures::lock::{Mutex, MutexGuard};
use futures::{StreamExt, stream};
use parking_lot::Mutex as SyncMutex;

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
    properties: Arc<PlanProperties>,
    /// Begun by the first output that is run, for all.
    inputs: SyncMutex<Option<Arc<Inputs>>>,
}

impl DealExec {
    /// What does the work of `exchange`, if that deals batches out in turn and keeps no order of several inputs.
    fn instead_of(exchange: &RepartitionExec) -> Option<Self> {
        let is_in_turn = matches!(exchange.partitioning(), Partitioning::RoundRobinBatch(_));
        (is_in_turn && !exchange.preserve_order()).then(|| Self {
            input: Arc::clone(exchange.input()),
            properties: Arc::clone(exchange.properties()),
            inputs: SyncMutex::default(),
        })
    }

    /// The inputs, all running.
    fn begun(&self, context: &Arc<TaskContext>) -> Result<Arc<Inputs>> {
        let mut inputs = self.inputs.lock();
        if let Some(inputs) = inputs.as_ref() {
            return Ok(Arc::clone(inputs));
        }
        let num_inputs = self.input.output_partitioning().partition_count();
        let begin = |partition| self.input.execute(partition, Arc::clone(context));
        let streams = (0..num_inputs).map(|i| begin(i).map(|stream| Mutex::new(Some(stream))));
        let begun = Arc::new(Inputs {
            streams: streams.collect::<Result<_>>()?,
            num_waiting: AtomicUsize::new(0),
        });
        Ok(Arc::clone(inputs.insert(begun)))
    }
}

impl DisplayAs for DealExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_inputs = self.input.output_partitioning().partition_count();
        let num_outputs = self.properties.partitioning.partition_count();
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
        vec![self.input.output_partitioning().partition_count() == 1]
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
            inputs: SyncMutex::default(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let inputs = self.begun(&context)?;
        let home = partition % inputs.streams.len().max(1);
        let batches = stream::unfold(inputs, move |inputs| async move {
            let batch = inputs.next(home).await?;
            Some((batch, inputs))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }
}

/// A stream until it has ended.
type Input = Option<SendableRecordBatchStream>;

/// The streams that are dealt out; each is read by one output at a time.
struct Inputs {
    streams: Vec<Mutex<Input>>,
    /// Outputs that wait for a stream which another one reads.
    num_waiting: AtomicUsize,
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inputs({})", self.streams.len())
    }
}

impl Inputs {
    /// The next batch of any input, for an output that begins to look at `home`; `None` after the last one.
    async fn next(&self, home: usize) -> Option<Result<RecordBatch>> {
        while let Some(mut input) = self.running(home).await {
            let batch = match input.as_mut() {
                Some(stream) => stream.next().await,
                None => None,
            };
            if batch.is_some() {
                drop(input);
                self.let_others_go_on().await;
                return batch;
            }
            *input = None;
        }
        None
    }

    /// An input that has not ended, one that nobody reads if there is any.
    async fn running(&self, home: usize) -> Option<MutexGuard<'_, Input>> {
        let (before, from) = self.streams.split_at(home.min(self.streams.len()));
        let in_turn = || from.iter().chain(before);
        for input in in_turn() {
            if let Some(input) = input.try_lock().filter(|input| input.is_some()) {
                return Some(input);
            }
        }
        let _waiting = Waiting::begin(&self.num_waiting);
        for input in in_turn() {
            let input = input.lock().await;
            if input.is_some() {
                return Some(input);
            }
        }
        None
    }

    /// Gives control back if others wait. The runtime lets the task that was woken last run next, and by the
    /// same thread: that output would wait until this one has worked on its batch, and on all that follow.
    async fn let_others_go_on(&self) {
        let mut has_yielded = self.num_waiting.load(Ordering::Relaxed) == 0;
        poll_fn(|context| {
            if std::mem::replace(&mut has_yielded, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

/// Counts an output as one that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(num_waiting: &'a AtomicUsize) -> Self {
        num_waiting.fetch_add(1, Ordering::Relaxed);
        Self(num_waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
    use arrow::datatypes::UInt64Type;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::execution::TaskContext;
    use datafusion::physical_plan::repartition::RepartitionExec;
    use datafusion::physical_plan::{ExecutionPlan, Partitioning};
    use futures::executor::block_on;
    use futures::{StreamExt, TryStreamExt};

    use super::DealExec;

    fn batch(values: std::ops::Range<u64>) -> RecordBatch {
        let values: ArrayRef = Arc::new(UInt64Array::from_iter_values(values));
        RecordBatch::try_from_iter([("x", values)]).unwrap()
    }

    fn values(batch: &RecordBatch) -> Vec<u64> {
        batch
            .column(0)
            .as_primitive::<UInt64Type>()
            .values()
            .to_vec()
    }

    /// `num_inputs` inputs of three batches each, dealt out to `num_outputs`.
    fn deal(num_inputs: u64, num_outputs: usize) -> DealExec {
        let of_input = |i: u64| {
            (3 * i..3 * i + 3)
                .map(|j| batch(10 * j..10 * j + 10))
                .collect()
        };
        let inputs: Vec<Vec<RecordBatch>> = (0..num_inputs).map(of_input).collect();
        let schema = batch(0..1).schema();
        let input = MemorySourceConfig::try_new_exec(&inputs, schema, None).unwrap();
        let exchange =
            RepartitionExec::try_new(input, Partitioning::RoundRobinBatch(num_outputs)).unwrap();
        DealExec::instead_of(&exchange).unwrap()
    }

    #[test]
    fn every_batch_goes_to_one_output_whoever_asks() {
        for (num_inputs, num_outputs) in [(1, 4), (3, 4), (2, 7)] {
            let exec = deal(num_inputs, num_outputs);
            let context = Arc::new(TaskContext::default());
            let outputs = (0..num_outputs).map(|i| exec.execute(i, Arc::clone(&context)).unwrap());
            let mut outputs: Vec<_> = outputs.collect();
            let mut seen = Vec::new();
            // Each output takes one batch, then the last one takes all that is left.
            for output in &mut outputs {
                if let Some(batch) = block_on(output.next()) {
                    seen.extend(values(&batch.unwrap()));
                }
            }
            let rest: Vec<_> = block_on(outputs.pop().unwrap().try_collect()).unwrap();
            seen.extend(rest.iter().flat_map(values));
            for output in outputs {
                assert_eq!(block_on(output.count()), 0);
            }
            assert_eq!(seen.len() as u64, 30 * num_inputs);
            let different: BTreeSet<u64> = seen.into_iter().collect();
            assert_eq!(different.len() as u64, 30 * num_inputs);
        }
    }

    #[test]
    fn an_output_that_is_dropped_leaves_its_batches_to_others() {
        let exec = deal(1, 2);
        let context = Arc::new(TaskContext::default());
        let [first, second] = [0, 1].map(|i| exec.execute(i, Arc::clone(&context)).unwrap());
        drop(first);
        let batches: Vec<_> = block_on(second.try_collect()).unwrap();
        assert_eq!(batches.len(), 3);
    }
}
