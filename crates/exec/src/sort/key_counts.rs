//! Sorts rows that are nothing but their keys: counts how often each key occurs, and writes it as often.
//!
//! ```text
//! task 1: batches ── words ── counts ─┐
//! task 2: batches ── words ── counts ─┴─▶ │ word, rows up to its last │ … ─▶ batches in order
//! ```
//!
//! No row is moved, and the rows are read once. Keys of few bits have a counter each, of others the
//! different ones are found in a hash table, as long as there are few.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_hashtable::WordTable;
use datafusion::common::internal_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::dictionary::seems_worth_it;
use super::layout::Layout;
use super::options::Strategy;
use super::pack::{pack, unpack};
use super::parts::{Cut, batches_of_tasks};
use super::repeated::repeated;
use super::rows::{Rows, joined};
use crate::report::clock::timed;

/// Most bits of keys that have a counter each.
const MAX_DENSE_BITS: u32 = 22;

/// Most different keys that a task looks for in its table.
const MAX_FOUND: usize = 1 << 16;

/// Of so many rows of a sample, one may have a key that no other row of it has.
const FEW: usize = 2;

/// Rows of a key, on average, from which on its value is read from the word once and written as often.
const MIN_RUN_ROWS: usize = 4;

/// Most rows of a batch of the result.
const MAX_BATCH_ROWS: usize = 65_505;

/// Keys that occur, in their order.
pub(super) struct KeyCounts {
    words: Vec<u64>,
    /// For each of them, the place in the result after its last row.
    ends: Vec<usize>,
    layout: Arc<Layout>,
}

impl KeyCounts {
    /// Counts the keys of `rows`, which `layout` holds whole, if that pays; `clock` gets the time of all
    /// tasks.
    pub(super) async fn of(
        rows: &Arc<Rows>,
        layout: &Arc<Layout>,
        cut: Cut,
        clock: &Time,
    ) -> Result<Option<Self>> {
        let num_rows = rows.num_rows();
        let bits = layout.key_bits();
        if bits > u64::BITS || num_rows == 0 {
            return Ok(None);
        }
        let is_dense = bits <= MAX_DENSE_BITS && 1 << bits <= num_rows;
        let is_forced = cut.strategy == Strategy::Counting;
        if !is_dense && !is_forced && !seems_worth_it(rows, layout, (MAX_FOUND, FEW)) {
            return Ok(None);
        }
        let has_too_many = Arc::new(AtomicBool::new(false));
        let tasks = batches_of_tasks(rows, cut.num_tasks).into_iter();
        let tasks = tasks.map(|batches| {
            let task = Task {
                rows: Arc::clone(rows),
                layout: Arc::clone(layout),
                batches,
            };
            let has_too_many = Arc::clone(&has_too_many);
            let count = async move {
                Ok(if is_dense {
                    task.count_all()
                } else {
                    task.count_found(&has_too_many)
                })
            };
            SpawnedTask::spawn(timed(clock.clone(), count))
        });
        let counts = joined(tasks.collect()).await?;
        if has_too_many.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let _timer = clock.timer();
        Ok(Some(Self::merged(counts, Arc::clone(layout))))
    }

    fn merged(counts: Vec<Counts>, layout: Arc<Layout>) -> Self {
        let mut all = Self {
            words: Vec::new(),
            ends: Vec::new(),
            layout,
        };
        let mut found = Vec::new();
        let mut dense: Vec<u32> = Vec::new();
        for counts in counts {
            match counts {
                Counts::OfAll(counts) if dense.is_empty() => dense = counts,
                Counts::OfAll(counts) => {
                    let pairs = dense.iter_mut().zip(counts);
                    pairs.for_each(|(sum, count)| *sum += count);
                }
                Counts::OfFound(counts) => found.extend(counts),
            }
        }
        for (word, count) in (0..).zip(dense) {
            all.push(word, count);
        }
        found.sort_unstable();
        for (word, count) in found {
            all.push(word, count);
        }
        all
    }

    /// Adds rows of a word that is not below the last one.
    fn push(&mut self, word: u64, count: u32) {
        if count == 0 {
            return;
        }
        let end = self.num_rows() + count as usize;
        match (self.words.last(), self.ends.last_mut()) {
            (Some(last), Some(last_end)) if *last == word => *last_end = end,
            _ => {
                self.words.push(word);
                self.ends.push(end);
            }
        }
    }

