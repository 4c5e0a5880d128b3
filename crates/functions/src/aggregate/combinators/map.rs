//! `-Map`: aggregates the values of maps for each key; `sumMap` and its kind also take arrays.

use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::keyed::{Layout, bind_keyed};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate, binding};

/// The functions that the suffix means for arrays.
pub(in crate::aggregate) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "sumMappedArrays",
        syntax: "sumMappedArrays(keys, values[, ...])",
        description: "Sums the values for each key; gives arrays of keys and of sums.",
        resolve: |call| resolve_arrays(call, "sum", true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "sumMapWithOverflow",
        syntax: "sumMapWithOverflow(keys, values[, ...])",
        description: "As sumMappedArrays, in the type of the values.",
        resolve: |call| resolve_arrays(call, "sumWithOverflow", true),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "minMappedArrays",
        syntax: "minMappedArrays(keys, values[, ...])",
        description: "The least value for each key; gives arrays of keys and of values.",
        resolve: |call| resolve_arrays(call, "min", false),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "maxMappedArrays",
        syntax: "maxMappedArrays(keys, values[, ...])",
        description: "The greatest value for each key; gives arrays of keys and of values.",
        resolve: |call| resolve_arrays(call, "max", false),
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
    drops_defaults: bool,
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
                types: std::slice::from_ref(value),
                ..*call
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(bind_keyed(
        key.clone(),
        inner,
        Layout::Arrays { drops_defaults },
    ))
}
