//! Sorts unsigned words by dealing them into buckets, the highest bits that differ first.
//!
//! ```text
//! sort(piece):
//!   few words: by insertion
//!   find the highest bit in which words differ: what all have in common costs one pass, however long
//!   deal the words into the other memory, into a bucket for each value of the next bits
//!   many words: sort each bucket, back into this memory
//!   else a bucket has a few words, and the words stand almost in order:
//!     sort those buckets that got many in spite of that, then all words by insertion
//! ```
//!
//! A digit has at most 10 bits, so that the places that are written to lie in the cache of the second level and
//! their pages in the nearest table of pages. Insertion at the end takes half the time of sorting each bucket of a
//! handful of words: every such bucket costs wrong guesses of the processor about its length and order.
//! Words that are equal may change places: who needs their order puts their numbers into the lowest bits.
//!
//! Tests: below; bench: `radix_sort`.

use std::ops::{BitOr, BitXor, Shl, Shr};

use crate::widest::{Loop, widest};

/// Most bits of a digit.
const MAX_DIGIT_BITS: u32 = 10;

/// Words that are sorted by insertion, whatever their order.
const FEW: usize = 24;

/// Words of which a bucket gets a few.
const MANY: usize = 1 << 11;

/// An unsigned number of 64 or 128 bits.
pub trait RadixWord:
    Copy
    + Ord
    + Default
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
{
    /// The number of bits.
    const BITS: u32;

    /// The lower 64 bits.
    fn low(self) -> u64;

    /// Bits above the highest one that is set.
    fn leading_zeros(self) -> u32;
}

impl RadixWord for u64 {
    const BITS: u32 = Self::BITS;

    #[inline(always)]
    fn low(self) -> u64 {
        self
    }

    #[inline(always)]
    fn leading_zeros(self) -> u32 {
        self.leading_zeros()
    }
}

impl RadixWord for u128 {
    const BITS: u32 = Self::BITS;

    #[inline(always)]
    fn low(self) -> u64 {
        self as u64
    }

    #[inline(always)]
    fn leading_zeros(self) -> u32 {
        self.leading_zeros()
    }
}

/// Sorts words, with as many others for scratch, whose values are unspecified afterwards.
///
/// # Panics
/// If `scratch` is shorter, or there are 2^32 words or more.
pub fn radix_sort<W: RadixWord>(words: &mut [W], scratch: &mut [W]) {
    assert!(u32::try_from(words.len()).is_ok(), "too many words");
    let scratch = &mut scratch[..words.len()];
    sort_piece((words, scratch), false, &mut Vec::new());
}

/// Sorts the words of the first memory, into the second if `moves`; the other's are lost.
fn sort_piece<W: RadixWord>(
    (words, other): (&mut [W], &mut [W]),
    moves: bool,
    places: &mut Vec<u32>,
) {
    let num_bits = match words.len() <= FEW {
        true => 0,
        false => W::BITS - widest(Differing(words)).leading_zeros(),
    };
    if num_bits == 0 {
        // Few words, or all of them the same.
        if moves {
            other.copy_from_slice(words);
            insert(other);
        } else {
            insert(words);
        }
        return;
    }
    let digit_bits = (words.len().ilog2() + 1).min(MAX_DIGIT_BITS).min(num_bits);
    let first = places.len();
    places.resize(first + (1 << digit_bits), 0);
    deal(words, other, (num_bits, digit_bits), &mut places[first..]);
    let is_almost_sorted = words.len() <= MANY;
    let mut start = 0;
    for bucket in first..places.len() {
        // Where the last word of the bucket was put.
        let end = places[bucket] as usize;
        let pair = (&mut other[start..end], &mut words[start..end]);
        if is_almost_sorted {
            if end - start > FEW {
                sort_piece(pair, false, places);
            }
        } else if end > start {
            sort_piece(pair, !moves, places);
        }
        start = end;
    }
    places.truncate(first);
    if is_almost_sorted {
        if moves {
            insert(other);
        } else {
            words.copy_from_slice(other);
            insert(words);
        }
    }
}

