//! Packs columns of fixed width side by side into a word, and takes them out again.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, FixedSizeBinaryArray, PrimitiveArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_hashtable::Word;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

/// A primitive type of at most 64 bits.
pub(super) trait Native: ArrowPrimitiveType {
    /// The value's bits; values are one key if these are the same.
    fn bits(value: Self::Native) -> u64;

    /// The value that has these bits.
    fn from_bits(bits: u64) -> Self::Native;

    /// The value as an integer of 64 bits, its sign kept.
    fn widen(value: Self::Native) -> u64;
}

/// Implements [`Native`] for integers: type, and the unsigned type as wide.
macro_rules! integers {
    ($($arrow:ty, $unsigned:ty;)*) => {$(
        impl Native for $arrow {
            #[inline]
            fn bits(value: Self::Native) -> u64 {
                u64::from(value as $unsigned)
            }

            #[inline]
            fn from_bits(bits: u64) -> Self::Native {
                bits as Self::Native
            }

            #[inline(always)]
            fn widen(value: Self::Native) -> u64 {
                value as u64
            }
        }
    )*};
}

integers! {
    UInt8Type, u8;
    UInt16Type, u16;
    UInt32Type, u32;
    UInt64Type, u64;
    Int8Type, u8;
    Int16Type, u16;
    Int32Type, u32;
    Int64Type, u64;
}

/// Implements [`Native`] for floats: as in ClickHouse, all NaNs are one key, 0 and -0 are two.
macro_rules! floats {
    ($($arrow:ty, $float:ty, $unsigned:ty;)*) => {$(
        impl Native for $arrow {
            #[inline]
            fn bits(value: $float) -> u64 {
                u64::from(if value.is_nan() { <$float>::NAN } else { value }.to_bits())
            }

            #[inline]
            fn from_bits(bits: u64) -> $float {
                <$float>::from_bits(bits as $unsigned)
            }

            #[inline(always)]
            fn widen(value: $float) -> u64 {
                value as i64 as u64
            }
        }
    )*};
}

floats! {
    Float32Type, f32, u32;
    Float64Type, f64, u64;
}

/// Work that is generic over [`Native`].
pub(super) trait NativeVisitor {
    /// What the work gives.
    type Output;

    /// Does the work for `T`.
    fn visit<T: Native>(self) -> Self::Output;
}

/// Runs `visitor` for the type `arrow`; `None` if it is none of at most 64 bits.
pub(super) fn visit_native<V: NativeVisitor>(arrow: &ArrowType, visitor: V) -> Option<V::Output> {
    Some(match arrow {
        ArrowType::UInt8 => visitor.visit::<UInt8Type>(),
        ArrowType::UInt16 => visitor.visit::<UInt16Type>(),
        ArrowType::UInt32 => visitor.visit::<UInt32Type>(),
        ArrowType::UInt64 => visitor.visit::<UInt64Type>(),
        ArrowType::Int8 => visitor.visit::<Int8Type>(),
        ArrowType::Int16 => visitor.visit::<Int16Type>(),
        ArrowType::Int32 => visitor.visit::<Int32Type>(),
        ArrowType::Int64 => visitor.visit::<Int64Type>(),
        ArrowType::Float32 => visitor.visit::<Float32Type>(),
        ArrowType::Float64 => visitor.visit::<Float64Type>(),
        _ => return None,
    })
}

/// Bits of a value of this type, if it can be part of a word.
pub(super) fn width(arrow: &ArrowType) -> Option<u32> {
    match arrow {
        ArrowType::UInt8 | ArrowType::Int8 => Some(8),
        ArrowType::UInt16 | ArrowType::Int16 => Some(16),
        ArrowType::UInt32 | ArrowType::Int32 | ArrowType::Float32 => Some(32),
        ArrowType::UInt64 | ArrowType::Int64 | ArrowType::Float64 => Some(64),
        ArrowType::Decimal128(..) | ArrowType::FixedSizeBinary(16) => Some(128),
        _ => None,
    }
}

/// Where a column lies in the word.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Type of the column.
    pub(super) arrow: ArrowType,
    /// Lowest bit of the values.
    pub(super) shift: u32,
    /// The bit that says NULL.
    pub(super) null_shift: Option<u32>,
}

