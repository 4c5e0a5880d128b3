//! Converts arrays, tuples and maps element by element.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType as ArrowType, FieldRef, Fields};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::physical::{entry_fields, item_field};
use basalt_types::{DataType, TupleType};

use super::{ArrayCast, BaseCast, How, array_cast_how};
use crate::function::bug;

pub(super) fn cast(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    match (from, to) {
        (DataType::Array(x), DataType::Array(y)) => array(x, y, how),
        (DataType::Tuple(x), DataType::Tuple(y)) => tuple(x, y, (from, to), how),
        (DataType::Map(k1, v1), DataType::Map(k2, v2)) => {
            let pair = |k: &DataType, v: &DataType| DataType::tuple(vec![k.clone(), v.clone()]);
            entries(&pair(k1, v1), (k2, v2), how)
        }
        (DataType::Array(pair), DataType::Map(k, v)) if is_pair(pair) => entries(pair, (k, v), how),
        (DataType::Array(nothing), DataType::Map(..)) if **nothing == DataType::Nothing => {
            let to = to.clone();
            Ok(Arc::new(move |array, _| {
                super::super::defaults::default_array(&to, array.len())
            }))
        }
        (DataType::Map(k, v), DataType::Array(pair)) => {
            let entry = DataType::tuple(vec![k.as_ref().clone(), v.as_ref().clone()]);
            list_of_entries(&entry, pair, how)
        }
        (DataType::Tuple(lists), DataType::Map(k, v)) => map_of_lists(lists, (k, v), how),
        (_, DataType::Array(_)) => Err(mismatch(
            "CAST AS Array can only be performed between same-dimensional Array, Map or String types",
            (from, to),
        )),
        (_, DataType::Tuple(_)) => Err(not_same_size((from, to))),
        (_, DataType::Map(..)) => Err(mismatch("Unsupported types to CAST AS Map", (from, to))),
        _ => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Illegal type {from} of argument of a conversion to {to}"),
        )),
    }
}

/// The error of a text that should become a map.
pub(super) fn map_of_text(to: &DataType) -> Error {
    mismatch("Unsupported types to CAST AS Map", (&DataType::String, to))
}

fn is_pair(element: &DataType) -> bool {
    matches!(element, DataType::Tuple(pair) if pair.types.len() == 2)
}

fn mismatch(message: &str, (from, to): (&DataType, &DataType)) -> Error {
    Error::new(
        ErrorCode::TYPE_MISMATCH,
        format!("{message}. Left type: {from}, right type: {to}"),
    )
}

fn not_same_size(types: (&DataType, &DataType)) -> Error {
    mismatch(
        "CAST AS Tuple can only be performed between tuple types with the same number of elements or from String",
        types,
    )
}

/// The elements of all rows, without those before the first and after the last.
fn flat(list: &ListArray) -> ArrayRef {
    let offsets = list.value_offsets();
    let (first, last) = (offsets[0] as usize, offsets[list.len()] as usize);
    list.values().slice(first, last - first)
}

/// Lists of the same lengths as `shape` over other elements, from [`flat`].
fn list_of(shape: &ListArray, item: &FieldRef, values: ArrayRef) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::from_lengths(shape.offsets().lengths());
    let array = ListArray::try_new(Arc::clone(item), offsets, values, None);
    Ok(Arc::new(array.map_err(bug)?))
}

fn array(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let element = array_cast_how(from, to, how)?;
    let item = item_field(to);
    Ok(Arc::new(move |array, _| {
        let list = array.as_list::<i32>();
        list_of(list, &item, element(&flat(list))?)
    }))
}

/// A map to a list: its entries are no tuples for Arrow even where they are of the same type.
fn list_of_entries(entry: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let (DataType::Tuple(from), DataType::Tuple(pair)) = (entry, to) else {
        return array(entry, to, how);
    };
    let element = tuple(from, pair, (entry, to), how)?;
    let item = item_field(to);
    Ok(Arc::new(move |array, failures| {
        let list = array.as_list::<i32>();
        list_of(list, &item, element(&flat(list), failures)?)
    }))
}

