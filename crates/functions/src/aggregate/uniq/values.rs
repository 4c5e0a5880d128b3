//! What operators that count distinct values themselves need: each row's value as a word.

use arrow::array::{Array, ArrayRef, PrimitiveArray, UInt32Array};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_error::Result;

use crate::aggregate::row_keys::row_keys;
use crate::aggregate::values::primitive;

/// A word for each row: two rows are the same value of `uniqExact` if their words are.
#[derive(Clone, Debug)]
pub enum DistinctWords {
    /// Values of up to 32 bits.
    Words32(ScalarBuffer<u32>),
    /// Values of 64 bits.
    Words64(ScalarBuffer<u64>),
    /// Wider values, or hashes of values.
    Words128(Vec<u128>),
}

impl DistinctWords {
    /// The words of the rows of `args`; those of rows with a NULL are any.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if Arrow cannot encode the columns.
    pub fn of(args: &[ArrayRef]) -> Result<Self> {
        if let [array] = args {
            return Ok(match array.data_type() {
                ArrowType::UInt8 => Self::widened(primitive::<UInt8Type>(array)?, u32::from),
                ArrowType::UInt16 => Self::widened(primitive::<UInt16Type>(array)?, u32::from),
                ArrowType::Int8 => Self::widened(primitive::<Int8Type>(array)?, |v| v as u32),
                ArrowType::Int16 => Self::widened(primitive::<Int16Type>(array)?, |v| v as u32),
                ArrowType::UInt32 => Self::same32(primitive::<UInt32Type>(array)?),
                ArrowType::Int32 => Self::same32(primitive::<Int32Type>(array)?),
                ArrowType::Float32 => Self::same32(primitive::<Float32Type>(array)?),
                ArrowType::UInt64 => Self::same64(primitive::<UInt64Type>(array)?),
                ArrowType::Int64 => Self::same64(primitive::<Int64Type>(array)?),
                ArrowType::Float64 => Self::same64(primitive::<Float64Type>(array)?),
                _ => Self::Words128(row_keys(args)?),
            });
        }
        Ok(Self::Words128(row_keys(args)?))
    }

    fn widened<T: ArrowPrimitiveType>(
        array: &PrimitiveArray<T>,
        widen: impl Fn(T::Native) -> u32,
    ) -> Self {
        let words = array.values().iter().map(|v| widen(*v));
        Self::Words32(UInt32Array::from_iter_values(words).values().clone())
    }

    fn same32<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> Self {
        Self::Words32(array.values().inner().clone().into())
    }

    fn same64<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>) -> Self {
        Self::Words64(array.values().inner().clone().into())
    }
}

/// The rows in which none of `args` is NULL; none if that is all.
pub fn rows_without_null(args: &[ArrayRef]) -> Option<NullBuffer> {
    let nulls = args.iter().filter_map(|arg| arg.logical_nulls());
    nulls
        .filter(|nulls| nulls.null_count() > 0)
        .fold(None, |all, nulls| {
            NullBuffer::union(all.as_ref(), Some(&nulls))
        })
}
