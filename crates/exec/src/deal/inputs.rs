//! Streams that outputs share: each is read by one of them at a time, and given to the one that has waited longest.

use std::collections::VecDeque;
use std::fmt;

use arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::StreamExt;
use futures::channel::oneshot;
use parking_lot::Mutex;

use crate::handover::hand_over;

/// The streams that are dealt out; each is read by one output at a time.
pub(super) struct Inputs(Mutex<State>);

struct State {
    /// Streams that nobody reads just now, the one that has waited longest first.
    idle: VecDeque<SendableRecordBatchStream>,
    /// Outputs that want one, the one that has waited longest first.
    waiting: VecDeque<oneshot::Sender<SendableRecordBatchStream>>,
    /// Streams that have not ended.
    num_running: usize,
}

impl fmt::Debug for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inputs({} running)", self.0.lock().num_running)
    }
}

impl Inputs {
    /// All of these streams, which nobody reads yet.
    pub(super) fn new(idle: VecDeque<SendableRecordBatchStream>) -> Self {
        Self(Mutex::new(State {
            num_running: idle.len(),
            waiting: VecDeque::new(),
            idle,
        }))
    }

    /// The next batch with rows of any input; `None` after the last one.
    pub(super) async fn next(&self) -> Option<Result<RecordBatch>> {
        while let Some(mut reading) = self.take().await {
            let batch = match &mut reading.stream {
                Some(stream) => stream.next().await,
                None => None,
            };
            match batch {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    if reading.give_back() {
                        hand_over().await;
                    }
                    return Some(Ok(batch));
                }
                end => {
                    reading.end();
                    if end.is_some() {
                        return end;
                    }
                }
            }
        }
        None
    }

    /// An input that nobody reads, as soon as there is one; `None` if all have ended.
    async fn take(&self) -> Option<Reading<'_>> {
        let receiver = {
            let mut state = self.0.lock();
            if let Some(stream) = state.idle.pop_front() {
                return Some(Reading::of(self, stream));
            }
            if state.num_running == 0 {
                return None;
            }
            let (sender, receiver) = oneshot::channel();
            state.waiting.push_back(sender);
            receiver
        };
        let mut waiting = Waiting {
            inputs: self,
            receiver,
        };
        let stream = (&mut waiting.receiver).await.ok()?;
        Some(Reading::of(self, stream))
    }

    /// Gives the stream to the output that has waited longest, if any does; true if so.
    fn give(&self, mut stream: SendableRecordBatchStream) -> bool {
        let mut state = self.0.lock();
        while let Some(output) = state.waiting.pop_front() {
            match output.send(stream) {
                Ok(()) => return true,
                // It waits no more.
                Err(unsent) => stream = unsent,
            }
        }
        state.idle.push_back(stream);
        false
    }
}

/// An output that waits for a stream.
struct Waiting<'a> {
    inputs: &'a Inputs,
    receiver: oneshot::Receiver<SendableRecordBatchStream>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // A stream may have come that nobody has taken.
        self.receiver.close();
        if let Ok(Some(stream)) = self.receiver.try_recv() {
            self.inputs.give(stream);
        }
    }
}

/// A stream that one output reads; others may when this is dropped.
struct Reading<'a> {
    inputs: &'a Inputs,
    /// None if it has ended or been given back.
    stream: Option<SendableRecordBatchStream>,
}

impl<'a> Reading<'a> {
    fn of(inputs: &'a Inputs, stream: SendableRecordBatchStream) -> Self {
        let stream = Some(stream);
        Self { inputs, stream }
    }

    /// Lets others read; true if one has waited for that.
    fn give_back(&mut self) -> bool {
        self.stream
            .take()
            .is_some_and(|stream| self.inputs.give(stream))
    }

    /// Nobody reads the stream any more.
    fn end(&mut self) {
        if self.stream.take().is_some() {
            let mut state = self.inputs.0.lock();
            state.num_running -= 1;
            if state.num_running == 0 {
                // Whoever waits is told so.
                state.waiting.clear();
            }
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // What has panicked must not be asked again.
            self.end();
        }
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::sync::Arc;
    use std::time::Duration;

    use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt64Array};
    use arrow::datatypes::UInt64Type;
    use datafusion::error::{DataFusionError, Result};
    use datafusion::physical_plan::SendableRecordBatchStream;
    use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
    use futures::{StreamExt, stream};
    use tokio::runtime::{Builder, Runtime};

    use super::Inputs;

    /// How long a test may take before it hangs.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn batch(values: Range<u64>) -> RecordBatch {
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

