//! Holds a place in a text that is read value by value.

use basalt_error::{Error, ErrorCode, Result};

/// How much of the text an error shows.
const EXCERPT_BYTES: usize = 40;

/// A place in a text; every reader takes what it understands and leaves the rest.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self { rest: text }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether everything has been read.
    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next byte, which stays.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Goes `len` bytes on, at most to the end.
    #[inline]
    pub fn advance(&mut self, len: usize) {
        self.rest = self.rest.get(len..).unwrap_or_default();
    }

    /// Takes `len` bytes, fewer at the end of the text.
    #[inline]
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// Takes bytes as long as `wanted` says.
    #[inline]
    pub fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let len = self.rest.iter().position(|b| !wanted(*b));
        self.take(len.unwrap_or(self.rest.len()))
    }

    /// Goes over the next byte if it is `byte`.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.advance(1);
        }
        found
    }

    /// Goes over `text` if it comes next.
    pub fn eat_text(&mut self, text: &[u8]) -> bool {
        let found = self.rest.starts_with(text);
        if found {
            self.advance(text.len());
        }
        found
    }

    /// Goes over `text` if it comes next, in upper or lower case.
    pub fn eat_text_ignoring_case(&mut self, text: &[u8]) -> bool {
        let start = self.rest.get(..text.len());
        let found = start.is_some_and(|s| s.eq_ignore_ascii_case(text));
        if found {
            self.advance(text.len());
        }
        found
    }

    /// Goes over white space.
    #[inline]
    pub fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) = self.peek() {
            self.advance(1);
        }
    }

    /// Goes over `byte`.
    ///
    /// # Errors
    /// `CANNOT_PARSE_INPUT_ASSERTION_FAILED` if something else comes next.
    pub fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) {
            return Ok(());
        }
        let found = if self.is_at_end() {
            "at end of stream".to_string()
        } else {
            format!("before: '{}'", self.excerpt())
        };
        Err(Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "Cannot parse input: expected '{}' {found}",
                char::from(byte).escape_default()
            ),
        ))
    }

    /// The next few bytes, for errors.
    pub fn excerpt(&self) -> String {
        excerpt(self.rest)
    }
}

/// The first bytes of `text` in printable form, for errors.
pub fn excerpt(text: &[u8]) -> String {
    let shown = text.get(..EXCERPT_BYTES).unwrap_or(text);
    let mut printable = String::new();
    for c in String::from_utf8_lossy(shown).chars() {
        if c.is_control() {
            printable.extend(c.escape_default());
        } else {
            printable.push(c);
        }
    }
    if shown.len() < text.len() {
        printable.push_str("...");
    }
    printable
}
