//! Parses single statements and scripts of several, with the data that INSERTs carry inline.

use std::ops::Range;

use basalt_error::{Position, Result};

use crate::ast::{DataType, Expr, InsertSource, Statement};
use crate::lexer::{Lexer, TokenKind};
use crate::parser::Parser;

/// A statement of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// The statement.
    pub statement: Statement,
    /// The bytes of the text that are the statement, its end mark and inline data excluded.
    pub span: Range<usize>,
    /// Line and column where the statement begins.
    pub position: Position,
    /// The bytes of the text that are the inline data of `INSERT .. VALUES | FORMAT`.
    ///
    /// `None` for other statements. Empty when the data comes from outside.
    pub data: Option<Range<usize>>,
    /// Ended with `\G`: the result is wanted in the format Vertical.
    pub vertical: bool,
    /// How deep the text is nested, counted as [`crate::max_depth`] is.
    pub depth: u32,
}

/// Parses a text that is one statement. Inline data goes on to the end of the text.
///
/// # Errors
/// `SYNTAX_ERROR` with position, what was expected and the nearest known word;
/// `TOO_DEEP_RECURSION`.
pub fn parse_statement(text: impl AsRef<[u8]>) -> Result<Parsed> {
    let text = text.as_ref();
    let mut parser = Parser::new(text, 0)?;
    parser.more_statements();
    let start = parser.offset();
    let statement = parser.statement()?;
    let span = start..parser.end_offset();
    let position = position_of(text, start);
    if let Some(data) = parser.inline_data() {
        let data = Some(data..text.len());
        return Ok(Parsed {
            statement,
            span,
            position,
            data,
            vertical: false,
            depth: parser.deepest,
        });
    }
    let vertical = parser.statement_end()?;
    if parser.more_statements() {
        return Err(parser.extra_statement());
    }
    Ok(Parsed {
        statement,
        span,
        position,
        data: None,
        vertical,
        depth: parser.deepest,
    })
}

/// Parses a script statement by statement.
///
/// Inline data of `VALUES` ends at the next semicolon outside quotes, that of other formats at the
/// next empty line, as in ClickHouse's clients. After an error the iterator ends, unless
/// [`Statements::skip_failed`] sets it going again.
#[derive(Clone, Debug)]
pub struct Statements<'a> {
    text: &'a [u8],
    pos: usize,
    /// Where the statement before began: places are counted on from there.
    known: (usize, Position),
    failed: bool,
}

/// Parses the statements of a script one after the other.
pub fn parse_statements(text: &(impl AsRef<[u8]> + ?Sized)) -> Statements<'_> {
    Statements {
        text: text.as_ref(),
        pos: 0,
        known: (0, START),
        failed: false,
    }
}

impl Statements<'_> {
    /// Where the next statement's text begins.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// After an error, goes on behind the next semicolon.
    pub fn skip_failed(&mut self) {
        let mut tokens = Lexer::starting_at(self.text, self.pos);
        let end = tokens.find(|t| t.kind == TokenKind::Semicolon);
        self.pos = end.map_or(self.text.len(), |t| t.span.end as usize);
        self.failed = false;
    }

    fn parse_next(&mut self) -> Result<Option<Parsed>> {
        let mut parser = Parser::new(self.text, self.pos)?;
        if !parser.more_statements() {
            self.pos = self.text.len();
            return Ok(None);
        }
        let start = parser.offset();
        let statement = parser.statement()?;
        let span = start..parser.end_offset();
        let position = position_behind(self.text, self.known, start);
        self.known = (start, position);
        let Some(data) = parser.inline_data() else {
            let vertical = parser.statement_end()?;
            self.pos = parser.end_offset();
            return Ok(Some(Parsed {
                statement,
                span,
                position,
                data: None,
                vertical,
                depth: parser.deepest,
            }));
        };
        let mut inner = &statement;
        loop {
            inner = match inner {
                Statement::Explain(explain) => match &explain.statement {
                    Some(explained) => explained,
                    None => break,
                },
                Statement::Parallel(all) => match all.last() {
                    Some(last) => last,
                    None => break,
                },
                _ => break,
            };
        }
        let is_values = matches!(inner, Statement::Insert(insert)
            if matches!(&insert.source, InsertSource::Format { name, .. } if name == "Values"));
        let rest = self.text.get(data..).unwrap_or_default();
        let (len, mark) = if is_values {
            values_len(rest)
        } else {
            block_len(rest)
        };
        self.pos = data + len + mark;
        let data = Some(data..data + len);
        Ok(Some(Parsed {
            statement,
            span,
            position,
            data,
            vertical: false,
            depth: parser.deepest,
        }))
    }
}

