//! Sends the batches of a partition to who reads the result, some at a time where they come fast.
//!
//! Whoever waits is woken by what is sent. That, and the change of threads that follows, takes as long as
//! making a small batch.

use std::task::Poll;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use basalt_analyzer::plan_error;
use basalt_error::Result;
use basalt_profile::{check_limit, room_bytes};
use basalt_types::values_bytes;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::{StreamExt, poll};
use tokio::sync::mpsc;

/// Bytes from which on batches wait for no more.
const SENT_BYTES: usize = 2 << 20;

/// The part of the query's free memory that is enough, too.
const SENT_PART: usize = 64;

/// Time after which batches wait for no more: somebody may look at the first.
const PATIENCE: Duration = Duration::from_millis(1);

/// Who reads a result.
pub(crate) trait BatchReader {
    /// Takes a batch; false if no more are wanted.
    fn read(&mut self, batch: RecordBatch) -> Result<bool>;

    /// Called while the next batch is a while in coming.
    fn on_wait(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(RecordBatch) -> Result<bool>> BatchReader for F {
    fn read(&mut self, batch: RecordBatch) -> Result<bool> {
        self(batch)
    }
}

/// Batches that are sent together.
pub(crate) type Sent = Result<Vec<RecordBatch>>;

/// Sends all batches of a stream, or those before an error and the error; ends early if nobody reads.
pub(crate) async fn send_all(stream: SendableRecordBatchStream, sender: mpsc::Sender<Sent>) {
    let mut stream = stream.fuse();
    // Also of the wait for the first: where batches are slow, each goes at once.
    let mut started = Instant::now();
    while let Some(first) = stream.next().await {
        let most_bytes = SENT_BYTES.min(room_bytes() / SENT_PART);
        let (mut batches, mut num_bytes) = (Vec::new(), 0);
        let mut next = Some(first);
        while let Some(batch) = next.take() {
            // Here and not by who receives it: that is some batches later.
            let batch = batch.map_err(plan_error);
            match batch.and_then(|batch| check_limit().map(|()| batch)) {
                Ok(batch) => {
                    num_bytes += values_bytes(batch.columns());
                    batches.push(batch);
                }
                Err(e) => {
                    // A receiver that is gone needs no error any more.
                    let _ = sender.send(Ok(batches)).await;
                    let _ = sender.send(Err(e)).await;
                    return;
                }
            }
            if num_bytes < most_bytes
                && started.elapsed() < PATIENCE
                && let Poll::Ready(ready) = poll!(stream.next())
            {
                next = ready;
            }
        }
        if sender.send(Ok(batches)).await.is_err() {
            return;
        }
        started = Instant::now();
    }
}
