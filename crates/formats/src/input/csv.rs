//! Reads CSV: fields between a delimiter, in double quotes where they need them.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::{ColumnBuilder, NestedMut};
use basalt_types::text::Cursor;

use super::Target;
use super::fields::{FieldMap, are_types, at_column, is_header};
use super::rows::RowParser;
use super::tsv::{skip_lines, with_format_code};
use crate::FormatSettings;
use crate::registry::Header;

/// The characters of a dialect of CSV.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: u8,
    double_quotes: bool,
    single_quotes: bool,
    trim: bool,
}

impl Dialect {
    pub(crate) fn new(settings: &FormatSettings) -> Self {
        Self {
            delimiter: settings.format_csv_delimiter,
            double_quotes: settings.format_csv_allow_double_quotes,
            single_quotes: settings.format_csv_allow_single_quotes,
            trim: settings.input_format_csv_trim_whitespaces,
        }
    }
}

/// A field as it stands in the text.
pub(crate) struct Field<'a> {
    pub(crate) text: &'a [u8],
    /// With the space behind it, which belongs to a string at the end of the text.
    whole: &'a [u8],
    /// What it is in, if it is in quotes.
    pub(crate) quote: Option<u8>,
    /// Whether quotes inside are doubled.
    has_doubled: bool,
    /// Whether the quote that it begins with is not closed.
    is_open: bool,
}

impl Field<'_> {
    /// The field's value; `scratch` holds it if quotes were doubled.
    #[inline]
    pub(crate) fn value<'s>(&'s self, scratch: &'s mut Vec<u8>) -> &'s [u8] {
        let Some(quote) = self.quote.filter(|_| self.has_doubled) else {
            return self.text;
        };
        scratch.clear();
        let mut was_quote = false;
        for byte in self.text {
            was_quote = *byte == quote && !was_quote;
            if !was_quote {
                scratch.push(*byte);
            }
        }
        scratch
    }
}

impl Dialect {
    #[inline]
    fn skip_space(&self, cursor: &mut Cursor<'_>) {
        while let Some(b' ' | b'\t') = cursor.peek()
            && cursor.peek() != Some(self.delimiter)
        {
            cursor.advance(1);
        }
    }

    /// Takes the next field; the delimiter or line end behind it is left.
    #[inline]
    pub(crate) fn take_field<'a>(&self, cursor: &mut Cursor<'a>) -> Field<'a> {
        let start = *cursor;
        if self.trim {
            self.skip_space(cursor);
        }
        match cursor.peek() {
            Some(b'"') if self.double_quotes => self.take_quoted(cursor, b'"'),
            Some(b'\'') if self.single_quotes => self.take_quoted(cursor, b'\''),
            _ => {
                if !self.trim {
                    *cursor = start;
                }
                self.take_bare(cursor)
            }
        }
    }

    fn take_quoted<'a>(&self, cursor: &mut Cursor<'a>, quote: u8) -> Field<'a> {
        cursor.advance(1);
        let text = cursor.rest();
        let mut has_doubled = false;
        let mut end = 0;
        loop {
            let Some(found) = memchr::memchr(quote, &text[end..]) else {
                // No closing quote: the field goes on to the end of the text.
                cursor.advance(text.len());
                return Field {
                    text,
                    whole: text,
                    quote: Some(quote),
                    has_doubled,
                    is_open: true,
                };
            };
            end += found;
            if text.get(end + 1) != Some(&quote) {
                break;
            }
            has_doubled = true;
            end += 2;
        }
        cursor.advance(end + 1);
        self.skip_space(cursor);
        Field {
            text: &text[..end],
            whole: &text[..end],
            quote: Some(quote),
            has_doubled,
            is_open: false,
        }
    }

    #[inline]
    fn take_bare<'a>(&self, cursor: &mut Cursor<'a>) -> Field<'a> {
        let text = cursor.rest();
        let mut end = 0;
        loop {
            match memchr::memchr3(self.delimiter, b'\n', b'\r', &text[end..]) {
                None => {
                    end = text.len();
                    break;
                }
                // A carriage return ends the field only before a line feed.
                Some(i)
                    if text[end + i] == b'\r'
                        && text.get(end + i + 1).is_some_and(|b| *b != b'\n') =>
                {
                    end += i + 1;
                }
                Some(i) => {
                    end += i;
                    break;
                }
            }
        }
        let taken = cursor.take(end);
        let mut field = taken;
        if self.trim {
            while let [rest @ .., b' ' | b'\t'] = field {
                field = rest;
            }
        }
        let is_last = cursor.is_at_end();
        Field {
            text: field,
            whole: if is_last { taken } else { field },
            quote: None,
            has_doubled: false,
            is_open: false,
        }
    }

    /// Takes `\n`, `\r\n` or `\n\r`; `false` if the line goes on.
    #[inline]
    pub(crate) fn take_line_end(&self, cursor: &mut Cursor<'_>) -> bool {
        if cursor.eat(b'\n') {
            cursor.eat(b'\r');
            return true;
        }
        cursor.is_at_end()
            || cursor.eat_text(b"\r\n")
            || (cursor.rest() == b"\r" && cursor.eat(b'\r'))
    }

    /// Takes the values of a line and its end.
    pub(crate) fn take_line(&self, cursor: &mut Cursor<'_>) -> Vec<Vec<u8>> {
        let mut fields = Vec::new();
        loop {
            let field = self.take_field(cursor);
            fields.push(field.value(&mut Vec::new()).to_vec());
            if cursor.eat(self.delimiter) {
                continue;
            }
            if self.take_line_end(cursor) {
                return fields;
            }
            // Something behind a closing quote: it stays a field of its own.
            if cursor.peek() == Some(b'"') {
                cursor.advance(1);
            }
        }
    }

    /// Length of the row at the start of `text`, if its end is there.
    pub(crate) fn row_len(&self, text: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(text);
        loop {
            let field = self.take_field(&mut cursor);
            let is_open = field.quote.is_some() && cursor.is_at_end();
            if is_open || cursor.is_at_end() {
                return None;
            }
            if cursor.eat(self.delimiter) {
                continue;
            }
            if self.take_line_end(&mut cursor) {
                return Some(text.len() - cursor.rest().len());
            }
            cursor.advance(1);
        }
    }
}

