//! Reads the tokens of a type's name: words, numbers, quoted strings, punctuation.

use basalt_error::{Error, ErrorCode, Result};

use crate::text::Cursor;
use crate::text::escape::read_quoted;

/// What is left of a type's name.
pub(super) struct Parser<'a> {
    pub(super) rest: &'a str,
    /// How many types the reader is inside of.
    pub(super) depth: usize,
}

impl Parser<'_> {
    pub(super) fn numbers(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        if self.eat('(') {
            if self.eat(')') {
                return Ok(numbers);
            }
            loop {
                numbers.push(self.number()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(numbers)
    }

    pub(super) fn number(&mut self) -> Result<i64> {
        self.skip_space();
        let len = self
            .rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'-')
            .count();
        let (digits, rest) = self.rest.split_at(len);
        let number = digits.parse().map_err(|_| self.unexpected("a number"))?;
        self.rest = rest;
        Ok(number)
    }

    pub(super) fn quoted(&mut self) -> Result<String> {
        self.skip_space();
        let unexpected = self.unexpected("a quoted string");
        let mut cursor = Cursor::new(self.rest.as_bytes());
        let mut value = Vec::new();
        if read_quoted(&mut cursor, b'\'', &mut value).is_err() {
            return Err(unexpected);
        }
        // A quote is no part of another character: the rest begins at one, too.
        let len = self.rest.len() - cursor.rest().len();
        self.rest = self.rest.get(len..).unwrap_or_default();
        String::from_utf8(value).map_err(|_| unexpected)
    }

    pub(super) fn identifier(&mut self) -> Result<String> {
        self.skip_space();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '`' | '"')) {
            let inner = &self.rest[1..];
            let end = inner
                .find(quote)
                .ok_or_else(|| self.unexpected("a closing quote"))?;
            self.rest = &inner[end + 1..];
            return Ok(inner[..end].to_owned());
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    pub(super) fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Refuses `()` behind the name of a type that needs arguments.
    pub(super) fn not_empty(&mut self, family: &str, expected: &str) -> Result<()> {
        self.skip_space();
        if self.rest.starts_with(')') {
            return Err(wrong_number(family, expected));
        }
        Ok(())
    }

    pub(super) fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{c}'")))
        }
    }

    pub(super) fn unexpected(&self, expected: &str) -> Error {
        let found: String = self.rest.chars().take(20).collect();
        Error::new(
            ErrorCode::SYNTAX_ERROR,
            format!("Cannot parse data type, expected {expected}, found '{found}'"),
        )
    }
}

/// The error for a type with too few or too many arguments.
pub(super) fn wrong_number(family: &str, expected: &str) -> Error {
    Error::new(
        ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
        format!("Write {expected} in the brackets of {family}"),
    )
}
