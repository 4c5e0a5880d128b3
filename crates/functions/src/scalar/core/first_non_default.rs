//! `firstNonDefault`: the first argument that is not its type's default, which of Nullable is NULL.

use arrow::array::{Array, ArrayRef};
use arrow::row::{RowConverter, SortField};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::conditional::select;
use super::defaults::default_array;
use super::numeric::Num;
use crate::scalar::arrays::unify::Unify;
use crate::{Call, Column, Nulls, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "firstNonDefault",
    nulls: Nulls::Raw,
    syntax: "firstNonDefault(x, …)",
    description: "The first argument that is not its type's default (of Nullable types: NULL).",
    resolve,
    ..ScalarFunction::BASE
}];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    if call.args.is_empty() {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Function firstNonDefault takes at least one argument",
        ));
    }
    let types = call.args.iter();
    let types: Vec<DataType> = types
        .map(|a| a.data_type.without_low_cardinality().clone())
        .collect();
    let result = least_supertype(&types)?;
    let casts = Unify::all(&types, &result, call.context)?;
    let num = Num::of(&result);
    Resolved::new(result.clone(), move |columns, num_rows| {
        let fallback = default_array(&result, 1)?;
        let mut chosen = Column::constant(fallback).expand(num_rows)?;
        let arguments = columns.iter().zip(&types).zip(&casts);
        for ((column, data_type), cast) in arguments.rev() {
            let array = column.expand(num_rows)?;
            let mask = if data_type.is_nullable() {
                match array.logical_nulls() {
                    Some(valid) => valid.iter().map(u8::from).collect(),
                    None => vec![1; num_rows],
                }
            } else {
                non_defaults(&array, data_type.base())?
            };
            let column = Column::new(cast.array(&array)?);
            chosen = select(&mask, &column, &Column::new(chosen), num)?;
        }
        Ok(chosen)
    })
}

/// 1 for each value that differs from the default, bit by bit.
fn non_defaults(array: &ArrayRef, data_type: &DataType) -> Result<Vec<u8>> {
    let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    let converter = RowConverter::new(vec![SortField::new(array.data_type().clone())]);
    let converter = converter.map_err(bug)?;
    let rows = converter.convert_columns(std::slice::from_ref(array));
    let rows = rows.map_err(bug)?;
    let default = converter
        .convert_columns(&[default_array(data_type, 1)?])
        .map_err(bug)?;
    let default = default.row(0);
    let is_other = |row: usize| u8::from(rows.row(row) != default);
    Ok((0..array.len()).map(is_other).collect())
}
