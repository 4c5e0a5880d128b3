//! Splits patterns of times into codes and plain text: MySQL's (`%Y-%m-%d`) and Joda's (`yyyy-MM-dd`).

use basalt_error::{Error, ErrorCode, Result};

/// The language of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `%Y-%m-%d`.
    MySql,
    /// `yyyy-MM-dd`.
    Joda,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Text that stands for itself.
    Literal(Vec<u8>),
    /// A letter, and how often it stands there (always once in MySQL's syntax).
    Code(u8, usize),
}

/// Codes of MySQL that stand for several others.
const COMPOSED: [(u8, &[u8]); 5] = [
    (b'D', b"%m/%d/%y"),
    (b'F', b"%Y-%m-%d"),
    (b'R', b"%H:%i"),
    (b'T', b"%H:%i:%S"),
    (b'r', b"%h:%i %p"),
];

/// Splits a pattern.
///
/// # Errors
/// `BAD_ARGUMENTS` if the pattern is incomplete.
pub(super) fn split(pattern: &[u8], syntax: Syntax) -> Result<Vec<Token>> {
    let mut tokens = Tokens::default();
    match syntax {
        Syntax::MySql => split_my_sql(pattern, &mut tokens)?,
        Syntax::Joda => split_joda(pattern, &mut tokens)?,
    }
    Ok(tokens.0)
}

#[derive(Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    fn literal(&mut self, byte: u8) {
        match self.0.last_mut() {
            Some(Token::Literal(text)) => text.push(byte),
            _ => self.0.push(Token::Literal(vec![byte])),
        }
    }
}

fn split_my_sql(pattern: &[u8], tokens: &mut Tokens) -> Result<()> {
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            tokens.literal(*byte);
            continue;
        }
        let code = bytes
            .next()
            .ok_or_else(|| bad_pattern("A pattern must not end with %"))?;
        match code {
            b'%' => tokens.literal(b'%'),
            b'n' => tokens.literal(b'\n'),
            b't' => tokens.literal(b'\t'),
            code => match COMPOSED.iter().find(|(c, _)| c == code) {
                Some((_, others)) => split_my_sql(others, tokens)?,
                None => tokens.0.push(Token::Code(*code, 1)),
            },
        }
    }
    Ok(())
}

fn split_joda(pattern: &[u8], tokens: &mut Tokens) -> Result<()> {
    let mut rest = pattern;
    while let Some(byte) = rest.first() {
        if *byte == b'\'' {
            rest = quoted(&rest[1..], tokens)?;
            continue;
        }
        if !byte.is_ascii_alphabetic() {
            tokens.literal(*byte);
            rest = &rest[1..];
            continue;
        }
        let count = rest.iter().take_while(|b| *b == byte).count();
        tokens.0.push(Token::Code(*byte, count));
        rest = &rest[count..];
    }
    Ok(())
}

/// Text behind a quote, up to the closing one; two quotes are one.
fn quoted<'a>(text: &'a [u8], tokens: &mut Tokens) -> Result<&'a [u8]> {
    if let [b'\'', rest @ ..] = text {
        tokens.literal(b'\'');
        return Ok(rest);
    }
    let mut rest = text;
    loop {
        match rest {
            [b'\'', b'\'', more @ ..] => {
                tokens.literal(b'\'');
                rest = more;
            }
            [b'\'', more @ ..] => return Ok(more),
            [byte, more @ ..] => {
                tokens.literal(*byte);
                rest = more;
            }
            [] => return Err(bad_pattern("No closing single quote in a pattern")),
        }
    }
}

fn bad_pattern(message: &str) -> Error {
    Error::new(ErrorCode::BAD_ARGUMENTS, message)
}

/// The error for a letter that means nothing, or nothing that is supported.
pub(super) fn unknown_code(code: u8, syntax: Syntax) -> Error {
    let shown = code.escape_ascii();
    let is_known = match syntax {
        Syntax::MySql => b"QUvxX".contains(&code),
        Syntax::Joda => true,
    };
    if is_known {
        Error::not_implemented(format!("Format code '{shown}' of a time pattern"))
    } else {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Wrong syntax, unexpected format code '{shown}' in a time pattern"),
        )
    }
}
