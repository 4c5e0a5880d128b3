//! Rows that follow each other and have the same keys.

use std::iter::repeat_n;

use basalt_kernels::widest::{Loop, widest};

use super::SortMemory;
use super::cut::Cut;

/// Rows of a run in the mean, so that runs are sorted.
const RUN_ROWS: u64 = 2;

/// Values that are written at once: most runs are shorter.
pub(super) const STRIDE: usize = 8;

/// What rows do that follow each other.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps {
    /// How many have smaller keys than those before.
    falls: u64,
    /// How many have other keys.
    changes: u64,
}

impl Steps {
    /// Those from one row to the next, of words that grow with the numbers of their rows.
    pub(super) fn of(words: &[u64], rests: &[u64], cut: Cut) -> Self {
        widest(CountSteps {
            words,
            rests,
            row_bits: cut.row_bits,
        })
    }

    pub(super) fn add(&mut self, other: Self) {
        self.falls += other.falls;
        self.changes += other.changes;
    }

    /// Whether rows stand in order.
    pub(super) fn rise(self) -> bool {
        self.falls == 0
    }

    /// Whether so many rows are fewer runs by far.
    pub(super) fn have_runs(self, num_rows: usize) -> bool {
        (self.changes + 1) * RUN_ROWS <= num_rows as u64
    }
}

/// Compares words and rests with those before.
struct CountSteps<'a> {
    words: &'a [u64],
    rests: &'a [u64],
    row_bits: u32,
}

impl Loop for CountSteps<'_> {
    type Output = Steps;

    #[inline(always)]
    fn run(self) -> Steps {
        let words = self
            .words
            .iter()
            .zip(self.words.get(1..).unwrap_or_default());
        let rests = self
            .rests
            .iter()
            .zip(self.rests.get(1..).unwrap_or_default());
        words
            .zip(rests)
            .fold(Steps::default(), |steps, ((a, b), (rest_a, rest_b))| {
                let is_same = (a ^ b) >> self.row_bits == 0;
                // By their rows words grow in any case.
                let falls = (a > b) | (is_same & (rest_a > rest_b));
                let changes = !is_same | (rest_a != rest_b);
                Steps {
                    falls: steps.falls + u64::from(falls),
                    changes: steps.changes + u64::from(changes),
                }
            })
    }
}

/// Puts one word and rest of each run of rows with the same keys before the others, with the number of the run, and the
/// rows that they begin with and the end of the last; the number of runs.
pub(super) fn collapse_runs(cut: Cut, memory: &mut SortMemory) -> usize {
    let SortMemory {
        words,
        rests,
        starts,
        ..
    } = memory;
    let num_rows = words.len();
    starts.resize(starts.len().max(num_rows / 2 + 1), 0);
    let mut last = (!cut.prefix(words[0]), 0);
    // Written at each row, and the place moves on behind the first one of a run: whether one begins is not foreseen.
    let mut run = 0;
    for row in 0..num_rows {
        let key = (cut.prefix(words[row]), rests[row]);
        let begins = key != last;
        words[run] = key.0 << cut.row_bits | run as u64;
        rests[run] = key.1;
        starts[run] = row as u32;
        run += usize::from(begins);
        last = key;
    }
    starts[run] = num_rows as u32;
    run
}

/// Adds a value some times, by whole strides, of which the next value overwrites what is too much.
#[inline(always)]
pub(super) fn push_repeated<N: Copy>(values: &mut Vec<N>, value: N, len: usize) {
    let end = values.len() + len;
    values.extend_from_slice(&[value; STRIDE]);
    if len > STRIDE {
        values.extend(repeat_n(value, len - STRIDE));
    }
    values.truncate(end);
}
