//! The same with AVX-512, which takes the upper bit of each of 64 bytes in one instruction.

use std::arch::x86_64::_mm512_movepi8_mask;

use super::{Pair, WORD_ROWS, flags, retain_each, retain_halves};
use crate::isa::load_bytes_512;

/// Clears the bits of whole groups of values for which `holds` is false.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_groups<T: Copy>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    holds: impl Fn(T) -> bool,
) {
    retain_halves(groups, words, |values| {
        _mm512_movepi8_mask(load_bytes_512(&flags(|row| holds(values[row]))))
    });
}

/// The same where a value of each side is compared.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_pair_groups<T: Copy>(
    groups: Pair<'_, T>,
    words: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    retain_each(groups, words, |left, right| {
        let flags = flags(|row| holds(left[row], right[row]));
        _mm512_movepi8_mask(load_bytes_512(&flags))
    });
}