/// Puts the values of `column` into `words`, all bits of which at its place are zero.
pub(super) fn pack<W: Word>(column: &ArrayRef, place: &Place, words: &mut [W]) -> Result<()> {
    if column.len() != words.len() || *column.data_type() != place.arrow {
        return Err(internal_datafusion_err!(
            "{} rows of {} as key of {}",
            column.len(),
            column.data_type(),
            place.arrow
        ));
    }
    match &place.arrow {
        ArrowType::Decimal128(..) => {
            let values = column.as_primitive::<Decimal128Type>().values();
            let bits = values.iter().map(|v| v.cast_unsigned());
            words
                .iter_mut()
                .zip(bits)
                .for_each(|(w, b)| *w = W::from_u128(b));
        }
        ArrowType::FixedSizeBinary(_) => {
            let (values, _) = column.as_fixed_size_binary().value_data().as_chunks::<16>();
            let bits = values.iter().map(|v| u128::from_le_bytes(*v));
            words
                .iter_mut()
                .zip(bits)
                .for_each(|(w, b)| *w = W::from_u128(b));
        }
        arrow => {
            visit_native(
                arrow,
                PackInto {
                    column,
                    place,
                    words,
                },
            )
            .ok_or_else(|| internal_datafusion_err!("{arrow} has no place in a word"))?;
            return Ok(());
        }
    }
    if let Some(nulls) = column.nulls().filter(|n| n.null_count() > 0) {
        let words = words.iter_mut().zip(nulls.iter());
        words
            .filter(|(_, is_valid)| !is_valid)
            .for_each(|(w, _)| *w = W::default());
    }
    Ok(())
}

struct PackInto<'a, W> {
    column: &'a ArrayRef,
    place: &'a Place,
    words: &'a mut [W],
}

impl<W: Word> NativeVisitor for PackInto<'_, W> {
    type Output = ();

    fn visit<T: Native>(self) {
        let array = self.column.as_primitive::<T>();
        let shift = self.place.shift;
        let rows = self.words.iter_mut().zip(array.values());
        match array.nulls().filter(|n| n.null_count() > 0) {
            None => rows.for_each(|(w, v)| *w = w.union(W::place(T::bits(*v), shift))),
            Some(nulls) => {
                let null = self
                    .place
                    .null_shift
                    .map_or(W::default(), |s| W::place(1, s));
                for ((word, value), is_valid) in rows.zip(nulls.iter()) {
                    let bits = if is_valid {
                        W::place(T::bits(*value), shift)
                    } else {
                        null
                    };
                    *word = word.union(bits);
                }
            }
        }
    }
}

/// The column of a key; `nulls` if the word has no bit for NULL.
pub(super) fn unpack<W: Word>(
    words: &[W],
    place: &Place,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let nulls = match place.null_shift {
        Some(shift) => {
            let valid: NullBuffer = words.iter().map(|w| w.extract(shift) & 1 == 0).collect();
            Some(valid).filter(|n| n.null_count() > 0)
        }
        None => nulls,
    };
    Ok(match &place.arrow {
        ArrowType::Decimal128(..) => {
            let values = words.iter().map(|w| w.to_u128().cast_signed()).collect();
            let array = PrimitiveArray::<Decimal128Type>::new(values, nulls);
            Arc::new(array.with_data_type(place.arrow.clone()))
        }
        ArrowType::FixedSizeBinary(size) => {
            let bytes: Vec<u8> = words
                .iter()
                .flat_map(|w| w.to_u128().to_le_bytes())
                .collect();
            Arc::new(FixedSizeBinaryArray::try_new(*size, bytes.into(), nulls)?)
        }
        arrow => visit_native(
            arrow,
            Unpack {
                words,
                place,
                nulls,
            },
        )
        .ok_or_else(|| internal_datafusion_err!("{arrow} has no place in a word"))?,
    })
}

struct Unpack<'a, W> {
    words: &'a [W],
    place: &'a Place,
    nulls: Option<NullBuffer>,
}

impl<W: Word> NativeVisitor for Unpack<'_, W> {
    type Output = ArrayRef;

    fn visit<T: Native>(self) -> ArrayRef {
        let shift = self.place.shift;
        let values = self.words.iter().map(|w| T::from_bits(w.extract(shift)));
        Arc::new(PrimitiveArray::<T>::new(values.collect(), self.nulls))
    }
}
