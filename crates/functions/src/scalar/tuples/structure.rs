//! Changes what tuples are made of: concatenation, names, flattening.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray};
use basalt_error::{Error, Result};
use basalt_types::{DataType, TupleType};

use super::compose::{element_column, tuple_type};
use super::vector::resolve_hamming;
use crate::scalar::arrays::construct::{equal_offsets, interleave_rows};
use crate::scalar::arrays::lists::{as_list, list_of, struct_of};
use crate::scalar::arrays::unify::with_elements;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "tupleConcat",
        syntax: "tupleConcat(tuple, ...)",
        description: "A tuple of the elements of all tuples.",
        resolve: resolve_concat,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tupleNames",
        syntax: "tupleNames(tuple)",
        description: "The names of a tuple's elements.",
        resolve: resolve_names,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tupleToNameValuePairs",
        syntax: "tupleToNameValuePairs(tuple)",
        description: "An array of the names and values of a tuple whose elements are of one type.",
        resolve: resolve_pairs,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "flattenTuple",
        syntax: "flattenTuple(tuple)",
        description: "A named tuple without tuples inside: their elements get the path as their name.",
        resolve: resolve_flatten,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "tupleHammingDistance",
        syntax: "tupleHammingDistance(a, b)",
        description: "Number of elements in which two tuples of the same size differ.",
        resolve: resolve_hamming,
        ..ScalarFunction::BASE
    },
];

fn resolve_concat(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=usize::MAX)?;
    let mut types = Vec::new();
    for idx in 0..call.args.len() {
        types.extend(tuple_type(call, idx)?.types.iter().cloned());
    }
    let tuple = DataType::tuple(types);
    let physical = tuple.physical();
    Resolved::new(tuple, move |columns, num_rows| {
        let mut elements = Vec::new();
        for column in columns {
            let tuples = column.expand(num_rows)?;
            let tuples = tuples.as_struct_opt();
            let tuples = tuples.ok_or_else(|| Error::bug("a tuple is a struct"))?;
            elements.extend(tuples.columns().iter().map(Arc::clone));
        }
        struct_of(&physical, elements, num_rows)
    })
}

fn names_of(tuple: &TupleType) -> Vec<String> {
    (0..tuple.types.len()).map(|idx| tuple.name(idx)).collect()
}

fn name_columns(names: &[String]) -> Vec<Column> {
    let column = |name: &String| {
        let array = BinaryViewArray::from_iter_values([name.as_bytes()]);
        Column::constant(Arc::new(array))
    };
    names.iter().map(column).collect()
}

fn resolve_names(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let names = names_of(tuple_type(call, 0)?);
    let list = DataType::array(DataType::String);
    Resolved::new(list.clone(), move |_, num_rows| {
        let values = interleave_rows(&name_columns(&names), num_rows, &DataType::String)?;
        list_of(&list, equal_offsets(num_rows, names.len())?, values)
    })
}

fn resolve_pairs(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let tuple = tuple_type(call, 0)?;
    let names = names_of(tuple);
    let Some(value) = tuple.types.first().cloned() else {
        return Err(call.illegal_type(0));
    };
    if tuple.types.iter().any(|t| *t != value) {
        return Err(call.illegal_type(0));
    }
    let pair = DataType::tuple(vec![DataType::String, value.clone()]);
    let list = DataType::array(pair.clone());
    Resolved::new(list.clone(), move |columns, num_rows| {
        let elements = (0..names.len()).map(|idx| element_column(&columns[0], idx));
        let elements = elements.collect::<Result<Vec<_>>>()?;
        let values = interleave_rows(&elements, num_rows, &value)?;
        let names = interleave_rows(&name_columns(&names), num_rows, &DataType::String)?;
        let offsets = equal_offsets(num_rows, elements.len())?;
        let len = values.len();
        list_of(
            &list,
            offsets,
            struct_of(&pair.physical(), vec![names, values], len)?,
        )
    })
}

/// An element of a flattened tuple: its path of names, its type, its path of positions.
struct Leaf {
    name: String,
    data_type: DataType,
    path: Vec<usize>,
}

fn resolve_flatten(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let tuple = tuple_type(call, 0)?;
    if tuple.names.is_empty() {
        return Err(call.illegal_type(0));
    }
    let mut leaves = Vec::new();
    collect_leaves(tuple, "", &[], &mut leaves);
    let result = DataType::Tuple(Arc::new(TupleType {
        types: leaves.iter().map(|l| l.data_type.clone()).collect(),
        names: leaves.iter().map(|l| l.name.clone()).collect(),
    }));
    let physical = result.physical();
    Resolved::new(result, move |columns, num_rows| {
        let tuples = columns[0].expand(num_rows)?;
        let elements = leaves
            .iter()
            .map(|leaf| leaf_array(&tuples, &leaf.path, &leaf.data_type));
        struct_of(&physical, elements.collect::<Result<Vec<_>>>()?, num_rows)
    })
}

fn collect_leaves(tuple: &TupleType, prefix: &str, path: &[usize], leaves: &mut Vec<Leaf>) {
    for (idx, element) in tuple.types.iter().enumerate() {
        let name = format!("{prefix}{}", tuple.name(idx));
        let path: Vec<usize> = path.iter().copied().chain([idx]).collect();
        match element {
            DataType::Tuple(inner) if !inner.names.is_empty() => {
                collect_leaves(inner, &format!("{name}."), &path, leaves);
            }
            DataType::Array(item) => match item.as_ref() {
                DataType::Tuple(inner) if !inner.names.is_empty() => {
                    let first = leaves.len();
                    collect_leaves(inner, &format!("{name}."), &path, leaves);
                    for leaf in &mut leaves[first..] {
                        leaf.data_type = DataType::array(leaf.data_type.clone());
                    }
                }
                _ => leaves.push(Leaf {
                    name,
                    data_type: element.clone(),
                    path,
                }),
            },
            _ => leaves.push(Leaf {
                name,
                data_type: element.clone(),
                path,
            }),
        }
    }
}

fn leaf_array(array: &ArrayRef, path: &[usize], data_type: &DataType) -> Result<ArrayRef> {
    let Some((first, rest)) = path.split_first() else {
        return Ok(Arc::clone(array));
    };
    if let Some(tuples) = array.as_struct_opt() {
        return leaf_array(tuples.column(*first), rest, data_type);
    }
    let DataType::Array(element) = data_type else {
        return Err(Error::bug("a path goes through tuples and arrays"));
    };
    let values = leaf_array(as_list(array)?.values(), path, element)?;
    with_elements(data_type, array, values)
}
