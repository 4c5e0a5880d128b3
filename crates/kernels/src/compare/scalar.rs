//! Specifies the bits, and makes them of bytes with a multiplication.

use super::WORD_ROWS;

/// Clears the bits of the rows for which `holds` is false, one after the other: the specification.
#[inline(always)]
pub(super) fn retain_rows<T: Copy>(values: &[T], word: &mut u64, holds: impl Fn(T) -> bool) {
    for (i, value) in values.iter().enumerate() {
        *word &= !(u64::from(!holds(*value)) << i);
    }
}

/// Does the same for whole groups.
pub(super) fn retain_groups<T: Copy>(
    groups: &[[T; WORD_ROWS]],
    words: &mut [u64],
    holds: impl Fn(T) -> bool,
) {
    for (group, word) in groups.iter().zip(words) {
        // What an earlier comparison has dropped as a whole is not read.
        if *word != 0 {
            *word &= word_of(group, &holds);
        }
    }
}

#[inline(always)]
fn word_of<T: Copy>(values: &[T; WORD_ROWS], holds: impl Fn(T) -> bool) -> u64 {
    let mut flags = [0_u8; WORD_ROWS];
    for (flag, value) in flags.iter_mut().zip(values) {
        *flag = u8::from(holds(*value));
    }
    let (octets, _) = flags.as_chunks::<8>();
    let bytes = octets.iter().map(|octet| bits_of(*octet));
    bytes.rev().fold(0, |word, byte| word << 8 | byte)
}

/// The lowest bits of eight bytes that are 0 or 1, the first byte's lowest.
#[inline(always)]
fn bits_of(flags: [u8; 8]) -> u64 {
    // Byte `i` times bit `56 - 7 * i` of the factor lands on bit `56 + i`; nothing else gets there.
    u64::from_le_bytes(flags).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
