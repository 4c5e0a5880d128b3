//! Adds floats up in twice their precision, so that the order of the rows does not show.
//!
//! Additions of floats round, so a sum depends on their order, and that depends on which thread gets which rows, how rows
//! are grouped, and what fits in memory. A [`Twofold`] keeps what its additions have rounded away, and is rounded once,
//! when it is asked for (Ogita, Rump and Oishi, "Accurate sum and dot product", 2005, algorithm Sum2). The error is that
//! of a sum computed in twice the precision and rounded: of `n` values the order shows in the last digit only if
//! `n` times the sum of their magnitudes is some 2^100 times the sum.
//!
//! The lanes are those of [`fold`](crate::fold), so that compiled code can do the same additions, bit for bit. Seven
//! operations a value instead of one still take less time than memory does. Tests: below; bench: `sum`.

use crate::Bitmap;
use crate::fold::{HALF_LANES, NUM_LANES, half_rows};
use crate::masks::keep_valid;
use crate::widest::{Loop, widest};

/// Rows of a bitmap's word.
const WORD_ROWS: usize = 64;

/// A sum, and what its additions have rounded away.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twofold {
    /// The sum of rounded additions.
    pub sum: f64,
    /// What belongs to it beyond its last digit; meaningless if the sum is not finite.
    pub rest: f64,
}

impl Twofold {
    /// The sum with another value.
    #[inline(always)]
    #[must_use]
    pub fn plus(self, value: f64) -> Self {
        let sum = self.sum + value;
        let added = sum - self.sum;
        let lost = (self.sum - (sum - added)) + (value - added);
        Self {
            sum,
            rest: self.rest + lost,
        }
    }

    /// The sum of both.
    #[inline(always)]
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        let both = self.plus(other.sum);
        Self {
            rest: both.rest + other.rest,
            ..both
        }
    }

    /// The same, in which the sum is rounded once: it is what this stands for, to the last digit.
    #[must_use]
    pub fn rounded(self) -> Self {
        let sum = self.sum + self.rest;
        // Nothing can be said of what infinity has lost.
        match sum.is_finite() {
            true => Self {
                sum,
                rest: self.rest - (sum - self.sum),
            },
            false => Self {
                sum: self.sum,
                rest: 0.0,
            },
        }
    }
}

/// The sum of the valid `values` as floats.
///
/// # Panics
/// If the bitmap has another number of rows.
#[inline]
pub fn sum<T: Copy>(
    values: &[T],
    validity: Option<Bitmap<'_>>,
    widen: impl Fn(T) -> f64 + Copy,
) -> Twofold {
    assert!(validity.is_none_or(|bits| bits.len() == values.len()));
    join_lanes(widest(Fold {
        values,
        validity,
        widen,
    }))
}

/// The sum of all lanes, joined pairwise as those of [`fold`](crate::fold) are.
pub fn join_lanes(mut lanes: [Twofold; NUM_LANES]) -> Twofold {
    let mut width = NUM_LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] = lanes[lane].joined(lanes[lane + width]);
        }
        width /= 2;
    }
    lanes[0]
}

/// All lanes, sums and rests apart.
struct Lanes {
    sums: [f64; NUM_LANES],
    rests: [f64; NUM_LANES],
}

impl Lanes {
    /// Adds a value to each lane. Zero changes nothing: a sum that starts at +0.0 is never -0.0.
    ///
    /// One loop over all lanes is what compilers make vector code of; loops over the 16 of a half they unroll first, and
    /// then add one by one, which took twice as long (bench `sum`).
    #[inline(always)]
    #[expect(
        clippy::needless_range_loop,
        reason = "three arrays are walked side by side"
    )]
    fn add(&mut self, values: &[f64; NUM_LANES]) {
        for lane in 0..NUM_LANES {
            let (old, value) = (self.sums[lane], values[lane]);
            let sum = old + value;
            let added = sum - old;
            self.rests[lane] += (old - (sum - added)) + (value - added);
            self.sums[lane] = sum;
        }
    }
}

struct Fold<'a, T, W> {
    values: &'a [T],
    validity: Option<Bitmap<'a>>,
    widen: W,
}

impl<T: Copy, W: Fn(T) -> f64 + Copy> Loop for Fold<'_, T, W> {
    type Output = [Twofold; NUM_LANES];

    #[inline(always)]
    fn run(self) -> [Twofold; NUM_LANES] {
        let half = half_rows(self.values.len());
        let (first, others) = self.values.split_at(half);
        let (second, rest) = others.split_at(half);
        let bits = self
            .validity
            .map(|bits| (bits.slice(0, half), bits.slice(half, half)));
        let all = fold_halves((first, second), bits, self.widen);
        let mut lanes = std::array::from_fn(|lane| Twofold {
            sum: all.sums[lane],
            rest: all.rests[lane],
        });
        let bits = self.validity.map(|bits| bits.slice(2 * half, rest.len()));
        for (row, (lane, value)) in lanes.iter_mut().zip(rest).enumerate() {
            if bits.is_none_or(|bits| bits.get(row)) {
                *lane = lane.plus((self.widen)(*value));
            }
        }
        lanes
    }
}

