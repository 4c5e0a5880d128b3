//! Loops that make ordinals of the values of a column, and values of ordinals.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_kernels::Bitmap;
use basalt_kernels::widest::{Loop, widest};

use super::pack::{Native, NativeVisitor};

/// Where the values of a column lie in an ordinal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digit {
    pub(super) arrow: ArrowType,
    /// Whether NULL counts as 0, and values from 1 on.
    pub(super) has_null: bool,
    /// The value that counts as 0, or as 1 behind NULL, with its sign extended to 64 bits.
    pub(super) base: u64,
    pub(super) shift: u32,
    /// Bits of the values; the last digit may grow beyond them.
    pub(super) bits: u32,
}

impl Digit {
    /// What the base counts as.
    pub(super) fn first(&self) -> u64 {
        u64::from(self.has_null)
    }
}

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

/// Computes one digit of the ordinals of the rows from `start` on; gives all bits that are set in one of them,
/// and too many if a value is less than the base.
pub(super) struct AddDigit<'a> {
    pub(super) digit: &'a Digit,
    pub(super) column: &'a ArrayRef,
    pub(super) start: usize,
    pub(super) is_first: bool,
    pub(super) ordinals: &'a mut [u32],
}

impl NativeVisitor for AddDigit<'_> {
    type Output = u64;

    fn visit<T: Native>(self) -> u64 {
        let array = self.column.as_primitive::<T>();
        let rows = self.start..self.start + self.ordinals.len();
        let add = AddShifted::<T> {
            values: &array.values()[rows],
            base: self.digit.base,
            shift: self.digit.shift,
            is_first: self.is_first,
            ordinals: self.ordinals,
        };
        if !self.digit.has_null {
            return widest(add);
        }
        let valid = array.nulls().and_then(|nulls| {
            let bits = Bitmap::try_new(nulls.validity(), nulls.offset(), nulls.len())?;
            Some(bits.slice(self.start, add.values.len()))
        });
        widest(AddNullable { add, valid })
    }
}

struct AddShifted<'a, T: Native> {
    values: &'a [T::Native],
    base: u64,
    shift: u32,
    is_first: bool,
    ordinals: &'a mut [u32],
}

impl<T: Native> Loop for AddShifted<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let Self { base, shift, .. } = self;
        let mut bits = 0;
        // Whether all values fit is asked once for many rows, not for each.
        for (ordinal, value) in self.ordinals.iter_mut().zip(self.values) {
            let digit = T::widen(*value).wrapping_sub(base);
            bits |= digit;
            let before = if self.is_first { 0 } else { *ordinal };
            *ordinal = before | (digit as u32) << shift;
        }
        bits
    }
}

/// The same with NULL as 0 and values from 1 on.
struct AddNullable<'a, T: Native> {
    add: AddShifted<'a, T>,
    valid: Option<Bitmap<'a>>,
}

impl<T: Native> Loop for AddNullable<'_, T> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let AddShifted { base, shift, .. } = self.add;
        let mut bits = 0;
        let words = self
            .add
            .ordinals
            .chunks_mut(64)
            .zip(self.add.values.chunks(64));
        for (i, (ordinals, values)) in words.enumerate() {
            let word = self.valid.map_or(u64::MAX, |valid| valid.word(i));
            for (row, (ordinal, value)) in ordinals.iter_mut().zip(values).enumerate() {
                let is_valid = 0_u64.wrapping_sub(word >> row & 1);
                let digit = T::widen(*value).wrapping_sub(base);
                let next = digit.wrapping_add(1);
                // The value before the base is all ones, and the next one would be NULL.
                bits |= (digit | next) & is_valid;
                let before = if self.add.is_first { 0 } else { *ordinal };
                *ordinal = before | ((next & is_valid) as u32) << shift;
            }
        }
        bits
    }
}

/// Takes the values of one digit out of ordinals, in the bits of `mask` above its own.
pub(super) struct TakeDigit<'a> {
    pub(super) digit: &'a Digit,
    pub(super) mask: u64,
    pub(super) ordinals: &'a [u32],
}

impl NativeVisitor for TakeDigit<'_> {
    type Output = ArrayRef;

    fn visit<T: Native>(self) -> ArrayRef {
        let Digit { base, shift, .. } = *self.digit;
        let first = self.digit.first();
        let digit = |ordinal: &u32| (u64::from(*ordinal) >> shift) & self.mask;
        let is_valid = |ordinal: &u32| digit(ordinal) >= first;
        let nulls = first > 0 && !self.ordinals.iter().all(is_valid);
        let nulls = nulls.then(|| self.ordinals.iter().map(is_valid).collect());
        // What lies under NULL does not matter.
        let value =
            |ordinal: &u32| T::from_bits(digit(ordinal).wrapping_add(base).wrapping_sub(first));
        let values = self.ordinals.iter().map(value);
        Arc::new(PrimitiveArray::<T>::new(values.collect(), nulls))
    }
}
