//! Makes arrays of a type's default value: 0, '', [].

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, ListArray, StructArray,
    new_empty_array, new_null_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::DataType;

use super::values::{Primitive, PrimitiveVisitor, primitive_array, visit_primitive};

pub(crate) use crate::function::bug;

struct Zeros<'a>(&'a ArrowType, usize);

impl PrimitiveVisitor for Zeros<'_> {
    type Output = ArrayRef;

    fn visit<T: Primitive>(self) -> ArrayRef {
        primitive_array::<T>(vec![T::Native::default(); self.1], None, self.0)
    }
}

/// `len` times the default of `data_type`: NULL for a Nullable, else zero, empty or nested such.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow refuses to build the array.
pub(crate) fn default_array(data_type: &DataType, len: usize) -> Result<ArrayRef> {
    let physical = data_type.physical();
    if data_type.is_nullable() {
        return Ok(new_null_array(&physical, len));
    }
    match data_type {
        DataType::Enum8(values) | DataType::Enum16(values) => {
            let least = values.values().first().map_or(0, |(_, number)| *number);
            let numbers = arrow::array::Int16Array::from_value(least, len);
            arrow::compute::cast(&numbers, &physical).map_err(bug)
        }
        DataType::Tuple(tuple) if !tuple.types.is_empty() => {
            let columns = tuple.types.iter().map(|t| default_array(t, len));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let ArrowType::Struct(fields) = physical else {
                return of_physical(&physical, len);
            };
            let array = StructArray::try_new(fields, columns, None).map_err(bug)?;
            Ok(Arc::new(array))
        }
        _ => of_physical(&physical, len),
    }
}

fn of_physical(physical: &ArrowType, len: usize) -> Result<ArrayRef> {
    if let Some(zeros) = visit_primitive(physical, Zeros(physical, len)) {
        return Ok(zeros);
    }
    Ok(match physical {
        ArrowType::BinaryView => Arc::new(BinaryViewArray::from_iter_values(vec![b""; len])),
        ArrowType::FixedSizeBinary(width) => {
            let bytes = usize::try_from(*width).unwrap_or(0) * len;
            let zeros = Buffer::from(vec![0u8; bytes]);
            Arc::new(FixedSizeBinaryArray::try_new(*width, zeros, None).map_err(bug)?)
        }
        ArrowType::List(item) => {
            let values = new_empty_array(item.data_type());
            let offsets = OffsetBuffer::new_zeroed(len);
            Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, None).map_err(bug)?)
        }
        ArrowType::Struct(fields) => {
            let columns = fields
                .iter()
                .map(|f| {
                    if f.is_nullable() {
                        Ok(new_null_array(f.data_type(), len))
                    } else {
                        of_physical(f.data_type(), len)
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            Arc::new(StructArray::try_new(fields.clone(), columns, None).map_err(bug)?)
        }
        other => new_null_array(other, len),
    })
}

/// `array` with the default of `data_type` in the rows that `mask` has.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow refuses to build the array.
pub(crate) fn default_where(
    array: &ArrayRef,
    mask: &BooleanBuffer,
    data_type: &DataType,
) -> Result<ArrayRef> {
    let default = default_array(data_type, 1)?;
    let indices: Vec<(usize, usize)> = mask
        .iter()
        .enumerate()
        .map(|(row, empty)| if empty { (1, 0) } else { (0, row) })
        .collect();
    arrow::compute::interleave(&[array.as_ref(), default.as_ref()], &indices).map_err(bug)
}

/// The array of the rows that `mask` has.
///
/// # Errors
/// `LOGICAL_ERROR` if Arrow refuses to build the array.
pub(crate) fn filter_rows(array: &ArrayRef, mask: &BooleanBuffer) -> Result<ArrayRef> {
    let mask = BooleanArray::new(mask.clone(), None);
    arrow::compute::filter(array, &mask).map_err(bug)
}
