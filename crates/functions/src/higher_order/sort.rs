//! Sorts each array by its elements or by the lambda's values.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray};
use arrow::buffer::{Buffer, OffsetBuffer};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flat, element, element_parameters, too_few};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::scalar::arrays::lists::{list_of, take};
use crate::scalar::arrays::order::{Order, sorted_numbers};

const SORT: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    return_type: |name, _, types| {
        if types.is_empty() {
            return Err(too_few(name));
        }
        Ok(DataType::array(element(name, 0, types)?.clone()))
    },
    ..HigherOrderFunction::BASE
};

const PARTIAL_SORT: HigherOrderFunction = HigherOrderFunction {
    parameters: |name, arity, types| element_parameters(name, arity, behind_limit(name, types)?),
    return_type: |name, _, types| {
        let types = behind_limit(name, types)?;
        Ok(DataType::array(element(name, 0, types)?.clone()))
    },
    ..SORT
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arraySort",
        syntax: "arraySort([x -> ...,] arr, ...)",
        description: "The elements in ascending order, of the lambda's values if there is one.",
        eval: |call| eval_sort(call, "arraySort", false),
        ..SORT
    },
    HigherOrderFunction {
        name: "arrayReverseSort",
        syntax: "arrayReverseSort([x -> ...,] arr, ...)",
        description: "The elements in descending order, of the lambda's values if there is one.",
        eval: |call| eval_sort(call, "arrayReverseSort", true),
        ..SORT
    },
    HigherOrderFunction {
        name: "arrayPartialSort",
        syntax: "arrayPartialSort([x -> ...,] limit, arr, ...)",
        description: "The elements with the first `limit` in ascending order.",
        eval: |call| eval_partial_sort(call, "arrayPartialSort", false),
        ..PARTIAL_SORT
    },
    HigherOrderFunction {
        name: "arrayPartialReverseSort",
        syntax: "arrayPartialReverseSort([x -> ...,] limit, arr, ...)",
        description: "The elements with the first `limit` in descending order.",
        eval: |call| eval_partial_sort(call, "arrayPartialReverseSort", true),
        ..PARTIAL_SORT
    },
];

/// The types behind the limit of a partial sort.
pub(super) fn behind_limit<'a>(name: &str, types: &'a [DataType]) -> Result<&'a [DataType]> {
    match types.split_first() {
        Some((limit, rest)) if limit.is_integer() && !rest.is_empty() => Ok(rest),
        Some((limit, rest)) if !rest.is_empty() => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Illegal type {limit} of the limit of function {name}: it must be a number"),
        )),
        _ => Err(too_few(name)),
    }
}

/// The rest of the array behind the limit is in no particular order, so sorting all is right.
fn eval_partial_sort(call: &HigherOrderCall<'_>, name: &str, descending: bool) -> Result<ArrayRef> {
    let partial = HigherOrderCall {
        arrays: call.arrays.get(1..).unwrap_or_default(),
        types: call.types.get(1..).unwrap_or_default(),
        ..*call
    };
    eval_sort(&partial, name, descending)
}

fn eval_sort(call: &HigherOrderCall<'_>, name: &str, descending: bool) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let keys = flat.values(call)?;
    if call.body.is_none()
        && let Some(sorted) = sorted_numbers(&keys, &flat.offsets, descending)?
    {
        return flat.with_values(call.return_type, sorted);
    }
    let is_uuid = call.body.is_none() && {
        let element = element(name, 0, call.types)?;
        *element.base() == DataType::Uuid
    };
    let keys = if is_uuid {
        halves_exchanged(&keys)?
    } else {
        keys
    };
    let indices = sorted_indices(&keys, &flat.offsets, descending)?;
    let values = take(&flat.elements[0], indices)?;
    flat.with_values(call.return_type, values)
}

/// UUIDs with the second half in front, which is what ClickHouse sorts first by.
fn halves_exchanged(uuids: &ArrayRef) -> Result<ArrayRef> {
    let Some(uuids) = uuids.as_fixed_size_binary_opt() else {
        return Ok(Arc::clone(uuids));
    };
    let mut bytes = Vec::with_capacity(uuids.len() * 16);
    for row in 0..uuids.len() {
        let (first, second) = uuids.value(row).split_at(8);
        bytes.extend_from_slice(second);
        bytes.extend_from_slice(first);
    }
    let exchanged = FixedSizeBinaryArray::try_new(16, Buffer::from(bytes), uuids.nulls().cloned());
    let exchanged = exchanged.map_err(|e| Error::bug(e.to_string()))?;
    Ok(Arc::new(exchanged))
}

/// For each row the numbers of its elements in the order of `keys`.
pub(super) fn sorted_indices(
    keys: &ArrayRef,
    offsets: &OffsetBuffer<i32>,
    descending: bool,
) -> Result<Vec<u32>> {
    let order = Order::new(keys, descending)?;
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    let mut scratch = Vec::new();
    for window in offsets.windows(2) {
        let range = window[0] as usize..window[1] as usize;
        order.sort(&mut indices[range], &mut scratch);
    }
    Ok(indices)
}

/// The entries of maps in the order of `keys`.
pub(super) fn sorted_entries(
    call: &HigherOrderCall<'_>,
    flat: &Flat,
    keys: &ArrayRef,
    descending: bool,
) -> Result<ArrayRef> {
    let indices = sorted_indices(keys, &flat.offsets, descending)?;
    let entries = take(&flat.elements[0], indices)?;
    list_of(call.return_type, flat.offsets.clone(), Arc::clone(&entries))
}
