//! The same with AVX2, which takes the upper bit of each of 32 bytes in one instruction.

use std::arch::x86_64::_mm256_movemask_epi8;

use super::WORD_ROWS;
use crate::isa::load_bytes_256;

/// Clears the bits of whole groups of values for which `holds` is false.
///
/// Both halves are read at once, as folds do ([`crate::fold`]): a core reads two streams faster than one.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn retain_groups<T: Copy>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    holds: impl Fn(T) -> bool,
) {
    let middle = groups.len().div_ceil(2);
    let (first, second) = groups.split_at(middle);
    let (first_words, second_words) = words.split_at_mut(middle);
    let retain = |group: &[T; WORD_ROWS], word: &mut u64| {
        // What an earlier comparison has dropped as a whole is not read.
        if *word != 0 {
            *word &= word_of(group, &holds);
        }
    };
    // The second half has as many groups, or one less.
    let mut second = second.iter().zip(second_words);
    for (group, word) in first.iter().zip(first_words) {
        retain(group, word);
        if let Some((group, word)) = second.next() {
            retain(group, word);
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn word_of<T: Copy>(values: &[T; WORD_ROWS], holds: &impl Fn(T) -> bool) -> u64 {
    let mut flags = [[0_u8; 32]; 2];
    for (flag, value) in flags.as_flattened_mut().iter_mut().zip(values) {
        *flag = u8::from(holds(*value)).wrapping_neg();
    }
    let [low, high] =
        flags.map(|half| u64::from(_mm256_movemask_epi8(load_bytes_256(&half)).cast_unsigned()));
    low | high << 32
}
