//! Specifies the sums, and gives the wide forms their loops.
//!
//! What is `inline(always)` here is compiled again, for wider registers, in `avx2.rs` and
//! `avx512.rs`: the same source, so the same order.

use crate::Bitmap;
use crate::fold::{HALF_LANES, half_rows};
use crate::masks::keep_valid;
use crate::sum::NUM_LANES;

/// Rows of a bitmap's word.
const WORD_ROWS: usize = 64;

type Lanes = [f64; NUM_LANES];

/// Each row to its lane, in order: the definition of `sum`.
#[inline(always)]
pub(super) fn lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    let mut sums = [0.0; NUM_LANES];
    for_lanes(
        values,
        validity,
        |sums: &mut Lanes, values| {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        },
        &mut sums,
    );
    fold(sums)
}

/// Adds the upper half to the lower half until one lane is left.
#[inline(always)]
pub(super) fn fold(mut sums: Lanes) -> f64 {
    let mut half = NUM_LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// Hands the values to `add` lane by lane, 32 at a time; missing ones, and those after the last, are 0.0.
///
/// Adding 0.0 changes no bit: a sum that starts at +0.0 is never -0.0.
#[inline(always)]
fn for_lanes<S>(
    values: &[f64],
    validity: Option<Bitmap<'_>>,
    add: impl Fn(&mut S, &Lanes),
    state: &mut S,
) {
    let half = half_rows(values.len());
    let (first, others) = values.split_at(half);
    let (second, rest) = others.split_at(half);
    let bits = validity.map(|bits| (bits.slice(0, half), bits.slice(half, half)));
    let groups = first.as_chunks().0.iter().zip(second.as_chunks().0);
    for (group, (first, second)) in groups.enumerate() {
        let values = joined(first, second);
        match bits.map_or(u32::MAX, |bits| group_bits(bits, group)) {
            u32::MAX => add(state, &values),
            0 => {}
            valid => add(state, &keep_valid(&values, u64::from(valid))),
        }
    }
    if !rest.is_empty() {
        let mut padded = [0.0; NUM_LANES];
        padded[..rest.len()].copy_from_slice(rest);
        let valid = validity.map_or(u64::MAX, |bits| bits.slice(2 * half, rest.len()).word(0));
        add(state, &keep_valid(&padded, valid));
    }
}

/// Sixteen values of each half, in the order of their lanes.
#[inline(always)]
fn joined(first: &[f64; HALF_LANES], second: &[f64; HALF_LANES]) -> Lanes {
    std::array::from_fn(|lane| match lane.checked_sub(HALF_LANES) {
        None => first[lane],
        Some(lane) => second[lane],
    })
}

/// Which of the 32 rows of a group, 16 of each half, have a value.
#[inline(always)]
fn group_bits((first, second): (Bitmap<'_>, Bitmap<'_>), group: usize) -> u32 {
    let row = group * HALF_LANES;
    let of_half = |bits: Bitmap<'_>| (bits.word(row / WORD_ROWS) >> (row % WORD_ROWS)) as u16;
    u32::from(of_half(first)) | u32::from(of_half(second)) << HALF_LANES
}

/// The textbook's loop.
pub(super) fn rows(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    let mut sum = 0.0;
    for (row, value) in values.iter().enumerate() {
        if validity.is_none_or(|bits| bits.get(row)) {
            sum += value;
        }
    }
    sum
}

/// A sum and what its additions have rounded away.
#[derive(Clone, Copy, Default)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    #[inline(always)]
    fn add(&mut self, value: f64) {
        let corrected = value - self.error;
        let sum = self.sum + corrected;
        self.error = (sum - self.sum) - corrected;
        self.sum = sum;
    }
}

/// Kahan's sum, one value after the other.
pub(super) fn kahan(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    let mut total = Compensated::default();
    for (row, value) in values.iter().enumerate() {
        if validity.is_none_or(|bits| bits.get(row)) {
            total.add(*value);
        }
    }
    total.sum
}

/// Kahan's sum in lanes; a missing value is added as 0.0, which lets the error settle.
#[inline(always)]
pub(super) fn kahan_lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    let mut state = ([0.0; NUM_LANES], [0.0; NUM_LANES]);
    for_lanes(
        values,
        validity,
        |(sums, errors): &mut (Lanes, Lanes), values| {
            for lane in 0..NUM_LANES {
                let corrected = values[lane] - errors[lane];
                let sum = sums[lane] + corrected;
                errors[lane] = (sum - sums[lane]) - corrected;
                sums[lane] = sum;
            }
        },
        &mut state,
    );
    let (sums, errors) = state;
    let mut total = Compensated::default();
    for part in sums.into_iter().chain(errors.map(|error| -error)) {
        total.add(part);
    }
    total.sum
}