fn tuple(
    from: &TupleType,
    to: &TupleType,
    types: (&DataType, &DataType),
    how: How,
) -> Result<BaseCast> {
    let by_name = !from.names.is_empty()
        && !to.names.is_empty()
        && to.names.iter().any(|name| from.names.contains(name));
    if by_name {
        return tuple_by_name(from, to, how);
    }
    if from.types.len() != to.types.len() {
        return Err(not_same_size(types));
    }
    let pairs = from.types.iter().zip(&to.types);
    let casts: Vec<ArrayCast> = pairs
        .map(|(x, y)| array_cast_how(x, y, how))
        .collect::<Result<_>>()?;
    let ArrowType::Struct(fields) = types.1.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    Ok(Arc::new(move |array, _| {
        let columns = array.as_struct().columns().iter().zip(&casts);
        let columns = columns
            .map(|(c, cast)| cast(c))
            .collect::<Result<Vec<_>>>()?;
        struct_of(&fields, columns, array.len())
    }))
}

fn struct_of(fields: &Fields, columns: Vec<ArrayRef>, num_rows: usize) -> Result<ArrayRef> {
    let array = StructArray::try_new_with_length(fields.clone(), columns, None, num_rows);
    Ok(Arc::new(array.map_err(bug)?))
}

/// Elements of the same name belong together; those that the source lacks are defaults.
fn tuple_by_name(from: &TupleType, to: &TupleType, how: How) -> Result<BaseCast> {
    let mut casts: Vec<Option<(usize, ArrayCast)>> = Vec::new();
    for (name, data_type) in to.names.iter().zip(&to.types) {
        let source = from.names.iter().position(|n| n == name);
        casts.push(match source {
            Some(idx) => Some((idx, array_cast_how(&from.types[idx], data_type, how)?)),
            None => None,
        });
    }
    let ArrowType::Struct(fields) = DataType::Tuple(Arc::new(to.clone())).physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    let types = to.types.clone();
    Ok(Arc::new(move |array, _| {
        let source = array.as_struct();
        let column = |(cast, data_type): (&Option<(usize, ArrayCast)>, &DataType)| match cast {
            Some((idx, cast)) => cast(source.column(*idx)),
            None => super::super::defaults::default_array(data_type, array.len()),
        };
        let columns = casts
            .iter()
            .zip(&types)
            .map(column)
            .collect::<Result<Vec<_>>>()?;
        struct_of(&fields, columns, array.len())
    }))
}

fn map_item(fields: &Fields) -> Arc<arrow::datatypes::Field> {
    Arc::new(arrow::datatypes::Field::new(
        "item",
        ArrowType::Struct(fields.clone()),
        false,
    ))
}

/// A list of pairs to a map.
fn entries(pair: &DataType, (key, value): (&DataType, &DataType), how: How) -> Result<BaseCast> {
    let DataType::Tuple(pair) = pair else {
        return Err(Error::bug("a map has pairs"));
    };
    let key_cast = array_cast_how(&pair.types[0], key, how)?;
    let value_cast = array_cast_how(&pair.types[1], value, how)?;
    let fields = entry_fields(key, value);
    let item = map_item(&fields);
    Ok(Arc::new(move |array, _| {
        let list = array.as_list::<i32>();
        let pairs = flat(list);
        let pairs = pairs.as_struct();
        let columns = vec![key_cast(pairs.column(0))?, value_cast(pairs.column(1))?];
        list_of(list, &item, struct_of(&fields, columns, pairs.len())?)
    }))
}

/// A pair of lists, keys and values, to a map.
fn map_of_lists(
    lists: &TupleType,
    (key, value): (&DataType, &DataType),
    how: How,
) -> Result<BaseCast> {
    let (k, v) = match lists.types.as_slice() {
        [DataType::Array(k), DataType::Array(v)] => (k, v),
        _ => {
            let from = DataType::Tuple(Arc::new(lists.clone()));
            let to = DataType::map(key.clone(), value.clone());
            return Err(mismatch(
                "CAST AS Map from Tuple needs two arrays",
                (&from, &to),
            ));
        }
    };
    let (key_cast, value_cast) = (array_cast_how(k, key, how)?, array_cast_how(v, value, how)?);
    let fields = entry_fields(key, value);
    let item = map_item(&fields);
    Ok(Arc::new(move |array, _| {
        let tuple = array.as_struct();
        let (keys, values) = (
            tuple.column(0).as_list::<i32>(),
            tuple.column(1).as_list::<i32>(),
        );
        if keys.offsets().lengths().ne(values.offsets().lengths()) {
            return Err(Error::new(
                ErrorCode::TYPE_MISMATCH,
                "CAST AS Map from Tuple needs arrays of keys and values of the same size",
            ));
        }
        let columns = vec![key_cast(&flat(keys))?, value_cast(&flat(values))?];
        let len = columns[0].len();
        list_of(keys, &item, struct_of(&fields, columns, len)?)
    }))
}
