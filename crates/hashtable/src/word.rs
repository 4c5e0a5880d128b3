//! Defines [`Word`]: a key that fits a machine word or two.

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

    /// The word as 128 bits.
    fn to_u128(self) -> u128;

    /// The low bits of `bits`.
    fn from_u128(bits: u128) -> Self;
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

            #[inline]
            fn to_u128(self) -> u128 {
                u128::from(self)
            }

            #[inline]
            fn from_u128(bits: u128) -> Self {
                bits as $word
            }
        }
    )*};
}

words!(u32, u64, u128);
