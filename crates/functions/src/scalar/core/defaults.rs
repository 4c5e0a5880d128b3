//! Makes the default values of types: 0, the empty text, no elements, the first name of an enum.
//!
//! As in ClickHouse a `Date32` has two: what fills a column is day 0, 1970-01-01, but what a
//! function takes from the type is the first day of the range, 1900-01-01.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, ListArray, Scalar, StructArray,
    new_empty_array, new_null_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType as ArrowType, i256};
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::calendar::DATE32_MIN;

use super::decimals::decimal_array;
use super::numeric::{FromNum, Num, array_of, with_native};

/// An array of `num_rows` values as columns are filled with; NULLs where it may be NULL.
pub(crate) fn default_array(data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
    filled(data_type, num_rows, 0)
}

/// As [`default_array`], with the default that the type itself names.
pub(crate) fn type_default_array(data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
    filled(data_type, num_rows, DATE32_MIN)
}

/// The values with the one of `default` in place of each NULL.
///
/// # Errors
/// `LOGICAL_ERROR` if the default has another type.
pub(crate) fn with_defaults(
    values: &ArrayRef,
    nulls: &NullBuffer,
    default: ArrayRef,
) -> Result<ArrayRef> {
    let is_there = BooleanArray::new(nulls.inner().clone(), None);
    let zipped = arrow::compute::kernels::zip::zip(&is_there, values, &Scalar::new(default));
    zipped.map_err(|e| Error::bug(e.to_string()))
}

fn filled(data_type: &DataType, num_rows: usize, date32: i32) -> Result<ArrayRef> {
    if data_type.holds_null() {
        return Ok(new_null_array(&data_type.physical(), num_rows));
    }
    let base = data_type.base();
    if let Some(num) = Num::of(base) {
        let number = match base {
            DataType::Enum8(names) | DataType::Enum16(names) => names
                .values()
                .first()
                .map_or(0, |(_, number)| i32::from(*number)),
            DataType::Date32 => date32,
            _ => 0,
        };
        return Ok(
            with_native!(num, T => array_of(vec![<T as FromNum<i32>>::from_num(number); num_rows])),
        );
    }
    let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    Ok(match base.physical() {
        ArrowType::Decimal128(..) => decimal_array(vec![0_i128; num_rows], base, None)?,
        ArrowType::Decimal256(..) => decimal_array(vec![i256::from_i128(0); num_rows], base, None)?,
        ArrowType::BinaryView => {
            let views = ScalarBuffer::from(vec![0_u128; num_rows]);
            Arc::new(BinaryViewArray::try_new(views, Vec::new(), None).map_err(bug)?)
        }
        ArrowType::FixedSizeBinary(size) => {
            let len = usize::try_from(size).unwrap_or(0) * num_rows;
            let zeros = Buffer::from_vec(vec![0_u8; len]);
            Arc::new(FixedSizeBinaryArray::try_new(size, zeros, None).map_err(bug)?)
        }
        ArrowType::List(item) => {
            let offsets = OffsetBuffer::new_zeroed(num_rows);
            let values = new_empty_array(item.data_type());
            Arc::new(ListArray::try_new(item, offsets, values, None).map_err(bug)?)
        }
        ArrowType::Struct(fields) => {
            let DataType::Tuple(tuple) = base else {
                return Err(Error::bug("a struct is a tuple"));
            };
            let columns = tuple.types.iter().map(|t| filled(t, num_rows, date32));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let array = StructArray::try_new_with_length(fields, columns, None, num_rows);
            Arc::new(array.map_err(bug)?)
        }
        other => new_null_array(&other, num_rows),
    })
}