/// Reads rows.
pub(super) struct CsvRows {
    dialect: Dialect,
    map: FieldMap,
    header: Header,
    columns: Vec<(String, DataType)>,
    null: Vec<u8>,
    empty_as_default: bool,
    flatten_tuples: bool,
    allow_variable: bool,
    skip_trailing_empty_lines: bool,
    scratch: Vec<u8>,
}

impl CsvRows {
    pub(super) fn new(target: &Target, header: Header) -> Self {
        let settings = &target.settings;
        Self {
            dialect: Dialect::new(settings),
            map: FieldMap::by_position(target),
            header,
            columns: target.columns.clone(),
            null: settings.format_csv_null_representation.clone().into_bytes(),
            empty_as_default: settings.input_format_csv_empty_as_default,
            flatten_tuples: settings.input_format_csv_deserialize_separate_columns_into_tuple,
            allow_variable: settings.input_format_csv_allow_variable_number_of_columns,
            skip_trailing_empty_lines: settings.input_format_csv_skip_trailing_empty_lines,
            scratch: Vec::new(),
        }
    }

    /// Reads a value, which is several fields for a tuple.
    #[inline]
    fn value(&mut self, column: &mut ColumnBuilder, cursor: &mut Cursor<'_>) -> Result<()> {
        if self.flatten_tuples
            && let Some(NestedMut::Tuple(elements)) = column.nested()
        {
            for (i, element) in elements.iter_mut().enumerate() {
                if i > 0 {
                    cursor.expect(self.dialect.delimiter)?;
                }
                self.value(element, cursor)?;
            }
            return column.finish_nested();
        }
        let start = *cursor;
        let field = self.dialect.take_field(cursor);
        if field.quote.is_some() && *column.data_type().base() == DataType::Bool {
            // ClickHouse reads the quotes as a part of the word.
            let len = start.rest().len() - cursor.rest().len();
            return column.append_text(&start.rest()[..len]);
        }
        if field.quote.is_none() {
            if field.text == self.null || (field.text.is_empty() && self.empty_as_default) {
                column.append_null();
                return Ok(());
            }
            let is_string = *column.data_type().base() == DataType::String;
            return column.append_text(if is_string { field.whole } else { field.text });
        }
        if field.is_open && !is_read_as_string(column.data_type()) {
            return Err(Error::new(
                ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                "The field is cut off: expected a closing quote at end of stream",
            ));
        }
        column.append_text(field.value(&mut self.scratch))
    }

