//! Makes arrays from single values, and empty ones.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::buffer::OffsetBuffer;
use basalt_error::{Error, Result};
use basalt_types::{DataType, supertype_or_variant};

use super::integers::Integers;
use super::lists::{Lists, OffsetsBuilder, Picks, bug, list_of, too_large, with_default};
use super::unify::{Unify, element_type};
use crate::scalar::core::numeric::{self, Num, array_of, with_native};
use crate::{Call, Column, Dictionaries, Nulls, Resolved, ScalarFunction};

const EMPTY: ScalarFunction = ScalarFunction {
    description: "An array without elements, of the type that the name says.",
    ..ScalarFunction::BASE
};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "array",
        nulls: Nulls::Raw,
        syntax: "array(x, ...)",
        description: "An array of the arguments, in their least common type.",
        resolve: resolve_array,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayWithConstant",
        nulls: Nulls::Own,
        syntax: "arrayWithConstant(length, x)",
        description: "An array of `length` times the same value.",
        resolve: resolve_with_constant,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "emptyArrayToSingle",
        dictionaries: Dictionaries::KeptInside,
        syntax: "emptyArrayToSingle(arr)",
        description: "The array, or one default value in place of an empty one.",
        resolve: resolve_to_single,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "emptyArrayUInt8",
        syntax: "emptyArrayUInt8()",
        resolve: |call| resolve_empty(call, DataType::UInt8),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayUInt16",
        syntax: "emptyArrayUInt16()",
        resolve: |call| resolve_empty(call, DataType::UInt16),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayUInt32",
        syntax: "emptyArrayUInt32()",
        resolve: |call| resolve_empty(call, DataType::UInt32),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayUInt64",
        syntax: "emptyArrayUInt64()",
        resolve: |call| resolve_empty(call, DataType::UInt64),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayInt8",
        syntax: "emptyArrayInt8()",
        resolve: |call| resolve_empty(call, DataType::Int8),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayInt16",
        syntax: "emptyArrayInt16()",
        resolve: |call| resolve_empty(call, DataType::Int16),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayInt32",
        syntax: "emptyArrayInt32()",
        resolve: |call| resolve_empty(call, DataType::Int32),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayInt64",
        syntax: "emptyArrayInt64()",
        resolve: |call| resolve_empty(call, DataType::Int64),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayFloat32",
        syntax: "emptyArrayFloat32()",
        resolve: |call| resolve_empty(call, DataType::Float32),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayFloat64",
        syntax: "emptyArrayFloat64()",
        resolve: |call| resolve_empty(call, DataType::Float64),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayDate",
        syntax: "emptyArrayDate()",
        resolve: |call| resolve_empty(call, DataType::Date),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayDateTime",
        syntax: "emptyArrayDateTime()",
        resolve: |call| resolve_empty(call, DataType::DateTime(None)),
        ..EMPTY
    },
    ScalarFunction {
        name: "emptyArrayString",
        syntax: "emptyArrayString()",
        resolve: |call| resolve_empty(call, DataType::String),
        ..EMPTY
    },
];

fn resolve_array(call: &Call<'_>) -> Result<Resolved> {
    let types = call.data_types();
    let element = supertype_or_variant(&types)?;
    let casts = Unify::all(&types, &element, call.context)?;
    let list = DataType::array(element.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let columns = columns
            .iter()
            .zip(&casts)
            .map(|(column, cast)| cast.column(column))
            .collect::<Result<Vec<_>>>()?;
        let values = interleave_rows(&columns, num_rows, &element)?;
        list_of(&list, equal_offsets(num_rows, columns.len())?, values)
    })
}

/// Offsets of `num_rows` arrays of `len` elements each.
///
/// # Errors
/// `TOO_LARGE_ARRAY_SIZE` if they leave 31 bits.
pub fn equal_offsets(num_rows: usize, len: usize) -> Result<OffsetBuffer<i32>> {
    let total = num_rows.checked_mul(len).ok_or_else(|| too_large(len))?;
    i32::try_from(total).map_err(|_| too_large(total))?;
    let mut offsets = OffsetsBuilder::with_capacity(num_rows);
    for _ in 0..num_rows {
        offsets.push(len)?;
    }
    Ok(offsets.finish())
}

