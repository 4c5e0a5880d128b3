//! Turns values into unsigned integers in their order, and back.

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

/// A type whose values are at most 64 bits wide.
pub(super) trait Ordinal: ArrowPrimitiveType {
    /// The place of a value far from all others: the NaN that stands for all of them.
    const APART: Option<u64> = None;

    /// The place of zero among floats: those next to it are far from it, though few values are there.
    const ZERO: Option<u64> = None;

    /// The value's place among all values of the type.
    fn ordinal(value: Self::Native) -> u64;

    /// The value at a place that [`Ordinal::ordinal`] gave.
    fn value(ordinal: u64) -> Self::Native;
}

macro_rules! ordinal {
    (unsigned: $($unsigned:ty),*; signed: $($signed:ty),*) => {
        $(impl Ordinal for $unsigned {
            #[inline(always)]
            fn ordinal(value: Self::Native) -> u64 {
                u64::from(value)
            }

            #[inline(always)]
            fn value(ordinal: u64) -> Self::Native {
                ordinal as Self::Native
            }
        })*
        $(impl Ordinal for $signed {
            #[inline(always)]
            fn ordinal(value: Self::Native) -> u64 {
                i64::from(value) as u64 ^ SIGN
            }

            #[inline(always)]
            fn value(ordinal: u64) -> Self::Native {
                (ordinal ^ SIGN) as Self::Native
            }
        })*
    };
}

const SIGN: u64 = 1 << 63;

ordinal!(
    unsigned: UInt8Type, UInt16Type, UInt32Type, UInt64Type;
    signed: Int8Type, Int16Type, Int32Type, Int64Type
);

// Floats are ordered as `total_cmp` does: -NaN, -inf … -0, 0 … inf, NaN.
impl Ordinal for Float64Type {
    const APART: Option<u64> = Some(f64::NAN.to_bits() ^ SIGN);
    const ZERO: Option<u64> = Some(SIGN);

    #[inline(always)]
    fn ordinal(value: f64) -> u64 {
        let bits = value.to_bits() as i64;
        (bits ^ (((bits >> 63) as u64) >> 1) as i64) as u64 ^ SIGN
    }

    #[inline(always)]
    fn value(ordinal: u64) -> f64 {
        let bits = (ordinal ^ SIGN) as i64;
        f64::from_bits((bits ^ (((bits >> 63) as u64) >> 1) as i64) as u64)
    }
}

impl Ordinal for Float32Type {
    const APART: Option<u64> = Some((f32::NAN.to_bits() ^ (1 << 31)) as u64);
    const ZERO: Option<u64> = Some(1 << 31);

    #[inline(always)]
    fn ordinal(value: f32) -> u64 {
        let bits = value.to_bits() as i32;
        let folded = bits ^ (((bits >> 31) as u32) >> 1) as i32;
        u64::from(folded as u32 ^ (1 << 31))
    }

    #[inline(always)]
    fn value(ordinal: u64) -> f32 {
        let bits = (ordinal as u32 ^ (1 << 31)) as i32;
        f32::from_bits((bits ^ (((bits >> 31) as u32) >> 1) as i32) as u32)
    }
}

/// The place of a decimal number among all of them.
pub(super) fn decimal_ordinal(value: i128) -> u128 {
    value as u128 ^ (1 << 127)
}

/// The decimal number at a place.
pub(super) fn decimal_value(ordinal: u128) -> i128 {
    (ordinal ^ (1 << 127)) as i128
}

/// What to do with a type that has ordinals.
pub(super) trait NarrowVisitor {
    /// What comes out.
    type Output;

    /// Does it.
    fn visit<T: Ordinal>(self) -> Self::Output;
}

/// Calls `visitor` with the type if its values are at most 64 bits wide.
pub(super) fn visit_narrow<V: NarrowVisitor>(
    data_type: &DataType,
    visitor: V,
) -> Option<V::Output> {
    Some(match data_type {
        DataType::UInt8 => visitor.visit::<UInt8Type>(),
        DataType::UInt16 => visitor.visit::<UInt16Type>(),
        DataType::UInt32 => visitor.visit::<UInt32Type>(),
        DataType::UInt64 => visitor.visit::<UInt64Type>(),
        DataType::Int8 => visitor.visit::<Int8Type>(),
        DataType::Int16 => visitor.visit::<Int16Type>(),
        DataType::Int32 => visitor.visit::<Int32Type>(),
        DataType::Int64 => visitor.visit::<Int64Type>(),
        DataType::Float32 => visitor.visit::<Float32Type>(),
        DataType::Float64 => visitor.visit::<Float64Type>(),
        _ => return None,
    })
}

/// How values of a type become part of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ordinal of at most 64 bits.
    Narrow,
    /// An ordinal of more bits.
    Wide,
    /// Bytes, of which the first few are taken.
    Bytes,
}

