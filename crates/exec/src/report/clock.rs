//! Takes the time of work that happens in tasks of its own, where no reader of a stream waits for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::metrics::Time;
use futures::{Stream, StreamExt};

/// Hears how long each batch of an input was worked on.
pub(crate) trait Listener: Send + Sync + 'static {
    /// The reader came back for more, or ended, so long after it got these rows.
    fn worked(&self, num_rows: usize, elapsed: Duration);
}

/// An input that tells how long its reader works on each batch: from the batch until the next is asked
/// for. Right for readers that do nothing else in between.
pub(crate) struct Consumed<L: Listener> {
    input: SendableRecordBatchStream,
    listener: Arc<L>,
    at_work: Option<(usize, Instant)>,
}

impl<L: Listener> Consumed<L> {
    /// Lets `listener` hear of the work on the batches of `input`.
    pub(crate) fn stream(
        input: SendableRecordBatchStream,
        listener: &Arc<L>,
    ) -> SendableRecordBatchStream {
        Box::pin(Self {
            input,
            listener: Arc::clone(listener),
            at_work: None,
        })
    }

    fn end_work(&mut self) {
        if let Some((num_rows, started)) = self.at_work.take() {
            self.listener.worked(num_rows, started.elapsed());
        }
    }
}

impl<L: Listener> Stream for Consumed<L> {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.end_work();
        let polled = self.input.poll_next_unpin(cx);
        if let Poll::Ready(Some(Ok(batch))) = &polled {
            self.at_work = Some((batch.num_rows(), Instant::now()));
        }
        polled
    }
}

impl<L: Listener> RecordBatchStream for Consumed<L> {
    fn schema(&self) -> SchemaRef {
        self.input.schema()
    }
}

/// The future, whose time at work (not waiting) is added to `time`.
pub(crate) async fn timed<F: Future>(time: Time, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(move |cx| {
        let started = Instant::now();
        let polled = future.as_mut().poll(cx);
        time.add_elapsed(started);
        polled
    })
    .await
}
