//! Adds into several states of each key in turn, so that a repeated key waits less for its own sum.
//!
//! Three layouts of the same thing:
//!
//! ```text
//! table  | lane 0: sums of all keys | lane 1: ... |   | lane 0: counts of all keys | ...
//! cell   | key 0: sums of all lanes, counts of all lanes | key 1: ...
//! pair   | key 0: lane 0 sum, count | lane 1 sum, count | ... | key 1: ...
//! ```
//!
//! In `table`, the lanes of a key lie a power of two apart, which the processor's store buffer may
//! take for the same place. In `pair`, sum and count are one register of two `f64`: one load, one
//! addition and one store for both. The count stays exact: a call has fewer than 2^53 rows.

use crate::average::blocks::{BLOCK_ROWS, Keys, Sink, Values, feed, fold, weights};
use crate::average::{ByteKeyStates, NUM_KEYS, Rows, Value};

struct Table<const LANES: usize> {
    sums: [[f64; NUM_KEYS]; LANES],
    counts: [[u64; NUM_KEYS]; LANES],
}

impl<const LANES: usize> Sink for Table<LANES> {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let key = usize::from(keys[first + lane]);
                self.sums[lane][key] += values[first + lane];
                self.counts[lane][key] += 1;
            }
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let key = usize::from(keys[first + lane]);
                self.sums[lane][key] += values[first + lane];
                self.counts[lane][key] += valid >> (first + lane) & 1;
            }
        }
    }
}

/// `LANES` tables of sums and counts.
pub(super) fn table<V: Value, const LANES: usize>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut tables = Table {
        sums: [[0.0; NUM_KEYS]; LANES],
        counts: [[0; NUM_KEYS]; LANES],
    };
    feed(&mut tables, rows);
    for key in 0..NUM_KEYS {
        states.sums[key] += fold(std::array::from_fn::<_, LANES, _>(|lane| {
            tables.sums[lane][key]
        }));
        states.counts[key] += tables.counts.iter().map(|counts| counts[key]).sum::<u64>();
    }
}

#[derive(Clone, Copy)]
struct Cell<const LANES: usize> {
    sums: [f64; LANES],
    counts: [u64; LANES],
}

struct Cells<const LANES: usize>([Cell<LANES>; NUM_KEYS]);

impl<const LANES: usize> Sink for Cells<LANES> {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let cell = &mut self.0[usize::from(keys[first + lane])];
                cell.sums[lane] += values[first + lane];
                cell.counts[lane] += 1;
            }
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let cell = &mut self.0[usize::from(keys[first + lane])];
                cell.sums[lane] += values[first + lane];
                cell.counts[lane] += valid >> (first + lane) & 1;
            }
        }
    }
}

/// A cell of `LANES` sums and counts for each key.
pub(super) fn cell<V: Value, const LANES: usize>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let empty = Cell {
        sums: [0.0; LANES],
        counts: [0; LANES],
    };
    let mut cells = Cells([empty; NUM_KEYS]);
    feed(&mut cells, rows);
    for (key, cell) in cells.0.iter().enumerate() {
        states.sums[key] += fold(cell.sums);
        states.counts[key] += cell.counts.iter().sum::<u64>();
    }
}

/// Sum and count of a lane, aligned so that they are loaded and stored as one.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Pair([f64; 2]);

impl Pair {
    #[inline(always)]
    fn add(&mut self, value: f64, count: f64) {
        self.0 = [self.0[0] + value, self.0[1] + count];
    }
}

/// `LANES` pairs of sum and count for each key.
pub(super) struct Pairs<const LANES: usize>([[Pair; LANES]; NUM_KEYS]);

impl<const LANES: usize> Pairs<LANES> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([[Pair::default(); LANES]; NUM_KEYS])
    }

    /// The sums of a key, to add to.
    #[inline(always)]
    pub(super) fn add_column(&mut self, key: u8, sums: [f64; LANES], count: f64) {
        for (pair, sum) in self.0[usize::from(key)].iter_mut().zip(sums) {
            *pair = Pair([sum, pair.0[1] + count]);
        }
    }

    #[inline(always)]
    pub(super) fn sums(&self, key: u8) -> [f64; LANES] {
        self.0[usize::from(key)].map(|pair| pair.0[0])
    }

    pub(super) fn add_to(&self, states: &mut ByteKeyStates) {
        for (key, pairs) in self.0.iter().enumerate() {
            states.sums[key] += fold(pairs.map(|pair| pair.0[0]));
            states.counts[key] += fold(pairs.map(|pair| pair.0[1])) as u64;
        }
    }
}

impl<const LANES: usize> Sink for Pairs<LANES> {
    #[inline(always)]
    fn add(&mut self, keys: &Keys, values: &Values) {
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let pairs = &mut self.0[usize::from(keys[first + lane])];
                pairs[lane].add(values[first + lane], 1.0);
            }
        }
    }

    #[inline(always)]
    fn add_valid(&mut self, keys: &Keys, values: &Values, valid: u64) {
        let counts = weights(valid);
        for first in (0..BLOCK_ROWS).step_by(LANES) {
            for lane in 0..LANES {
                let pairs = &mut self.0[usize::from(keys[first + lane])];
                pairs[lane].add(values[first + lane], counts[first + lane]);
            }
        }
    }
}

/// `LANES` pairs of sum and count for each key; a single lane continues the sums that are there.
#[inline(always)]
pub(super) fn pair<V: Value, const LANES: usize>(states: &mut ByteKeyStates, rows: &Rows<'_, V>) {
    let mut pairs = Pairs::<LANES>::new();
    if LANES == 1 {
        for (pairs, sum) in pairs.0.iter_mut().zip(&mut states.sums) {
            pairs[0].0[0] = std::mem::take(sum);
        }
    }
    feed(&mut pairs, rows);
    pairs.add_to(states);
}
