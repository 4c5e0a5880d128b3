//! Holds the packed keys of a row: an unsigned integer whose order is the order of rows.

use std::fmt::Debug;

/// An unsigned integer that keys are packed into.
pub(super) trait Word:
    Copy + Ord + Default + Debug + Send + Sync + std::hash::Hash + 'static
{
    /// The largest of all.
    const MAX: Self;

    /// The same value.
    fn to_u128(self) -> u128;

    /// This moved up by `bits`, with `field` in the bits below, which it must fit.
    fn push(self, bits: u32, field: u64) -> Self;

    /// As [`Word::push`] for a wide field.
    fn push_wide(self, bits: u32, field: u128) -> Self;

    /// The bits from `shift` on that `mask` has.
    fn digit(self, shift: u32, mask: usize) -> usize;

    /// The lowest 64 of the bits from `shift` on.
    fn low_u64(self, shift: u32) -> u64;

    /// The value without its lowest bits.
    fn shifted(self, bits: u32) -> Self;

    /// The difference; wraps.
    fn minus(self, other: Self) -> Self;

    /// Bits that differ.
    fn xor(self, other: Self) -> Self;

    /// Bits of both.
    fn or(self, other: Self) -> Self;

    /// How many bits are 0 below the lowest 1; all of them if there is none.
    fn trailing_zeros(self) -> u32;

    /// How many bits the value needs.
    fn bit_length(self) -> u32;
}

macro_rules! word {
    ($native:ty) => {
        impl Word for $native {
            const MAX: Self = <$native>::MAX;

            fn to_u128(self) -> u128 {
                u128::from(self)
            }

            #[inline(always)]
            fn push(self, bits: u32, field: u64) -> Self {
                self.checked_shl(bits).unwrap_or(0) | field as Self
            }

            #[inline(always)]
            fn push_wide(self, bits: u32, field: u128) -> Self {
                self.checked_shl(bits).unwrap_or(0) | field as Self
            }

            #[inline(always)]
            fn digit(self, shift: u32, mask: usize) -> usize {
                self.checked_shr(shift).unwrap_or(0) as usize & mask
            }

            #[inline(always)]
            fn low_u64(self, shift: u32) -> u64 {
                self.checked_shr(shift).unwrap_or(0) as u64
            }

            #[inline(always)]
            fn shifted(self, bits: u32) -> Self {
                self.checked_shr(bits).unwrap_or(0)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }

            fn trailing_zeros(self) -> u32 {
                <$native>::trailing_zeros(self)
            }

            fn bit_length(self) -> u32 {
                <$native>::BITS - self.leading_zeros()
            }
        }
    };
}

word!(u16);
word!(u32);
word!(u64);
word!(u128);
