//! `-Map`: aggregates the values of maps for each key; `sumMap` and its kind also take arrays.

use arrow::array::AsArray;
use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::keyed::{Layout, bind_keyed};
use crate::aggregate::row_keys::row_keys;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate, binding};

/// The functions that the suffix means for arrays.
pub(in crate::aggregate) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "sumMappedArrays",
        syntax: "sumMappedArrays(keys, values[, ...])",
        description: "Sums the values for each key; gives arrays of keys and of sums.",
        resolve: |call| {
            resolve_arrays(
                call,
                "sum",
                Layout::Arrays {
                    drops_defaults: true,
                },
            )
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumMapWithOverflow",
        syntax: "sumMapWithOverflow(keys, values[, ...])",
        description: "As sumMappedArrays, in the type of the values.",
        resolve: |call| {
            resolve_arrays(
                call,
                "sumWithOverflow",
                Layout::Arrays {
                    drops_defaults: true,
                },
            )
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumMapFiltered",
        max_params: 1,
        syntax: "sumMapFiltered(keys)(keys, values[, ...])",
        description: "As sumMappedArrays, for the keys of the parameter only.",
        resolve: |call| resolve_filtered(call, "sum"),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumMapFilteredWithOverflow",
        max_params: 1,
        syntax: "sumMapFilteredWithOverflow(keys)(keys, values[, ...])",
        description: "As sumMapWithOverflow, for the keys of the parameter only.",
        resolve: |call| resolve_filtered(call, "sumWithOverflow"),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "minMappedArrays",
        syntax: "minMappedArrays(keys, values[, ...])",
        description: "The least value for each key; gives arrays of keys and of values.",
        resolve: |call| {
            resolve_arrays(
                call,
                "min",
                Layout::Arrays {
                    drops_defaults: false,
                },
            )
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "maxMappedArrays",
        syntax: "maxMappedArrays(keys, values[, ...])",
        description: "The greatest value for each key; gives arrays of keys and of values.",
        resolve: |call| {
            resolve_arrays(
                call,
                "max",
                Layout::Arrays {
                    drops_defaults: false,
                },
            )
        },
        ..AggregateFunction::BASE
    },
];

/// Binds `-Map`.
pub(super) fn bind(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    if let [DataType::Map(key, value)] = call.types {
        let inner = binding::bind(&AggregateCall {
            types: std::slice::from_ref(value.as_ref()),
            ..*call
        })?;
        return Ok(bind_keyed(key.as_ref().clone(), vec![inner], Layout::Map));
    }
    let arrays = format!("{}MappedArrays", binding::canonical_name(call.name));
    if binding::find(&arrays).is_none() {
        return Err(call.illegal_type(0));
    }
    binding::bind(&AggregateCall {
        name: &arrays,
        ..*call
    })
}

fn resolve_arrays(
    call: &AggregateCall<'_>,
    function: &str,
    layout: Layout,
) -> Result<BoundAggregate> {
    let types = match call.types {
        [DataType::Tuple(tuple)] => tuple.types.as_slice(),
        types => types,
    };
    let elements = types
        .iter()
        .map(|t| match t {
            DataType::Array(element) => Ok(element.as_ref().clone()),
            _ => Err(call.illegal_type(0)),
        })
        .collect::<Result<Vec<_>>>()?;
    let [key, values @ ..] = elements.as_slice() else {
        call.expect_args(2..=usize::MAX)?;
        return Err(call.illegal_type(0));
    };
    if values.is_empty() {
        call.expect_args(2..=usize::MAX)?;
        return Err(call.illegal_type(0));
    }
    let inner = values
        .iter()
        .map(|value| {
            binding::bind(&AggregateCall {
                name: function,
                params: &[],
                types: std::slice::from_ref(value),
                ..*call
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(bind_keyed(key.clone(), inner, layout))
}

fn resolve_filtered(call: &AggregateCall<'_>, function: &str) -> Result<BoundAggregate> {
    call.expect_params(1..=1)?;
    let kept = call.params[0].constant.as_ref();
    let kept = kept.and_then(|array| array.as_list_opt::<i32>());
    let kept = kept.ok_or_else(|| call.bad_param(0, &"it must be an array of keys"))?;
    let only = row_keys(&[kept.value(0)])?;
    resolve_arrays(call, function, Layout::Filtered { only })
}
