//! Packs columns of fixed width side by side into a word, and takes them out again.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, FixedSizeBinaryArray, PrimitiveArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
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
        ArrowType::Decimal128(..) => Some(128),
        ArrowType::Decimal256(..) => Some(256),
        ArrowType::FixedSizeBinary(size @ 1..=32) => Some(8 * size.unsigned_abs()),
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
            let values = column.as_primitive::<Decimal128Type>().values().iter();
            let pieces = values.map(|v| pieces_of(&v.to_le_bytes()));
            pack_pieces::<W, 2>(pieces, column, place, words);
        }
        ArrowType::Decimal256(..) => {
            let values = column.as_primitive::<Decimal256Type>().values().iter();
            let pieces = values.map(|v| pieces_of(&v.to_le_bytes()));
            pack_pieces::<W, 4>(pieces, column, place, words);
        }
        ArrowType::FixedSizeBinary(size) => {
            // A column with a place has values of at least one byte.
            let size = usize::try_from(*size).unwrap_or(1).max(1);
            let values = column.as_fixed_size_binary().value_data();
            let values = values.chunks_exact(size);
            if size <= 16 {
                pack_pieces::<W, 2>(values.map(pieces_of), column, place, words);
            } else {
                pack_pieces::<W, 4>(values.map(pieces_of), column, place, words);
            }
        }
        arrow => {
            let pack = PackInto {
                column,
                place,
                words,
            };
            visit_native(arrow, pack)
                .ok_or_else(|| internal_datafusion_err!("{arrow} has no place in a word"))?;
        }
    }
    Ok(())
}

/// Bytes as words of 64 bits, zeros behind them.
#[inline]
fn pieces_of<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut pieces = [0; N];
    for (piece, bytes) in pieces.iter_mut().zip(bytes.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *piece = u64::from_le_bytes(padded);
    }
    pieces
}

/// Puts values of more than 64 bits into `words`, or the bit that says NULL.
fn pack_pieces<W: Word, const N: usize>(
    values: impl Iterator<Item = [u64; N]>,
    column: &ArrayRef,
    place: &Place,
    words: &mut [W],
) {
    let nulls = column.nulls().filter(|n| n.null_count() > 0);
    let null = place.null_shift.map_or(W::default(), |s| W::place(1, s));
    for (row, (word, pieces)) in words.iter_mut().zip(values).enumerate() {
        if nulls.is_some_and(|nulls| nulls.is_null(row)) {
            *word = word.union(null);
            continue;
        }
        let shifts = (place.shift..W::BITS).step_by(64);
        for (piece, shift) in pieces.into_iter().zip(shifts) {
            *word = word.union(W::place(piece, shift));
        }
    }
}

/// Takes values of `size` bytes out of `words`.
fn unpack_bytes<W: Word>(words: &[W], place: &Place, size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.len() * size);
    for word in words {
        for (i, start) in (0..size).step_by(8).enumerate() {
            let piece = word.extract(place.shift + 64 * i as u32).to_le_bytes();
            bytes.extend_from_slice(&piece[..8.min(size - start)]);
        }
    }
    bytes
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
            let bytes = unpack_bytes(words, place, 16);
            let values = bytes
                .as_chunks::<16>()
                .0
                .iter()
                .map(|b| i128::from_le_bytes(*b));
            let array = PrimitiveArray::<Decimal128Type>::new(values.collect(), nulls);
            Arc::new(array.with_data_type(place.arrow.clone()))
        }
        ArrowType::Decimal256(..) => {
            let bytes = unpack_bytes(words, place, 32);
            let values = bytes
                .as_chunks::<32>()
                .0
                .iter()
                .map(|b| i256::from_le_bytes(*b));
            let array = PrimitiveArray::<Decimal256Type>::new(values.collect(), nulls);
            Arc::new(array.with_data_type(place.arrow.clone()))
        }
        ArrowType::FixedSizeBinary(size) => {
            let bytes = unpack_bytes(words, place, usize::try_from(*size).unwrap_or(0));
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
