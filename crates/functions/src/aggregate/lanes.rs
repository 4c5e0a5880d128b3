//! Folds a slice in a fixed order, so that float sums are the same on every path.
//!
//! Row `i` of a batch goes to lane `i % 32`, NULL or not (a NULL leaves its lane as it is). At the
//! end the lanes are joined pairwise: 0 with 16, 1 with 17, …, then 0 with 8, …, 0 with 1.

use arrow::buffer::NullBuffer;
use basalt_kernels::widest::{Loop, widest};

/// Number of independent accumulators.
pub(crate) const LANES: usize = 32;

/// Folds the valid `values` into lanes that start as `init`, and joins the lanes.
#[inline]
pub(crate) fn fold_lanes<T: Copy, A: Copy>(
    values: &[T],
    valid: Option<&NullBuffer>,
    init: A,
    step: impl Fn(A, T) -> A + Copy,
    join: impl Fn(A, A) -> A,
) -> A {
    let mut lanes = widest(Fold {
        values,
        valid,
        init,
        step,
    });
    let mut width = LANES / 2;
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
    valid: Option<&'a NullBuffer>,
    init: A,
    step: S,
}

impl<T: Copy, A: Copy, S: Fn(A, T) -> A + Copy> Loop for Fold<'_, T, A, S> {
    type Output = [A; LANES];

    #[inline(always)]
    fn run(self) -> [A; LANES] {
        let mut lanes = [self.init; LANES];
        match self.valid {
            None => fold_all(&mut lanes, self.values, self.step),
            Some(valid) => fold_valid(&mut lanes, self.values, valid, self.step),
        }
        lanes
    }
}

#[inline(always)]
fn fold_all<T: Copy, A: Copy>(lanes: &mut [A; LANES], values: &[T], step: impl Fn(A, T) -> A) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = step(lanes[lane], chunk[lane]);
        }
    }
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, *value);
    }
}

#[inline(always)]
fn fold_valid<T: Copy, A: Copy>(
    lanes: &mut [A; LANES],
    values: &[T],
    valid: &NullBuffer,
    step: impl Fn(A, T) -> A + Copy,
) {
    let bits = valid.inner().bit_chunks();
    let (chunks, rest) = values.as_chunks::<64>();
    for (chunk, word) in chunks.iter().zip(bits.iter()) {
        match word {
            0 => {}
            u64::MAX => fold_all(lanes, chunk, step),
            _ => {
                let (parts, _) = chunk.as_chunks::<LANES>();
                for (i, part) in parts.iter().enumerate() {
                    fold_masked(lanes, part, word >> (i * LANES), step);
                }
            }
        }
    }
    let mut word = bits.remainder_bits();
    for part in rest.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(part) {
            if word & 1 == 1 {
                *lane = step(*lane, *value);
            }
            word >>= 1;
        }
    }
}

/// A loop without branches: the lanes whose bit is clear get their old value back.
#[inline(always)]
fn fold_masked<T: Copy, A: Copy>(
    lanes: &mut [A; LANES],
    values: &[T; LANES],
    word: u64,
    step: impl Fn(A, T) -> A,
) {
    for lane in 0..LANES {
        let old = lanes[lane];
        let new = step(old, values[lane]);
        lanes[lane] = if word & (1 << lane) != 0 { new } else { old };
    }
}
