//! Reads one JSON value into one column.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::{ColumnBuilder, NestedMut};
use basalt_types::text::Cursor;

use super::json_skip::skip_value;
use super::json_text::{
    expect_colon, expected, read_string, take_float, take_number, take_plain_string, take_value,
};
use crate::FormatSettings;

/// Reads values; holds what the settings allow and the text of strings.
pub(super) struct JsonReader {
    bools_as_numbers: bool,
    bools_as_strings: bool,
    numbers_as_strings: bool,
    objects_as_strings: bool,
    arrays_as_strings: bool,
    ignore_unknown_elements: bool,
    /// Whether all values are strings of TSV's text, as the Strings formats write them.
    all_strings: bool,
    max_depth: u64,
    scratch: Vec<u8>,
}

/// How the Strings formats write NULL.
const NULL_TEXT: &[u8] = "ᴺᵁᴸᴸ".as_bytes();

/// The error where no value of the column's type begins.
fn no_value(data_type: &DataType, cursor: &Cursor<'_>) -> Error {
    let is_at_end = cursor.is_at_end();
    let code = match data_type.base() {
        DataType::Bool => ErrorCode::CANNOT_PARSE_BOOL,
        DataType::Array(_) => ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
        DataType::String | DataType::Enum8(_) | DataType::Enum16(_) if is_at_end => {
            ErrorCode::CANNOT_PARSE_QUOTED_STRING
        }
        _ if is_at_end => ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
        DataType::String => ErrorCode::INCORRECT_DATA,
        t if t.is_enum() => ErrorCode::UNKNOWN_ELEMENT_OF_ENUM,
        t if t.is_float() => ErrorCode::CANNOT_PARSE_NUMBER,
        DataType::DateTime(_) => ErrorCode::CANNOT_PARSE_DATETIME,
        _ => ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
    };
    Error::new(code, expected("a value", cursor).message())
}

/// The error where a name comes a second time.
pub(super) fn duplicate(what: &str, key: &[u8]) -> Error {
    let key = String::from_utf8_lossy(key);
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("Duplicate {what} found while parsing JSON: '{key}'"),
    )
}

impl JsonReader {
    pub(super) fn new(settings: &FormatSettings) -> Self {
        Self {
            bools_as_numbers: settings.input_format_json_read_bools_as_numbers,
            bools_as_strings: settings.input_format_json_read_bools_as_strings,
            numbers_as_strings: settings.input_format_json_read_numbers_as_strings,
            objects_as_strings: settings.input_format_json_read_objects_as_strings,
            arrays_as_strings: settings.input_format_json_read_arrays_as_strings,
            ignore_unknown_elements: settings.input_format_json_ignore_unknown_keys_in_named_tuple,
            all_strings: false,
            max_depth: settings.input_format_json_max_depth,
            scratch: Vec::new(),
        }
    }

    /// Reads nested values from strings too.
    pub(super) fn of_strings(mut self, all_strings: bool) -> Self {
        self.all_strings = all_strings;
        self
    }

    pub(super) fn max_depth(&self) -> u64 {
        self.max_depth
    }

    /// Reads the next value into `column`.
    pub(super) fn read(
        &mut self,
        column: &mut ColumnBuilder,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        match cursor.peek() {
            Some(b'"') => {
                if !self.all_strings && column.nested().is_some() {
                    return Err(wrong_kind(column, cursor));
                }
                if !self.all_strings && *column.data_type().base() == DataType::Bool {
                    return Err(Error::new(
                        ErrorCode::CANNOT_PARSE_BOOL,
                        "Write true, false, 1 or 0: a Bool in JSON is no string",
                    ));
                }
                self.scratch.clear();
                let start = *cursor;
                read_string(cursor, &mut self.scratch)
                    .map_err(|e| self.cut_off(column, &start, e))?;
                let is_null_text = matches!(self.scratch.as_slice(), b"NULL" | NULL_TEXT);
                if self.all_strings && is_null_text && column.is_nullable() {
                    column.append_null();
                    return Ok(());
                }
                column
                    .append_text(&self.scratch)
                    .map_err(|e| super::tsv::with_format_code(&e))
            }
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.read_number(column, cursor),
            Some(b'[') => self.read_array(column, cursor),
            Some(b'{') => self.read_object(column, cursor),
            Some(b't' | b'f') => self.read_bool(column, cursor),
            Some(b'i' | b'I' | b'N') if column.data_type().is_float() => {
                column.append_text(cursor.take_while(|b| b.is_ascii_alphabetic()))
            }
            Some(b'n') if cursor.eat_text(b"null") => {
                column.append_null();
                Ok(())
            }
            _ => Err(no_value(column.data_type(), cursor)),
        }
    }