/// The values of row 0 of each column, then those of row 1, and so on.
///
/// # Errors
/// `LOGICAL_ERROR` if the columns are of different types.
pub fn interleave_rows(
    columns: &[Column],
    num_rows: usize,
    element: &DataType,
) -> Result<ArrayRef> {
    if let [column] = columns {
        return column.expand(num_rows);
    }
    if columns.is_empty() {
        return Ok(arrow::array::new_empty_array(&element.physical()));
    }
    let arrays: Vec<&dyn Array> = columns.iter().map(|c| c.array.as_ref()).collect();
    if *element.base() == DataType::Nothing {
        let len = num_rows.checked_mul(columns.len());
        let len = len.ok_or_else(|| Error::bug("too many elements"))?;
        return Ok(arrow::array::new_null_array(&element.physical(), len));
    }
    if num_rows == 1 && columns.iter().all(|c| c.array.len() == 1) {
        return arrow::compute::concat(&arrays).map_err(bug);
    }
    if let Some(values) = interleave_numbers(columns, num_rows)? {
        return Ok(values);
    }
    let mut indices = Vec::with_capacity(num_rows.saturating_mul(columns.len()));
    for row in 0..num_rows {
        indices.extend(
            columns
                .iter()
                .enumerate()
                .map(|(c, column)| (c, column.row(row))),
        );
    }
    arrow::compute::interleave(&arrays, &indices).map_err(bug)
}

/// What [`interleave_rows`] gives, if the columns are numbers without NULLs.
fn interleave_numbers(columns: &[Column], num_rows: usize) -> Result<Option<ArrayRef>> {
    let num = columns
        .first()
        .and_then(|c| Num::of_arrow(c.array.data_type()));
    let Some(num) = num.filter(|_| columns.iter().all(|c| c.array.null_count() == 0)) else {
        return Ok(None);
    };
    with_native!(num, T => {
        let sides = columns.iter().map(|c| numeric::values::<T>(c.array.as_ref()));
        let sides = sides.collect::<Result<Vec<_>>>()?;
        let mut values: Vec<T> = Vec::with_capacity(num_rows.saturating_mul(columns.len()));
        for row in 0..num_rows {
            values.extend(sides.iter().zip(columns).map(|(side, column)| side[column.row(row)]));
        }
        Ok(Some(array_of(values)))
    })
}

/// A column of `num_rows` arrays without elements.
///
/// # Errors
/// `LOGICAL_ERROR` if `list` is no list type.
pub fn empty_lists(list: &DataType, element: &DataType, num_rows: usize) -> Result<ArrayRef> {
    let values = arrow::array::new_empty_array(&element.physical());
    list_of(
        list,
        OffsetBuffer::new_zeroed(num_rows),
        Arc::clone(&values),
    )
}

fn resolve_empty(call: &Call<'_>, element: DataType) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    let list = DataType::array(element.clone());
    Resolved::new(list.clone(), move |_, num_rows| {
        empty_lists(&list, &element, num_rows)
    })
}

/// Longest array that a length argument may ask for.
pub const MAX_LEN: i64 = 1 << 30;

fn resolve_with_constant(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let is_length = |t: &DataType| (t.is_integer() || t.is_float()) && !t.is_nullable();
    call.expect_type(0, is_length)?;
    let list = DataType::array(call.data_type(1).clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lengths = Integers::of(&columns[0])?;
        let mut picks = Picks::with_capacity(num_rows, 0);
        for row in 0..num_rows {
            let len = lengths.value(row);
            if !(0..=MAX_LEN).contains(&len) {
                return Err(too_large(len));
            }
            picks.repeat(columns[1].row(row), len as usize)?;
            picks.end_row()?;
        }
        picks.finish(&list, &columns[1].array)
    })
}

fn resolve_to_single(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let list = call.data_type(0).clone();
    let element = element_type(call, 0)?.clone();
    if element == DataType::Nothing {
        return Err(Error::not_implemented("A default value of type Nothing"));
    }
    Resolved::new(list.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let missing = lists.values().len();
        let mut picks = Picks::for_lists(&lists, num_rows);
        for row in 0..num_rows {
            let range = lists.range(row);
            if range.is_empty() {
                picks.push(missing);
            }
            picks.extend(range);
            picks.end_row()?;
        }
        picks.finish(&list, &with_default(lists.values(), &element)?)
    })
}