    /// Batches of one value each, with a pause of `wait` before each of them.
    fn paced(range: Range<u64>, wait: Duration) -> SendableRecordBatchStream {
        let batches = stream::iter(range).then(move |i| async move {
            tokio::time::sleep(wait).await;
            Ok(batch(i..i + 1))
        });
        Box::pin(RecordBatchStreamAdapter::new(batch(0..1).schema(), batches))
    }

    fn runtime() -> Runtime {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(4).enable_time().build().unwrap()
    }

    /// All values that so many outputs get, in no order.
    fn drained(streams: Vec<SendableRecordBatchStream>, num_outputs: usize) -> Vec<u64> {
        let inputs = Arc::new(Inputs::new(streams.into()));
        let output = |inputs: Arc<Inputs>| async move {
            let mut found = Vec::new();
            while let Some(batch) = inputs.next().await {
                found.extend(values(&batch.unwrap()));
            }
            found
        };
        let runtime = runtime();
        let tasks: Vec<_> = (0..num_outputs)
            .map(|_| runtime.spawn(output(Arc::clone(&inputs))))
            .collect();
        let all = futures::future::join_all(tasks);
        let found = runtime.block_on(async { tokio::time::timeout(PATIENCE, all).await });
        let found = found.expect("no output hangs");
        found.into_iter().flat_map(Result::unwrap).collect()
    }

    #[test]
    fn every_batch_goes_to_one_output_whoever_waits() {
        for (num_inputs, num_outputs) in [(1, 4), (3, 8), (5, 2), (0, 3)] {
            let wait = Duration::from_micros(50);
            let input = |i: u64| paced(100 * i..100 * i + 100, wait);
            let mut found = drained((0..num_inputs).map(input).collect(), num_outputs);
            found.sort_unstable();
            assert_eq!(found, (0..100 * num_inputs).collect::<Vec<_>>());
        }
    }

    #[test]
    fn outputs_that_a_slow_input_lets_wait_take_the_fast_one() {
        let slow = paced(0..1, PATIENCE * 10);
        let fast = paced(10..60, Duration::from_millis(1));
        let inputs = Arc::new(Inputs::new([slow, fast].into()));
        let runtime = runtime();
        // One waits for the slow input, and all others share the fast one.
        let take = |inputs: Arc<Inputs>| async move { inputs.next().await.unwrap().unwrap() };
        let held = runtime.spawn(take(Arc::clone(&inputs)));
        let taken = runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let outputs = (0..50).map(|_| tokio::spawn(take(Arc::clone(&inputs))));
            let all = futures::future::join_all(outputs);
            tokio::time::timeout(PATIENCE, all).await
        });
        assert_eq!(taken.expect("nobody waits for the slow one").len(), 50);
        held.abort();
    }

    #[test]
    fn an_output_that_is_dropped_while_it_reads_leaves_its_input_to_others() {
        let inputs = Arc::new(Inputs::new([paced(0..5, Duration::from_millis(20))].into()));
        let runtime = runtime();
        let (dropped, waiting) = (Arc::clone(&inputs), Arc::clone(&inputs));
        let found = runtime.block_on(async {
            // The second one is given what the first one had, and is gone before it takes it.
            let mut reading = Box::pin(dropped.next());
            let mut waiting = Box::pin(waiting.next());
            let moment = Duration::from_millis(1);
            assert!(tokio::time::timeout(moment, &mut reading).await.is_err());
            assert!(tokio::time::timeout(moment, &mut waiting).await.is_err());
            drop(reading);
            drop(waiting);
            let rest = stream::unfold(inputs, |inputs| async move {
                let batch = inputs.next().await?;
                Some((values(&batch.unwrap()), inputs))
            });
            tokio::time::timeout(PATIENCE, rest.concat()).await
        });
        assert_eq!(found.expect("no output hangs"), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn nobody_asks_an_input_again_that_has_failed() {
        let failing = stream::iter([1, 2]).map(|i| -> Result<RecordBatch> {
            assert_eq!(i, 1, "it is asked again");
            Err(DataFusionError::Execution("damaged".to_owned()))
        });
        let schema = batch(0..1).schema();
        let failing: SendableRecordBatchStream =
            Box::pin(RecordBatchStreamAdapter::new(schema, failing));
        let inputs = Inputs::new([failing].into());
        let runtime = runtime();
        assert!(runtime.block_on(inputs.next()).unwrap().is_err());
        assert!(runtime.block_on(inputs.next()).is_none());
    }
}
