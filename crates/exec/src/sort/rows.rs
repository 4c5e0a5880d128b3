//! Holds the input of a sort in memory, with its keys and what they have in common.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::PhysicalSortExpr;
use futures::StreamExt;

use super::Strategy;
use super::float_key::key_values;
use super::layout::{KeyColumn, Layout};
use super::ordinal::Kind;
use super::range::Range;

/// Rows of some inputs.
pub(super) struct Rows {
    pub(super) batches: Vec<RecordBatch>,
    /// The keys of each batch.
    pub(super) keys: Vec<Vec<ArrayRef>>,
    ranges: Vec<Range>,
    columns: Vec<KeyColumn>,
    memory: Vec<MemoryReservation>,
}

impl Rows {
    /// Reads all inputs, each in a task of its own.
    pub(super) async fn collect(
        inputs: Vec<(SendableRecordBatchStream, MemoryReservation)>,
        sorts: &Arc<[PhysicalSortExpr]>,
        strategy: Strategy,
    ) -> Result<Self> {
        let tasks: Vec<_> = inputs
            .into_iter()
            .map(|(mut input, memory)| {
                let mut collector = Collector::new(Arc::clone(sorts), strategy, memory);
                SpawnedTask::spawn(async move {
                    while let Some(batch) = input.next().await {
                        collector.push(batch?)?;
                    }
                    collector.flush()?;
                    Ok::<_, DataFusionError>(collector.rows)
                })
            })
            .collect();
        let mut all: Option<Self> = None;
        for rows in joined(tasks).await? {
            match &mut all {
                None => all = Some(rows),
                Some(all) => all.append(rows),
            }
        }
        Ok(all.unwrap_or_else(|| Self::new(Vec::new())))
    }

    fn new(memory: Vec<MemoryReservation>) -> Self {
        Self {
            batches: Vec::new(),
            keys: Vec::new(),
            ranges: Vec::new(),
            columns: Vec::new(),
            memory,
        }
    }

    fn append(&mut self, other: Self) {
        self.batches.extend(other.batches);
        self.keys.extend(other.keys);
        self.memory.extend(other.memory);
        if self.ranges.is_empty() {
            self.ranges = other.ranges;
            self.columns = other.columns;
        } else {
            let ranges = self.ranges.iter_mut().zip(&other.ranges);
            ranges.for_each(|(range, other)| range.merge(other));
        }
    }

    /// How many rows there are.
    pub(super) fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Counts memory for the words of the rows.
    pub(super) fn reserve(&mut self, size_bytes: usize) -> Result<()> {
        self.memory
            .first()
            .map_or(Ok(()), |memory| memory.try_grow(size_bytes))
    }

    /// The layout of words for these rows, which need no place if `readable` accepts it.
    pub(super) fn layout(&self, readable: impl Fn(&Layout) -> bool) -> Layout {
        let keys: Vec<_> = self.columns.iter().copied().zip(&self.ranges).collect();
        let layout = Layout::new(&keys, None);
        if layout.is_exact && readable(&layout) {
            return layout;
        }
        let most_rows = self.batches.iter().map(RecordBatch::num_rows).max();
        let bits = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let place_bits = (bits(self.batches.len()), bits(most_rows.unwrap_or(0)));
        Layout::new(&keys, Some(place_bits))
    }
}

/// Takes the batches of one input.
struct Collector {
    sorts: Arc<[PhysicalSortExpr]>,
    rows: Rows,
    /// Rows below which a batch is joined with the next.
    min_batch_rows: usize,
    /// Small batches that are still to be joined.
    small: Vec<RecordBatch>,
    num_small_rows: usize,
}

impl Collector {
    fn new(sorts: Arc<[PhysicalSortExpr]>, strategy: Strategy, memory: MemoryReservation) -> Self {
        Self {
            sorts,
            rows: Rows::new(vec![memory]),
            min_batch_rows: strategy.min_batch_rows(),
            small: Vec::new(),
            num_small_rows: 0,
        }
    }

    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.rows.reserve(batch.get_array_memory_size())?;
        if batch.num_rows() < self.min_batch_rows {
            self.num_small_rows += batch.num_rows();
            self.small.push(batch);
            if self.num_small_rows >= self.min_batch_rows {
                self.flush()?;
            }
            return Ok(());
        }
        self.flush()?;
        self.add(batch)
    }

    fn flush(&mut self) -> Result<()> {
        let small = std::mem::take(&mut self.small);
        self.num_small_rows = 0;
        match small.as_slice() {
            [] => Ok(()),
            [one] => self.add(one.clone()),
            [first, ..] => self.add(concat_batches(&first.schema(), &small)?),
        }
    }

    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let evaluated = self.sorts.iter().map(|sort| key_values(sort, &batch));
        let (keys, is_changed): (Vec<ArrayRef>, Vec<bool>) =
            evaluated.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        if self.rows.ranges.is_empty() {
            self.rows.ranges = vec![Range::default(); keys.len()];
            let column = |(key, sort): (&ArrayRef, &PhysicalSortExpr)| KeyColumn {
                // The operator takes no keys of other types.
                kind: Kind::of(key.data_type()).unwrap_or(Kind::Bytes),
                options: sort.options,
            };
            self.rows.columns = keys.iter().zip(self.sorts.iter()).map(column).collect();
        }
        let columns = self.rows.columns.iter().zip(&mut self.rows.ranges);
        for ((key, is_changed), (column, range)) in keys.iter().zip(is_changed).zip(columns) {
            range.include(column.kind, key.as_ref());
            range.is_changed |= is_changed;
        }
        self.rows.batches.push(batch);
        self.rows.keys.push(keys);
        Ok(())
    }
}

/// What tasks give, in their order; those that are left when one fails are stopped.
pub(super) async fn joined<T: Send + 'static>(
    tasks: Vec<SpawnedTask<Result<T>>>,
) -> Result<Vec<T>> {
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(joined_one(task).await?);
    }
    Ok(results)
}

/// What a task gives.
pub(super) async fn joined_one<T: Send + 'static>(task: SpawnedTask<Result<T>>) -> Result<T> {
    let joined = task.join_unwind().await;
    joined.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?
}