impl Iterator for Statements<'_> {
    type Item = Result<Parsed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let next = self.parse_next();
        self.failed = next.is_err();
        next.transpose()
    }
}

/// Length of rows in the format Values, and of the semicolon after them.
fn values_len(rest: &[u8]) -> (usize, usize) {
    let mut in_string = false;
    let mut at = 0;
    while let Some(&b) = rest.get(at) {
        match b {
            b'\\' if in_string => at += 1,
            b'\'' => in_string = !in_string,
            b';' if !in_string => return (at, 1),
            _ => {}
        }
        at += 1;
    }
    (rest.len(), 0)
}

/// Length of rows up to an empty line, and of that line.
fn block_len(rest: &[u8]) -> (usize, usize) {
    let mut at = 0;
    while let Some(line_end) = rest
        .get(at..)
        .and_then(|r| r.iter().position(|b| *b == b'\n'))
    {
        let next = at + line_end + 1;
        match rest.get(next..) {
            Some([b'\n', ..]) => return (next, 1),
            Some([b'\r', b'\n', ..]) => return (next, 2),
            _ => at = next,
        }
    }
    (rest.len(), 0)
}

/// Parses an expression, perhaps with an alias, that is the whole text.
///
/// # Errors
/// As [`parse_statement`].
pub fn parse_expr(text: impl AsRef<[u8]>) -> Result<Expr> {
    let mut parser = Parser::new(text.as_ref(), 0)?;
    let expr = parser.whole_expr()?;
    parser.end_of_text()?;
    Ok(expr)
}

/// Parses a data type that is the whole text.
///
/// # Errors
/// As [`parse_statement`].
pub fn parse_data_type(text: impl AsRef<[u8]>) -> Result<DataType> {
    let mut parser = Parser::new(text.as_ref(), 0)?;
    let data_type = parser.data_type()?;
    parser.end_of_text()?;
    Ok(data_type)
}

/// Parses a table's structure, as in `file('x', CSV, 'a UInt8, b String')`.
///
/// # Errors
/// As [`parse_statement`].
pub fn parse_structure(text: impl AsRef<[u8]>) -> Result<Vec<crate::ast::ColumnDef>> {
    let mut parser = Parser::new(text.as_ref(), 0)?;
    let columns = parser.column_list()?;
    parser.end_of_text()?;
    Ok(columns)
}

/// Line and column of byte `offset` of `text`, both from 1; columns count characters.
pub fn position_of(text: &[u8], offset: usize) -> Position {
    position_behind(text, (0, START), offset)
}

/// The place of the first byte of a text.
const START: Position = Position { line: 1, column: 1 };

/// As [`position_of`], counted on from a place that is known, if it stands before.
pub fn position_behind(text: &[u8], known: (usize, Position), offset: usize) -> Position {
    let offset = offset.min(text.len());
    let (from, place) = if known.0 <= offset { known } else { (0, START) };
    let between = text.get(from..offset).unwrap_or_default();
    let line_start = between.iter().rposition(|b| *b == b'\n').map(|at| at + 1);
    let lines = between.iter().filter(|b| **b == b'\n').count();
    let characters = between[line_start.unwrap_or(0)..]
        .iter()
        .filter(|b| **b & 0xc0 != 0x80)
        .count();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let before = if line_start.is_some() {
        1
    } else {
        place.column
    };
    Position {
        line: place.line.saturating_add(count(lines)),
        column: before.saturating_add(count(characters)),
    }
}

/// Whether a text that someone is still typing ends inside a quote, comment or parentheses.
pub fn is_incomplete(text: &[u8]) -> bool {
    let mut open = 0i64;
    let mut unclosed = false;
    for token in Lexer::new(text) {
        match token.kind {
            TokenKind::OpenRound | TokenKind::OpenSquare | TokenKind::OpenCurly => open += 1,
            TokenKind::CloseRound | TokenKind::CloseSquare | TokenKind::CloseCurly => open -= 1,
            TokenKind::Error(
                crate::lexer::LexError::UnclosedQuote | crate::lexer::LexError::UnclosedComment,
            ) => unclosed = true,
            _ => {}
        }
    }
    unclosed || open > 0
}
