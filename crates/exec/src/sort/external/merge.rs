//! Merges the rows of one range of keys, of all runs.
//!
//! ```text
//! runs       blocks of the range, one of each run at a time, with the words of their keys
//! losers     whose row is the first: by its word, where that leaves it open by the row's keys,
//!            and of equal rows by the number of its run
//! gathered   rows that follow each other in their block are one piece
//! ```
//!
//! Where a run has been first several times in a row, all its rows before the first one of the others are
//! looked for and taken at once: runs that hardly overlap, and keys of many rows, are copied by the block.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;

use super::cuts::{KeyRange, Part};
use super::gather::Gathered;
use super::losers::Losers;
use super::run::{RowKeys, Run, keys_of};
use crate::sort::layout::Layout;
use crate::sort::pack::pack;
use crate::sort::ties::Ties;
use crate::sort::word::Word;
use crate::spill::Budget;

/// How often a run is first in a row before more of its rows are looked for.
const MIN_STREAK: usize = 4;

/// Runs and how to order their rows.
pub(super) struct Source {
    pub(super) runs: Vec<Run>,
    pub(super) schema: SchemaRef,
    pub(super) sorts: Arc<[PhysicalSortExpr]>,
    pub(super) row_keys: Arc<RowKeys>,
    /// The words that hold the keys of all runs.
    pub(super) layout: Arc<Layout>,
    pub(super) budget: Arc<Budget>,
    /// Most rows of a batch.
    pub(super) max_rows: usize,
}

/// Blocks of so many runs that a merge holds at most.
pub(super) fn most_blocks(num_runs: usize) -> usize {
    2 * num_runs + 4
}

/// Batches in order.
pub(super) type Merged = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// Merges the rows of a range.
///
/// # Errors
/// If a run cannot be read.
pub(super) fn merged(source: &Arc<Source>, range: KeyRange) -> Result<Merged> {
    Ok(if source.layout.key_bits() <= u64::BITS {
        Box::new(Merge::<u64>::open(source, range)?)
    } else {
        Box::new(Merge::<u128>::open(source, range)?)
    })
}

/// A merge that is under way.
struct Merge<W> {
    rows: Heads<W>,
    losers: Losers,
    gathered: Gathered,
    /// How often the first run has been first before.
    streak: usize,
}

impl<W: Word> Merge<W> {
    fn open(source: &Arc<Source>, range: KeyRange) -> Result<Self> {
        let num_runs = source.runs.len();
        // A block is added where the last one ends, up to one of each run.
        let max_blocks = most_blocks(num_runs) - 1;
        let schema = Arc::clone(&source.schema);
        let mut gathered = Gathered::new(schema, source.max_rows, max_blocks);
        let mut rows = Heads {
            source: Arc::clone(source),
            words: Vec::new(),
            runs: Vec::new(),
        };
        for run in 0..num_runs {
            let mut run = Head::new(Part::new(source, range, run));
            // Most ranges have rows of few runs where these follow each other.
            if let Some(word) = run.read(source, &mut gathered)? {
                rows.words.push(word);
                rows.runs.push(run);
            }
        }
        let losers = Losers::new(rows.runs.len(), |a, b| rows.beats(a, b));
        Ok(Self {
            rows,
            losers,
            gathered,
            streak: 0,
        })
    }

