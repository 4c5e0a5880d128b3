//! Tells how ClickHouse would hold a column: its type, and the columns that it is made of.

use arrow::array::{Array, ArrayRef, AsArray};
use basalt_error::Result;
use basalt_types::DataType;

use super::entry;
use crate::{Call, Column, Nulls, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    nulls: Nulls::Raw,
    ..entry(
        &["dumpColumnStructure"],
        Purity::PerRow,
        (
            "dumpColumnStructure(x)",
            "Type of a column and the columns that hold its values, with their sizes.",
        ),
        dump,
    )
}];

fn dump(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).clone();
    Resolved::new(DataType::String, move |columns, num_rows| {
        let column: &Column = &columns[0];
        let inner = structure(&data_type, &column.array);
        let shown = match column.is_const {
            true => format!("{data_type}, Const(size = {num_rows}, {inner})"),
            false => format!("{data_type}, {inner}"),
        };
        let rows = arrow::array::BinaryViewArray::from_iter_values(vec![shown; num_rows]);
        Ok(std::sync::Arc::new(rows))
    })
}

fn structure(data_type: &DataType, array: &ArrayRef) -> String {
    let size = array.len();
    let nested = |data_type: &DataType, arrays: &[ArrayRef]| -> String {
        let types: Vec<&DataType> = match data_type {
            DataType::Tuple(tuple) => tuple.types.iter().collect(),
            DataType::Map(key, value) => vec![key, value],
            _ => Vec::new(),
        };
        let parts = types.into_iter().zip(arrays);
        let parts: Vec<String> = parts.map(|(t, a)| structure(t, a)).collect();
        parts.join(", ")
    };
    match data_type {
        DataType::Nullable(inner) => format!(
            "Nullable(size = {size}, {}, UInt8(size = {size}))",
            structure(inner, array)
        ),
        DataType::Array(inner) => {
            let offsets = format!("UInt64(size = {size})");
            let values = array.as_list_opt::<i32>().map(|l| l.values());
            let values = values.map(|v| structure(inner, v)).unwrap_or_default();
            format!("Array(size = {size}, {offsets}, {values})")
        }
        DataType::Map(..) => {
            let entries = array.as_list_opt::<i32>().map(|l| l.values());
            let pairs = entries.and_then(|e| e.as_struct_opt());
            let pairs = pairs.map(|p| (p.len(), nested(data_type, p.columns())));
            let (len, pairs) = pairs.unwrap_or_default();
            format!(
                "Map(size = {size}, Array(size = {size}, UInt64(size = {size}), \
                 Tuple(size = {len}, {pairs})))"
            )
        }
        DataType::Tuple(_) => {
            let columns = array.as_struct_opt().map(|s| s.columns());
            let parts = nested(data_type, columns.unwrap_or_default());
            format!("Tuple(size = {size}, {parts})")
        }
        DataType::LowCardinality(inner) => {
            let held = structure(inner, array);
            format!("LowCardinality(size = {size}, UInt8(size = {size}), Unique({held}))")
        }
        plain => format!("{}(size = {size})", held_as(plain)),
    }
}

/// What the values of a type without parts are in memory.
fn held_as(data_type: &DataType) -> String {
    match data_type {
        DataType::Bool => "UInt8".to_owned(),
        DataType::Date => "UInt16".to_owned(),
        DataType::DateTime(_) => "UInt32".to_owned(),
        DataType::Date32 => "Int32".to_owned(),
        DataType::Enum8(_) => "Int8".to_owned(),
        DataType::Enum16(_) => "Int16".to_owned(),
        DataType::Interval(_) => "Int64".to_owned(),
        DataType::DateTime64(..) => "DateTime64".to_owned(),
        DataType::FixedString(_) => "FixedString".to_owned(),
        DataType::AggregateFunction(_) => "AggregateFunction".to_owned(),
        DataType::Decimal { precision, .. } => {
            let bits = match precision {
                0..=9 => 32,
                10..=18 => 64,
                19..=38 => 128,
                _ => 256,
            };
            format!("Decimal{bits}")
        }
        other => other.to_string(),
    }
}
