//! Looks up elements of arrays by position and of maps by key.

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::integers::Integers;
use super::lists::{Lists, entries, flat_list, list_of, rows_of_elements, take, with_default};
use super::matching::Equality;
use super::unify::Unify;
use crate::scalar::core::defaults::default_array;
use crate::scalar::core::numeric::{self, Num, array_of, with_native};
use crate::{Arg, BoundFunction, Call, Column, Resolved, ScalarFunction, registry};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayElement",
        syntax: "arr[n], map[key], arrayElement(arr, n)",
        description: "The element at a position from 1 (from the end if negative), or a key's value; the type's default if there is none.",
        resolve: |call| resolve_element(call, |t| t.clone()),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "arrayElementOrNull",
        syntax: "arrayElementOrNull(arr, n)",
        description: "The element at a position from 1 (from the end if negative), or a key's value; NULL if there is none.",
        resolve: |call| resolve_element(call, |t| t.clone().to_nullable()),
        ..ScalarFunction::BASE
    },
];

/// `result` gives the type of results, whose default stands for a miss.
fn resolve_element(call: &Call<'_>, result: fn(&DataType) -> DataType) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    match call.data_type(0) {
        DataType::Array(element) => match call.data_type(1) {
            DataType::Array(index) => by_array(call, index),
            index if index.is_integer() => by_position(result(element), is_nowhere(call)),
            _ => Err(call.illegal_type(1)),
        },
        DataType::Map(key, value) => by_key(call, key, result(value)),
        _ => Err(call.illegal_type(0)),
    }
}

/// Whether the constant position 0 of a column is asked for, which no row has; of a constant it is a default.
fn is_nowhere(call: &Call<'_>) -> bool {
    call.name == "arrayElement"
        && call.args[0].constant.is_none()
        && call.args[1].constant.is_some()
        && call.constant_i64(1).is_ok_and(|position| position == 0)
}

fn by_position(element: DataType, is_nowhere: bool) -> Result<Resolved> {
    Resolved::new(element.clone(), move |columns, num_rows| {
        // Only the rows tell whether a column of a subquery is a constant.
        if is_nowhere && !columns[0].is_const {
            return Err(Error::new(
                ErrorCode::ZERO_ARRAY_OR_TUPLE_INDEX,
                "Array indices are 1-based",
            ));
        }
        let lists = Lists::of(&columns[0])?;
        let positions = Integers::of(&columns[1])?;
        if !element.is_nullable()
            && let Some(array) = pick_primitives(&lists, &positions, num_rows)?
        {
            return Ok(array);
        }
        let missing = lists.values().len();
        let mut misses = false;
        let mut indices = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let found = position_in(positions.value(row), lists.range(row));
            misses |= found.is_none();
            indices.push(found.unwrap_or(missing) as u32);
        }
        if misses {
            take(&with_default(lists.values(), &element)?, indices)
        } else {
            take(lists.values(), indices)
        }
    })
}

/// The picked numbers, if the elements are numbers without NULLs.
fn pick_primitives(
    lists: &Lists<'_>,
    positions: &Integers,
    num_rows: usize,
) -> Result<Option<ArrayRef>> {
    let values = lists.values();
    let Some(num) = Num::of_arrow(values.data_type()) else {
        return Ok(None);
    };
    if values.null_count() > 0 {
        return Ok(None);
    }
    Ok(Some(with_native!(num, T => {
        let values = numeric::values::<T>(values.as_ref())?;
        let find = |row| position_in(positions.value(row), lists.range(row));
        let picked = (0..num_rows).map(|row| find(row).map_or(T::default(), |i| values[i]));
        array_of(picked.collect::<Vec<T>>())
    })))
}

/// The element at `position` (from 1, or from -1 at the end) of `range`.
#[inline]
pub fn position_in(position: i64, range: std::ops::Range<usize>) -> Option<usize> {
    let len = range.len() as u64;
    let distance = position.unsigned_abs();
    if position == 0 || distance > len {
        None
    } else if position > 0 {
        Some(range.start + (distance - 1) as usize)
    } else {
        Some(range.end - distance as usize)
    }
}

/// `arr[[1, 3]]`: the elements at several positions.
fn by_array(call: &Call<'_>, index: &DataType) -> Result<Resolved> {
    if !index.is_integer() && *index.base() != DataType::Nothing {
        return Err(call.illegal_type(1));
    }
    let args = [call.args[0].data_type.clone(), index.clone()].map(Arg::new);
    let function = registry::get_scalar(call.name)?;
    let bound = BoundFunction::bind(function, &args, call.context)?;
    let list = DataType::array(bound.return_type.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let (offsets, positions) = flat_list(&columns[1].expand(num_rows)?)?;
        let arrays = if columns[0].is_const {
            columns[0].clone()
        } else {
            Column::new(take(&columns[0].array, rows_of_elements(&offsets))?)
        };
        let len = positions.len();
        let values = bound.call(&[arrays, Column::new(positions)], len)?;
        list_of(&list, offsets, values)
    })
}

fn by_key(call: &Call<'_>, key: &DataType, value: DataType) -> Result<Resolved> {
    let wanted = call.data_type(1);
    if *key == DataType::Nothing {
        return Resolved::new(value.clone(), move |_, rows| default_array(&value, rows));
    }
    let key = key.without_low_cardinality();
    let same_kind = (key.is_integer() && wanted.is_integer())
        || (key.is_string() && wanted.is_string())
        || key == wanted;
    if !same_kind {
        return Err(call.illegal_type(1));
    }
    let common =
        least_supertype(&[key.clone(), wanted.clone()]).map_err(|_| call.illegal_type(1))?;
    let key_cast = Unify::new(key, &common, call.context)?;
    let wanted_cast = Unify::new(wanted, &common, call.context)?;
    Resolved::new(value.clone(), move |columns, num_rows| {
        let lists = Lists::of(&columns[0])?;
        let (keys, values) = entries(&lists)?;
        let keys = key_cast.array(keys)?;
        let wanted = wanted_cast.column(&columns[1])?;
        let equality = Equality::new(&keys, &wanted)?;
        let mut misses = false;
        let mut indices = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let found = equality.first(lists.range(row), row);
            misses |= found.is_none();
            indices.push(found.unwrap_or(values.len()) as u32);
        }
        if misses {
            take(&with_default(values, &value)?, indices)
        } else {
            take(values, indices)
        }
    })
}
