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
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::file::metadata::{FileMetaData, ParquetMetaData, ParquetMetaDataBuilder};
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

/// What a reader has to know of a file, whose footer this is: strings are bytes, read as views,
/// and an Arrow schema inside the file changes no types.
///
/// # Errors
/// If the schema has no form in Arrow.
pub fn reader_metadata(footer: ParquetMetaData) -> parquet::errors::Result<ArrowReaderMetadata> {
    let file = footer.file_metadata();
    let root = without_text(file.schema_descr().root_schema(), true)?;
    let file = FileMetaData::new(
        file.version(),
        file.num_rows(),
        file.created_by().map(str::to_owned),
        None,
        Arc::new(SchemaDescriptor::new(root)),
        file.column_orders().cloned(),
    );
    let footer = ParquetMetaDataBuilder::new(file)
        .set_row_groups(footer.row_groups().to_vec())
        .set_column_index(footer.column_index().cloned())
        .set_offset_index(footer.offset_index().cloned());
    let footer = Arc::new(footer.build());
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::try_new(Arc::clone(&footer), options)?;
    let fields: Vec<Field> = plain.schema().fields().iter().map(|f| as_view(f)).collect();
    let options = ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_schema(Arc::new(Schema::new(fields)));
    Ok(ArrowReaderMetadata::try_new(footer, options).unwrap_or(plain))
}

fn as_view(field: &Field) -> Field {
    match field.data_type() {
        ArrowType::Binary => field.clone().with_data_type(ArrowType::BinaryView),
        _ => field.clone(),
    }
}

/// The tree without the mark of text on bytes, which would make the reader check them.
fn without_text(node: &Type, is_root: bool) -> parquet::errors::Result<Arc<Type>> {
    let info = node.get_basic_info();
    if node.is_group() {
        let fields = node.get_fields().iter().map(|f| without_text(f, false));
        return group_with(
            node,
            is_root,
            fields.collect::<parquet::errors::Result<_>>()?,
        );
    }
    let is_bytes = node.get_physical_type() == Physical::BYTE_ARRAY;
    let is_decimal = info.converted_type() == ConvertedType::DECIMAL
        || matches!(info.logical_type_ref(), Some(LogicalType::Decimal { .. }));
    if !is_bytes || is_decimal {
        return Ok(Arc::new(node.clone()));
    }
    let leaf = Type::primitive_type_builder(info.name(), Physical::BYTE_ARRAY)
        .with_repetition(info.repetition());
    leaf.build().map(Arc::new)
}

/// The group with other members.
fn group_with(
    node: &Type,
    is_root: bool,
    fields: Vec<Arc<Type>>,
) -> parquet::errors::Result<Arc<Type>> {
    let info = node.get_basic_info();
    let mut group = Type::group_type_builder(info.name())
        .with_converted_type(info.converted_type())
        .with_logical_type(info.logical_type_ref().cloned())
        .with_fields(fields);
    if !is_root {
        group = group.with_repetition(info.repetition());
    }
    group.build().map(Arc::new)
}

/// The Parquet schema of a file with these columns, whose Arrow schema is `schema`.
///
/// # Errors
/// If Parquet has no such type.
pub(crate) fn descriptor(
    schema: &Schema,
    columns: &[(String, DataType)],
    strings_are_text: bool,
) -> Result<SchemaDescriptor> {
    let plain = ArrowSchemaConverter::new()
        .convert(schema)
        .map_err(cannot_map)?;
    let strings = strings_are_text.then_some(LogicalType::String);
    let mut named = Vec::new();
    for (_, data_type) in columns {
        logical_types(data_type, strings.as_ref(), &mut named);
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
fn logical_types(
    data_type: &DataType,
    strings: Option<&LogicalType>,
    leaves: &mut Vec<Option<LogicalType>>,
) {
    match data_type.base() {
        DataType::Array(t) => logical_types(t, strings, leaves),
        DataType::Map(k, v) => {
            logical_types(k, strings, leaves);
            logical_types(v, strings, leaves);
        }
        DataType::Tuple(tuple) => tuple
            .types
            .iter()
            .for_each(|t| logical_types(t, strings, leaves)),
        DataType::Uuid => leaves.push(Some(LogicalType::Uuid)),
        DataType::Enum8(_) | DataType::Enum16(_) => leaves.push(Some(LogicalType::Enum)),
        DataType::String | DataType::FixedString(_) => leaves.push(strings.cloned()),
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
        let fields = fields.collect::<Result<_>>()?;
        return group_with(node, is_root, fields).map_err(cannot_map);
    }
    let name = leaves.next().flatten();
    let physical = node.get_physical_type();
    let fits = matches!(
        (&name, physical),
        (Some(LogicalType::Uuid), Physical::FIXED_LEN_BYTE_ARRAY)
            | (
                Some(LogicalType::Enum | LogicalType::String),
                Physical::BYTE_ARRAY
            )
    );
    if !fits {
        return Ok(Arc::new(node.clone()));
    }
    let leaf = Type::primitive_type_builder(info.name(), physical)
        .with_repetition(info.repetition())
        .with_length(if physical == Physical::FIXED_LEN_BYTE_ARRAY {
            16
        } else {
            -1
        })
        .with_logical_type(name);
    leaf.build().map(Arc::new).map_err(cannot_map)
}
