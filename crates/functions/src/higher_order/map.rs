//! The higher-order functions of maps: the lambda gets keys and values.

use arrow::array::{Array, ArrayRef, AsArray};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flat, expect_predicate};
use super::predicate::{eval_flag, filtered};
use super::sort::{behind_limit, sorted_entries};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::scalar::arrays::lists::{bad_arguments, list_of, map_of};
use crate::scalar::maps::construct::check_key;

const MAP: HigherOrderFunction = HigherOrderFunction {
    parameters,
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        entry(name, types)?;
        Ok(types[0].clone())
    },
    ..HigherOrderFunction::BASE
};

const FLAG: HigherOrderFunction = HigherOrderFunction {
    return_type: |name, body, types| {
        expect_predicate(name, body)?;
        entry(name, types)?;
        Ok(DataType::UInt8)
    },
    ..MAP
};

const SORT: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    return_type: |name, _, types| {
        entry(name, types)?;
        Ok(types[0].clone())
    },
    ..MAP
};

const PARTIAL_SORT: HigherOrderFunction = HigherOrderFunction {
    parameters: |name, arity, types| parameters(name, arity, behind_limit(name, types)?),
    return_type: |name, _, types| {
        let types = behind_limit(name, types)?;
        entry(name, types)?;
        Ok(types[0].clone())
    },
    ..SORT
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "mapApply",
        syntax: "mapApply((k, v) -> (..., ...), map)",
        description: "A map of the keys and values that the lambda returns.",
        return_type: applied_type,
        eval: eval_apply,
        ..MAP
    },
    HigherOrderFunction {
        name: "mapFilter",
        syntax: "mapFilter((k, v) -> ..., map)",
        description: "The entries for which the lambda is true.",
        eval: |call| {
            let flat = Flat::of(call, "mapFilter")?;
            let (offsets, entries) = filtered(call, &flat)?;
            list_of(call.return_type, offsets, entries)
        },
        ..MAP
    },
    HigherOrderFunction {
        name: "mapExists",
        syntax: "mapExists((k, v) -> ..., map)",
        description: "Whether the lambda is true for at least one entry.",
        eval: |call| {
            eval_flag(call, "mapExists", |flags, mut range| {
                range.any(|i| flags.get(i))
            })
        },
        ..FLAG
    },
    HigherOrderFunction {
        name: "mapAll",
        syntax: "mapAll((k, v) -> ..., map)",
        description: "Whether the lambda is true for every entry.",
        eval: |call| {
            eval_flag(call, "mapAll", |flags, mut range| {
                range.all(|i| flags.get(i))
            })
        },
        ..FLAG
    },
    HigherOrderFunction {
        name: "mapSort",
        syntax: "mapSort([(k, v) -> ...,] map)",
        description: "The entries in ascending order of their keys, or of the lambda's values.",
        eval: |call| eval_sort(call, "mapSort", (0, false)),
        ..SORT
    },
    HigherOrderFunction {
        name: "mapReverseSort",
        syntax: "mapReverseSort([(k, v) -> ...,] map)",
        description: "The entries in descending order of their keys, or of the lambda's values.",
        eval: |call| eval_sort(call, "mapReverseSort", (0, true)),
        ..SORT
    },
    HigherOrderFunction {
        name: "mapPartialSort",
        syntax: "mapPartialSort([(k, v) -> ...,] limit, map)",
        description: "The entries with the first `limit` in ascending order.",
        eval: |call| eval_sort(call, "mapPartialSort", (1, false)),
        ..PARTIAL_SORT
    },
    HigherOrderFunction {
        name: "mapPartialReverseSort",
        syntax: "mapPartialReverseSort([(k, v) -> ...,] limit, map)",
        description: "The entries with the first `limit` in descending order.",
        eval: |call| eval_sort(call, "mapPartialReverseSort", (1, true)),
        ..PARTIAL_SORT
    },
];

/// Types of keys and values of the map that is the only argument.
fn entry<'a>(name: &str, types: &'a [DataType]) -> Result<(&'a DataType, &'a DataType)> {
    match types {
        [DataType::Map(key, value)] => Ok((key, value)),
        _ => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Function {name} takes one argument of type Map"),
        )),
    }
}

fn parameters(name: &str, arity: usize, types: &[DataType]) -> Result<Vec<DataType>> {
    let (key, value) = entry(name, types)?;
    let types = vec![key.clone(), value.clone()];
    if arity != 1 {
        return Ok(types);
    }
    let names = vec!["keys".to_owned(), "values".to_owned()];
    let tuple = basalt_types::TupleType { types, names };
    Ok(vec![DataType::Tuple(std::sync::Arc::new(tuple))])
}

fn applied_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    entry(name, types)?;
    match body {
        DataType::Tuple(tuple) if tuple.types.len() == 2 => {
            check_key(&tuple.types[0])?;
            Ok(DataType::map(
                tuple.types[0].clone(),
                tuple.types[1].clone(),
            ))
        }
        _ => Err(bad_arguments(format!(
            "The lambda of function {name} must return a tuple of key and value, not {body}"
        ))),
    }
}

fn eval_apply(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "mapApply")?;
    let values = flat.values(call)?;
    let pairs = values.as_struct_opt();
    let pairs = pairs.ok_or_else(|| Error::bug("a tuple is a struct"))?;
    let [keys, values] = [0, 1].map(|i| std::sync::Arc::clone(pairs.column(i)));
    map_of(call.return_type, flat.offsets, keys, values)
}

fn eval_sort(
    call: &HigherOrderCall<'_>,
    name: &str,
    (first_map, descending): (usize, bool),
) -> Result<ArrayRef> {
    let sort = HigherOrderCall {
        arrays: call.arrays.get(first_map..).unwrap_or_default(),
        types: call.types.get(first_map..).unwrap_or_default(),
        ..*call
    };
    let flat = Flat::of(&sort, name)?;
    let keys = flat.values(&sort)?;
    if sort.body.is_some() {
        return sorted_entries(&sort, &flat, &keys, descending);
    }
    let entries = keys.as_struct_opt();
    let entries = entries.ok_or_else(|| Error::bug("a map holds structs"))?;
    if entries.is_empty() {
        return Ok(std::sync::Arc::clone(&sort.arrays[0]));
    }
    sorted_entries(&sort, &flat, entries.column(0), descending)
}