impl Kind {
    /// The kind of a type; none if the operator cannot sort by it.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => {
                Some(Self::Narrow)
            }
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                Some(Self::Narrow)
            }
            DataType::Float32 | DataType::Float64 => Some(Self::Narrow),
            DataType::Decimal128(_, _) => Some(Self::Wide),
            DataType::FixedSizeBinary(1..=16) => Some(Self::Wide),
            DataType::FixedSizeBinary(_) | DataType::Binary | DataType::BinaryView => {
                Some(Self::Bytes)
            }
            _ => None,
        }
    }
}

/// The bytes as a number whose order is theirs; those after the 16th are left out.
///
/// Reads words that may overlap: a copy of so few bytes would be a call.
#[inline(always)]
pub(super) fn bytes_ordinal(bytes: &[u8]) -> u128 {
    if let Some(first) = bytes.first_chunk::<16>() {
        return u128::from_be_bytes(*first);
    }
    let len = bytes.len() as u32;
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let rest = u64::from_be_bytes(*last).checked_shl(8 * (16 - len));
        let first = u128::from(u64::from_be_bytes(*first));
        return first << 64 | u128::from(rest.unwrap_or(0));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let rest = u32::from_be_bytes(*last).checked_shl(8 * (8 - len));
        let first = u128::from(u32::from_be_bytes(*first));
        return first << 96 | u128::from(rest.unwrap_or(0)) << 64;
    }
    let ordinal = bytes
        .iter()
        .fold(0, |ordinal, byte| ordinal << 8 | u128::from(*byte));
    ordinal.checked_shl(8 * (16 - len)).unwrap_or(0)
}

/// The bytes of row `row`, whatever stands where a row is NULL.
pub(super) fn bytes_at(array: &dyn Array, row: usize) -> &[u8] {
    if let Some(values) = array.as_binary_view_opt() {
        values.value(row)
    } else if let Some(values) = array.as_binary_opt::<i32>() {
        values.value(row)
    } else {
        array
            .as_fixed_size_binary_opt()
            .map_or(&[], |values| values.value(row))
    }
}

/// The ordinals of all rows of an array that is not of bytes, whatever stands where a row is NULL.
pub(super) fn ordinals(array: &dyn Array) -> Vec<u128> {
    let mut all = vec![0; array.len()];
    if visit_narrow(array.data_type(), NarrowOrdinals(array, &mut all)).is_none() {
        for_each_wide(array, |row, ordinal| all[row] = ordinal);
    }
    all
}

/// Writes the ordinals of an array.
struct NarrowOrdinals<'a>(&'a dyn Array, &'a mut [u128]);

impl NarrowVisitor for NarrowOrdinals<'_> {
    type Output = ();

    fn visit<T: Ordinal>(self) {
        let values = self.0.as_primitive::<T>().values().iter();
        let pairs = self.1.iter_mut().zip(values);
        pairs.for_each(|(ordinal, value)| *ordinal = T::ordinal(*value).into());
    }
}

/// Calls `f` with the wide ordinal of each row, whatever stands where a row is NULL.
pub(super) fn for_each_wide(array: &dyn Array, mut f: impl FnMut(usize, u128)) {
    if let Some(decimals) = array.as_primitive_opt::<Decimal128Type>() {
        let values = decimals.values().iter().enumerate();
        values.for_each(|(i, value)| f(i, decimal_ordinal(*value)));
    } else if let Some(values) = array.as_fixed_size_binary_opt() {
        let num_spare_bytes = 16usize.saturating_sub(values.value_size()) as u32;
        for i in 0..values.len() {
            f(i, bytes_ordinal(values.value(i)) >> (8 * num_spare_bytes));
        }
    }
}

/// Calls `f` with the bytes of each row, whatever stands where a row is NULL.
pub(super) fn for_each_bytes(array: &dyn Array, mut f: impl FnMut(usize, &[u8])) {
    if let Some(values) = array.as_binary_view_opt() {
        (0..values.len()).for_each(|i| f(i, values.value(i)));
    } else if let Some(values) = array.as_binary_opt::<i32>() {
        (0..values.len()).for_each(|i| f(i, values.value(i)));
    } else if let Some(values) = array.as_fixed_size_binary_opt() {
        (0..values.len()).for_each(|i| f(i, values.value(i)));
    }
}

#[cfg(test)]
mod tests {
    use super::bytes_ordinal;

    #[test]
    fn bytes_count_from_the_first() {
        let bytes: Vec<u8> = (200..240).collect();
        for len in 0..40 {
            let mut padded = [0; 16];
            padded[..len.min(16)].copy_from_slice(&bytes[..len.min(16)]);
            assert_eq!(bytes_ordinal(&bytes[..len]), u128::from_be_bytes(padded));
        }
    }
}
