//! Values as indexes compare them.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use xxhash_rust::xxh3::xxh3_64;

/// A value as bytes that are ordered as the values of its column are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexedValue(pub(super) Vec<u8>);

impl IndexedValue {
    /// An integer.
    pub fn integer(value: i128) -> Self {
        Self((value.cast_unsigned() ^ (1 << 127)).to_be_bytes().to_vec())
    }

    /// A float; none for NaN, which has no place in the order.
    pub fn float(value: f64) -> Option<Self> {
        // Both zeros are the same value.
        let bits = if value == 0.0 { 0 } else { value.to_bits() };
        let ordered = match bits >> 63 {
            1 => !bits,
            _ => bits | 1 << 63,
        };
        (!value.is_nan()).then(|| Self(ordered.to_be_bytes().to_vec()))
    }

    /// A string.
    pub fn bytes(value: &[u8]) -> Self {
        Self(value.to_vec())
    }

    pub(super) fn hash(&self) -> u64 {
        xxh3_64(&self.0)
    }
}

/// The values of a group, NULL and NaN left out; none for types that indexes do not know.
pub(super) fn values(array: &ArrayRef) -> Option<Vec<IndexedValue>> {
    let rows = (0..array.len()).filter(|i| array.is_valid(*i));
    match array.data_type() {
        ArrowType::UInt8 => Some(integers::<UInt8Type>(array)),
        ArrowType::UInt16 => Some(integers::<UInt16Type>(array)),
        ArrowType::UInt32 => Some(integers::<UInt32Type>(array)),
        ArrowType::UInt64 => Some(integers::<UInt64Type>(array)),
        ArrowType::Int8 => Some(integers::<Int8Type>(array)),
        ArrowType::Int16 => Some(integers::<Int16Type>(array)),
        ArrowType::Int32 => Some(integers::<Int32Type>(array)),
        ArrowType::Int64 => Some(integers::<Int64Type>(array)),
        ArrowType::Float32 => {
            let numbers = array.as_primitive::<Float32Type>();
            let number = |i| IndexedValue::float(f64::from(numbers.value(i)));
            Some(rows.filter_map(number).collect())
        }
        ArrowType::Float64 => {
            let numbers = array.as_primitive::<Float64Type>();
            Some(
                rows.filter_map(|i| IndexedValue::float(numbers.value(i)))
                    .collect(),
            )
        }
        ArrowType::BinaryView => {
            let strings = array.as_binary_view();
            Some(
                rows.map(|i| IndexedValue::bytes(strings.value(i)))
                    .collect(),
            )
        }
        ArrowType::FixedSizeBinary(_) => {
            let strings = array.as_fixed_size_binary();
            Some(
                rows.map(|i| IndexedValue::bytes(strings.value(i)))
                    .collect(),
            )
        }
        _ => None,
    }
}

fn integers<T: ArrowPrimitiveType<Native: Into<i128>>>(array: &ArrayRef) -> Vec<IndexedValue> {
    let numbers = array.as_primitive::<T>().iter().flatten();
    numbers.map(|n| IndexedValue::integer(n.into())).collect()
}
