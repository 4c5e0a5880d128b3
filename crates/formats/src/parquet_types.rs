//! Maps types between the dialect and Parquet, where the Arrow types in between say too little.
//!
//! Parquet's UUIDs and enums are plain bytes in Arrow; its times of a day and local times are
//! moments in ClickHouse. Both trees have the same leaves in the same order.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, Schema, TimeUnit};
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::arrow_edge::{UUID_EXTENSION, from_arrow_field};
use parquet::arrow::ArrowSchemaConverter;
use parquet::basic::LogicalType;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type};

use crate::Columns;

/// Names and types of a file's columns. `schema` is the file's, read without Arrow's metadata.
///
/// # Errors
/// `UNKNOWN_TYPE` for a type that the dialect does not have.
pub fn columns(schema: &Schema, parquet: &SchemaDescriptor) -> Result<Columns> {
    let mut leaves = parquet.columns().iter();
    let fields = schema.fields().iter();
    fields
        .map(|f| {
            let field = understood(f, &mut leaves);
            Ok((field.name().clone(), from_arrow_field(&field)?))
        })
        .collect()
}

/// The field with what Parquet says of it in Arrow's terms.
fn understood(field: &Field, leaves: &mut std::slice::Iter<'_, ColumnDescPtr>) -> Field {
    let field = field.clone();
    let nested = match field.data_type() {
        ArrowType::List(item) => ArrowType::List(Arc::new(understood(item, leaves))),
        ArrowType::Struct(fields) => ArrowType::Struct(
            fields
                .iter()
                .map(|f| understood(f, leaves))
                .collect::<Fields>(),
        ),
        ArrowType::Map(entries, sorted) => {
            ArrowType::Map(Arc::new(understood(entries, leaves)), *sorted)
        }
        _ => return understood_leaf(field, leaves.next()),
    };
    field.with_data_type(nested)
}

fn understood_leaf(field: Field, leaf: Option<&ColumnDescPtr>) -> Field {
    let moment = |unit: TimeUnit| ArrowType::Timestamp(unit, Some("UTC".into()));
    match field.data_type() {
        ArrowType::Timestamp(unit, _) | ArrowType::Time32(unit) | ArrowType::Time64(unit) => {
            let unit = *unit;
            field.with_data_type(moment(unit))
        }
        ArrowType::Null => field.with_data_type(ArrowType::Int32),
        ArrowType::FixedSizeBinary(16)
            if leaf.and_then(|l| l.logical_type_ref()) == Some(&LogicalType::Uuid) =>
        {
            let (key, name) = UUID_EXTENSION;
            field.with_metadata([(key.to_owned(), name.to_owned())].into())
        }
        _ => field,
    }
}

/// The Parquet schema of a file with these columns, whose Arrow schema is `schema`.
///
/// # Errors
/// If Parquet has no such type.
pub(crate) fn descriptor(
    schema: &Schema,
    columns: &[(String, DataType)],
) -> Result<SchemaDescriptor> {
    let plain = ArrowSchemaConverter::new()
        .convert(schema)
        .map_err(cannot_map)?;
    let mut named = Vec::new();
    for (_, data_type) in columns {
        logical_types(data_type, &mut named);
    }
    let root = named_types(plain.root_schema(), true, &mut named.into_iter())?;
    Ok(SchemaDescriptor::new(root))
}

fn cannot_map(e: impl std::fmt::Display) -> Error {
    Error::new(
        basalt_error::ErrorCode::UNKNOWN_TYPE,
        format!("Parquet cannot hold the columns: {e}"),
    )
}

/// Appends what Arrow cannot say of each leaf.
fn logical_types(data_type: &DataType, leaves: &mut Vec<Option<LogicalType>>) {
    match data_type.base() {
        DataType::Array(t) => logical_types(t, leaves),
        DataType::Map(k, v) => {
            logical_types(k, leaves);
            logical_types(v, leaves);
        }
        DataType::Tuple(tuple) => tuple.types.iter().for_each(|t| logical_types(t, leaves)),
        DataType::Uuid => leaves.push(Some(LogicalType::Uuid)),
        DataType::Enum8(_) | DataType::Enum16(_) => leaves.push(Some(LogicalType::Enum)),
        _ => leaves.push(None),
    }
}

/// The tree with the leaves' logical types.
fn named_types(
    node: &Type,
    is_root: bool,
    leaves: &mut impl Iterator<Item = Option<LogicalType>>,
) -> Result<Arc<Type>> {
    let info = node.get_basic_info();
    if node.is_group() {
        let fields = node.get_fields().iter();
        let fields = fields.map(|f| named_types(f, false, leaves));
        let mut group = Type::group_type_builder(info.name())
            .with_converted_type(info.converted_type())
            .with_logical_type(info.logical_type_ref().cloned())
            .with_fields(fields.collect::<Result<_>>()?);
        if !is_root {
            group = group.with_repetition(info.repetition());
        }
        return group.build().map(Arc::new).map_err(cannot_map);
    }
    let name = leaves.next().flatten();
    let physical = node.get_physical_type();
    let fits = match (&name, physical) {
        (Some(LogicalType::Uuid), parquet::basic::Type::FIXED_LEN_BYTE_ARRAY) => true,
        (Some(LogicalType::Enum), parquet::basic::Type::BYTE_ARRAY) => true,
        _ => false,
    };
    if !fits {
        return Ok(Arc::new(node.clone()));
    }
    let leaf = Type::primitive_type_builder(info.name(), physical)
        .with_repetition(info.repetition())
        .with_length(if physical == parquet::basic::Type::FIXED_LEN_BYTE_ARRAY {
            16
        } else {
            -1
        })
        .with_logical_type(name);
    leaf.build().map(Arc::new).map_err(cannot_map)
}