/// Sorts words that stand almost in order.
fn insert<W: RadixWord>(words: &mut [W]) {
    for i in 1..words.len() {
        let word = words[i];
        let mut place = i;
        while place > 0 && words[place - 1] > word {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}

/// Puts words where those of their digit go; `places`, zeros before, are where each digit's end then.
fn deal<W: RadixWord>(
    words: &[W],
    out: &mut [W],
    (num_bits, digit_bits): (u32, u32),
    places: &mut [u32],
) {
    let (shift, mask) = (num_bits - digit_bits, places.len() - 1);
    let digit = |word: W| (word >> shift).low() as usize & mask;
    for word in words {
        places[digit(*word)] += 1;
    }
    let mut start = 0;
    for count in &mut *places {
        start += std::mem::replace(count, start);
    }
    for word in words {
        let place = &mut places[digit(*word)];
        out[*place as usize] = *word;
        *place += 1;
    }
}

/// The bits in which not all words are the same.
struct Differing<'a, W>(&'a [W]);

impl<W: RadixWord> Loop for Differing<'_, W> {
    type Output = W;

    #[inline(always)]
    fn run(self) -> W {
        let first = self.0.first().copied().unwrap_or_default();
        let differing = |bits: W, word: &W| bits | (*word ^ first);
        self.0.iter().fold(W::default(), differing)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FEW, RadixWord, radix_sort};
    use crate::level::at_every_level;

    fn check<W: RadixWord + std::fmt::Debug>(words: Vec<W>) {
        let mut expected = words.clone();
        expected.sort_unstable();
        at_every_level(|level| {
            let mut found = words.clone();
            let mut scratch = vec![W::default(); words.len() + 3];
            radix_sort(&mut found, &mut scratch);
            assert_eq!(found, expected, "{level}");
        });
    }

    #[test]
    fn every_length() {
        let random: Vec<u64> = (1..301_u64)
            .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15))
            .collect();
        for len in 0..=random.len() {
            check(random[..len].to_vec());
            let wide = |word: &u64| u128::from(*word) << 60 | u128::from(word >> 60);
            check(random[..len].iter().map(wide).collect());
        }
    }

    #[test]
    fn lengths_around_the_few() {
        for len in [0, 1, 2, FEW - 1, FEW, FEW + 1, 2 * FEW, 5000] {
            let word = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            check((0..len).map(word).collect::<Vec<_>>());
            check((0..len).map(|i| word(i) >> 62).collect::<Vec<_>>());
            check((0..len as u64).rev().collect::<Vec<_>>());
            check(vec![u128::MAX; len]);
            let wide = |i| u128::from(word(i)) << 64 | u128::from(word(i + 1));
            check((0..len).map(wide).collect::<Vec<_>>());
            // One that is far from all others.
            let mut skewed = vec![7_u128; len];
            skewed.extend([u128::MAX, 8]);
            check(skewed);
        }
    }

    #[test]
    fn many_words_of_skewed_values() {
        let random = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7;
        for num_values in [2, 5, 3000] {
            // Half of them in one bucket, whose words differ in their lowest bits only.
            let value = |i: usize| random(i) % num_values / 2 * 2 * (random(i + 1) % 2);
            let word = |i: usize| value(i) << 44 | i as u64;
            check((0..100_000).map(word).collect::<Vec<_>>());
            let wide = |i: usize| u128::from(value(i)) << 100 | u128::from(random(i / 3)) << 20;
            check(
                (0..100_000)
                    .map(|i| wide(i) | i as u128)
                    .collect::<Vec<_>>(),
            );
        }
    }

    proptest! {
        #[test]
        fn as_by_comparing(
            words in prop::collection::vec(any::<u64>(), 0..3000),
            shift in 0_u32..64,
            high in 0_u32..64,
        ) {
            check(words.iter().map(|word| word >> shift).collect::<Vec<_>>());
            let wide = |word: &u64| u128::from(word >> shift) << 64 | u128::from(word << high);
            check(words.iter().map(wide).collect::<Vec<_>>());
        }
    }
}
