//! Defines [`Word`]: a key of up to 256 bits.

use std::fmt::Debug;
use std::hash::Hash;

/// A key of fixed width.
pub trait Word: Copy + Eq + Hash + Ord + Default + Debug + Send + Sync + 'static {
    /// Number of bits.
    const BITS: u32;

    /// `bits` moved up by `shift`; both fit.
    fn place(bits: u64, shift: u32) -> Self;

    /// The 64 bits from `shift` up.
    fn extract(self, shift: u32) -> u64;

    /// Bits that are set in either.
    fn union(self, other: Self) -> Self;
}

macro_rules! words {
    ($($word:ty),*) => {$(
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn place(bits: u64, shift: u32) -> Self {
                (bits as $word).wrapping_shl(shift)
            }

            #[inline]
            fn extract(self, shift: u32) -> u64 {
                self.wrapping_shr(shift) as u64
            }

            #[inline]
            fn union(self, other: Self) -> Self {
                self | other
            }
        }
    )*};
}

words!(u32, u64, u128);

/// A key of 256 bits, the lowest 64 of them first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word256(pub [u64; 4]);

impl Word for Word256 {
    const BITS: u32 = 256;

    #[inline]
    fn place(bits: u64, shift: u32) -> Self {
        let mut words = [0; 4];
        let (first, shift) = (shift as usize / 64, shift % 64);
        if let Some(word) = words.get_mut(first) {
            *word = bits << shift;
        }
        if let Some(word) = words.get_mut(first + 1) {
            *word = bits.checked_shr(64 - shift).unwrap_or(0);
        }
        Self(words)
    }

    #[inline]
    fn extract(self, shift: u32) -> u64 {
        let (first, shift) = (shift as usize / 64, shift % 64);
        let word = |i: usize| self.0.get(i).copied().unwrap_or(0);
        word(first) >> shift | word(first + 1).checked_shl(64 - shift).unwrap_or(0)
    }

    #[inline]
    fn union(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        Self([a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3]])
    }
}

#[cfg(test)]
mod tests {
    use super::{Word, Word256};

    fn check<W: Word>() {
        let bits = 0x8765_4321_9ABC_DEF1;
        for shift in 0..W::BITS - 8 {
            // Bits beyond the end are gone, those below come back.
            let width = (W::BITS - shift).min(64);
            let expected = bits & (u64::MAX >> (64 - width));
            let word = W::place(bits, shift);
            assert_eq!(word.extract(shift), expected, "{shift}");
            let below = W::place(0b101, 0);
            if shift >= 3 {
                assert_eq!(word.union(below).extract(0) & 0b111, 0b101);
            }
            assert_eq!(W::place(bits, shift), word.union(word));
        }
    }

    #[test]
    fn bits_come_back_from_where_they_were_placed() {
        check::<u32>();
        check::<u64>();
        check::<u128>();
        check::<Word256>();
    }
}
