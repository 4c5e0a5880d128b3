//! Replaces values by a table of pairs: `transform`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array};
use arrow::row::{OwnedRow, RowConverter, SortField};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::entry;
use crate::function::bug;
use crate::scalar::core::cast::{ArrayCast, CastMode, array_cast, cast_function};
use crate::{Call, Column, Nulls, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    nulls: Nulls::Own,
    ..entry(
        &["transform"],
        Purity::Pure,
        (
            "transform(x, from, to[, default])",
            "The element of `to` at the place where `from` has x; else the default, or x itself.",
        ),
        transform,
    )
}];

/// Elements of an array type.
fn element(call: &Call<'_>, idx: usize) -> Result<DataType> {
    match call.data_type(idx) {
        DataType::Array(element) => Ok(element.as_ref().clone()),
        _ => Err(call.illegal_type(idx)),
    }
}

/// The elements of a constant array.
fn elements(call: &Call<'_>, idx: usize) -> Result<ArrayRef> {
    let list = call.constant(idx)?.as_list_opt::<i32>();
    Ok(list
        .ok_or_else(|| Error::bug("an array is a list"))?
        .value(0))
}

/// Where each key's replacement lies, by the bytes of its row.
struct Table {
    converter: RowConverter,
    places: HashMap<OwnedRow, u32>,
}

impl Table {
    /// NULL is no key: nothing equals it.
    fn new(keys: &ArrayRef) -> Result<Self> {
        let field = SortField::new(keys.data_type().clone());
        let converter = RowConverter::new(vec![field]).map_err(bug)?;
        let rows = converter
            .convert_columns(&[Arc::clone(keys)])
            .map_err(bug)?;
        let mut places = HashMap::new();
        for (idx, row) in rows.iter().enumerate() {
            if keys.is_valid(idx) {
                // Constant arrays have less than 2^31 elements.
                places.entry(row.owned()).or_insert(idx as u32);
            }
        }
        Ok(Self { converter, places })
    }

    /// Places of each value's replacement; `otherwise(row)` where there is none.
    fn places(&self, values: &ArrayRef, otherwise: impl Fn(u32) -> u32) -> Result<UInt32Array> {
        let rows = self
            .converter
            .convert_columns(&[Arc::clone(values)])
            .map_err(bug)?;
        let places = rows.iter().enumerate().map(|(idx, row)| {
            let found = self.places.get(&row.owned()).copied();
            found.unwrap_or_else(|| otherwise(idx as u32))
        });
        Ok(UInt32Array::from_iter_values(places))
    }
}

/// The type that values and keys are compared in, and the keys.
fn keys(call: &Call<'_>, from: &DataType) -> Result<(DataType, ArrayRef)> {
    let (value, keys) = (call.data_type(0), elements(call, 1)?);
    if let Ok(key) = least_supertype(&[value.clone(), from.clone()]) {
        let keys = array_cast(from, &key, call.context)?(&keys)?;
        return Ok((key, keys));
    }
    if !value.is_number() || !from.is_number() {
        return Err(call.illegal_type(1));
    }
    // Keys that the values' type does not hold become NULL, which nothing equals.
    let key = value.clone().to_nullable();
    let cast = cast_function(from, &key, call.context, CastMode::OrNull)?;
    let num_keys = keys.len();
    Ok((key, cast.call(&[Column::new(keys)], num_keys)?))
}

fn transform(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=4)?;
    let (from, to) = (element(call, 1)?, element(call, 2)?);
    let value = call.data_type(0).clone();
    let other = call
        .data_type(call.args.len().saturating_sub(1).max(2))
        .clone();
    let other = if call.args.len() == 4 {
        other
    } else {
        value.clone()
    };
    let no_common = |_| call.illegal_type(call.args.len() - 1);
    let result = least_supertype(&[to.clone(), other.clone()]).map_err(no_common)?;
    let (key, keys) = keys(call, &from)?;
    let replacements = array_cast(&to, &result, call.context)?(&elements(call, 2)?)?;
    if keys.len() != replacements.len() {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Arguments 2 and 3 of function {} must be arrays of one size",
                call.name
            ),
        ));
    }
    let key_cast: ArrayCast = array_cast(&value, &key, call.context)?;
    let other_cast = array_cast(&other, &result, call.context)?;
    let (table, other_idx) = (Table::new(&keys)?, if call.args.len() == 4 { 3 } else { 0 });
    let first_other = keys.len() as u32;
    Resolved::new(result, move |columns, num_rows| {
        let values = key_cast(&columns[0].expand(num_rows)?)?;
        let column = &columns[other_idx];
        let others = other_cast(&column.array)?;
        let is_const = column.is_const;
        let places = table.places(&values, |row| first_other + if is_const { 0 } else { row })?;
        let both: [&dyn Array; 2] = [replacements.as_ref(), others.as_ref()];
        let both = arrow::compute::concat(&both).map_err(bug)?;
        arrow::compute::take(&both, &places, None).map_err(bug)
    })
}
