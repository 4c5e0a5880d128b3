//! Cuts all runs at the same places of the order, so that what is between two cuts is merged by itself.
//!
//! ```text
//! run 0   │ a a b │ c c c │ d e f │              cuts before blocks: (c, run 0), (c, run 1)
//! run 1   │ b c c │ c c d │ d │
//!
//! ranges   a a b b │ c c c c c │ c c d d d e f   the second block of run 1 begins a range; the rows c
//!                                                of run 0 are before it, as they are in the result
//! ```
//!
//! A cut is where a block begins. Rows of the same keys are in the order of their runs, and the cut's run
//! and block count like further keys: so a key of many rows is cut as well as many keys are.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::error::Result;

use super::merge::Source;
use super::run::Run;

/// Before which block of which run rows are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    run: usize,
    block: usize,
}

impl Cut {
    fn key(self, runs: &[Run]) -> &[u8] {
        &runs[self.run].blocks[self.block].first
    }

    /// How the cut's block follows another.
    fn compare(self, other: Self, runs: &[Run]) -> Ordering {
        let order = self.key(runs).cmp(other.key(runs));
        order.then((self.run, self.block).cmp(&(other.run, other.block)))
    }

    /// Whether a row of `run`, which is not the cut's, comes before it.
    fn is_after(self, key: &[u8], run: usize, runs: &[Run]) -> bool {
        match key.cmp(self.key(runs)) {
            Ordering::Less => true,
            Ordering::Equal => run < self.run,
            Ordering::Greater => false,
        }
    }

    /// How many blocks of `run` begin before it.
    fn num_blocks_before(self, run: usize, runs: &[Run]) -> usize {
        if run == self.run {
            return self.block;
        }
        let blocks = &runs[run].blocks;
        blocks.partition_point(|block| self.is_after(&block.first, run, runs))
    }
}

/// The rows between two cuts; from the first or up to the last row where there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct KeyRange {
    from: Option<Cut>,
    to: Option<Cut>,
}

impl KeyRange {
    /// Ranges of about `range_bytes` each, in their order, which have all rows together.
    pub(super) fn cut(runs: &[Run], range_bytes: usize) -> Vec<Self> {
        let blocks = runs.iter().enumerate().flat_map(|(run, of_run)| {
            let blocks = 0..of_run.blocks.len();
            blocks.map(move |block| Cut { run, block })
        });
        let mut blocks: Vec<Cut> = blocks.collect();
        blocks.sort_by(|a, b| a.compare(*b, runs));
        let mut ranges = Vec::new();
        let (mut from, mut size_bytes) = (None, 0usize);
        for cut in blocks {
            if size_bytes >= range_bytes {
                let to = Some(cut);
                ranges.push(Self { from, to });
                (from, size_bytes) = (to, 0);
            }
            size_bytes += runs[cut.run].blocks[cut.block].size_bytes;
        }
        ranges.push(Self { from, to: None });
        ranges
    }
}

/// The rows of one run that a range has.
pub(super) struct Part {
    source: Arc<Source>,
    run: usize,
    range: KeyRange,
    /// Blocks that are still to be read.
    blocks: Range<usize>,
    /// Blocks that begin before the range, which has rows of the last of them at most.
    num_before: usize,
    /// Whether the last block may go on behind the range.
    is_open: bool,
}

impl Part {
    /// The rows of `run` in `range`.
    pub(super) fn new(source: &Arc<Source>, range: KeyRange, run: usize) -> Self {
        let runs = &source.runs;
        let (mut start, mut num_before) = (0, 0);
        if let Some(from) = range.from {
            num_before = from.num_blocks_before(run, runs);
            start = if run == from.run {
                num_before
            } else if from.is_after(&runs[run].last, run, runs) {
                runs[run].blocks.len()
            } else {
                num_before.saturating_sub(1)
            };
        }
        let num_blocks = runs[run].blocks.len();
        let end = range
            .to
            .map_or(num_blocks, |to| to.num_blocks_before(run, runs));
        Self {
            source: Arc::clone(source),
            run,
            range,
            blocks: start.min(end)..end,
            num_before,
            is_open: range.to.is_some_and(|to| to.run != run),
        }
    }

    /// The next rows, at least one; none if there are no more.
    pub(super) fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(block) = self.blocks.next() {
            self.source.budget.check()?;
            let rows = self.source.runs[self.run].read(block)?;
            let start = match self.range.from {
                Some(from) if block < self.num_before => self.num_rows_before(from, &rows)?,
                _ => 0,
            };
            let end = match self.range.to {
                Some(to) if self.is_open && self.blocks.is_empty() => {
                    self.num_rows_before(to, &rows)?
                }
                _ => rows.num_rows(),
            };
            if start < end {
                return Ok(Some(rows.slice(start, end - start)));
            }
        }
        Ok(None)
    }

    /// How many of a block's rows come before a cut in another run.
    fn num_rows_before(&self, cut: Cut, rows: &RecordBatch) -> Result<usize> {
        let (mut low, mut high) = (0, rows.num_rows());
        while low < high {
            let middle = low.midpoint(high);
            let key = self.source.row_keys.of_row(rows, middle)?;
            if cut.is_after(&key, self.run, &self.source.runs) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
