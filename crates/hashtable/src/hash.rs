//! Hashes keys: multiply to twice the width and fold the halves together.
//!
//! Eight words at a time with wide instructions take a third less, which is a twentieth of a search
//! at most: not worth a second form.

use crate::Word256;

/// Odd constants without a pattern (digits of pi).
const SEEDS: [u64; 3] = [
    0x243F_6A88_85A3_08D3,
    0x9E37_79B9_7F4A_7C15,
    0xA409_3822_299F_31D1,
];

/// Bytes of a string that are folded at once.
const BLOCK: usize = 16;

/// Bytes of a long string that are folded independently.
const GROUP: usize = 4 * BLOCK;

/// Odd constants without a pattern (digits of e), two for each block of a group.
const BLOCK_SEEDS: [[u64; 2]; GROUP / BLOCK] = [
    [0xB7E1_5162_8AED_2A6B, 0xF715_8809_CF4F_3C77],
    [0x62E7_160F_38B4_DA57, 0xA784_D904_5190_CFEF],
    [0x324E_7738_926C_FBE5, 0xF4BF_8D8D_8C31_D763],
    [0xDA06_C80A_BB11_85EB, 0x4F7C_7B57_57F5_9585],
];

/// The hash of a word, chosen by type so that a table's loop contains it.
pub trait HashWord<W>: Send + Sync + 'static {
    /// A hash whose low bits are as good as its high ones.
    fn hash(word: W) -> u64;
}

/// The hash of a byte string, chosen by type.
pub trait HashBytes: HashWord<u128> {
    /// A hash whose low bits are as good as its high ones.
    fn hash_bytes(bytes: &[u8]) -> u64;
}

/// Hashes of all keys that tables have.
pub trait HashKeys:
    HashWord<u32> + HashWord<u64> + HashWord<Word256> + HashBytes + Default + std::fmt::Debug + Clone
{
}

impl HashKeys for Fold {}

impl HashKeys for Zero {}

/// The hash to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fold;

/// The same hash for every key: what a table does in the worst case. For tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Zero;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

impl HashWord<u32> for Fold {
    #[inline]
    fn hash(word: u32) -> u64 {
        fold(u64::from(word) ^ SEEDS[0], SEEDS[1])
    }
}

impl HashWord<u64> for Fold {
    #[inline]
    fn hash(word: u64) -> u64 {
        fold(word ^ SEEDS[0], SEEDS[1])
    }
}

impl HashWord<u128> for Fold {
    #[inline]
    fn hash(word: u128) -> u64 {
        with_next(Self::hash(word as u64), (word >> 64) as u64)
    }
}

impl HashWord<Word256> for Fold {
    #[inline]
    fn hash(word: Word256) -> u64 {
        let [first, rest @ ..] = word.0;
        rest.into_iter().fold(Self::hash(first), with_next)
    }
}

/// The hash of a word and of what went before it.
#[inline]
fn with_next(hash: u64, word: u64) -> u64 {
    fold((word ^ SEEDS[2]).wrapping_add(hash), SEEDS[1])
}

impl HashBytes for Fold {
    /// Blocks of short strings may overlap: there is no loop over single bytes, and there are few lengths to
    /// tell apart.
    #[inline]
    fn hash_bytes(bytes: &[u8]) -> u64 {
        let seed = bytes.len() as u64 ^ SEEDS[2];
        if bytes.len() > GROUP {
            return hash_groups(bytes, seed);
        }
        let blocks = match (bytes.first_chunk::<32>(), bytes.last_chunk::<32>()) {
            (Some(first), Some(last)) => blocks(first, 0).wrapping_add(blocks(last, 2)),
            _ => match (bytes.first_chunk::<BLOCK>(), bytes.last_chunk::<BLOCK>()) {
                (Some(first), Some(last)) => blocks(first, 0).wrapping_add(blocks(last, 1)),
                _ => {
                    let mut padded = [0; BLOCK];
                    padded[..bytes.len()].copy_from_slice(bytes);
                    blocks(&padded, 0)
                }
            },
        };
        fold(blocks ^ seed, SEEDS[1])
    }
}

