//! Makes tuples and takes their elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, TupleType};

use crate::scalar::arrays::lists::{as_list, struct_of};
use crate::scalar::arrays::unify::with_elements;
use crate::{Call, Column, Dictionaries, Fails, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "tuple",
        fails: Fails::Never,
        nulls: Nulls::Raw,
        syntax: "tuple(x, ...)",
        description: "A tuple of the arguments.",
        resolve: resolve_tuple,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tupleElement",
        dictionaries: Dictionaries::KeptInside,
        fails: Fails::Never,
        nulls: Nulls::Own,
        syntax: "t.n, tupleElement(t, n or name[, default])",
        description: "The element of a tuple at a position from 1, or of a name; of arrays of tuples an array.",
        resolve: resolve_element,
        ..ScalarFunction::BASE
    },
];

fn resolve_tuple(call: &Call<'_>) -> Result<Resolved> {
    tuple_of(DataType::tuple(call.data_types()))
}

/// A tuple of that type of the arguments.
///
/// # Errors
/// `LOGICAL_ERROR` if the type is none of tuples.
pub fn tuple_of(tuple: DataType) -> Result<Resolved> {
    let physical = tuple.physical();
    Resolved::new(tuple, move |columns, num_rows| {
        let columns = columns.iter().map(|c| c.expand(num_rows));
        struct_of(&physical, columns.collect::<Result<Vec<_>>>()?, num_rows)
    })
}

fn resolve_element(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let data_type = call.data_type(0).clone();
    let found = match tuple_inside(&data_type) {
        Some(tuple) => match find_element(call, tuple) {
            Err(e) if call.args.len() < 3 || e.code() == ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT => {
                return Err(e);
            }
            found => found.ok(),
        },
        None => return Err(call.illegal_type(0)),
    };
    let Some(idx) = found else {
        let default = call.data_type(2).clone();
        return Resolved::new(default, |columns, num_rows| columns[2].expand(num_rows));
    };
    let element = element_of(&data_type, idx)?;
    let result = element.clone();
    Resolved::new(result, move |columns, num_rows| {
        let array = take_element(&columns[0].array, &data_type, idx)?;
        let column = Column {
            array,
            is_const: columns[0].is_const,
        };
        column.expand(num_rows)
    })
}

/// The elements that a type has: those of a tuple, and of what arrays and maps are made of.
fn tuple_inside(data_type: &DataType) -> Option<TupleType> {
    match data_type {
        DataType::Tuple(tuple) => Some(tuple.as_ref().clone()),
        DataType::Array(element) | DataType::Nullable(element) => tuple_inside(element),
        DataType::Map(key, value) => Some(TupleType {
            types: vec![key.as_ref().clone(), value.as_ref().clone()],
            names: vec!["keys".to_owned(), "values".to_owned()],
        }),
        _ => None,
    }
}

fn find_element(call: &Call<'_>, tuple: TupleType) -> Result<usize> {
    let index = call.data_type(1);
    if call.args[1].constant.is_none() {
        return Err(call.illegal_type(1));
    }
    if index.is_string() {
        let name = call.constant_str(1)?;
        let found = (0..tuple.types.len()).find(|i| tuple.name(*i) == name);
        return found.ok_or_else(|| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Tuple doesn't have element with name '{name}'"),
            )
        });
    }
    let position = call.constant_i64(1)?;
    let found = crate::scalar::arrays::element::position_in(position, 0..tuple.types.len());
    found.ok_or_else(|| {
        Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!("Tuple doesn't have element with index '{position}'"),
        )
    })
}

fn element_of(data_type: &DataType, idx: usize) -> Result<DataType> {
    Ok(match data_type {
        DataType::Tuple(tuple) => tuple.types[idx].clone(),
        DataType::Array(element) => DataType::array(element_of(element, idx)?),
        DataType::Nullable(tuple) => element_of(tuple, idx)?.to_nullable(),
        DataType::Map(key, value) => DataType::array([key, value][idx].as_ref().clone()),
        other => return Err(Error::bug(format!("{other} has no elements"))),
    })
}

fn take_element(array: &ArrayRef, data_type: &DataType, idx: usize) -> Result<ArrayRef> {
    let column = |array: &ArrayRef| {
        let tuple = array.as_struct_opt();
        let tuple = tuple.ok_or_else(|| Error::bug("a tuple is a struct"))?;
        Ok(Arc::clone(tuple.column(idx)))
    };
    match data_type {
        DataType::Array(element) => {
            let values = take_element(as_list(array)?.values(), element, idx)?;
            with_elements(&element_of(data_type, idx)?, array, values)
        }
        DataType::Map(..) => {
            let values = column(as_list(array)?.values())?;
            with_elements(&element_of(data_type, idx)?, array, values)
        }
        DataType::Nullable(tuple) => {
            let values = take_element(array, tuple, idx)?;
            if !element_of(data_type, idx)?.is_nullable() {
                return Ok(values);
            }
            let nulls = NullBuffer::union(values.nulls(), array.nulls());
            crate::function::with_nulls(&values, nulls)
        }
        _ => column(array),
    }
}
