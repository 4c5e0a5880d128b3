//! `arrayTopK`, `arrayBottomK`: the greatest or least elements of each array, NULLs left out.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flat, element, element_parameters};
use super::sort::{behind_limit, sorted_indices};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::Column;
use crate::scalar::arrays::integers::Integers;
use crate::scalar::arrays::lists::Picks;

const TOP: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    parameters: |name, arity, types| element_parameters(name, arity, behind_limit(name, types)?),
    return_type: |name, _, types| {
        let element = element(name, 0, behind_limit(name, types)?)?;
        Ok(DataType::array(element.base().clone()))
    },
    ..HigherOrderFunction::BASE
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arrayTopK",
        syntax: "arrayTopK([x -> ...,] k, arr, ...)",
        description: "The k greatest elements, or those with the lambda's greatest values.",
        eval: |call| eval_top(call, "arrayTopK", true),
        ..TOP
    },
    HigherOrderFunction {
        name: "arrayBottomK",
        syntax: "arrayBottomK([x -> ...,] k, arr, ...)",
        description: "The k least elements, or those with the lambda's least values.",
        eval: |call| eval_top(call, "arrayBottomK", false),
        ..TOP
    },
];

fn eval_top(call: &HigherOrderCall<'_>, name: &str, descending: bool) -> Result<ArrayRef> {
    let Some((limits, arrays)) = call.arrays.split_first() else {
        return Err(Error::bug("a limit stands before the array"));
    };
    let ranked = HigherOrderCall {
        arrays,
        types: call.types.get(1..).unwrap_or_default(),
        ..*call
    };
    let flat = Flat::of(&ranked, name)?;
    let keys = flat.values(&ranked)?;
    let indices = sorted_indices(&keys, &flat.offsets, descending)?;
    let values = &flat.elements[0];
    let (no_keys, no_values) = (keys.logical_nulls(), values.logical_nulls());
    let is_null = |idx: usize| {
        let of = |nulls: &Option<arrow::buffer::NullBuffer>| {
            nulls.as_ref().is_some_and(|nulls| nulls.is_null(idx))
        };
        of(&no_keys) || of(&no_values)
    };
    let limits = Integers::of(&Column::new(Arc::clone(limits)))?;
    let mut picks = Picks::with_capacity(call.num_rows, values.len());
    for row in 0..call.num_rows {
        let limit = usize::try_from(limits.value(row)).map_err(|_| {
            Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("The number of elements of function {name} must not be negative"),
            )
        })?;
        let best = indices[flat.range(row)].iter().map(|idx| *idx as usize);
        picks.extend(best.filter(|idx| !is_null(*idx)).take(limit));
        picks.end_row()?;
    }
    picks.finish(call.return_type, values)
}
