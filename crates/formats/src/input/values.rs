//! Reads `VALUES`: rows of literals in brackets; an evaluator computes what is no literal.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::cursor::excerpt;
use basalt_types::text::escape::read_quoted;
use basalt_types::text::{ColumnText, Cursor, Style, TextOptions};

use super::rows::RowParser;
use super::{Evaluator, Target};

/// Reads rows.
pub(super) struct ValueRows {
    columns: Vec<(String, DataType)>,
    text_options: TextOptions,
    evaluator: Option<Box<dyn Evaluator>>,
    /// Whether the gap before the first row has been passed: a comma may stand in those behind it.
    has_rows: bool,
}

impl ValueRows {
    pub(super) fn new(target: &Target, evaluator: Option<Box<dyn Evaluator>>) -> Self {
        let interprets = target.settings.input_format_values_interpret_expressions;
        Self {
            columns: target.columns.clone(),
            text_options: target.settings.text_options(),
            evaluator: evaluator.filter(|_| interprets),
            has_rows: false,
        }
    }

    /// Reads one value and leaves the comma or bracket behind it.
    fn value(
        &mut self,
        i: usize,
        columns: &mut [ColumnBuilder],
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        let column = &mut columns[i];
        let rows = column.len();
        let start = *cursor;
        let is_last = i + 1 == self.columns.len();
        if ends_word(cursor, b"DEFAULT") {
            column.append_default();
            return Ok(());
        }
        let literal = match is_number_left_out(column.data_type(), cursor) {
            true => column.append_text(b""),
            false => column.append_quoted(cursor),
        };
        cursor.skip_space();
        if is_last && literal.is_ok() {
            skip_last_comma(cursor);
        }
        let separator = if is_last { b')' } else { b',' };
        if literal.is_ok() && cursor.peek() == Some(separator) {
            return Ok(());
        }
        if let Err(e) = &literal
            && e.code() == ErrorCode::DECIMAL_OVERFLOW
        {
            return literal;
        }
        column.truncate(rows);
        *cursor = start;
        let expression = take_expression(cursor)?;
        if is_last {
            skip_last_comma(cursor);
        }
        if cursor.peek() != Some(separator) || expression.is_empty() {
            let (name, data_type) = &self.columns[i];
            return Err(Error::new(
                ErrorCode::SYNTAX_ERROR,
                format!(
                    "Expected a value of column `{name}` of type {data_type} and '{}' behind it here: '{}'",
                    char::from(separator),
                    start.excerpt()
                ),
            ));
        }
        self.computed(i, column, expression, literal.err())
    }

    /// Appends the value of an expression, which is no literal of the column's type because of `e`.
    fn computed(
        &mut self,
        i: usize,
        column: &mut ColumnBuilder,
        expression: &[u8],
        e: Option<Error>,
    ) -> Result<()> {
        let Some(evaluator) = &mut self.evaluator else {
            return Err(e.unwrap_or_else(|| {
                Error::new(
                    ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                    format!(
                        "Only literals can stand here, not the expression '{}'",
                        excerpt(expression)
                    ),
                )
            }));
        };
        let data_type = &self.columns[i].1;
        // CAST makes no map of a text.
        if matches!(data_type, DataType::Map(..))
            && let Some(text) = only_text(expression)
        {
            return column.append_text(&text);
        }
        let value = evaluator.evaluate(&String::from_utf8_lossy(expression), data_type);
        // What helps in a query does not help against rows.
        let value = value.map_err(Error::without_hint)?;
        let mut text = Vec::new();
        ColumnText::new(data_type, &value, self.text_options.clone())?.write(
            0,
            Style::Quoted,
            &mut text,
        );
        column.append_quoted(&mut Cursor::new(&text))
    }
}

/// Whether no value stands where ClickHouse reads the digits of a number, and takes none for 0.
fn is_number_left_out(data_type: &DataType, cursor: &Cursor<'_>) -> bool {
    let has_digits = data_type.is_integer() || data_type.is_decimal();
    has_digits && *data_type.base() != DataType::Bool && matches!(cursor.peek(), Some(b',' | b')'))
}

