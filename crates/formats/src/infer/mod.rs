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
//! | [`custom`] | fields by an escaping rule |
//! | [`lines`] | lines of fields, and whether the first is a header |

mod custom;
mod json;
mod json_rows;
mod lines;
mod merge;
mod text;

use std::io::Read;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::parse::parse_structure;
use basalt_types::text::Cursor;
use basalt_types::text::escape::unescape;
use basalt_types::{DataType, parse_data_type};

use crate::input::csv::Dialect;
use crate::input::fields::same_number;
use crate::input::{Source, arrow_schema, native, row_binary, tsv};
use crate::registry::{Header, Kind, lookup};
use crate::{Columns, FormatSettings};
use lines::infer_lines;
use merge::{finish, is_known, merge_text, without_nullable};
use text::{infer_field, infer_literal};

/// What a table found has so far.
struct Found {
    names: Option<Vec<Vec<u8>>>,
    /// Per column; `Nothing` where only NULLs were seen.
    types: Vec<DataType>,
}

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
        Kind::Arrow | Kind::ArrowStream | Kind::Parquet => arrow_schema(format.kind, source),
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
            let sample = Sample::read(source, settings)?;
            let found = from_sample(format.kind, &sample, settings);
            let found = found.map(|columns| {
                if settings.schema_inference_make_columns_nullable || has_types(format.kind) {
                    return columns;
                }
                let plain = columns.into_iter();
                plain.map(|(n, t)| (n, without_nullable(&t))).collect()
            });
            found.map_err(|e| {
                let code = if e.code() == ErrorCode::NOT_IMPLEMENTED {
                    e.code()
                } else {
                    ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE
                };
                Error::new(
                    code,
                    format!(
                        "The table structure cannot be extracted from a {name} format file: {}",
                        e.message()
                    ),
                )
            })
        }
    }
}

/// The first bytes of a source.
struct Sample {
    bytes: Vec<u8>,
    is_whole: bool,
    max_rows: u64,
}

impl Sample {
    fn read(mut source: Source, settings: &FormatSettings) -> Result<Self> {
        let max = settings
            .input_format_max_bytes_to_read_for_schema_inference
            .max(1);
        let mut bytes = Vec::new();
        source.by_ref().take(max).read_to_end(&mut bytes)?;
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if bytes.is_empty() {
            return Err(Error::new(
                ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
                "The table structure cannot be extracted: the file is empty; specify the structure",
            ));
        }
        let is_whole = (bytes.len() as u64) < max;
        let max_rows = settings
            .input_format_max_rows_to_read_for_schema_inference
            .max(1);
        Ok(Self {
            bytes,
            is_whole,
            max_rows,
        })
    }

    /// Calls `row` for each row, until it has taken the text or the rows are enough; a row that
    /// the sample cuts off counts only if it is the first.
    fn rows(
        &self,
        cursor: &mut Cursor<'_>,
        mut row: impl FnMut(&mut Cursor<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut rows = 0;
        while !cursor.is_at_end() && rows < self.max_rows {
            let result = row(cursor);
            let is_cut_off = cursor.is_at_end() && !self.is_whole && rows > 0;
            if is_cut_off {
                return Ok(());
            }
            result?;
            rows += 1;
        }
        Ok(())
    }
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
        Kind::Json { .. } | Kind::JsonColumns { metadata: true, .. } => {
            json_rows::document(sample, settings)
        }
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
    let mut bytes = native::Bytes::new(source);
    let block = native::read_block(&mut bytes, settings.state_forms)?;
    let (_, columns) = block.ok_or_else(|| {
        Error::new(
            ErrorCode::CANNOT_EXTRACT_TABLE_STRUCTURE,
            "The table structure cannot be extracted from an empty Native file",
        )
    })?;
    Ok(columns
        .into_iter()
        .map(|(name, data_type, _)| (name, data_type))
        .collect())
}

impl Found {
    fn new(names: Option<Vec<Vec<u8>>>) -> Self {
        Self {
            names,
            types: Vec::new(),
        }
    }

    /// Merges the types of a row.
    fn add(&mut self, row: Vec<DataType>) -> Result<()> {
        if self.types.is_empty() {
            self.types = row;
            return Ok(());
        }
        if self.types.len() != row.len() {
            let (rows, columns) = (row.len(), self.types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!("Rows have different amount of values: {rows} after {columns}"),
            ));
        }
        for (known, new) in self.types.iter_mut().zip(row) {
            *known = merge_text(known, &new);
        }
        Ok(())
    }

    fn finish(self) -> Result<Columns> {
        let names = match self.names {
            Some(names) => names,
            None => (1..=self.types.len())
                .map(|i| format!("c{i}").into_bytes())
                .collect(),
        };
        let mut types = self.types;
        if types.is_empty() {
            types = vec![DataType::Nothing; names.len()];
        }
        if names.len() != types.len() {
            let (names, columns) = (names.len(), types.len());
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!(
                    "The number of column names {names} differs from the number of values {columns}"
                ),
            ));
        }
        let mut columns: Columns = Vec::new();
        for (name, data_type) in names.into_iter().zip(types) {
            let name = String::from_utf8_lossy(&name).into_owned();
            if columns.iter().any(|(known, _)| *known == name) {
                return Err(Error::new(
                    ErrorCode::INCORRECT_DATA,
                    format!("Duplicate column name found: '{name}'"),
                ));
            }
            columns.push((name, finish(data_type)));
        }
        Ok(columns)
    }
}

