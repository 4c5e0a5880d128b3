//! Reads rows of JSON: objects and arrays.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::Cursor;

use super::Target;
use super::fields::FieldMap;
use super::json::{JsonReader, duplicate};
use super::json_skip::skip_value;
use super::json_text::{expect_colon, expected, read_string, take_value};
use super::rows::RowParser;
use crate::registry::Header;

/// Length of the object or array at the start of `text` (and space before it), if all is there.
pub(super) fn value_len(text: &[u8]) -> Option<usize> {
    let mut cursor = Cursor::new(text);
    cursor.skip_space();
    if cursor.eat(b',') {
        cursor.skip_space();
    }
    if !matches!(cursor.peek(), Some(b'{' | b'[')) {
        // Not the start of a row: up to the end of the line.
        return memchr::memchr(b'\n', text).map(|i| i + 1);
    }
    take_value(&mut cursor, u64::MAX).ok()?;
    Some(text.len() - cursor.rest().len())
}

/// Goes over what stands between rows; `None` at the `]` around all of them.
pub(super) fn gap_len(text: &[u8]) -> Option<usize> {
    let len = text
        .iter()
        .position(|b| !b.is_ascii_whitespace() && *b != b',' && *b != b';');
    match len {
        Some(len) if text[len] == b']' => None,
        Some(len) => Some(len),
        None => Some(text.len()),
    }
}

/// What stands around all rows: an array, or nothing.
#[derive(Default)]
struct Around {
    is_array: bool,
}

impl Around {
    /// Goes over the `[` around all rows, if there is one in front of objects.
    fn open(&mut self, text: &[u8]) -> usize {
        let mut cursor = Cursor::new(text);
        cursor.skip_space();
        if cursor.eat(b'[') {
            cursor.skip_space();
            self.is_array = matches!(cursor.peek(), Some(b'{' | b']'));
        }
        match self.is_array {
            true => text.len() - cursor.rest().len(),
            false => 0,
        }
    }

    /// Checks what is behind the last row.
    fn check_end(&self, rest: &[u8]) -> Result<()> {
        if self.is_array {
            return check_closed(rest, b']');
        }
        let is_gap = |b: &u8| *b == b',' || b.is_ascii_whitespace();
        let start = rest.iter().position(|b| !is_gap(b)).unwrap_or(rest.len());
        check_nothing_follows(&Cursor::new(&rest[start..]))
    }
}

/// Checks that the array or object around all rows ends with `close`, and the text behind it.
fn check_closed(rest: &[u8], close: u8) -> Result<()> {
    let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',' || *b == b';';
    let start = rest.iter().position(|b| !is_gap(b)).unwrap_or(rest.len());
    let mut cursor = Cursor::new(&rest[start..]);
    if cursor.is_at_end() {
        return Err(Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "The text is cut off: expected '{}' at end of stream",
                char::from(close)
            ),
        ));
    }
    cursor.expect(close)?;
    check_nothing_follows(&cursor)
}

/// Checks that nothing but space and the end of a statement follows.
pub(super) fn check_nothing_follows(cursor: &Cursor<'_>) -> Result<()> {
    let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b';';
    let rest = cursor.rest();
    let Some(start) = rest.iter().position(|b| !is_gap(b)) else {
        return Ok(());
    };
    let shown = &rest[start..rest.len().min(start + 40)];
    Err(Error::new(
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
        format!(
            "Expected the end of the text before: '{}'",
            String::from_utf8_lossy(shown)
        ),
    ))
}

/// Which columns a row has had a value for, and where to look for the next one's name.
struct Members {
    seen: Vec<bool>,
    next: usize,
}

impl Members {
    fn new(len: usize) -> Self {
        Self {
            seen: vec![false; len],
            next: 0,
        }
    }

    fn clear(&mut self) {
        self.seen.fill(false);
        self.next = 0;
    }

