//! Feeds batches to a step until both have no more.

use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_analyzer::into_plan_error;
use datafusion::error::Result;
use datafusion::physical_plan::SendableRecordBatchStream;
use futures::StreamExt;

use super::Step;
use super::stream_exec::MAX_BATCH_ROWS;
use crate::QueryControl;

/// Where a stream of a step is.
pub(super) enum State {
    /// The input may have more rows.
    Running(SendableRecordBatchStream, Box<dyn Step>),
    /// The input has ended, the step may have more rows.
    Draining(Box<dyn Step>),
    /// The rows that the step gave at the end.
    Emitting(RecordBatch),
    /// Nothing comes any more.
    Ended,
}

impl State {
    /// The next batch, if the query may go on: a step can make so many rows of few that its input's
    /// checks do not end it.
    pub(super) async fn next_of_query(
        self,
        control: Option<Arc<QueryControl>>,
    ) -> Option<(Result<RecordBatch>, Self)> {
        if matches!(self, Self::Ended) {
            return None;
        }
        if let Some(Err(e)) = control.map(|c| c.check()) {
            return Some((Err(into_plan_error(e)), Self::Ended));
        }
        self.next().await
    }

    async fn next(self) -> Option<(Result<RecordBatch>, Self)> {
        let (mut input, mut step) = match self {
            Self::Running(input, step) => (input, step),
            Self::Draining(step) => return Self::drain(step),
            Self::Emitting(batch) => return Self::slice(&batch),
            Self::Ended => return None,
        };
        while !step.is_done() {
            let ready = match step.ready() {
                Ok(Some(batch)) => Ok(batch),
                Ok(None) => match input.next().await {
                    Some(Ok(batch)) => step.push(batch).map_err(into_plan_error),
                    Some(Err(e)) => Err(e),
                    None => {
                        return match step.finish().map_err(into_plan_error) {
                            Ok(Some(batch)) => Self::slice(&batch),
                            Ok(None) => Self::drain(step),
                            Err(e) => Some((Err(e), Self::Ended)),
                        };
                    }
                },
                Err(e) => Err(into_plan_error(e)),
            };
            match ready {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => return Some((Ok(batch), Self::Running(input, step))),
                Err(e) => return Some((Err(e), Self::Ended)),
            }
        }
        None
    }

    fn drain(mut step: Box<dyn Step>) -> Option<(Result<RecordBatch>, Self)> {
        match step.ready().map_err(into_plan_error) {
            Ok(Some(batch)) => Some((Ok(batch), Self::Draining(step))),
            Ok(None) => None,
            Err(e) => Some((Err(e), Self::Ended)),
        }
    }

    /// The first rows of a batch that may be long.
    fn slice(batch: &RecordBatch) -> Option<(Result<RecordBatch>, Self)> {
        let len = batch.num_rows().min(MAX_BATCH_ROWS);
        let rest = batch.slice(len, batch.num_rows() - len);
        let next = if rest.num_rows() == 0 {
            Self::Ended
        } else {
            Self::Emitting(rest)
        };
        Some((Ok(batch.slice(0, len)), next))
    }
}