/// The hash of a string longer than a group.
fn hash_groups(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed;
    let mut add = |group: &[u8; GROUP]| {
        hash = fold(hash ^ SEEDS[0], SEEDS[1]).wrapping_add(blocks(group, 0));
    };
    let (groups, rest) = bytes.as_chunks::<GROUP>();
    groups.iter().for_each(&mut add);
    if let (Some(last), false) = (bytes.last_chunk(), rest.is_empty()) {
        add(last);
    }
    fold(hash ^ seed, SEEDS[1])
}

/// The sum of what blocks become, of which the first is at `place` in its group: no block waits for another.
#[inline(always)]
fn blocks(bytes: &[u8], place: usize) -> u64 {
    let blocks = bytes.as_chunks::<BLOCK>().0.iter();
    let folded = blocks.zip(&BLOCK_SEEDS[place..]).map(|(block, seeds)| {
        let word = u128::from_le_bytes(*block);
        fold(word as u64 ^ seeds[0], (word >> 64) as u64 ^ seeds[1])
    });
    folded.fold(0, u64::wrapping_add)
}

impl<W> HashWord<W> for Zero {
    #[inline]
    fn hash(_word: W) -> u64 {
        0
    }
}

impl HashBytes for Zero {
    #[inline]
    fn hash_bytes(_bytes: &[u8]) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Fold, HashBytes, HashWord};
    use crate::Word256;

    /// Number of different values among 12 bits of the hashes of 4096 keys; 2589 are expected
    /// of random numbers.
    fn spread(hashes: impl Iterator<Item = u64>, shift: u32) -> usize {
        let bits: HashSet<u64> = hashes.map(|h| (h >> shift) & 0xFFF).collect();
        bits.len()
    }

    #[test]
    fn low_and_high_bits_of_regular_keys_are_spread() {
        for step in [
            1u64,
            2,
            10,
            256,
            1000,
            4096,
            1 << 20,
            1 << 32,
            1 << 48,
            7919,
        ] {
            for shift in [0, 20, 52] {
                let keys = (0..4096u64).map(|i| i.wrapping_mul(step));
                let narrow = spread(keys.clone().map(Fold::hash), shift);
                assert!(narrow > 2200, "step {step}, shift {shift}: {narrow}");
                let wide = keys.clone().map(|k| Fold::hash((u128::from(k) << 64) | 7));
                assert!(
                    spread(wide, shift) > 2200,
                    "wide, step {step}, shift {shift}"
                );
                for place in 0..4 {
                    let widest = keys.clone().map(|key| {
                        let mut words = [7; 4];
                        words[place] = key;
                        Fold::hash(Word256(words))
                    });
                    assert!(
                        spread(widest, shift) > 2200,
                        "word {place}, step {step}, shift {shift}"
                    );
                }
            }
        }
    }

    #[test]
    fn bytes_of_every_length_count() {
        let mut seen = HashSet::new();
        for len in 0..100 {
            assert!(seen.insert(Fold::hash_bytes(&vec![0; len])));
            for i in 0..len {
                let mut bytes = vec![0; len];
                bytes[i] = 1;
                assert!(seen.insert(Fold::hash_bytes(&bytes)), "byte {i} of {len}");
            }
        }
    }

    #[test]
    fn numbered_urls_are_spread() {
        let urls = (0..4096).map(|i| format!("https://example.org/page/{i}"));
        let hashes: Vec<u64> = urls.map(|u| Fold::hash_bytes(u.as_bytes())).collect();
        for shift in [0, 20, 52] {
            assert!(
                spread(hashes.iter().copied(), shift) > 2200,
                "shift {shift}"
            );
        }
    }
}
