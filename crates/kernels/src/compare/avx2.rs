//! The same with AVX2, which takes the upper bit of each of 32 bytes in one instruction.

use std::arch::x86_64::_mm256_movemask_epi8;

use super::{WORD_ROWS, retain_halves};
use crate::isa::load_bytes_256;

/// Clears the bits of whole groups of values for which `holds` is false.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_groups<T: Copy>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    holds: impl Fn(T) -> bool,
) {
    retain_halves(groups, words, |values| {
        let mut flags = [[0_u8; 32]; 2];
        for (flag, value) in flags.as_flattened_mut().iter_mut().zip(values) {
            *flag = u8::from(holds(*value)).wrapping_neg();
        }
        let [low, high] = flags.map(|half| _mm256_movemask_epi8(load_bytes_256(&half)));
        u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32
    });
}
