//! Reads TabSeparated: a line per row, a tab between fields, backslash escapes.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;
use basalt_types::text::escape::unescape;

use super::Target;
use super::fields::{FieldMap, are_types, at_column, is_header};
use super::rows::RowParser;
use crate::registry::Header;

/// Reads rows.
pub(super) struct TsvRows {
    map: FieldMap,
    header: Header,
    columns: Vec<(String, DataType)>,
    /// Per column: whether escapes are undone before its text is read.
    unescapes: Vec<bool>,
    null: Vec<u8>,
    empty_as_default: bool,
    allow_crlf: bool,
    allow_variable: bool,
    skip_trailing_empty_lines: bool,
    scratch: Vec<u8>,
    is_raw: bool,
}

impl TsvRows {
    pub(super) fn new(target: &Target, header: Header, is_raw: bool) -> Self {
        let settings = &target.settings;
        let unescapes = |(_, t): &(String, DataType)| {
            let is_state = matches!(t, DataType::AggregateFunction(_));
            !is_raw && (t.is_string() || t.is_enum() || is_state)
        };
        Self {
            map: FieldMap::by_position(target),
            header,
            columns: target.columns.clone(),
            unescapes: target.columns.iter().map(unescapes).collect(),
            null: settings.format_tsv_null_representation.clone().into_bytes(),
            empty_as_default: settings.input_format_tsv_empty_as_default,
            allow_crlf: settings.input_format_tsv_crlf_end_of_line,
            allow_variable: settings.input_format_tsv_allow_variable_number_of_columns,
            skip_trailing_empty_lines: settings.input_format_tsv_skip_trailing_empty_lines,
            scratch: Vec::new(),
            is_raw,
        }
    }

    fn value(&mut self, idx: usize, field: &[u8], columns: &mut [ColumnBuilder]) -> Result<()> {
        let Some(i) = self.map.column(idx) else {
            return Ok(());
        };
        let column = &mut columns[i];
        if field == self.null || (field.is_empty() && self.empty_as_default) {
            column.append_null();
            return Ok(());
        }
        // To ClickHouse, a sign without digits is 0, also behind it.
        let is_sign = field == b"-" && column.data_type().is_signed();
        let field = if is_sign { b"" } else { field };
        let result = if self.unescapes[i] && memchr::memchr(b'\\', field).is_some() {
            self.scratch.clear();
            unescape(field, &mut self.scratch).and_then(|()| column.append_text(&self.scratch))
        } else {
            column.append_text(field)
        };
        let has_minus = field.first() == Some(&b'-') && column.data_type().is_integer();
        result.map_err(|e| {
            let e = match e.code() {
                // What stands behind the 0 is left over.
                ErrorCode::CANNOT_PARSE_NUMBER if has_minus => {
                    Error::new(ErrorCode::CANNOT_PARSE_TEXT, e.message())
                }
                _ => e,
            };
            at_column(&with_format_code(&e), &self.columns[i], field)
        })
    }

    fn line_end(&self, cursor: &mut Cursor<'_>) -> Result<()> {
        if cursor.is_at_end() || cursor.eat(b'\n') || (self.allow_crlf && cursor.eat_text(b"\r\n"))
        {
            return Ok(());
        }
        let found = cursor.excerpt();
        let fields = self.map.len();
        Err(Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "The row has more fields than the {fields} columns: expected '\\n' before: '{found}'"
            ),
        ))
    }
}

/// What is left of a field is what stands where a separator should.
pub(super) fn with_format_code(e: &Error) -> Error {
    let is_left_over = e.code() == ErrorCode::CANNOT_PARSE_TEXT;
    let code = if is_left_over {
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED
    } else {
        e.code()
    };
    Error::new(code, e.message())
}

/// Takes a field up to the next tab or line end that is not escaped.
#[inline]
pub(crate) fn take_field<'a>(cursor: &mut Cursor<'a>, is_raw: bool) -> &'a [u8] {
    let text = cursor.rest();
    let mut from = 0;
    loop {
        let Some(found) = memchr::memchr2(b'\t', b'\n', &text[from..]) else {
            return cursor.take(text.len());
        };
        let end = from + found;
        if is_raw || !is_escaped(text, end) {
            return cursor.take(end);
        }
        from = end + 1;
    }
}

/// Whether the byte at `position` has a backslash of its own in front.
#[inline]
fn is_escaped(text: &[u8], position: usize) -> bool {
    let before = text[..position].iter().rev();
    !before
        .take_while(|b| **b == b'\\')
        .count()
        .is_multiple_of(2)
}

