//! Holds the input of a sort in memory, with its keys and what they have in common.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use datafusion::common::internal_datafusion_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::PhysicalSortExpr;
use futures::StreamExt;

use super::direction::{Stretch, stretches};
use super::external::{KeyRanges, Runs, Spilled};
use super::float_key::key_values;
use super::job::Job;
use super::layout::{KeyColumn, Layout};
use super::options::Strategy;
use super::range::Range;
use crate::memory::{array_bytes, batch_bytes};
use crate::spill::Share;

/// An input, and the memory that its task holds.
pub(super) type Input = (SendableRecordBatchStream, Share);

/// Memory that the words of a row take, as they are packed and as they are split.
const WORD_BYTES: usize = 2 * size_of::<u128>();

/// Rows of some inputs.
pub(super) struct Rows {
    pub(super) batches: Vec<RecordBatch>,
    /// The keys of each batch.
    pub(super) keys: Vec<Vec<ArrayRef>>,
    /// Of each batch, the stretches in which its rows are in order; none if these are too short or if
    /// nobody has looked.
    pub(super) stretches: Vec<Vec<Stretch>>,
    ranges: Vec<Range>,
    pub(super) columns: Vec<KeyColumn>,
    size_bytes: usize,
    shares: Mutex<Vec<Share>>,
}

/// Where the rows of all inputs are.
pub(super) enum Collected {
    /// In memory.
    Rows(Rows),
    /// In files, with memory to merge them.
    Spilled(Spilled, MemoryReservation),
}

impl Rows {
    /// Reads all inputs, each in a task of its own; `runs` takes what is too much for memory.
    pub(super) async fn collect(inputs: Vec<Input>, runs: &Runs) -> Result<Collected> {
        let tasks: Vec<_> = inputs
            .into_iter()
            .map(|(mut input, share)| {
                let mut collector = Collector::new(&runs.job, share);
                let runs = runs.clone();
                SpawnedTask::spawn(async move {
                    let mut spilled = Spilled::default();
                    while let Some(batch) = input.next().await {
                        if collector.push(batch?)? {
                            runs.spill(collector.take()?, &mut spilled).await?;
                        }
                    }
                    let rows = collector.take()?;
                    Ok::<_, DataFusionError>((rows, spilled))
                })
            })
            .collect();
        let tasks = joined(tasks).await?;
        if tasks.iter().any(|(_, spilled)| !spilled.runs.is_empty()) {
            return Self::spill_rest(tasks, runs).await;
        }
        let mut all = Self::new(Vec::new());
        tasks.into_iter().for_each(|(rows, _)| all.append(rows));
        Ok(Collected::Rows(all))
    }

    async fn spill_rest(tasks: Vec<(Self, Spilled)>, runs: &Runs) -> Result<Collected> {
        let memory = tasks.iter().find_map(|(rows, _)| {
            let shares = rows.shares.lock().unwrap_or_else(PoisonError::into_inner);
            shares.first().map(Share::new_memory)
        });
        let memory = memory.ok_or_else(|| internal_datafusion_err!("a run of no task"))?;
        let tasks = tasks.into_iter().map(|(rows, mut spilled)| {
            let runs = runs.clone();
            SpawnedTask::spawn(async move {
                runs.spill(rows, &mut spilled).await?;
                Ok(spilled)
            })
        });
        let mut all = Spilled::default();
        let of_tasks = joined(tasks.collect()).await?;
        of_tasks.into_iter().for_each(|spilled| all.append(spilled));
        Ok(Collected::Spilled(all, memory))
    }

    fn new(shares: Vec<Share>) -> Self {
        Self {
            batches: Vec::new(),
            keys: Vec::new(),
            stretches: Vec::new(),
            ranges: Vec::new(),
            columns: Vec::new(),
            size_bytes: 0,
            shares: Mutex::new(shares),
        }
    }

    fn with_share(mut self, share: Share) -> Self {
        self.shares_mut().push(share);
        self
    }

