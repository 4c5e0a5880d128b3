//! Reads the rows of one document: JSON and JSONCompact.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;

use super::Target;
use super::json_rows::{ArrayRows, ObjectRows, check_nothing_follows, gap_len, value_len};
use super::json_skip::skip_value;
use super::json_text::{expect_colon, read_string};
use super::rows::RowParser;
use crate::registry::Header;

/// The rows of one document: JSON and JSONCompact; of what is around `data` only `meta` is looked at. Text that
/// does not begin with `meta` is rows as of JSONEachRow to the first of them.
pub(super) struct DocumentRows {
    objects: ObjectRows,
    arrays: ArrayRows,
    is_document: bool,
    is_compact: bool,
}

impl DocumentRows {
    pub(super) fn new(target: &Target, is_compact: bool) -> Self {
        Self {
            objects: ObjectRows::new(target, false),
            arrays: ArrayRows::new(target, Header::None, false),
            is_document: false,
            is_compact,
        }
    }
}

/// Names and types of the columns of a document.
pub(crate) type Meta = Vec<(Vec<u8>, Vec<u8>)>;

/// Goes to what `data` holds in a document; reads `meta` on the way. `None` if the text does not begin with
/// `meta`.
pub(crate) fn find_data(cursor: &mut Cursor<'_>) -> Result<Option<Meta>> {
    cursor.skip_space();
    let inside = cursor.rest().strip_prefix(b"{").unwrap_or_default();
    if !inside.trim_ascii_start().starts_with(b"\"meta\"") {
        return Ok(None);
    }
    go_to_data(cursor).map(Some)
}

fn go_to_data(cursor: &mut Cursor<'_>) -> Result<Meta> {
    let mut meta = Meta::new();
    cursor.expect(b'{')?;
    loop {
        cursor.skip_space();
        let mut key = Vec::new();
        read_string(cursor, &mut key)?;
        expect_colon(cursor)?;
        match key.as_slice() {
            b"data" => return Ok(meta),
            b"meta" => meta = read_meta(cursor).map_err(|e| damaged(&e))?,
            _ => {
                skip_value(cursor, u64::MAX)?;
            }
        }
        cursor.skip_space();
        cursor.expect(b',')?;
    }
}

/// The error for a text that is no document, in a format that has nothing else.
pub(crate) fn no_document(text: &[u8]) -> Error {
    let mut cursor = Cursor::new(text);
    cursor.skip_space();
    if let Err(e) = cursor.expect(b'{') {
        return e;
    }
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!(
            "Expected field \"meta\" with names and types of columns before: '{}'",
            cursor.excerpt()
        ),
    )
}

/// Goes over what stands behind `data` in a document, up to its end.
pub(super) fn close_document(cursor: &mut Cursor<'_>) -> Result<()> {
    loop {
        cursor.skip_space();
        if cursor.is_at_end() {
            return Err(cut_off());
        }
        if cursor.eat(b'}') {
            return Ok(());
        }
        cursor.expect(b',')?;
        cursor.skip_space();
        read_string(cursor, &mut Vec::new())?;
        expect_colon(cursor)?;
        skip_value(cursor, u64::MAX)?;
    }
}

/// The header is one value to ClickHouse.
fn damaged(e: &Error) -> Error {
    Error::new(ErrorCode::INCORRECT_DATA, e.message())
}

fn cut_off() -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
        "The document is cut off: unexpected end of stream behind its rows",
    )
}

/// Reads `[{"name": …, "type": …}, …]`.
fn read_meta(cursor: &mut Cursor<'_>) -> Result<Meta> {
    let mut columns = Vec::new();
    cursor.expect(b'[')?;
    loop {
        cursor.skip_space();
        if cursor.eat(b']') {
            return Ok(columns);
        }
        let (mut name, mut data_type) = (Vec::new(), Vec::new());
        cursor.expect(b'{')?;
        loop {
            cursor.skip_space();
            let mut key = Vec::new();
            read_string(cursor, &mut key)?;
            expect_colon(cursor)?;
            match key.as_slice() {
                b"name" => read_string(cursor, &mut name)?,
                b"type" => read_string(cursor, &mut data_type)?,
                _ => {
                    skip_value(cursor, u64::MAX)?;
                }
            }
            cursor.skip_space();
            if !cursor.eat(b',') {
                break;
            }
        }
        cursor.expect(b'}')?;
        columns.push((name, data_type));
        cursor.skip_space();
        cursor.eat(b',');
    }
}

impl RowParser for DocumentRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        self.is_document = find_data(&mut cursor)?.is_some();
        if !self.is_document && self.is_compact {
            return Err(no_document(text));
        }
        if !self.is_document {
            return self.objects.header(text, target);
        }
        cursor.expect(b'[')?;
        Ok(text.len() - cursor.rest().len())
    }

    fn end(&self, rest: &[u8]) -> Result<()> {
        if !self.is_document {
            return self.objects.end(rest);
        }
        let start = rest.iter().position(|b| *b == b']').ok_or_else(cut_off)?;
        let mut cursor = Cursor::new(&rest[start + 1..]);
        close_document(&mut cursor)?;
        check_nothing_follows(&cursor)
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        Ok(gap_len(text))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        if text.starts_with(b"[") {
            self.arrays.row(text, columns)
        } else {
            self.objects.row(text, columns)
        }
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        value_len(text)
    }
}