    /// The next rows in order.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.gathered.is_full() {
            let first = self.losers.winner();
            let Some(run) = self.rows.runs.get(first).filter(|run| !run.is_done) else {
                break;
            };
            let (block, row) = (run.block, run.row);
            let len = if self.streak < MIN_STREAK {
                1
            } else {
                self.num_leading(first).min(self.gathered.room())
            };
            self.gathered.push(block, row, len);
            self.rows.advance(first, len, &mut self.gathered)?;
            self.losers.replay(|a, b| self.rows.beats(a, b));
            let is_first =
                self.losers.winner() == first && len > usize::from(self.streak >= MIN_STREAK);
            self.streak = if is_first { self.streak + 1 } else { 0 };
        }
        let batch = self.gathered.take()?;
        let used = self.rows.runs.iter_mut().filter(|run| !run.is_done);
        self.gathered.keep(used.map(|run| &mut run.block));
        Ok(batch)
    }

    /// How many rows of a run's block, which begins with the first row of all, come before those of others.
    fn num_leading(&self, first: usize) -> usize {
        let run = &self.rows.runs[first];
        let rows = run.row..run.words.len();
        let Some(second) = self.losers.runner_up(|a, b| self.rows.beats(a, b)) else {
            return rows.len();
        };
        let leads = |row: usize| self.rows.is_before((first, row), second);
        if leads(rows.end - 1) {
            return rows.len();
        }
        // The row behind the last that leads is in `low..high`.
        let (mut low, mut step) = (rows.start + 1, 1);
        while low + step < rows.end && leads(low + step - 1) {
            low += step;
            step *= 2;
        }
        let mut high = rows.end.min(low + step) - 1;
        while low < high {
            let middle = low.midpoint(high);
            if leads(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low - rows.start
    }
}

impl<W: Word> Iterator for Merge<W> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// The first rows of all runs.
struct Heads<W> {
    source: Arc<Source>,
    /// Their words; the largest of all where there is no more row.
    words: Vec<W>,
    runs: Vec<Head<W>>,
}

impl<W: Word> Heads<W> {
    /// Whether the first row of `a` comes before that of `b`.
    #[inline(always)]
    fn beats(&self, a: usize, b: usize) -> bool {
        let (of_a, of_b) = (self.words[a], self.words[b]);
        if of_a == of_b {
            self.beats_tied((a, self.runs[a].row), b)
        } else {
            of_a < of_b
        }
    }

    /// Whether row `row` of the block of `a` comes before the first row of `b`.
    fn is_before(&self, (a, row): (usize, usize), b: usize) -> bool {
        let (of_a, of_b) = (self.runs[a].words[row], self.words[b]);
        if of_a == of_b {
            self.beats_tied((a, row), b)
        } else {
            of_a < of_b
        }
    }

    /// The same for rows whose words are equal.
    #[inline(never)]
    fn beats_tied(&self, (a, row): (usize, usize), b: usize) -> bool {
        let (run, other) = (&self.runs[a], &self.runs[b]);
        if run.is_done || other.is_done {
            return (run.is_done, a) < (other.is_done, b);
        }
        let layout = &self.source.layout;
        let word = run.words[row].low_u64(0);
        if layout.decides(word, self.source.sorts.len()) {
            return a < b;
        }
        let order = run.ties.compare(row, &other.ties, other.row);
        order.then(a.cmp(&b)).is_lt()
    }

    /// Passes `len` rows of a run's block.
    #[inline(always)]
    fn advance(&mut self, run: usize, len: usize, gathered: &mut Gathered) -> Result<()> {
        let head = &mut self.runs[run];
        head.row += len;
        self.words[run] = match head.words.get(head.row) {
            Some(word) => *word,
            None => head.read(&self.source, gathered)?.unwrap_or(W::MAX),
        };
        Ok(())
    }
}

/// The first row of a run.
struct Head<W> {
    part: Part,
    /// The number of its block.
    block: usize,
    /// Its place in the block.
    row: usize,
    /// The words of the block's rows.
    words: Vec<W>,
    /// Keys that these do not hold.
    ties: Ties,
    is_done: bool,
}

impl<W: Word> Head<W> {
    /// A run nothing has been read of yet.
    fn new(part: Part) -> Self {
        Self {
            part,
            block: 0,
            row: 0,
            words: Vec::new(),
            ties: Ties::new(Vec::new()),
            is_done: false,
        }
    }

    /// Goes to the next block; the word of its first row, if there is one.
    fn read(&mut self, source: &Source, gathered: &mut Gathered) -> Result<Option<W>> {
        let Some(rows) = self.part.next_rows()? else {
            self.is_done = true;
            self.words = Vec::new();
            self.ties = Ties::new(Vec::new());
            return Ok(None);
        };
        let keys = keys_of(&source.sorts, &rows)?;
        self.words.clear();
        self.words.resize(rows.num_rows(), W::default());
        pack(&source.layout, &keys, 0, &mut self.words);
        if !source.layout.is_exact {
            self.ties = Ties::new(open_keys(source, keys));
        }
        self.block = gathered.add_block(rows);
        self.row = 0;
        Ok(self.words.first().copied())
    }
}

/// The keys that words do not hold whole, with how they are ordered.
fn open_keys(source: &Source, keys: Vec<ArrayRef>) -> Vec<(ArrayRef, SortOptions)> {
    let (first, _) = source.layout.first_open_key(keys.len());
    let keys = keys.into_iter().zip(source.sorts.iter()).skip(first);
    keys.map(|(key, sort)| (key, sort.options)).collect()
}
