//! Holds words of 64 bits.

use ahash::RandomState;
use hashbrown::HashSet;

/// Bits for sets of however few words: they lie in the first caches.
const MIN_BITS: u64 = 1 << 17;

/// Most bits for each of many words that lie close together: about what a hash table takes.
const BITS_OF_VALUE: u64 = 128;

/// Bits of a filter for each word: one in so many words that are no members passes.
const FILTER_BITS: usize = 16;

/// The golden ratio as a fraction of 2^64; odd.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// A set of words.
pub(super) enum WordSet {
    /// Those that lie close together, by their distances from the least.
    Close { least: u64, bits: Vec<u64> },
    /// Others, behind a filter that most words do not pass.
    Hashed {
        filter: Filter,
        words: HashSet<u64, RandomState>,
    },
}

impl WordSet {
    /// Some words, in the order that they have with other `sign` bits.
    pub(super) fn new(words: &[u64], sign: u64) -> Self {
        let order = |word: &&u64| **word ^ sign;
        let least = words.iter().min_by_key(order).copied();
        let greatest = words.iter().max_by_key(order).copied();
        let (least, greatest) = least.zip(greatest).unwrap_or_default();
        let range = greatest.wrapping_sub(least);
        if range >= MIN_BITS.max(words.len() as u64 * BITS_OF_VALUE) {
            return Self::Hashed {
                filter: Filter::new(words.iter().copied(), words.len()),
                words: words.iter().copied().collect(),
            };
        }
        let mut bits = vec![0_u64; (range / 64) as usize + 1];
        for word in words {
            let distance = word.wrapping_sub(least);
            bits[(distance / 64) as usize] |= 1 << (distance % 64);
        }
        if words.is_empty() {
            bits.clear();
        }
        Self::Close { least, bits }
    }

    /// Appends 1 for each word that is in the set, 0 for others.
    pub(super) fn contains(&self, words: &[u64], found: &mut Vec<u8>) {
        match self {
            Self::Close { least, bits } => {
                let is_set = |word: &u64| {
                    let distance = word.wrapping_sub(*least);
                    let bits = bits.get((distance / 64) as usize);
                    bits.map_or(0, |bits| (bits >> (distance % 64)) as u8 & 1)
                };
                found.extend(words.iter().map(is_set));
            }
            Self::Hashed { filter, words: set } => {
                let begin = found.len();
                found.extend(words.iter().map(|word| filter.passes(*word)));
                for (found, word) in found[begin..].iter_mut().zip(words) {
                    if *found == 1 {
                        *found = u8::from(set.contains(word));
                    }
                }
            }
        }
    }
}

/// A bit for each hash of some bits that a member has.
pub(super) struct Filter {
    bits: Vec<u64>,
    /// How far a hash of 64 bits is shifted.
    shift: u32,
}

impl Filter {
    /// The filter of some members.
    pub(super) fn new(members: impl Iterator<Item = u64>, num_members: usize) -> Self {
        let num_bits = (num_members * FILTER_BITS).next_power_of_two();
        let num_bits = num_bits.max(MIN_BITS as usize);
        let mut filter = Self {
            bits: vec![0; num_bits / 64],
            shift: 64 - num_bits.trailing_zeros(),
        };
        for member in members {
            let place = filter.place(member);
            filter.bits[place / 64] |= 1 << (place % 64);
        }
        filter
    }

    fn place(&self, word: u64) -> usize {
        ((word ^ (word >> 32)).wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    /// 1 for every member and for some other words.
    #[inline]
    pub(super) fn passes(&self, word: u64) -> u8 {
        let place = self.place(word);
        (self.bits[place / 64] >> (place % 64)) as u8 & 1
    }
}
