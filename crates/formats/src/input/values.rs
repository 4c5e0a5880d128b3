//! Reads `VALUES`: rows of literals in brackets; an evaluator computes what is no literal.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::builder::ColumnBuilder;
use basalt_types::text::{ColumnText, Cursor, Style, TextOptions};

use super::rows::RowParser;
use super::{Evaluator, Target};

/// Reads rows.
pub(super) struct ValueRows {
    columns: Vec<(String, DataType)>,
    text_options: TextOptions,
    evaluator: Option<Box<dyn Evaluator>>,
}

impl ValueRows {
    pub(super) fn new(target: &Target, evaluator: Option<Box<dyn Evaluator>>) -> Self {
        let interprets = target.settings.input_format_values_interpret_expressions;
        Self {
            columns: target.columns.clone(),
            text_options: target.settings.text_options(),
            evaluator: evaluator.filter(|_| interprets),
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
        if ends_word(cursor, b"DEFAULT") || is_last && cursor.peek() == Some(b')') {
            column.append_default();
            return Ok(());
        }
        let literal = column.append_quoted(cursor);
        cursor.skip_space();
        if is_last && literal.is_ok() {
            skip_last_comma(cursor);
        }
        let separator = if is_last { b')' } else { b',' };
        if literal.is_ok() && cursor.peek() == Some(separator) {
            return Ok(());
        }
        column.truncate(rows);
        *cursor = start;
        let expression = take_expression(cursor)?;
        if is_last {
            skip_last_comma(cursor);
        }
        let (name, data_type) = &self.columns[i];
        if cursor.peek() != Some(separator) {
            return Err(Error::new(
                ErrorCode::SYNTAX_ERROR,
                format!(
                    "Expected '{}' after the value of column `{name}` of type {data_type} here: '{}'",
                    char::from(separator),
                    start.excerpt()
                ),
            ));
        }
        let Some(evaluator) = &mut self.evaluator else {
            return Err(literal.err().unwrap_or_else(|| {
                Error::new(
                    ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
                    format!(
                        "Only literals can stand here, not the expression '{}'",
                        start.excerpt()
                    ),
                )
            }));
        };
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
        let mut rest = text;
        loop {
            let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
            let len = rest.iter().take_while(|b| is_gap(b)).count();
            rest = &rest[len..];
            match comment_len(rest) {
                Some(len) => rest = &rest[len..],
                None => break,
            }
        }
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
