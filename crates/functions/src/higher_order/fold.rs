//! Maps elements one by one, and folds arrays into one value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flat, element};
use super::{HigherOrderCall, HigherOrderFunction, LambdaBody};
use crate::scalar::arrays::lists::{bug, take};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arrayMap",
        syntax: "arrayMap(x -> ..., arr, ...)",
        description: "The lambda's value for each element.",
        return_type: |_, body, _| Ok(DataType::array(body.clone())),
        eval: eval_map,
        ..HigherOrderFunction::BASE
    },
    HigherOrderFunction {
        name: "arrayFold",
        syntax: "arrayFold((acc, x, ...) -> ..., arr, ..., start)",
        description: "The last value of an accumulator that the lambda computes anew for each element.",
        parameters: fold_parameters,
        return_type: fold_type,
        eval: eval_fold,
        ..HigherOrderFunction::BASE
    },
];

fn eval_map(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arrayMap")?;
    let values = flat.values(call)?;
    flat.with_values(call.return_type, values)
}

fn fold_parameters(name: &str, arity: usize, types: &[DataType]) -> Result<Vec<DataType>> {
    let Some((accumulator, arrays)) = types.split_last() else {
        return Err(too_few_to_fold());
    };
    if arrays.is_empty() {
        return Err(too_few_to_fold());
    }
    if arity != types.len() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "The lambda of function {name} must have {} parameters",
                types.len()
            ),
        ));
    }
    let elements = (0..arrays.len()).map(|idx| element(name, idx, arrays).cloned());
    std::iter::once(Ok(accumulator.clone()))
        .chain(elements)
        .collect()
}

fn too_few_to_fold() -> Error {
    Error::new(
        ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
        "Function arrayFold takes a lambda, at least one array and an accumulator",
    )
}

fn fold_type(_: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    let accumulator = types.last().ok_or_else(too_few_to_fold)?;
    if body == accumulator {
        return Ok(accumulator.clone());
    }
    Err(Error::new(
        ErrorCode::TYPE_MISMATCH,
        format!(
            "Return type of lambda function must be the same as the accumulator type: it returns \
             {body}, the accumulator is {accumulator}"
        ),
    ))
}

/// Folds position by position: each step evaluates the lambda for the rows that are long enough.
///
/// Rows are ordered by length, so those still to fold are always the first ones.
fn eval_fold(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let (Some(body), Some((start, arrays))) = (call.body, call.arrays.split_last()) else {
        return Err(too_few_to_fold());
    };
    let flat = Flat::of_arrays(arrays, "arrayFold")?;
    let mut order: Vec<u32> = (0..flat.num_rows() as u32).collect();
    order.sort_by_key(|row| std::cmp::Reverse(flat.range(*row as usize).len()));
    let mut accumulator = take(start, order.clone())?;
    let mut finished: Vec<ArrayRef> = Vec::new();
    for position in 0.. {
        let is_active = |row: &u32| flat.range(*row as usize).len() > position;
        let active = order.partition_point(is_active);
        if active < accumulator.len() {
            finished.push(accumulator.slice(active, accumulator.len() - active));
            accumulator = accumulator.slice(0, active);
        }
        if active == 0 {
            break;
        }
        accumulator = fold_step(body, &flat, (&order[..active], position), accumulator)?;
    }
    finished.reverse();
    let parts: Vec<&dyn Array> = finished.iter().map(AsRef::as_ref).collect();
    let folded = match finished.as_slice() {
        [] => return Ok(accumulator),
        [only] => Arc::clone(only),
        _ => arrow::compute::concat(&parts).map_err(bug)?,
    };
    let mut back = vec![0; order.len()];
    for (place, row) in order.iter().enumerate() {
        back[*row as usize] = place as u32;
    }
    take(&folded, back)
}

fn fold_step(
    body: &dyn LambdaBody,
    flat: &Flat,
    (rows, position): (&[u32], usize),
    accumulator: ArrayRef,
) -> Result<ArrayRef> {
    let index = |row: &u32| (flat.range(*row as usize).start + position) as u32;
    let indices: Vec<u32> = rows.iter().map(index).collect();
    let mut parameters = vec![accumulator];
    for elements in &flat.elements {
        parameters.push(take(elements, indices.clone())?);
    }
    body.eval(&parameters, rows)
}
