//! Gives the batches of all ranges in order, while tasks merge the next ones.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::metrics::{BaselineMetrics, Time};
use futures::{StreamExt, TryStreamExt, stream};

use super::cuts::KeyRange;
use super::merge::{Merged, Source, merged};
use super::plan::{Means, sequential_bytes};
use crate::sort::job::Batches;
use crate::sort::rows::joined_one;
use crate::sort::sort_exec::Limit;

/// A merge of runs, with the memory that it takes.
pub(super) struct Merging {
    source: Arc<Source>,
    ranges: Vec<KeyRange>,
    /// Ranges that are merged, or wait for others before them, at once.
    num_ahead: usize,
    memory: MemoryReservation,
}

impl Merging {
    /// A merge by such means; `memory` counts what it holds.
    ///
    /// # Errors
    /// If there is too little memory for one range at a time.
    pub(super) fn try_new(source: Source, means: Means, memory: MemoryReservation) -> Result<Self> {
        let parallel = means.parallel(&source.runs);
        let parallel = parallel.filter(|plan| memory.try_resize(plan.size_bytes).is_ok());
        let (ranges, num_ahead) = match parallel {
            Some(plan) => (
                KeyRange::cut(&source.runs, plan.range_bytes),
                plan.num_ahead,
            ),
            None => {
                memory.try_resize(sequential_bytes(&source.runs))?;
                (vec![KeyRange::default()], 1)
            }
        };
        Ok(Self {
            source: Arc::new(source),
            ranges,
            num_ahead,
            memory,
        })
    }

    /// How many ranges there are, and how many of them are merged at once.
    pub(super) fn num_ranges(&self) -> (usize, usize) {
        (self.ranges.len(), self.num_ahead.min(self.ranges.len()))
    }

    /// The wanted rows of all runs in order.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub(super) fn batches(self, limit: Limit, metrics: BaselineMetrics) -> Result<Batches> {
        let clock = metrics.elapsed_compute().clone();
        let all = match self.ranges.as_slice() {
            [one] => one_by_one(merged(&self.source, *one)?, clock),
            _ => in_parallel(self.source, self.ranges, self.num_ahead, clock),
        };
        Ok(wanted(all, limit, (metrics, self.memory)))
    }
}

/// The batches of one merge, each made by a task when it is asked for.
fn one_by_one(merge: Merged, clock: Time) -> Batches {
    let next = move |mut merge: Merged| {
        let clock = clock.clone();
        joined_one(SpawnedTask::spawn(async move {
            let _timer = clock.timer();
            let batch = merge.next().transpose()?;
            Ok(batch.map(|batch| (batch, merge)))
        }))
    };
    stream::try_unfold(merge, next).boxed()
}

/// The batches of ranges, a few of which tasks merge ahead of the reader.
fn in_parallel(
    source: Arc<Source>,
    ranges: Vec<KeyRange>,
    num_ahead: usize,
    clock: Time,
) -> Batches {
    let tasks = stream::iter(ranges).map(move |range| {
        let (source, clock) = (Arc::clone(&source), clock.clone());
        joined_one(SpawnedTask::spawn(async move {
            let _timer = clock.timer();
            let batches: Vec<RecordBatch> = merged(&source, range)?.collect::<Result<_>>()?;
            Ok(stream::iter(batches.into_iter().map(Ok)))
        }))
    });
    tasks.buffered(num_ahead).try_flatten().boxed()
}

/// The rows that are wanted, which end the merge with the last of them; `held` is kept until then.
fn wanted(batches: Batches, limit: Limit, held: (BaselineMetrics, MemoryReservation)) -> Batches {
    let end = limit.num_first_rows().unwrap_or(usize::MAX);
    let next = move |(mut batches, mut num_before, held): (Batches, usize, _)| async move {
        while num_before < end {
            let Some(batch) = batches.try_next().await? else {
                break;
            };
            let rows = limit.wanted(num_before..num_before + batch.num_rows());
            num_before += batch.num_rows();
            if !rows.is_empty() {
                let (metrics, _): &(BaselineMetrics, MemoryReservation) = &held;
                metrics.record_output(rows.len());
                let batch = batch.slice(rows.start, rows.len());
                return Ok(Some((batch, (batches, num_before, held))));
            }
        }
        Ok(None)
    };
    stream::try_unfold((batches, 0, held), next).boxed()
}
