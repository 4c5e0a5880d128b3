//! Remainders of consecutive numbers, without a division for each: they count up and begin again.
//!
//! Generated numbers, serial identifiers and times of a tick each are such columns. Whether numbers are
//! consecutive is told by the first and the last where they are not, and by a comparison of each where
//! they are.

use crate::divide::word::Unsigned;
use crate::divide::{Divisor, Truncated, Word};
use crate::widest::{Loop, widest};

/// Fewer values are divided one by one.
const MIN_LEN: usize = 64;

/// Writes the remainders if the values are consecutive numbers of one sign; whether they are.
pub(super) fn remainders<T: Word, R: Truncated<T>>(
    divisor: &Divisor<T>,
    values: &[T],
    out: &mut [R],
) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else {
        return true;
    };
    let (start, end) = (first.magnitude().to_u128(), last.magnitude().to_u128());
    let len = values.len() as u128;
    if values.len() < MIN_LEN || end.checked_sub(start) != Some(len - 1) {
        return false;
    }
    if widest(Differs { values, start }) {
        return false;
    }
    let period = divisor.get().magnitude().to_u128();
    let first_rest = start % period;
    // A period, or as much of it as there are values; it may begin in the middle.
    let num_written = period.min(len) as usize;
    let (written, _) = out.split_at_mut(num_written);
    let num_before = (period - first_rest).min(num_written as u128) as usize;
    let (before, after) = written.split_at_mut(num_before);
    let sign = *first;
    widest(CountUp {
        out: before,
        start: first_rest,
        sign,
    });
    widest(CountUp {
        out: after,
        start: 0,
        sign,
    });
    repeat(out, num_written);
    true
}

/// Repeats the first `len` values up to the end.
fn repeat<R: Copy>(out: &mut [R], len: usize) {
    let mut len = len;
    while len < out.len() {
        let num_copied = len.min(out.len() - len);
        out.copy_within(..num_copied, len);
        len += num_copied;
    }
}

/// Whether a value is not the one before it plus one, away from zero.
struct Differs<'a, T> {
    values: &'a [T],
    start: u128,
}

impl<T: Word> Loop for Differs<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let sign = self.values[0];
        let start = self.start as u64;
        let differs = |(i, value): (usize, &T)| {
            let magnitude = T::Magnitude::from_u128(u128::from(start + i as u64));
            *value != T::with_sign(magnitude, sign)
        };
        let values = self.values.iter().enumerate();
        // No early end: this way it is done for many values at once.
        values.fold(false, |any, value| any | differs(value))
    }
}

/// Writes numbers one by one, with the sign of `sign`.
struct CountUp<'a, R, T> {
    out: &'a mut [R],
    start: u128,
    sign: T,
}

impl<T: Word, R: Truncated<T>> Loop for CountUp<'_, R, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let start = self.start as u64;
        for (i, out) in self.out.iter_mut().enumerate() {
            let magnitude = T::Magnitude::from_u128(u128::from(start + i as u64));
            *out = R::truncate(T::with_sign(magnitude, self.sign));
        }
    }
}
