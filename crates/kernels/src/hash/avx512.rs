//! Hashes eight words at a time.

use crate::hash::scalar::{self, MULTIPLIER, SEED, hash_all};
use crate::isa;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn mix_in_registers(words: &[u64], hashes: &mut [u64]) {
    hash_all(words, hashes, scalar::mix);
}

/// The 128-bit product from four of 32 bits, because vectors have no wider ones.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fold_in_registers(words: &[u64], hashes: &mut [u64]) {
    const LOW: u64 = u32::MAX as u64;
    let (low, high) = (MULTIPLIER & LOW, MULTIPLIER >> 32);
    hash_all(words, hashes, |word| {
        let word = word ^ SEED;
        let (word_low, word_high) = (word & LOW, word >> 32);
        let least = word_low * low;
        let middle = word_high * low + (least >> 32);
        let other_middle = word_low * high + (middle & LOW);
        let upper = word_high * high + (middle >> 32) + (other_middle >> 32);
        (other_middle << 32 | least & LOW) ^ upper
    });
}

/// [`scalar::mix`] of every word.
pub(super) fn mix_all(words: &[u64], hashes: &mut [u64]) {
    if !isa::has_avx512() {
        return scalar::mix_all(words, hashes);
    }
    // SAFETY: (cpu) detected above. Pays in bench `hash`.
    unsafe { mix_in_registers(words, hashes) }
}

/// [`scalar::fold`] of every word.
pub(super) fn fold_all(words: &[u64], hashes: &mut [u64]) {
    if !isa::has_avx512() {
        return scalar::fold_all(words, hashes);
    }
    // SAFETY: (cpu) detected above. Pays in bench `hash`.
    unsafe { fold_in_registers(words, hashes) }
}
