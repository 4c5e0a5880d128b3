//! The same with AVX2, which takes the upper bit of each of 32 bytes in one instruction.

use std::arch::x86_64::_mm256_movemask_epi8;

use super::{Pair, WORD_ROWS, flags, retain_each, retain_halves};
use crate::isa::load_bytes_256;

/// Clears the bits of whole groups of values for which `holds` is false.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_groups<T: Copy>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    holds: impl Fn(T) -> bool,
) {
    retain_halves(groups, words, |values| {
        word(flags(|row| holds(values[row])))
    });
}

/// The same where a value of each side is compared.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_pair_groups<T: Copy>(
    groups: Pair<'_, T>,
    words: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    retain_each(groups, words, |left, right| {
        word(flags(|row| holds(left[row], right[row])))
    });
}

/// The upper bit of each byte.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn word(flags: [u8; WORD_ROWS]) -> u64 {
    let (halves, _) = flags.as_chunks::<32>();
    let bits = |half: &[u8; 32]| _mm256_movemask_epi8(load_bytes_256(half)).cast_unsigned();
    u64::from(bits(&halves[0])) | u64::from(bits(&halves[1])) << 32
}