/// The text of an expression that is nothing but a text in quotes.
fn only_text(expression: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut cursor = Cursor::new(expression);
    read_quoted(&mut cursor, b'\'', &mut text).ok()?;
    cursor.skip_space();
    cursor.is_at_end().then_some(text)
}

/// Takes the keyword `word` if nothing else stands up to the next comma or bracket.
fn ends_word(cursor: &mut Cursor<'_>, word: &[u8]) -> bool {
    let mut copy = *cursor;
    let mut found = copy.eat_text_ignoring_case(word);
    copy.skip_space();
    found &= matches!(copy.peek(), Some(b',' | b')'));
    if found {
        *cursor = copy;
    }
    found
}

/// Bytes of a comment that begins here, if it ends here, too.
fn comment_len(text: &[u8]) -> Option<usize> {
    let ending: &[u8] = match text {
        [b'-', b'-', ..] => b"\n",
        [b'/', b'*', ..] => b"*/",
        _ => return None,
    };
    let inside = text.get(2..)?;
    Some(2 + memchr::memmem::find(inside, ending)? + ending.len())
}

/// Goes over a comma behind the last value of a row, if the row ends there.
fn skip_last_comma(cursor: &mut Cursor<'_>) {
    let mut copy = *cursor;
    if copy.eat(b',') {
        copy.skip_space();
        if copy.peek() == Some(b')') {
            *cursor = copy;
        }
    }
}

/// Takes an expression up to the comma or bracket that ends it.
fn take_expression<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8]> {
    let text = cursor.rest();
    let mut depth = 0_usize;
    while let Some(byte) = cursor.peek() {
        match byte {
            b'\'' | b'"' | b'`' => {
                skip_quoted(cursor, byte)?;
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b',' | b')' if depth == 0 => return Ok(&text[..text.len() - cursor.rest().len()]),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        cursor.advance(1);
    }
    Err(end_of_values())
}

fn skip_quoted(cursor: &mut Cursor<'_>, quote: u8) -> Result<()> {
    cursor.advance(1);
    while let Some(end) = memchr::memchr2(quote, b'\\', cursor.rest()) {
        cursor.advance(end);
        if cursor.eat(quote) {
            return Ok(());
        }
        cursor.advance(2);
    }
    Err(end_of_values())
}

fn end_of_values() -> Error {
    Error::new(
        ErrorCode::SYNTAX_ERROR,
        "The text is cut off: expected ')' at end of stream of VALUES",
    )
}

impl RowParser for ValueRows {
    fn gap(&mut self, text: &[u8]) -> Result<Option<usize>> {
        let mut rest = text.trim_ascii_start();
        if self.has_rows {
            rest = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
        }
        while let Some(len) = comment_len(rest) {
            rest = rest[len..].trim_ascii_start();
        }
        self.has_rows |= !rest.is_empty();
        Ok((rest.first() != Some(&b';')).then_some(text.len() - rest.len()))
    }

    fn row(&mut self, text: &[u8], columns: &mut [ColumnBuilder]) -> Result<usize> {
        let mut cursor = Cursor::new(text);
        cursor.expect(b'(')?;
        for i in 0..self.columns.len() {
            cursor.skip_space();
            if i > 0 {
                cursor.expect(b',')?;
                cursor.skip_space();
            } else if cursor.is_at_end() {
                let code = ErrorCode::ATTEMPT_TO_READ_AFTER_EOF;
                return Err(Error::new(code, end_of_values().message()));
            }
            self.value(i, columns, &mut cursor)?;
        }
        cursor.skip_space();
        if cursor.peek() == Some(b',') {
            let count = self.columns.len();
            return Err(Error::new(
                ErrorCode::SYNTAX_ERROR,
                format!(
                    "The row has more values than the {count} columns: expected ')' before '{}'",
                    cursor.excerpt()
                ),
            ));
        }
        cursor.expect(b')')?;
        Ok(text.len() - cursor.rest().len())
    }

    fn row_len(&self, text: &[u8]) -> Option<usize> {
        let mut cursor = Cursor::new(text);
        if !cursor.eat(b'(') {
            return Some(text.len());
        }
        loop {
            take_expression(&mut cursor).ok()?;
            if cursor.eat(b')') {
                return Some(text.len() - cursor.rest().len());
            }
            cursor.advance(1);
        }
    }
}