    /// Finds a column; rows mostly have them in the same order.
    fn find(&mut self, key: &[u8], names: &[Vec<u8>]) -> Option<usize> {
        let found = if names.get(self.next).is_some_and(|n| n == key) {
            Some(self.next)
        } else {
            let exact = names.iter().position(|n| n == key);
            exact.or_else(|| names.iter().position(|n| n.eq_ignore_ascii_case(key)))
        };
        self.next = found.map_or(self.next, |i| i + 1);
        found
    }
}

/// Rows that are objects: JSONEachRow.
pub(super) struct ObjectRows {
    names: Vec<Vec<u8>>,
    members: Members,
    reader: JsonReader,
    skip_unknown: bool,
    /// A column that has its value from elsewhere.
    given: Option<usize>,
    around: Around,
}

impl ObjectRows {
    pub(super) fn new(target: &Target, all_strings: bool) -> Self {
        Self {
            names: target
                .columns
                .iter()
                .map(|(n, _)| n.clone().into_bytes())
                .collect(),
            members: Members::new(target.columns.len()),
            reader: JsonReader::new(&target.settings).of_strings(all_strings),
            skip_unknown: target.settings.input_format_skip_unknown_fields,
            given: None,
            around: Around::default(),
        }
    }
}

impl RowParser for ObjectRows {
    fn header(&mut self, text: &[u8], _target: &Target) -> Result<usize> {
        Ok(self.around.open(text))
    }

    fn end(&self, rest: &[u8]) -> Result<()> {
        self.around.check_end(rest)
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        Ok(gap_len(text))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        cursor.expect(b'{')?;
        let Self {
            names,
            members,
            reader,
            skip_unknown,
            given,
            ..
        } = self;
        members.clear();
        if let Some(column) = given {
            members.seen[*column] = true;
        }
        reader.members(&mut cursor, |reader, key, cursor| {
            let Some(i) = members.find(key, names) else {
                if *skip_unknown {
                    return skip_value(cursor, reader.max_depth());
                }
                return Err(Error::new(
                    ErrorCode::INCORRECT_DATA,
                    format!(
                        "Unknown field found while parsing JSON: '{}'",
                        String::from_utf8_lossy(key)
                    ),
                ));
            };
            if std::mem::replace(&mut members.seen[i], true) {
                // As ClickHouse, which skips what is behind the last value that it wants.
                if members.seen.contains(&false) {
                    return Err(duplicate("field", key));
                }
                return skip_value(cursor, reader.max_depth());
            }
            reader.read(&mut columns[i], cursor).map_err(|e| {
                let key = String::from_utf8_lossy(key).into_owned();
                Error::new(
                    e.code(),
                    format!("{}: while reading the value of key {key}", e.message()),
                )
            })
        })?;
        for (column, seen) in columns.iter_mut().zip(&members.seen) {
            if !seen {
                column.append_default();
            }
        }
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        value_len(text)
    }
}

/// Rows that are the members of one object: JSONObjectEachRow.
pub(super) struct MemberRows {
    rows: ObjectRows,
}

impl MemberRows {
    pub(super) fn new(target: &Target) -> Self {
        let mut rows = ObjectRows::new(target, false);
        let column = &target
            .settings
            .format_json_object_each_row_column_for_object_name;
        rows.given = target.columns.iter().position(|(n, _)| n == column);
        Self { rows }
    }
}

impl RowParser for MemberRows {
    fn end(&self, rest: &[u8]) -> Result<()> {
        let closed = check_closed(rest, b'}');
        closed.map_err(|e| match rest.trim_ascii() {
            // Another row's name was to come.
            b"," => Error::new(ErrorCode::CANNOT_PARSE_QUOTED_STRING, e.message()),
            _ => e,
        })
    }

    fn header(&mut self, text: &[u8], _target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        cursor.skip_space();
        cursor.expect(b'{')?;
        Ok(text.len() - cursor.rest().len())
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        let len = text.iter().position(|b| !is_gap(b));
        Ok(match len {
            Some(len) if text[len] == b'}' => None,
            other => Some(other.unwrap_or(text.len())),
        })
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        let mut name = Vec::new();
        read_string(&mut cursor, &mut name)?;
        expect_colon(&mut cursor)?;
        if let Some(column) = self.rows.given.and_then(|i| columns.get_mut(i)) {
            column.append_text(&name)?;
        }
        let object = cursor.rest();
        Ok(text.len() - object.len() + self.rows.row(object, columns)?)
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(text);
        read_string(&mut cursor, &mut Vec::new()).ok()?;
        expect_colon(&mut cursor).ok()?;
        let object = cursor.rest();
        Some(text.len() - object.len() + value_len(object)?)
    }
}

