//! Folds a slice in a fixed order, so that sums of floats are the same on every path.
//!
//! **Order.** The rows of a batch are two halves of whole groups of 16 and less than 32 rows behind them ([`half_rows`]).
//! Row `j` of the first half goes to lane `j % 16`, row `j` of the second to lane `16 + j % 16`, row `j` behind them to
//! lane `j` ([`lane_of`]), NULL or not (a NULL leaves its lane as it is). At the end the lanes are joined pairwise: 0 with
//! 16, 1 with 17, …, then 0 with 8, …, 0 with 1. For sums of floats it is the order that [`sum`](crate::sum) documents.
//!
//! Both halves are read at once: a core reads two streams from memory 8 to 20 % faster than one (bench `fold`, 16 Mi rows
//! in huge pages), because each has prefetchers that run ahead of it. More than two gain nothing, and from eight on they
//! put each other out of the cache where their distance is a multiple of 4 KiB.
//!
//! Tests: `fold/tests.rs`; bench: `fold`.

use std::hint::black_box;
use std::sync::atomic::{Ordering, compiler_fence};

use crate::Bitmap;
use crate::widest::{Loop, widest};

/// Number of independent accumulators.
pub const NUM_LANES: usize = 32;

/// Accumulators of each half.
pub const HALF_LANES: usize = NUM_LANES / 2;

/// Rows of a bitmap's word.
const WORD_ROWS: usize = 64;

type Half<A> = [A; HALF_LANES];

/// Rows of each half of a batch.
#[inline]
pub fn half_rows(num_rows: usize) -> usize {
    num_rows / NUM_LANES * HALF_LANES
}

/// The lane that a row of a batch goes to: the definition of the order.
pub fn lane_of(row: usize, num_rows: usize) -> usize {
    let half = half_rows(num_rows);
    if row < half {
        row % HALF_LANES
    } else if row < 2 * half {
        HALF_LANES + (row - half) % HALF_LANES
    } else {
        row - 2 * half
    }
}

/// Folds the valid `values` into lanes that start as `init`, and joins the lanes.
///
/// # Panics
/// If the bitmap has another number of rows.
#[inline]
pub fn fold_lanes<T: Copy, A: Copy>(
    values: &[T],
    validity: Option<Bitmap<'_>>,
    init: A,
    step: impl Fn(A, T) -> A + Copy,
    join: impl Fn(A, A) -> A,
) -> A {
    assert!(validity.is_none_or(|bits| bits.len() == values.len()));
    let mut lanes = widest(Fold {
        values,
        validity,
        init,
        step,
    });
    let mut width = NUM_LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = join(lanes[lane], lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// The fold into lanes, before these are joined.
struct Fold<'a, T, A, S> {
    values: &'a [T],
    validity: Option<Bitmap<'a>>,
    init: A,
    step: S,
}

impl<T: Copy, A: Copy, S: Fn(A, T) -> A + Copy> Loop for Fold<'_, T, A, S> {
    type Output = [A; NUM_LANES];

    #[inline(always)]
    fn run(self) -> [A; NUM_LANES] {
        let half = half_rows(self.values.len());
        let (first, others) = self.values.split_at(half);
        let (second, rest) = others.split_at(half);
        // Copies that stay in registers: lanes in memory would be stored under masks, which nothing can be
        // loaded behind.
        let mut registers = ([self.init; HALF_LANES], [self.init; HALF_LANES]);
        match self.validity {
            None => fold_all(&mut registers, first, second, self.step),
            Some(bits) => {
                let bits = (bits.slice(0, half), bits.slice(half, half));
                fold_valid(&mut registers, (first, second), bits, self.step);
            }
        }
        let (low, high) = registers;
        let mut lanes = std::array::from_fn(|lane| match lane.checked_sub(HALF_LANES) {
            None => low[lane],
            Some(lane) => high[lane],
        });
        let bits = self.validity.map(|bits| bits.slice(2 * half, rest.len()));
        for (row, (lane, value)) in lanes.iter_mut().zip(rest).enumerate() {
            if bits.is_none_or(|bits| bits.get(row)) {
                *lane = (self.step)(*lane, *value);
            }
        }
        lanes
    }
}

#[inline(always)]
fn fold_all<T: Copy, A: Copy>(
    (low, high): &mut (Half<A>, Half<A>),
    first: &[T],
    second: &[T],
    step: impl Fn(A, T) -> A,
) {
    let (mut low_lanes, mut high_lanes) = (*low, *high);
    let groups = first.as_chunks().0.iter().zip(second.as_chunks().0);
    for (first, second) in groups {
        let (first, second): (&Half<T>, &Half<T>) = (first, second);
        for lane in 0..HALF_LANES {
            low_lanes[lane] = step(low_lanes[lane], first[lane]);
        }
        for lane in 0..HALF_LANES {
            high_lanes[lane] = step(high_lanes[lane], second[lane]);
        }
        keep_groups_apart();
    }
    (*low, *high) = (low_lanes, high_lanes);
}

#[inline(always)]
fn fold_valid<T: Copy, A: Copy>(
    lanes: &mut (Half<A>, Half<A>),
    (first, second): (&[T], &[T]),
    (first_bits, second_bits): (Bitmap<'_>, Bitmap<'_>),
    step: impl Fn(A, T) -> A + Copy,
) {
    let mut registers = *lanes;
    let words = first.chunks(WORD_ROWS).zip(second.chunks(WORD_ROWS));
    for (i, (first, second)) in words.enumerate() {
        let words = (first_bits.word(i), second_bits.word(i));
        match words {
            (0, 0) => {}
            (u64::MAX, u64::MAX) => fold_all(&mut registers, first, second, step),
            (low, high) => {
                let groups = first.as_chunks().0.iter().zip(second.as_chunks().0);
                for (i, (first, second)) in groups.enumerate() {
                    fold_masked(&mut registers.0, first, low >> (i * HALF_LANES), step);
                    fold_masked(&mut registers.1, second, high >> (i * HALF_LANES), step);
                    keep_groups_apart();
                }
            }
        }
    }
    *lanes = registers;
}

/// Keeps the compiler from taking the same lane of several groups at a time where the order does not matter
/// (integers): it would gather each of them from memory.
#[inline(always)]
fn keep_groups_apart() {
    compiler_fence(Ordering::SeqCst);
}

/// A loop without branches: the lanes whose bit is clear get their old value back.
///
/// Values as wide as a lane go through memory of their own: else the compiler makes one instruction of AVX-512 of load,
/// step and mask, and a processor may not read ahead for those (Zen 5, bench `fold`, a quarter missing: 16 Mi rows
/// 0.54 ns a row before, 0.21 to 0.31 so; 16 Ki rows 0.09 before, 0.10 to 0.12 so). Others are converted first, and
/// copies of them are read back in other pieces than they were written in, which took 60 % longer.
#[inline(always)]
fn fold_masked<T: Copy, A: Copy>(
    lanes: &mut Half<A>,
    values: &Half<T>,
    word: u64,
    step: impl Fn(A, T) -> A,
) {
    let loaded;
    let values = if size_of::<T>() == size_of::<A>() {
        loaded = black_box(*values);
        &loaded
    } else {
        values
    };
    for lane in 0..HALF_LANES {
        let old = lanes[lane];
        let new = step(old, values[lane]);
        lanes[lane] = if word & (1 << lane) != 0 { new } else { old };
    }
}

#[cfg(test)]
mod tests;
