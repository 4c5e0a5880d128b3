//! Merges the types of values into one that holds them all.

use std::sync::Arc;

use basalt_types::{DataType, TupleType};

/// The type of two fields of text; a `String` holds any two.
pub(super) fn merge_text(a: &DataType, b: &DataType) -> DataType {
    merge(a, b).unwrap_or(DataType::String)
}

/// The type of two values, if they have one that is not the last resort.
pub(super) fn merge(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType::{
        Array, Date, DateTime, DateTime64, Float64, Int64, Map, Nothing, String, Tuple, UInt64,
    };
    Some(match (a, b) {
        _ if a == b => a.clone(),
        (Nothing, known) | (known, Nothing) => known.clone(),
        (Int64, UInt64) | (UInt64, Int64) => UInt64,
        (Int64 | UInt64 | Float64, Int64 | UInt64 | Float64) => Float64,
        (Date, DateTime(zone)) | (DateTime(zone), Date) => DateTime(*zone),
        (Date | DateTime(_), long @ DateTime64(..))
        | (long @ DateTime64(..), Date | DateTime(_)) => long.clone(),
        (Array(a), Array(b)) => DataType::array(merge(a, b)?),
        (Map(ka, va), Map(kb, vb)) => DataType::map(merge(ka, kb)?, merge(va, vb)?),
        (Tuple(a), Tuple(b)) => merge_tuples(a, b, merge)?,
        (time, String) | (String, time) if is_time(time) => String,
        _ => return None,
    })
}

fn is_time(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Date | DataType::DateTime(_) | DataType::DateTime64(..)
    )
}

/// Tuples with names have all elements of both; without names, element by element.
fn merge_tuples(
    a: &TupleType,
    b: &TupleType,
    merge: fn(&DataType, &DataType) -> Option<DataType>,
) -> Option<DataType> {
    if a.names.is_empty() || b.names.is_empty() {
        if a.types.len() != b.types.len() || a.names.len() != b.names.len() {
            return None;
        }
        let types = a.types.iter().zip(&b.types).map(|(a, b)| merge(a, b));
        return Some(DataType::tuple(types.collect::<Option<_>>()?));
    }
    let mut merged = a.clone();
    for (name, t) in b.names.iter().zip(&b.types) {
        match merged.names.iter().position(|n| n == name) {
            Some(i) => merged.types[i] = merge(&merged.types[i], t)?,
            None => {
                merged.names.push(name.clone());
                merged.types.push(t.clone());
            }
        }
    }
    // ClickHouse orders the names.
    let mut order: Vec<usize> = (0..merged.names.len()).collect();
    order.sort_by_key(|i| &merged.names[*i]);
    Some(DataType::Tuple(Arc::new(TupleType {
        names: order.iter().map(|i| merged.names[*i].clone()).collect(),
        types: order.iter().map(|i| merged.types[*i].clone()).collect(),
    })))
}

/// Whether no part of the type is a guess.
pub(super) fn is_known(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nothing => false,
        DataType::Array(t) => is_known(t),
        DataType::Map(k, v) => is_known(k) && is_known(v),
        DataType::Tuple(tuple) => !tuple.types.is_empty() && tuple.types.iter().all(is_known),
        _ => true,
    }
}

/// The type of two JSON values: numbers, times and booleans are strings beside a string.
pub(super) fn merge_value(a: &DataType, b: &DataType) -> Option<DataType> {
    if let Some(merged) = merge(a, b) {
        return Some(merged);
    }
    let is_nested = |t: &DataType| {
        matches!(
            t,
            DataType::Array(_) | DataType::Map(..) | DataType::Tuple(_)
        )
    };
    let is_number =
        |t: &DataType| matches!(t, DataType::Int64 | DataType::UInt64 | DataType::Float64);
    match (a, b) {
        (DataType::Bool, number) | (number, DataType::Bool) if is_number(number) => {
            Some(number.clone())
        }
        (DataType::Array(a), DataType::Array(b)) => Some(DataType::array(merge_value(a, b)?)),
        (DataType::Tuple(a), DataType::Tuple(b)) => merge_tuples(a, b, merge_value),
        _ if is_nested(a) || is_nested(b) => None,
        _ => Some(DataType::String),
    }
}

/// The column's type: `String` where nothing is known, `Nullable` wherever that is a type.
pub(super) fn finish(data_type: DataType) -> DataType {
    match data_type {
        DataType::Nothing => DataType::String.to_nullable(),
        DataType::Array(t) => DataType::array(finish(t.as_ref().clone())),
        DataType::Map(k, v) => DataType::Map(k, Arc::new(finish(v.as_ref().clone()))),
        DataType::Tuple(tuple) => DataType::Tuple(Arc::new(TupleType {
            types: tuple.types.iter().cloned().map(finish).collect(),
            names: tuple.names.clone(),
        })),
        scalar => scalar.to_nullable(),
    }
}

/// The type without NULL anywhere inside it.
pub(super) fn without_nullable(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Nullable(t) => without_nullable(t),
        DataType::Array(t) => DataType::array(without_nullable(t)),
        DataType::Map(k, v) => DataType::map(without_nullable(k), without_nullable(v)),
        DataType::Tuple(tuple) => DataType::Tuple(Arc::new(TupleType {
            types: tuple.types.iter().map(without_nullable).collect(),
            names: tuple.names.clone(),
        })),
        plain => plain.clone(),
    }
}
