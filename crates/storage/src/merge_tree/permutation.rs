//! Takes the rows of columns in another order.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;
use basalt_error::{Error, Result};

/// Values that are copied at once: most runs are shorter.
pub(super) const STRIDE: usize = 8;

/// Runs that share a note of where their rows begin.
const NOTE_RUNS: usize = 1 << 8;

/// Which rows stand where.
#[derive(Debug)]
pub(super) enum Permutation {
    /// Rows stay where they are.
    Identity,
    /// The rows in their order.
    Rows(UInt32Array),
    /// Runs of rows in their order, whose rows stay together.
    Runs(Runs),
}

/// Runs of rows in some order.
#[derive(Debug)]
pub(super) struct Runs {
    runs: Vec<Range<u32>>,
    num_rows: usize,
    /// The number of rows before every [`NOTE_RUNS`]-th run.
    notes: Vec<usize>,
    /// The rows one by one, when somebody needs them so.
    rows: OnceLock<UInt32Array>,
}

impl Runs {
    pub(super) fn new(runs: Vec<Range<u32>>) -> Self {
        let mut num_rows = 0;
        let notes = runs.chunks(NOTE_RUNS).map(|runs| {
            let before = num_rows;
            num_rows += runs.iter().map(|run| run.len()).sum::<usize>();
            before
        });
        Self {
            notes: notes.collect(),
            num_rows,
            runs,
            rows: OnceLock::new(),
        }
    }

    pub(super) fn as_slice(&self) -> &[Range<u32>] {
        &self.runs
    }

    /// The run that has a row of their order, and how many of its rows stand before.
    pub(super) fn find(&self, row: usize) -> (usize, usize) {
        let note = self.notes.partition_point(|before| *before <= row);
        let note = note.saturating_sub(1);
        let mut before = self.notes.get(note).copied().unwrap_or(0);
        let mut run = note * NOTE_RUNS;
        while let Some(len) = self.runs.get(run).map(ExactSizeIterator::len) {
            if before + len > row {
                break;
            }
            before += len;
            run += 1;
        }
        (run, row - before)
    }

    fn rows(&self) -> &UInt32Array {
        self.rows.get_or_init(|| {
            let mut rows = Vec::with_capacity(self.num_rows + STRIDE);
            for run in &self.runs {
                let len = rows.len() + run.len();
                // By whole strides, of which the next run overwrites what is too much.
                let stride: [u32; STRIDE] = std::array::from_fn(|i| run.start + i as u32);
                rows.extend_from_slice(&stride);
                if len > rows.len() {
                    rows.extend(run.start + STRIDE as u32..run.end);
                }
                rows.truncate(len);
            }
            UInt32Array::from(rows)
        })
    }
}

impl Permutation {
    /// The rows in their order; none if they stay where they are.
    pub(super) fn rows(&self) -> Option<&UInt32Array> {
        match self {
            Self::Identity => None,
            Self::Rows(rows) => Some(rows),
            Self::Runs(runs) => Some(runs.rows()),
        }
    }

    /// A column with its rows in this order.
    pub(super) fn of(&self, column: &ArrayRef) -> Result<ArrayRef> {
        match self.rows() {
            Some(rows) => take(column, rows, None).map_err(|e| Error::bug(e.to_string())),
            None => Ok(Arc::clone(column)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_in_its_run() {
        let lens = (0..3 * NOTE_RUNS as u32).map(|i| if i % 300 == 0 { 900 } else { 1 + i % 3 });
        let mut end = 0;
        let runs = lens.map(|len| {
            end += len;
            end - len..end
        });
        let mut runs: Vec<Range<u32>> = runs.collect();
        runs.reverse();
        let order = Runs::new(runs.clone());
        let rows = runs.iter().enumerate();
        let rows = rows.flat_map(|(run, rows)| (0..rows.len()).map(move |before| (run, before)));
        for (row, place) in rows.enumerate() {
            assert_eq!(order.find(row), place, "row {row}");
        }
        let all = Permutation::Runs(order);
        let rows = UInt32Array::from_iter_values(runs.into_iter().flatten());
        assert_eq!(all.rows(), Some(&rows));
    }
}