/// Takes the fields of a line and its end, which may be that of DOS where `allow_crlf` says so.
fn take_line(cursor: &mut Cursor<'_>, is_raw: bool, allow_crlf: bool) -> Result<Vec<Vec<u8>>> {
    let mut fields = Vec::new();
    loop {
        let field = without_return(take_field(cursor, is_raw), cursor, allow_crlf);
        let mut value = Vec::new();
        if is_raw {
            value.extend_from_slice(field);
        } else {
            unescape(field, &mut value)?;
        }
        fields.push(value);
        if !cursor.eat(b'\t') {
            cursor.eat(b'\n');
            return Ok(fields);
        }
    }
}

/// The field before `cursor`, without the carriage return that is half the end of its line.
fn without_return<'a>(field: &'a [u8], cursor: &Cursor<'_>, allow_crlf: bool) -> &'a [u8] {
    match field.strip_suffix(b"\r") {
        Some(stripped) if allow_crlf && cursor.peek() != Some(b'\t') => stripped,
        _ => field,
    }
}

/// Goes over whole lines.
pub(crate) fn skip_lines(cursor: &mut Cursor<'_>, count: u64) {
    for _ in 0..count {
        let len = memchr::memchr(b'\n', cursor.rest()).map_or(cursor.rest().len(), |i| i + 1);
        cursor.advance(len);
    }
}

/// The error for a line of DOS and Windows where a setting does not allow them.
pub(crate) fn carriage_return() -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        "Set input_format_tsv_crlf_end_of_line = 1 or convert the file: the first line ends with a carriage return (\\r), as in files of DOS and Windows",
    )
}

impl RowParser for TsvRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        skip_lines(
            &mut cursor,
            target.settings.input_format_tsv_skip_first_lines,
        );
        let line_end = memchr::memchr(b'\n', cursor.rest()).unwrap_or(cursor.rest().len());
        if !self.allow_crlf && cursor.rest()[..line_end].ends_with(b"\r") {
            return Err(carriage_return());
        }
        let start = cursor;
        let taken = |cursor: &Cursor<'_>| text.len() - cursor.rest().len();
        if self.header == Header::None {
            let detects = target.settings.input_format_tsv_detect_header;
            if !detects || !target.may_have_header_behind(taken(&start)) {
                return Ok(taken(&start));
            }
            let names = take_line(&mut cursor, self.is_raw, self.allow_crlf)?;
            if !is_header(&names, target) {
                return Ok(taken(&start));
            }
            self.map = FieldMap::by_names(&names, target)?;
            let behind_names = cursor;
            let types = take_line(&mut cursor, self.is_raw, self.allow_crlf);
            let types = types.ok().filter(|types| are_types(types));
            if let Some(types) = types
                && target.may_have_header_behind(taken(&behind_names))
            {
                self.map.check_types(&types, target)?;
                return Ok(taken(&cursor));
            }
            return Ok(taken(&behind_names));
        }
        self.map = FieldMap::by_names(
            &take_line(&mut cursor, self.is_raw, self.allow_crlf)?,
            target,
        )?;
        if self.header == Header::NamesAndTypes {
            self.map.check_types(
                &take_line(&mut cursor, self.is_raw, self.allow_crlf)?,
                target,
            )?;
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
        for i in 0..self.map.len() {
            if i > 0 && !cursor.eat(b'\t') {
                if self.allow_variable {
                    self.map.fill_from(i, columns);
                    break;
                }
                let found = cursor.excerpt();
                let fields = self.map.len();
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                    format!(
                        "The row has {i} fields for {fields} columns: expected '\\t' before: '{found}'"
                    ),
                ));
            }
            let field = take_field(&mut cursor, self.is_raw);
            let field = without_return(field, &cursor, self.allow_crlf);
            self.value(i, field, columns)?;
        }
        while self.allow_variable && cursor.eat(b'\t') {
            take_field(&mut cursor, self.is_raw);
        }
        self.line_end(&mut cursor)?;
        self.map.fill_missing(columns);
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        match self.is_raw {
            true => line_len(text),
            false => escaped_line_len(text, 0),
        }
    }

    fn has_lines(&self) -> bool {
        true
    }
}

/// Length of the line at the start of `text`, if its end is there.
pub(super) fn line_len(text: &[u8]) -> Option<usize> {
    memchr::memchr(b'\n', text).map(|i| i + 1)
}

/// Length of the rows at the start of `text` that reach behind `at`, if their end is there: a line feed
/// that no backslash makes a part of its field.
pub(super) fn escaped_line_len(text: &[u8], at: usize) -> Option<usize> {
    let mut ends = memchr::memchr_iter(b'\n', text.get(at..)?).map(|i| at + i);
    ends.find(|end| !is_escaped(text, *end)).map(|end| end + 1)
}

/// Number of the rows that end in `text`.
pub(super) fn count_escaped_lines(text: &[u8]) -> u64 {
    let ends = memchr::memchr_iter(b'\n', text);
    ends.filter(|end| !is_escaped(text, *end)).count() as u64
}