    /// What is wrong with a string that cannot be read. ClickHouse reads values other than strings up to where
    /// they end, and only then looks for the quote.
    fn cut_off(&self, column: &mut ColumnBuilder, start: &Cursor<'_>, error: Error) -> Error {
        let data_type = column.data_type().without_low_cardinality();
        let base = data_type.base();
        let is_text = base.is_string() || base.is_enum() || self.all_strings;
        let text = start.rest().get(1..).unwrap_or_default();
        if is_text || memchr::memchr2(b'"', b'\\', text).is_some() {
            return error;
        }
        match column.append_text(text) {
            Ok(()) => expected("'\"'", &Cursor::new(&[])),
            Err(e) => super::tsv::with_format_code(&e),
        }
    }

    fn read_number(&self, column: &mut ColumnBuilder, cursor: &mut Cursor<'_>) -> Result<()> {
        match column.data_type().base() {
            DataType::Date | DataType::Date32 => {
                let days: i32 = basalt_types::text::parse_int(take_number(cursor))
                    .map_err(|e| super::tsv::with_format_code(&e))?;
                let bytes = days.to_le_bytes();
                let width = column.data_type().fixed_size_bytes().unwrap_or(4);
                column.append_raw(&bytes[..width])
            }
            DataType::DateTime(_) | DataType::DateTime64(..) => column.append_quoted(cursor),
            DataType::String | DataType::FixedString(_) if !self.numbers_as_strings => {
                Err(expected("'\"'", cursor))
            }
            DataType::Uuid | DataType::Ipv4 | DataType::Ipv6 => Err(expected("'\"'", cursor)),
            DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..) => {
                Err(wrong_kind(column, cursor))
            }
            _ => {
                let text = match column.data_type().is_float() {
                    true => take_float(cursor),
                    false => take_number(cursor),
                };
                column
                    .append_text(text)
                    .map_err(|e| super::tsv::with_format_code(&e))
            }
        }
    }

    fn read_bool(&self, column: &mut ColumnBuilder, cursor: &mut Cursor<'_>) -> Result<()> {
        let at = *cursor;
        let value = cursor.eat_text(b"true");
        if !value && !cursor.eat_text(b"false") {
            return Err(expected("a value", cursor));
        }
        let base = column.data_type().base();
        if matches!(base, DataType::Bool | DataType::Variant(_))
            || (base.is_string() && self.bools_as_strings)
        {
            return column.append_text(if value { b"true" } else { b"false" });
        }
        if base.is_number() && self.bools_as_numbers {
            return column.append_text(if value { b"1" } else { b"0" });
        }
        Err(wrong_kind(column, &at))
    }

    fn read_array(&mut self, column: &mut ColumnBuilder, cursor: &mut Cursor<'_>) -> Result<()> {
        let is_variant = column.data_type().has_variant() && column.nested().is_none();
        if is_variant || column.data_type().is_string() && self.arrays_as_strings {
            return column.append_text(take_value(cursor, self.max_depth)?);
        }
        let at = *cursor;
        cursor.advance(1);
        match column.nested() {
            Some(NestedMut::Array(items)) => {
                cursor.skip_space();
                while !cursor.eat(b']') {
                    self.read(items, cursor)?;
                    cursor.skip_space();
                    if !cursor.eat(b',') && cursor.peek() != Some(b']') {
                        return Err(Error::new(
                            ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
                            format!(
                                "Cannot read array from JSON, expected comma or end of array: '{}'",
                                cursor.excerpt()
                            ),
                        ));
                    }
                    cursor.skip_space();
                }
            }
            Some(NestedMut::Tuple(elements)) => {
                for (i, element) in elements.iter_mut().enumerate() {
                    cursor.skip_space();
                    if i > 0 {
                        cursor.expect(b',')?;
                        cursor.skip_space();
                    }
                    self.read(element, cursor)?;
                }
                cursor.skip_space();
                cursor.expect(b']')?;
            }
            _ => return Err(wrong_kind(column, &at)),
        }
        column.finish_nested()
    }

    fn read_object(&mut self, column: &mut ColumnBuilder, cursor: &mut Cursor<'_>) -> Result<()> {
        if column.data_type().is_string() && self.objects_as_strings {
            return column.append_text(take_value(cursor, self.max_depth)?);
        }
        let at = *cursor;
        let names = match column.data_type().base() {
            DataType::Tuple(tuple) => Some(std::sync::Arc::clone(tuple)),
            _ => None,
        };
        cursor.advance(1);
        match (column.nested(), names) {
            (Some(NestedMut::Map(entries)), _) => {
                let [keys, values] = entries;
                cursor.skip_space();
                if !matches!(cursor.peek(), Some(b'"' | b'}') | None) {
                    let message = expected("a key in quotes", cursor);
                    return Err(Error::new(ErrorCode::INCORRECT_DATA, message.message()));
                }
                self.members(cursor, |reader, key, cursor| {
                    keys.append_text(key)?;
                    reader.read(values, cursor)
                })?;
            }
            (Some(NestedMut::Tuple(elements)), Some(tuple)) if !tuple.names.is_empty() => {
                let len = elements.first().map_or(0, ColumnBuilder::len);
                self.members(cursor, |reader, key, cursor| {
                    let position = tuple.names.iter().position(|n| n.as_bytes() == key);
                    match position.and_then(|i| elements.get_mut(i)) {
                        Some(element) if element.len() == len => reader.read(element, cursor),
                        Some(_) => Err(duplicate("element of the tuple", key)),
                        None if !reader.ignore_unknown_elements => Err(Error::new(
                            ErrorCode::INCORRECT_DATA,
                            format!(
                                "Unknown element of the tuple: '{}'",
                                String::from_utf8_lossy(key)
                            ),
                        )),
                        None => skip_value(cursor, reader.max_depth),
                    }
                })?;
                let missing = elements.iter_mut().filter(|e| e.len() == len);
                missing.for_each(ColumnBuilder::append_default);
            }
            _ => return Err(wrong_kind(column, &at)),
        }
        column.finish_nested()
    }

    /// Reads the members of an object up to its end; `read` takes each one's value.
    pub(super) fn members(
        &mut self,
        cursor: &mut Cursor<'_>,
        mut read: impl FnMut(&mut Self, &[u8], &mut Cursor<'_>) -> Result<()>,
    ) -> Result<()> {
        cursor.skip_space();
        if cursor.eat(b'}') {
            return Ok(());
        }
        let mut escaped = Vec::new();
        loop {
            let key = take_plain_string(cursor);
            let key = match key {
                Some(key) => key,
                None => {
                    escaped.clear();
                    read_string(cursor, &mut escaped)?;
                    escaped.as_slice()
                }
            };
            expect_colon(cursor)?;
            read(self, key, cursor)?;
            cursor.skip_space();
            if cursor.eat(b'}') {
                return Ok(());
            }
            if cursor.is_at_end() {
                return Err(Error::new(
                    ErrorCode::CANNOT_READ_ALL_DATA,
                    "Unexpected end of stream: expected ',' or '}' of a JSON object",
                ));
            }
            cursor.expect(b',')?;
            cursor.skip_space();
        }
    }
}

fn wrong_kind(column: &ColumnBuilder, cursor: &Cursor<'_>) -> Error {
    let data_type = column.data_type();
    let code = match data_type.base() {
        DataType::Array(_) => ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
        DataType::Bool => ErrorCode::CANNOT_PARSE_BOOL,
        _ => ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
    };
    Error::new(
        code,
        format!(
            "Cannot read a value of type {data_type} from JSON '{}'",
            cursor.excerpt()
        ),
    )
}
