//! Hashes with the processor's checksum instruction.

use std::arch::x86_64::_mm_crc32_u64;

use crate::hash::scalar::{self, CRC_SEEDS, MULTIPLIER, hash_all};

#[target_feature(enable = "sse4.2")]
fn crc_in_registers(words: &[u64], hashes: &mut [u64]) {
    hash_all(words, hashes, |word| {
        let low = _mm_crc32_u64(u64::from(CRC_SEEDS[0]), word);
        let high = _mm_crc32_u64(u64::from(CRC_SEEDS[1]), word.rotate_right(32));
        (high << 32 | low).wrapping_mul(MULTIPLIER)
    });
}

/// [`scalar::crc`] of every word.
pub(super) fn crc_all(words: &[u64], hashes: &mut [u64]) {
    if !std::arch::is_x86_feature_detected!("sse4.2") {
        return scalar::crc_all(words, hashes);
    }
    // SAFETY: (cpu) detected above. Pays in bench `hash`.
    unsafe { crc_in_registers(words, hashes) }
}
