//! Finds names and types of columns from a sample of a format's bytes.
//!
//! Each value is given the narrowest type that its text has; the types of a column's values are
//! merged into one that holds them all. Where nothing is known, it is a `String`.
//!
//! | module | owns |
//! |---|---|
//! | [`merge`] | one type for the values of two |
//! | [`text`] | the type of a field of TSV or CSV, of a literal |
//! | [`json`] | the type of a JSON value |
//! | [`json_rows`] | rows of JSON |
//! | [`sample`] | the first bytes of a source |
//! | [`found`] | what rows of fields have told so far |
//! | [`separated`] | TSV, CSV, TSKV |
//! | [`values`] | Values |
//! | [`custom`] | fields by an escaping rule |
//! | [`lines`] | lines of fields, and whether the first is a header |

mod custom;
mod found;
mod json;
mod json_rows;
mod lines;
mod merge;
mod sample;
mod separated;
mod text;
mod values;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::parse::parse_structure;
use basalt_types::text::Cursor;
use basalt_types::{DataType, parse_data_type};

use crate::input::fields::same_number;
use crate::input::{Source, arrow_schema, native, native_bytes, row_binary};
use crate::registry::{Header, Kind, lookup};
use crate::{Columns, FormatSettings};
use merge::without_nullable;
use sample::Sample;
use separated::{infer_csv, infer_tskv, infer_tsv};
use values::infer_values;

/// Finds names and types of the columns of `source`, which is in the format `name`.
///
/// # Errors
/// `CANNOT_EXTRACT_TABLE_STRUCTURE` if the bytes have no one structure, `BAD_ARGUMENTS` for
/// formats whose bytes do not tell it.
pub fn infer(name: &str, source: Source, settings: &FormatSettings) -> Result<Columns> {
    let mut columns = infer_without_hints(name, source, settings)?;
    let names = settings.column_names_for_schema_inference.split(',');
    let names = names.map(str::trim).filter(|n| !n.is_empty());
    let unnamed = columns.iter_mut().enumerate();
    for ((i, column), name) in unnamed.zip(names) {
        if column.0 == format!("c{}", i + 1) {
            name.clone_into(&mut column.0);
        }
    }
    let hints = settings.schema_inference_hints.trim();
    if !hints.is_empty() {
        for (name, data_type) in parse_structure(hints)? {
            for column in columns.iter_mut().filter(|c| c.0 == name) {
                column.1 = data_type.clone();
            }
        }
    }
    Ok(columns)
}

fn infer_without_hints(name: &str, source: Source, settings: &FormatSettings) -> Result<Columns> {
    let format = lookup(name)?;
    let string = |name: &str| Ok(vec![(name.to_string(), DataType::String)]);
    match format.kind {
        Kind::Arrow | Kind::ArrowStream | Kind::Parquet => arrow_schema(format.kind, source)
            .map_err(|e| match e.code() {
                ErrorCode::INCORRECT_DATA | ErrorCode::CANNOT_READ_ALL_DATA => not_found(name, &e),
                _ => e,
            }),
        Kind::Native => infer_native(source, settings),
        Kind::LineAsString => string("line"),
        Kind::JsonAsString => string("json"),
        Kind::RawBlob => string("raw_blob"),
        Kind::One => Ok(vec![("dummy".to_string(), DataType::UInt8)]),
        Kind::RowBinary(Header::None | Header::Names) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("You must specify the structure: {name} does not tell its columns' types"),
        )),
        kind if !tells_columns(kind) => Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("You must specify the structure: {name} does not tell its columns"),
        )),
        _ => {
            let find = |sample: &Sample| from_sample(format.kind, sample, settings);
            let found = Sample::find(source, settings, find);
            let found = found.map(|columns| {
                if settings.schema_inference_make_columns_nullable || has_types(format.kind) {
                    return columns;
                }
                let plain = columns.into_iter();
                plain.map(|(n, t)| (n, without_nullable(&t))).collect()
            });
            found.map_err(|e| not_found(name, &e))
        }
    }
}