/// Folds both halves, which have the same whole number of groups of lanes; they are read at once, as
/// [`fold`](crate::fold) does.
#[inline(always)]
fn fold_halves<T: Copy>(
    (first, second): (&[T], &[T]),
    bits: Option<(Bitmap<'_>, Bitmap<'_>)>,
    widen: impl Fn(T) -> f64 + Copy,
) -> Lanes {
    let mut lanes = Lanes {
        sums: [0.0; NUM_LANES],
        rests: [0.0; NUM_LANES],
    };
    let words = first.chunks(WORD_ROWS).zip(second.chunks(WORD_ROWS));
    for (i, (first, second)) in words.enumerate() {
        let valid = bits.map_or((u64::MAX, u64::MAX), |(a, b)| (a.word(i), b.word(i)));
        if valid == (0, 0) {
            continue;
        }
        let groups = first.as_chunks().0.iter().zip(second.as_chunks().0);
        for (group, (first, second)) in groups.enumerate() {
            let mut values = [0.0; NUM_LANES];
            let (low, high) = values.split_at_mut(HALF_LANES);
            let (first, second): (&[T; HALF_LANES], &[T; HALF_LANES]) = (first, second);
            for (wide, value) in low.iter_mut().zip(first) {
                *wide = widen(*value);
            }
            for (wide, value) in high.iter_mut().zip(second) {
                *wide = widen(*value);
            }
            if valid != (u64::MAX, u64::MAX) {
                let shift = group * HALF_LANES;
                let of = |word: u64| word >> shift & ((1 << HALF_LANES) - 1);
                values = keep_valid(&values, of(valid.0) | of(valid.1) << HALF_LANES);
            }
            lanes.add(&values);
        }
    }
    lanes
}

#[cfg(test)]
mod tests {
    use super::{Twofold, join_lanes, sum};
    use crate::Bitmap;
    use crate::fold::{NUM_LANES, lane_of};
    use crate::level::at_every_level;

    /// What the sum is defined as.
    fn by_lanes(values: &[f64], valid: impl Fn(usize) -> bool) -> Twofold {
        let mut lanes = [Twofold::default(); NUM_LANES];
        for (row, value) in values.iter().enumerate().filter(|(row, _)| valid(*row)) {
            let lane = &mut lanes[lane_of(row, values.len())];
            *lane = lane.plus(*value);
        }
        join_lanes(lanes)
    }

    fn in_order(values: impl Iterator<Item = f64>) -> f64 {
        let sum = values.fold(Twofold::default(), Twofold::plus);
        sum.rounded().sum
    }

    fn noise(len: u32) -> Vec<f64> {
        let value = |i: u32| f64::from(i.wrapping_mul(2_654_435_761)) / 7.0 - 3e8;
        (0..len).map(value).collect()
    }

    #[test]
    fn rows_go_to_their_lanes() {
        at_every_level(|_| check_lanes());
    }

    fn check_lanes() {
        let mut values = noise(400);
        let bytes: Vec<u8> = (0..60_u32)
            .map(|i| if i < 30 { (i * 91 % 251) as u8 } else { 255 })
            .collect();
        for len in (0..100).chain([128, 129, 200, 256, 300, 399]) {
            for offset in [0, 1, 5] {
                let bits = Bitmap::try_new(&bytes, offset, len).unwrap();
                // What lies below a missing value may be anything.
                values.iter_mut().enumerate().for_each(|(row, value)| {
                    if row < len && !bits.get(row) {
                        *value = f64::NAN;
                    }
                });
                let expected = by_lanes(&values[..len], |row| bits.get(row));
                assert_eq!(sum(&values[..len], Some(bits), |v| v), expected);
                values = noise(400);
                let expected = by_lanes(&values[..len], |_| true);
                assert_eq!(sum(&values[..len], None, |v| v), expected);
            }
        }
    }

    #[test]
    fn order_does_not_show() {
        let values = noise(10_000);
        let forward = in_order(values.iter().copied());
        let backward = in_order(values.iter().rev().copied());
        assert_eq!(forward.to_bits(), backward.to_bits());
        let lanes = sum(&values, None, |v| v).rounded().sum;
        assert_eq!(forward.to_bits(), lanes.to_bits());
        let (a, b) = values.split_at(1234);
        let part = |values: &[f64]| sum(values, None, |v| v);
        let joined = [
            part(a).joined(part(b)),
            part(b).rounded().joined(part(a).rounded()),
        ];
        for joined in joined {
            assert_eq!(joined.rounded().sum.to_bits(), forward.to_bits());
        }
        let plain: f64 = values.iter().sum();
        let reversed: f64 = values.iter().rev().sum();
        assert_ne!(plain.to_bits(), reversed.to_bits(), "no order shows at all");
    }

    #[test]
    fn what_cancels_leaves_the_rest() {
        assert_eq!(in_order([1e16, 1.0, -1e16].into_iter()), 1.0);
        assert_eq!(in_order((0..10).map(|_| 0.1)), 1.0);
    }

    #[test]
    fn infinities_and_nan_stay() {
        let (most, least) = (f64::INFINITY, f64::NEG_INFINITY);
        assert_eq!(in_order([most, 1.0].into_iter()), most);
        assert_eq!(in_order([1.0, least].into_iter()), least);
        assert!(in_order([most, least].into_iter()).is_nan());
        assert!(in_order([f64::NAN, 1.0].into_iter()).is_nan());
        assert_eq!(in_order([f64::MAX, f64::MAX].into_iter()), most);
    }
}
