//! Folds a slice in a fixed order, so that sums of floats are the same on every path.
//!
//! Row `i` of a batch goes to lane `i % 32`, NULL or not (a NULL leaves its lane as it is). At the
//! end the lanes are joined pairwise: 0 with 16, 1 with 17, …, then 0 with 8, …, 0 with 1. For
//! sums of floats it is the order that [`sum`](crate::sum) documents.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::Bitmap;
use crate::widest::{Loop, widest};

/// Number of independent accumulators.
pub const NUM_LANES: usize = 32;

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
        let mut lanes = [self.init; NUM_LANES];
        match self.validity {
            None => fold_all(&mut lanes, self.values, self.step),
            Some(bits) => fold_valid(&mut lanes, self.values, bits, self.step),
        }
        lanes
    }
}

#[inline(always)]
fn fold_all<T: Copy, A: Copy>(lanes: &mut [A; NUM_LANES], values: &[T], step: impl Fn(A, T) -> A) {
    let (chunks, rest) = values.as_chunks::<NUM_LANES>();
    let mut registers = *lanes;
    for chunk in chunks {
        for lane in 0..NUM_LANES {
            registers[lane] = step(registers[lane], chunk[lane]);
        }
        // Keeps the compiler from taking the same lane of several chunks at a time where the order
        // does not matter (integers): it would gather each of them from memory.
        compiler_fence(Ordering::SeqCst);
    }
    *lanes = registers;
    for (lane, value) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, *value);
    }
}

#[inline(always)]
fn fold_valid<T: Copy, A: Copy>(
    lanes: &mut [A; NUM_LANES],
    values: &[T],
    bits: Bitmap<'_>,
    step: impl Fn(A, T) -> A + Copy,
) {
    let (chunks, rest) = values.as_chunks::<64>();
    // A copy that stays in registers: lanes in memory would be stored under masks, which nothing can be loaded behind.
    let mut registers = *lanes;
    for (i, chunk) in chunks.iter().enumerate() {
        match bits.word(i) {
            0 => {}
            u64::MAX => fold_all(&mut registers, chunk, step),
            word => {
                let (parts, _) = chunk.as_chunks::<NUM_LANES>();
                for (i, part) in parts.iter().enumerate() {
                    fold_masked(&mut registers, part, word >> (i * NUM_LANES), step);
                }
            }
        }
    }
    *lanes = registers;
    let mut word = bits.word(chunks.len());
    for part in rest.chunks(NUM_LANES) {
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
    lanes: &mut [A; NUM_LANES],
    values: &[T; NUM_LANES],
    word: u64,
    step: impl Fn(A, T) -> A,
) {
    for lane in 0..NUM_LANES {
        let old = lanes[lane];
        let new = step(old, values[lane]);
        lanes[lane] = if word & (1 << lane) != 0 { new } else { old };
    }
}

#[cfg(test)]
mod tests {
    use super::fold_lanes;
    use crate::Bitmap;

    #[test]
    fn values_that_are_there_are_folded() {
        let values: Vec<u64> = (0..300).map(|i| i * i + 1).collect();
        let bytes: Vec<u8> = (0..40_u32).map(|i| (i * 91 % 251) as u8).collect();
        for len in 0..values.len() {
            let values = &values[..len];
            let sum = fold_lanes(values, None, 0, |sum, value| sum + value, |a, b| a + b);
            assert_eq!(sum, values.iter().sum::<u64>());
            let bits = Bitmap::try_new(&bytes, 3, len).unwrap();
            let valid = values.iter().enumerate().filter(|(row, _)| bits.get(*row));
            let expected: u64 = valid.map(|(_, value)| value).sum();
            let sum = fold_lanes(values, Some(bits), 0, |sum, v| sum + v, |a, b| a + b);
            assert_eq!(sum, expected);
        }
    }

    #[test]
    fn sums_of_floats_are_those_of_the_kernel() {
        let values: Vec<f64> = (0..777).map(|i| 1.0 / f64::from(i + 1)).collect();
        let ours = fold_lanes(&values, None, 0.0, |sum, v| sum + v, |a: f64, b| a + b);
        let kernel = crate::sum::form_named("lanes").unwrap();
        assert_eq!(ours.to_bits(), kernel.sum(&values, None).to_bits());
    }
}