fn infer_csv(sample: &Sample, header: Header, settings: &FormatSettings) -> Result<Columns> {
    let dialect = Dialect::new(settings);
    let mut cursor = Cursor::new(&sample.bytes);
    tsv::skip_lines(&mut cursor, settings.input_format_csv_skip_first_lines);
    let null = settings.format_csv_null_representation.as_bytes();
    let line = |cursor: &mut Cursor<'_>| {
        let (mut values, mut types) = (Vec::new(), Vec::new());
        loop {
            let field = dialect.take_field(cursor);
            let mut scratch = Vec::new();
            let value = field.value(&mut scratch);
            types.push(match field.quote {
                None if value.is_empty() || value == null => DataType::Nothing,
                None => infer_field(value, text::Origin::Bare, settings),
                Some(_) => infer_field(value, text::Origin::Quoted, settings),
            });
            values.push(value.to_vec());
            if cursor.eat(dialect.delimiter) {
                continue;
            }
            if dialect.take_line_end(cursor) {
                return Ok((values, types));
            }
            return Err(Error::new(
                ErrorCode::INCORRECT_DATA,
                format!(
                    "Expected a delimiter or the end of the line before: '{}'",
                    cursor.excerpt()
                ),
            ));
        }
    };
    infer_lines(
        sample,
        cursor,
        header,
        settings.input_format_csv_detect_header,
        &line,
    )
}

fn infer_tsv(
    sample: &Sample,
    header: Header,
    is_raw: bool,
    settings: &FormatSettings,
) -> Result<Columns> {
    let mut cursor = Cursor::new(&sample.bytes);
    tsv::skip_lines(&mut cursor, settings.input_format_tsv_skip_first_lines);
    let null = settings.format_tsv_null_representation.as_bytes();
    let line = |cursor: &mut Cursor<'_>| {
        let (mut values, mut types) = (Vec::new(), Vec::new());
        loop {
            let mut field = tsv::take_field(cursor, is_raw);
            let is_last = cursor.peek() != Some(b'\t');
            if is_last && settings.input_format_tsv_crlf_end_of_line {
                field = field.strip_suffix(b"\r").unwrap_or(field);
            }
            let mut value = Vec::new();
            if is_raw {
                value.extend_from_slice(field);
            } else {
                unescape(field, &mut value)?;
            }
            types.push(if field.is_empty() || field == null {
                DataType::Nothing
            } else {
                infer_field(field, text::Origin::Tsv, settings)
            });
            values.push(value);
            if is_last {
                cursor.eat(b'\n');
                return Ok((values, types));
            }
            cursor.advance(1);
        }
    };
    infer_lines(
        sample,
        cursor,
        header,
        settings.input_format_tsv_detect_header,
        &line,
    )
}

fn infer_tskv(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut objects = json::Objects::default();
    let mut cursor = Cursor::new(&sample.bytes);
    sample.rows(&mut cursor, |cursor| {
        loop {
            let field = tsv::take_field(cursor, false);
            if let Some(equals) = memchr::memchr(b'=', field) {
                let mut name = Vec::new();
                unescape(&field[..equals], &mut name)?;
                let value = &field[equals + 1..];
                let data_type = if value == settings.format_tsv_null_representation.as_bytes() {
                    DataType::Nothing
                } else {
                    infer_field(value, text::Origin::Tsv, settings)
                };
                objects.add(&name, &data_type, merge_text);
            }
            if !cursor.eat(b'\t') {
                cursor.eat(b'\n');
                return Ok(());
            }
        }
    })?;
    objects.finish()
}

fn infer_values(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut found = Found::new(None);
    let mut cursor = Cursor::new(&sample.bytes);
    cursor.skip_space();
    sample.rows(&mut cursor, |cursor| {
        let mut row = Vec::new();
        cursor.expect(b'(')?;
        loop {
            cursor.skip_space();
            let start = *cursor;
            let literal = infer_literal(cursor, settings);
            row.push(literal.ok_or_else(|| {
                let found = start.excerpt();
                Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    format!("Only literals have types here: '{found}'"),
                )
            })?);
            cursor.skip_space();
            if !cursor.eat(b',') {
                break;
            }
        }
        cursor.expect(b')')?;
        cursor.take_while(|b| b.is_ascii_whitespace() || b == b',');
        if cursor.eat(b';') {
            cursor.advance(cursor.rest().len());
        }
        found.add(row)
    })?;
    if let Some(unknown) = found.types.iter().position(|t| !is_known(t)) {
        return Err(Error::new(
            ErrorCode::INCORRECT_DATA,
            format!("column {} has no value that tells its type", unknown + 1),
        ));
    }
    found.finish()
}