    fn too_few(&self, fields: usize, cursor: &Cursor<'_>) -> Error {
        let (columns, found) = (self.map.len(), cursor.excerpt());
        let delimiter = char::from(self.dialect.delimiter).escape_default();
        Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "The row has {fields} fields for {columns} columns: expected '{delimiter}' before: '{found}'"
            ),
        )
    }

    /// Goes over the fields that are left of a row.
    fn skip_fields(&self, cursor: &mut Cursor<'_>) {
        loop {
            self.dialect.take_field(cursor);
            if !cursor.eat(self.dialect.delimiter) {
                return;
            }
        }
    }

    /// Takes the end of the row, also behind one more delimiter.
    fn line_end(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        let at = *cursor;
        self.dialect.skip_space(cursor);
        if self.dialect.take_line_end(cursor) {
            return Ok(());
        }
        if cursor.eat(self.dialect.delimiter) {
            if self.allow_variable {
                self.skip_fields(cursor);
            }
            self.dialect.skip_space(cursor);
            if self.dialect.take_line_end(cursor) {
                return Ok(());
            }
        }
        let (columns, found) = (self.map.len(), at.excerpt());
        Err(Error::new(
            ErrorCode::INCORRECT_DATA,
            format!(
                "The row has more fields than the {columns} columns: expected end of line before: '{found}'"
            ),
        ))
    }
}

/// Whether ClickHouse reads a string first, which may lack its last quote at the end of the text.
fn is_read_as_string(data_type: &DataType) -> bool {
    let base = data_type.without_low_cardinality();
    let base = base.base();
    let is_nested = matches!(
        base,
        DataType::Array(_) | DataType::Map(..) | DataType::Tuple(_) | DataType::Variant(_)
    );
    base.is_string() || base.is_enum() || is_nested
}

impl RowParser for CsvRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        skip_lines(
            &mut cursor,
            target.settings.input_format_csv_skip_first_lines,
        );
        let start = cursor;
        let taken = |cursor: &Cursor<'_>| text.len() - cursor.rest().len();
        if self.header == Header::None {
            let detects = target.settings.input_format_csv_detect_header;
            if !detects || !target.may_have_header_behind(taken(&start)) {
                return Ok(taken(&start));
            }
            let names = self.dialect.take_line(&mut cursor);
            if !is_header(&names, target) {
                return Ok(taken(&start));
            }
            self.map = FieldMap::by_names(&names, target)?;
            let behind_names = cursor;
            let types = self.dialect.take_line(&mut cursor);
            if !target.may_have_header_behind(taken(&behind_names)) || !are_types(&types) {
                return Ok(taken(&behind_names));
            }
            self.map.check_types(&types, target)?;
            return Ok(taken(&cursor));
        }
        self.map = FieldMap::by_names(&self.dialect.take_line(&mut cursor), target)?;
        if self.header == Header::NamesAndTypes {
            self.map
                .check_types(&self.dialect.take_line(&mut cursor), target)?;
        }
        Ok(taken(&cursor))
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        let is_end =
            self.skip_trailing_empty_lines && text.iter().all(|b| matches!(b, b'\n' | b'\r'));
        Ok(Some(if is_end { text.len() } else { 0 }))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        let len = self.map.len();
        for i in 0..len {
            if i > 0 && !cursor.eat(self.dialect.delimiter) {
                if self.allow_variable {
                    self.map.fill_from(i, columns);
                    break;
                }
                return Err(self.too_few(i, &cursor));
            }
            let before = cursor;
            match self.map.column(i) {
                None => {
                    self.dialect.take_field(&mut cursor);
                }
                Some(column) => {
                    if let Err(e) = self.value(&mut columns[column], &mut cursor) {
                        let mut field = before;
                        let field = self.dialect.take_field(&mut field);
                        // In quotes, what is left stands where the second one should.
                        let is_left_over = e.code() == ErrorCode::CANNOT_PARSE_TEXT
                            && i + 1 == len
                            && field.quote.is_none();
                        let e = if is_left_over {
                            Error::new(ErrorCode::INCORRECT_DATA, e.message())
                        } else {
                            with_format_code(&e)
                        };
                        return Err(at_column(&e, &self.columns[column], field.text));
                    }
                }
            }
        }
        self.line_end(&mut cursor)?;
        self.map.fill_missing(columns);
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        self.dialect.row_len(text)
    }

    fn has_lines(&self) -> bool {
        true
    }
}