/// Rows that are arrays: JSONCompactEachRow.
pub(super) struct ArrayRows {
    map: FieldMap,
    header: Header,
    reader: JsonReader,
    allow_variable: bool,
}

impl ArrayRows {
    pub(super) fn new(target: &Target, header: Header, all_strings: bool) -> Self {
        Self {
            map: FieldMap::by_position(target),
            header,
            reader: JsonReader::new(&target.settings).of_strings(all_strings),
            allow_variable: target
                .settings
                .input_format_json_compact_allow_variable_number_of_columns,
        }
    }
}

/// Reads an array of strings: a line of a header.
pub(crate) fn read_strings(cursor: &mut Cursor<'_>) -> Result<Vec<Vec<u8>>> {
    let mut strings = Vec::new();
    cursor.skip_space();
    cursor.expect(b'[')?;
    cursor.skip_space();
    while !cursor.eat(b']') {
        let mut string = Vec::new();
        read_string(cursor, &mut string)?;
        strings.push(string);
        cursor.skip_space();
        if !cursor.eat(b',') && cursor.peek() != Some(b']') {
            cursor.expect(b']')?;
        }
        cursor.skip_space();
    }
    Ok(strings)
}

impl RowParser for ArrayRows {
    fn header(&mut self, text: &[u8], target: &Target) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        if self.header == Header::None {
            // An array in front of the rows is the first row's.
            return Ok(0);
        }
        self.map = FieldMap::by_names(&read_strings(&mut cursor)?, target)?;
        if self.header == Header::NamesAndTypes {
            self.map.check_types(&read_strings(&mut cursor)?, target)?;
        }
        Ok(text.len() - cursor.rest().len())
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        Ok(gap_len(text))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        cursor.expect(b'[')?;
        for i in 0..self.map.len() {
            cursor.skip_space();
            if self.allow_variable && cursor.peek() == Some(b']') {
                self.map.fill_from(i, columns);
                break;
            }
            if i > 0 {
                cursor.expect(b',')?;
                cursor.skip_space();
            }
            match self.map.column(i) {
                Some(column) => self.reader.read(&mut columns[column], &mut cursor)?,
                None => {
                    skip_value(&mut cursor, self.reader.max_depth())?;
                }
            }
        }
        cursor.skip_space();
        while self.allow_variable && cursor.eat(b',') {
            cursor.skip_space();
            skip_value(&mut cursor, self.reader.max_depth())?;
            cursor.skip_space();
        }
        cursor.expect(b']')?;
        self.map.fill_missing(columns);
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        value_len(text)
    }
}

/// Each object is one string: JSONAsString.
pub(super) struct StringRows {
    max_depth: u64,
    around: Around,
}

impl StringRows {
    pub(super) fn new(target: &Target) -> Result<Self> {
        target.only_string("JSONAsString")?;
        Ok(Self {
            max_depth: target.settings.input_format_json_max_depth,
            around: Around::default(),
        })
    }
}

impl RowParser for StringRows {
    fn header(&mut self, text: &[u8], _target: &Target) -> Result<usize> {
        Ok(self.around.open(text))
    }

    fn end(&self, rest: &[u8]) -> Result<()> {
        self.around.check_end(rest)
    }

    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        Ok(gap_len(text))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        if cursor.peek() != Some(b'{') {
            let message = expected("'{' of a JSON object", &cursor);
            return Err(Error::new(ErrorCode::INCORRECT_DATA, message.message()));
        }
        let value = take_value(&mut cursor, self.max_depth)?;
        if let Some(column) = columns.first_mut() {
            column.append_raw(value)?;
        }
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        value_len(text)
    }
}