/// The error for bytes that do not tell their columns because of `e`.
fn not_found(format: &str, e: &Error) -> Error {
    let code = match e.code() {
        ErrorCode::NOT_IMPLEMENTED => ErrorCode::NOT_IMPLEMENTED,
        _ => ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
    };
    let reason = e.message();
    let message =
        format!("The table structure cannot be extracted from a {format} format file: {reason}");
    Error::new(code, message)
}

fn from_sample(kind: Kind, sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    match kind {
        Kind::Csv(header) => infer_csv(sample, header, settings),
        Kind::TabSeparated(header) => infer_tsv(sample, header, false, settings),
        Kind::TabSeparatedRaw(header) => infer_tsv(sample, header, true, settings),
        Kind::RowBinary(_) => {
            let mut cursor = Cursor::new(&sample.bytes);
            let [names, types] = row_binary::read_header(&mut cursor, true)?;
            typed(&names, &types)
        }
        Kind::JsonEachRow { .. } => json_rows::objects(sample, settings),
        Kind::JsonCompactEachRow { header, .. } => json_rows::arrays(sample, header, settings),
        Kind::Json { compact, .. } => json_rows::document(sample, !compact, settings),
        Kind::JsonColumns { metadata: true, .. } => json_rows::document(sample, false, settings),
        Kind::JsonColumns { .. } => json::infer_columns(&mut Cursor::new(&sample.bytes), settings),
        Kind::JsonObjectEachRow => json_rows::members(sample, settings),
        Kind::CustomSeparated(header) => custom::separated(sample, header, settings),
        Kind::Regexp => custom::groups(sample, settings),
        Kind::Tskv => infer_tskv(sample, settings),
        Kind::Values => infer_values(sample, settings),
        _ => Err(Error::bug("a format that does not tell its columns")),
    }
}

/// Whether a sample of the format's bytes tells columns.
fn tells_columns(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Csv(_)
            | Kind::TabSeparated(_)
            | Kind::TabSeparatedRaw(_)
            | Kind::RowBinary(_)
            | Kind::JsonEachRow { .. }
            | Kind::JsonCompactEachRow { .. }
            | Kind::Json { .. }
            | Kind::JsonColumns { .. }
            | Kind::JsonObjectEachRow
            | Kind::CustomSeparated(_)
            | Kind::Regexp
            | Kind::Tskv
            | Kind::Values
    )
}

/// Whether the format itself says of what types its columns are.
fn has_types(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Csv(Header::NamesAndTypes)
            | Kind::TabSeparated(Header::NamesAndTypes)
            | Kind::TabSeparatedRaw(Header::NamesAndTypes)
            | Kind::JsonCompactEachRow {
                header: Header::NamesAndTypes,
                ..
            }
            | Kind::RowBinary(_)
            | Kind::Json { .. }
    )
}

/// Columns of a header of names and types.
fn typed(names: &[Vec<u8>], types: &[Vec<u8>]) -> Result<Columns> {
    same_number(names.len(), types.len())?;
    let column = |(name, data_type): (&Vec<u8>, &Vec<u8>)| {
        let name = String::from_utf8_lossy(name).into_owned();
        Ok((name, parse_data_type(&String::from_utf8_lossy(data_type))?))
    };
    names.iter().zip(types).map(column).collect()
}

fn infer_native(source: Source, settings: &FormatSettings) -> Result<Columns> {
    let mut bytes = native_bytes::Bytes::new(source);
    let block = native::read_block(&mut bytes, settings.state_forms);
    let block = block.map_err(|e| match e.code() {
        ErrorCode::CANNOT_READ_ALL_DATA | ErrorCode::ATTEMPT_TO_READ_AFTER_EOF => {
            not_found("Native", &e)
        }
        _ => e,
    })?;
    let is_empty = Error::new(ErrorCode::CANNOT_READ_ALL_DATA, "it is empty");
    let (_, columns) = block.ok_or_else(|| not_found("Native", &is_empty))?;
    Ok(columns
        .into_iter()
        .map(|(name, data_type, _)| (name, data_type))
        .collect())
}
