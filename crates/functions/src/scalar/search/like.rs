//! Matches strings with the patterns of `LIKE` and `ILIKE`.
//!
//! `%` stands for any characters, `_` for one, a backslash makes the next `%`, `_` or backslash
//! plain. A pattern is sorted once into the cheapest kind of matching that it allows.

use std::sync::OnceLock;

use basalt_error::{Error, ErrorCode, Result};
use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use crate::characters::is_utf8;

/// A pattern of `LIKE` or `ILIKE`, ready to match.
#[derive(Clone, Debug)]
pub struct LikeMatcher {
    kind: Kind,
    tokens: Vec<Token>,
    case_insensitive: bool,
    regex: OnceLock<Option<Regex>>,
}

#[derive(Clone, Debug)]
enum Kind {
    Anything,
    Equal(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Box<Finder<'static>>),
    /// Pieces in order with anything between them, at least one `%` among them.
    Pieces {
        prefix: Vec<u8>,
        middle: Vec<Finder<'static>>,
        suffix: Vec<u8>,
    },
    Regex,
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Text(Vec<u8>),
    AnyCharacter,
    AnyCharacters,
}

impl LikeMatcher {
    /// Prepares a pattern.
    ///
    /// # Errors
    /// `CANNOT_PARSE_ESCAPE_SEQUENCE` for a backslash at the end.
    pub fn new(pattern: &[u8], case_insensitive: bool) -> Result<Self> {
        let tokens = parse(pattern)?;
        let kind = kind_of(&tokens, case_insensitive);
        Ok(Self {
            kind,
            tokens,
            case_insensitive,
            regex: OnceLock::new(),
        })
    }

    /// Whether the whole of `value` fits the pattern.
    #[inline]
    pub fn matches(&self, value: &[u8]) -> bool {
        match &self.kind {
            Kind::Anything => true,
            Kind::Equal(text) => value == text.as_slice(),
            Kind::Prefix(text) => value.starts_with(text),
            Kind::Suffix(text) => value.ends_with(text),
            Kind::Contains(finder) => finder.find(value).is_some(),
            Kind::Pieces {
                prefix,
                middle,
                suffix,
            } => {
                // `%` between texts stands for whole characters only.
                fits_pieces(value, prefix, middle, suffix)
                    && (value.is_ascii() || is_utf8(value) || self.matches_regex(value))
            }
            Kind::Regex => self.matches_regex(value),
        }
    }

    /// What a value must contain, if it must do nothing else.
    pub fn contained(&self) -> Option<&Finder<'static>> {
        match &self.kind {
            Kind::Contains(finder) => Some(finder),
            _ => None,
        }
    }

    /// The bytes that every matching value begins with; empty if any may begin.
    pub fn literal_prefix(&self) -> &[u8] {
        match self.tokens.first() {
            Some(Token::Text(text)) if !self.case_insensitive => text,
            _ => b"",
        }
    }

    /// The one value that matches, if the pattern has no wildcard.
    pub fn literal(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Equal(text) => Some(text),
            _ => None,
        }
    }

    fn matches_regex(&self, value: &[u8]) -> bool {
        let regex = self.regex.get_or_init(|| {
            RegexBuilder::new(&regex_of(&self.tokens))
                .dot_matches_new_line(true)
                .case_insensitive(self.case_insensitive)
                // Only the length of the pattern can make it large.
                .size_limit(1 << 28)
                .build()
                .ok()
        });
        regex.as_ref().is_some_and(|r| r.is_match(value))
    }
}

fn parse(pattern: &[u8]) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        let plain = match byte {
            b'%' => {
                if tokens.last() != Some(&Token::AnyCharacters) {
                    tokens.push(Token::AnyCharacters);
                }
                continue;
            }
            b'_' => {
                tokens.push(Token::AnyCharacter);
                continue;
            }
            b'\\' => match bytes.next() {
                None => return Err(dangling_escape(pattern)),
                Some(next @ (b'%' | b'_' | b'\\')) => vec![*next],
                Some(next) => vec![b'\\', *next],
            },
            plain => vec![*plain],
        };
        match tokens.last_mut() {
            Some(Token::Text(text)) => text.extend(plain),
            _ => tokens.push(Token::Text(plain)),
        }
    }
    Ok(tokens)
}

fn dangling_escape(pattern: &[u8]) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
        format!(
            "Invalid escape sequence at the end of LIKE pattern '{}'",
            String::from_utf8_lossy(pattern)
        ),
    )
}

fn kind_of(tokens: &[Token], case_insensitive: bool) -> Kind {
    use Token::{AnyCharacters, Text};
    let has_case = |t: &Token| matches!(t, Text(text) if has_letters(text));
    if tokens.contains(&Token::AnyCharacter) || case_insensitive && tokens.iter().any(has_case) {
        return Kind::Regex;
    }
    let finder = |t: &[u8]| Finder::new(t).into_owned();
    match tokens {
        [] => Kind::Equal(Vec::new()),
        [AnyCharacters] => Kind::Anything,
        [Text(text)] => Kind::Equal(text.clone()),
        [Text(text), AnyCharacters] => Kind::Prefix(text.clone()),
        [AnyCharacters, Text(text)] => Kind::Suffix(text.clone()),
        [AnyCharacters, Text(text), AnyCharacters] => Kind::Contains(Box::new(finder(text))),
        tokens => {
            let texts = tokens.iter().enumerate().filter_map(|(i, t)| match t {
                Text(text) => Some((i, text)),
                _ => None,
            });
            let (mut prefix, mut middle, mut suffix) = (Vec::new(), Vec::new(), Vec::new());
            for (i, text) in texts {
                if i == 0 {
                    prefix = text.clone();
                } else if i + 1 == tokens.len() {
                    suffix = text.clone();
                } else {
                    middle.push(finder(text));
                }
            }
            Kind::Pieces {
                prefix,
                middle,
                suffix,
            }
        }
    }
}

fn has_letters(text: &[u8]) -> bool {
    !text.is_ascii() || text.iter().any(u8::is_ascii_alphabetic)
}

fn fits_pieces(value: &[u8], prefix: &[u8], middle: &[Finder<'_>], suffix: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(prefix) else {
        return false;
    };
    let Some(mut rest) = rest.strip_suffix(suffix) else {
        return false;
    };
    for finder in middle {
        let Some(at) = finder.find(rest) else {
            return false;
        };
        rest = &rest[at + finder.needle().len()..];
    }
    true
}

/// `%` at either end is left out: then the match need not reach that end.
fn regex_of(tokens: &[Token]) -> String {
    let mut regex = String::new();
    let last = tokens.len().saturating_sub(1);
    if tokens.first() != Some(&Token::AnyCharacters) {
        regex.push('^');
    }
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::AnyCharacters if i == 0 || i == last => {}
            Token::AnyCharacters => regex.push_str(".*"),
            Token::AnyCharacter => regex.push('.'),
            Token::Text(text) => push_text(&mut regex, text),
        }
    }
    if tokens.last() != Some(&Token::AnyCharacters) {
        regex.push('$');
    }
    regex
}

fn push_text(regex: &mut String, text: &[u8]) {
    for chunk in text.utf8_chunks() {
        regex.push_str(&regex::escape(chunk.valid()));
        for byte in chunk.invalid() {
            regex.push_str(&format!("(?-u:\\x{byte:02X})"));
        }
    }
}
