//! Loops that make ordinals of bytes, and that look at ordinals.

use basalt_kernels::widest::Loop;

/// Finds the largest number, 0 if there is none.
pub(super) struct Largest<'a, T>(pub(super) &'a [T]);

impl<T: Copy + Default + Ord> Loop for Largest<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        let numbers = self.0.iter();
        numbers.fold(T::default(), |largest, n| largest.max(*n))
    }
}

/// Computes one digit of ordinals that are bytes; gives all bits that are set in one of the values.
pub(super) struct AddByte<'a> {
    pub(super) values: &'a [u8],
    pub(super) shift: u32,
    pub(super) is_first: bool,
    pub(super) ordinals: &'a mut [u8],
}

impl Loop for AddByte<'_> {
    type Output = u8;

    #[inline(always)]
    fn run(self) -> u8 {
        let shift = self.shift % u8::BITS;
        let mut bits = 0;
        for (ordinal, value) in self.ordinals.iter_mut().zip(self.values) {
            bits |= value;
            let before = if self.is_first { 0 } else { *ordinal };
            *ordinal = before | value << shift;
        }
        bits
    }
}
