//! Finds names and types of the columns of TSV, CSV and TSKV.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::text::Cursor;
use basalt_types::text::escape::unescape;

use super::json;
use super::lines::infer_lines;
use super::merge::merge_text;
use super::sample::Sample;
use super::text::{self, infer_field};
use crate::input::csv::Dialect;
use crate::input::tsv;
use crate::registry::Header;
use crate::{Columns, FormatSettings};

/// Lines of CSV.
pub(super) fn infer_csv(
    sample: &Sample,
    header: Header,
    settings: &FormatSettings,
) -> Result<Columns> {
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
                _ if !settings.input_format_csv_use_best_effort_in_schema_inference => {
                    DataType::String
                }
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
        (
            settings.input_format_csv_detect_header,
            settings.input_format_csv_allow_variable_number_of_columns,
        ),
        &line,
    )
}

/// Lines of TabSeparated.
pub(super) fn infer_tsv(
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
            } else if is_last && field.ends_with(b"\r") && cursor.peek() == Some(b'\n') {
                return Err(tsv::carriage_return());
            }
            let mut value = Vec::new();
            if is_raw {
                value.extend_from_slice(field);
            } else {
                unescape(field, &mut value)?;
            }
            types.push(
                if !settings.input_format_tsv_use_best_effort_in_schema_inference {
                    DataType::String
                } else if field.is_empty() || field == null {
                    DataType::Nothing
                } else {
                    infer_field(field, text::Origin::Tsv, settings)
                },
            );
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
        (
            settings.input_format_tsv_detect_header,
            settings.input_format_tsv_allow_variable_number_of_columns,
        ),
        &line,
    )
}

/// Lines of names and values.
pub(super) fn infer_tskv(sample: &Sample, settings: &FormatSettings) -> Result<Columns> {
    let mut objects = json::Objects::default();
    let mut cursor = Cursor::new(&sample.bytes);
    sample.rows(&mut cursor, |cursor| {
        let mut names: Vec<Vec<u8>> = Vec::new();
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
                if names.contains(&name) {
                    return Err(json::duplicate_of(&name));
                }
                objects.add(&name, &data_type, merge_text);
                names.push(name);
            }
            if !cursor.eat(b'\t') {
                cursor.eat(b'\n');
                return Ok(());
            }
        }
    })?;
    objects.finish(settings)
}