    fn shares_mut(&mut self) -> &mut Vec<Share> {
        self.shares
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&mut self, mut other: Self) {
        self.shares_mut().append(other.shares_mut());
        self.batches.extend(other.batches);
        self.keys.extend(other.keys);
        self.stretches.extend(other.stretches);
        self.size_bytes += other.size_bytes;
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

    /// Whether some key's values are other ones than those of the column that it stands for.
    pub(super) fn is_changed(&self) -> bool {
        self.ranges.iter().any(|range| range.is_changed)
    }

    /// Memory of the batches.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Counts memory for what is made of the rows, as far as it is not counted for their words already; false if there
    /// is not as much.
    pub(super) fn try_reserve(&self, size_bytes: usize) -> bool {
        let counted = WORD_BYTES * self.num_rows();
        // Rows that go to a file since the pool gave no more are not all counted: asking again would be refused.
        size_bytes <= counted || self.try_keep_more(size_bytes - counted)
    }

    /// Counts memory that is held besides, if there is as much; true if so.
    pub(super) fn try_keep_more(&self, size_bytes: usize) -> bool {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let first = shares.first_mut();
        first.is_none_or(|share| share.try_keep_more(size_bytes))
    }

    /// Notes that the values of a key are places among `values`, which are in order.
    pub(super) fn set_ranked(&mut self, key: usize, values: ArrayRef) {
        self.ranges[key].set_ranked(values);
    }

    /// How many different strings keys have that have become their numbers; none if no key has.
    pub(super) fn num_ranked(&self) -> Option<usize> {
        let values = self.ranges.iter().filter_map(|range| range.values.as_ref());
        values.map(|values| values.len()).max()
    }

    /// What the keys have in common.
    pub(super) fn key_ranges(&self) -> KeyRanges {
        KeyRanges {
            columns: self.columns.clone(),
            ranges: self.ranges.clone(),
        }
    }

    /// The layout of words that hold keys alone.
    pub(super) fn layout_of_keys(&self) -> Layout {
        let keys: Vec<_> = self.columns.iter().copied().zip(&self.ranges).collect();
        Layout::new(&keys, None)
    }

    /// The layout of words for these rows, which need no place if `readable` accepts it.
    pub(super) fn layout(&self, readable: impl Fn(&Layout) -> bool) -> Layout {
        let layout = self.layout_of_keys();
        if layout.is_exact && readable(&layout) {
            return layout;
        }
        let most_rows = self.batches.iter().map(RecordBatch::num_rows).max();
        let bits = |count: usize| usize::BITS - count.saturating_sub(1).leading_zeros();
        let place_bits = (bits(self.batches.len()), bits(most_rows.unwrap_or(0)));
        let keys: Vec<_> = self.columns.iter().copied().zip(&self.ranges).collect();
        Layout::new(&keys, Some(place_bits))
    }
}

/// Takes the batches of one input.
struct Collector {
    sorts: Arc<[PhysicalSortExpr]>,
    rows: Rows,
    /// Rows below which a batch is joined with the next.
    min_batch_rows: usize,
    /// Whether rows of the same keys must not change places; none if nobody asks for the order of batches.
    order: Option<bool>,
    strategy: Strategy,
    /// Small batches that are still to be joined.
    small: Vec<RecordBatch>,
    num_small_rows: usize,
    share: Share,
}

impl Collector {
    fn new(job: &Job, share: Share) -> Self {
        Self {
            sorts: Arc::clone(&job.sorts),
            rows: Rows::new(Vec::new()),
            min_batch_rows: job.cut.strategy.min_batch_rows(),
            order: job.may_be(Strategy::InOrder).then(|| job.keeps_ties()),
            strategy: job.cut.strategy,
            small: Vec::new(),
            num_small_rows: 0,
            share,
        }
    }

    /// All rows so far, with the memory that they hold.
    fn take(&mut self) -> Result<Rows> {
        self.flush()?;
        let empty = self.share.new_empty();
        let share = std::mem::replace(&mut self.share, empty);
        Ok(std::mem::replace(&mut self.rows, Rows::new(Vec::new())).with_share(share))
    }

    /// Takes a batch; true if the memory is full.
    fn push(&mut self, batch: RecordBatch) -> Result<bool> {
        if batch.num_rows() == 0 {
            return Ok(false);
        }
        let size_bytes = batch_bytes(&batch);
        self.rows.size_bytes += size_bytes;
        let mut is_full = self
            .share
            .grow(size_bytes + WORD_BYTES * batch.num_rows())?;
        if batch.num_rows() >= self.min_batch_rows {
            is_full |= self.flush()?;
            is_full |= self.add(batch)?;
            return Ok(is_full);
        }
        self.num_small_rows += batch.num_rows();
        self.small.push(batch);
        if self.num_small_rows >= self.min_batch_rows {
            is_full |= self.flush()?;
        }
        Ok(is_full)
    }

    /// Joins small batches; true if the memory is full.
    fn flush(&mut self) -> Result<bool> {
        let small = std::mem::take(&mut self.small);
        self.num_small_rows = 0;
        match small.as_slice() {
            [] => Ok(false),
            [one] => self.add(one.clone()),
            [first, ..] => self.add(concat_batches(&first.schema(), &small)?),
        }
    }

    /// Adds a batch, which is counted, and its keys; true if the memory is full.
    fn add(&mut self, batch: RecordBatch) -> Result<bool> {
        let evaluated = self.sorts.iter().map(|sort| key_values(sort, &batch));
        let (keys, is_changed): (Vec<ArrayRef>, Vec<bool>) =
            evaluated.collect::<Result<Vec<_>>>()?.into_iter().unzip();
        if self.rows.ranges.is_empty() {
            self.rows.ranges = vec![Range::default(); keys.len()];
            let column = |(key, sort): (&ArrayRef, &PhysicalSortExpr)| {
                KeyColumn::new(key.data_type(), sort.options)
            };
            self.rows.columns = keys.iter().zip(self.sorts.iter()).map(column).collect();
        }
        let stretches = match self.order {
            Some(keeps_ties) => {
                let keeps_ties = keeps_ties || is_changed.contains(&true);
                let how = (self.strategy, keeps_ties);
                stretches(&keys, &self.rows.columns, how)?
            }
            None => Vec::new(),
        };
        let columns = self.rows.columns.iter().zip(&mut self.rows.ranges);
        for ((key, is_changed), (column, range)) in keys.iter().zip(is_changed).zip(columns) {
            range.include(column.kind, key.as_ref());
            range.is_changed |= is_changed;
        }
        let is_column = |key: &ArrayRef| batch.columns().iter().any(|c| Arc::ptr_eq(c, key));
        let computed = keys.iter().filter(|key| !is_column(key));
        let computed_bytes: usize = computed.map(array_bytes).sum();
        self.rows.stretches.push(stretches);
        self.rows.batches.push(batch);
        self.rows.keys.push(keys);
        match computed_bytes {
            0 => Ok(false),
            bytes => self.share.grow(bytes),
        }
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