    fn num_rows(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// How many different keys there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The rows of the result that each task writes of those at `wanted`.
    pub(super) fn pieces(wanted: Range<usize>, max_batch_rows: usize) -> Vec<Range<usize>> {
        let max_rows = max_batch_rows.min(MAX_BATCH_ROWS);
        let starts = wanted.clone().step_by(max_rows);
        let piece = |start: usize| start..wanted.end.min(start + max_rows);
        starts.map(piece).collect()
    }

    /// Rows `range` of the result; each column is a key.
    pub(super) fn batch(
        &self,
        range: Range<usize>,
        (schema, key_columns): (&SchemaRef, &[Option<usize>]),
    ) -> Result<RecordBatch> {
        let (mut words, mut lens) = (Vec::new(), Vec::new());
        let mut end = range.start;
        let mut word = self.ends.partition_point(|end| *end <= range.start);
        while end < range.end {
            let start = end;
            end = self.ends[word].min(range.end);
            words.push(self.words[word]);
            lens.push(end - start);
            word += 1;
        }
        let is_worth_it = words.len() * MIN_RUN_ROWS <= range.len();
        if !is_worth_it {
            let mut all = Vec::with_capacity(range.len());
            for (word, len) in words.iter().zip(&lens) {
                all.resize(all.len() + len, *word);
            }
            words = all;
        }
        let column = |(i, key): (usize, &Option<usize>)| -> Result<ArrayRef> {
            let Some(place) = key.and_then(|key| self.layout.readable(key)) else {
                return internal_err!("a column that is no key");
            };
            let values = unpack(&words, place, schema.field(i).data_type())?;
            match is_worth_it {
                true => repeated(&values, &lens),
                false => Ok(values),
            }
        };
        let columns = key_columns.iter().enumerate().map(column);
        let options = RecordBatchOptions::new().with_row_count(Some(range.len()));
        Ok(RecordBatch::try_new_with_options(
            Arc::clone(schema),
            columns.collect::<Result<_>>()?,
            &options,
        )?)
    }
}

/// How often keys occur.
enum Counts {
    /// For each possible word.
    OfAll(Vec<u32>),
    /// For words that were found.
    OfFound(Vec<(u64, u32)>),
}

/// Batches whose keys a task counts.
struct Task {
    rows: Arc<Rows>,
    layout: Arc<Layout>,
    batches: Range<usize>,
}

impl Task {
    /// Calls `f` with the words of each batch, until it returns false.
    fn each_batch<W: super::word::Word>(&self, mut f: impl FnMut(&[W]) -> bool) {
        let mut words = Vec::new();
        for batch in self.batches.clone() {
            words.clear();
            words.resize(self.rows.batches[batch].num_rows(), W::default());
            pack(&self.layout, &self.rows.keys[batch], batch, &mut words);
            if !f(&words) {
                return;
            }
        }
    }

    /// Counts with a counter for each possible word.
    fn count_all(&self) -> Counts {
        let mut counts = vec![0u32; 1 << self.layout.key_bits()];
        self.each_batch::<u32>(|words| {
            words.iter().for_each(|word| counts[*word as usize] += 1);
            true
        });
        Counts::OfAll(counts)
    }

    /// Counts words in a hash table; stops when this task or another has found too many.
    fn count_found(&self, has_too_many: &AtomicBool) -> Counts {
        if self.layout.key_bits() <= u32::BITS {
            self.count_in_table::<u32>(has_too_many)
        } else {
            self.count_in_table::<u64>(has_too_many)
        }
    }

    fn count_in_table<W>(&self, has_too_many: &AtomicBool) -> Counts
    where
        W: super::word::Word + basalt_hashtable::Word,
        basalt_hashtable::Fold: basalt_hashtable::HashWord<W>,
    {
        let mut table = WordTable::<W>::default();
        let mut counts: Vec<u32> = Vec::new();
        let mut groups = Vec::new();
        self.each_batch::<W>(|words| {
            groups.clear();
            let is_full = table.intern(words, &mut groups).is_err();
            if is_full || table.len() > MAX_FOUND {
                has_too_many.store(true, Ordering::Relaxed);
            }
            if has_too_many.load(Ordering::Relaxed) {
                return false;
            }
            counts.resize(table.len(), 0);
            groups.iter().for_each(|group| counts[*group as usize] += 1);
            true
        });
        let words = table.keys().iter().map(|word| word.low_u64(0));
        Counts::OfFound(words.zip(counts).collect())
    }
}
