//! Estimates how many different numbers there are, by counting marks in a bitmap.

use crate::word::Word;

/// Bits of the bitmap: 8 KiB, which stay in the nearest cache.
const NUM_MARKS: usize = 1 << 16;

/// The golden ratio as a fraction of 2^64; odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A hash of 32 bits: two multiplications, the upper half folded onto the lower in between.
#[inline(always)]
pub(crate) fn hash<T: Word>(number: T) -> usize {
    let product = number.widened().wrapping_mul(MULTIPLIER);
    let mixed = (product ^ (product >> 32)).wrapping_mul(MULTIPLIER);
    u32::truncated(mixed >> 32) as usize
}

/// About how many different numbers there are: with a few percent of error up to some hundred
/// thousand, beyond that "many".
///
/// A number marks a place by its hash. If `m` of `n` places stay empty, about `n ln(n / m)` numbers
/// were there (linear counting).
pub(crate) fn estimate<T: Word>(numbers: &[T]) -> usize {
    let mut marks = [0_u64; NUM_MARKS / 64];
    for number in numbers {
        let place = hash(*number) % NUM_MARKS;
        marks[place / 64] |= 1 << (place % 64);
    }
    let num_marked: u32 = marks.iter().map(|word| word.count_ones()).sum();
    let num_empty = (NUM_MARKS as f64 - f64::from(num_marked)).max(0.5);
    let estimate = NUM_MARKS as f64 * (NUM_MARKS as f64 / num_empty).ln();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most some hundred thousand"
    )]
    let estimate = estimate.round() as usize;
    estimate.clamp(usize::from(!numbers.is_empty()), numbers.len())
}
