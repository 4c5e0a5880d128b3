//! Specifies the bits, and makes them of bytes with a multiplication.

use super::{Pair, WORD_ROWS, retain_each};

/// Clears the bits of the rows for which `holds` is false, one after the other: the specification.
#[inline(always)]
pub(super) fn retain_rows(num_rows: usize, word: &mut u64, holds: impl Fn(usize) -> bool) {
    for row in 0..num_rows {
        *word &= !(u64::from(!holds(row)) << row);
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
            *word &= word_of(|row| holds(group[row]));
        }
    }
}

/// The same where a value of each side is compared.
pub(super) fn retain_pair_groups<T: Copy>(
    groups: Pair<'_, T>,
    words: &mut [u64],
    holds: impl Fn(T, T) -> bool,
) {
    retain_each(groups, words, |left, right| {
        word_of(|row| holds(left[row], right[row]))
    });
}

#[inline(always)]
fn word_of(holds: impl Fn(usize) -> bool) -> u64 {
    let mut flags = [0_u8; WORD_ROWS];
    for (row, flag) in flags.iter_mut().enumerate() {
        *flag = u8::from(holds(row));
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
