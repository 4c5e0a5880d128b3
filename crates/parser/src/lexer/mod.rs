//! Cuts a query's text into tokens.
//!
//! Knows no grammar and never fails: text that is no token becomes [`TokenKind::Error`]. Works on
//! bytes, because strings need not be UTF-8. Besides ASCII it knows the signs that text programs put
//! in: the minus `−`, the quotes `‘ ’ “ ”`, and Unicode's spaces.

mod escape;
mod token;

use crate::ast::Span;
use token::TokenKind as K;

pub use escape::{decode_heredoc, decode_hex_string, decode_quoted, has_cut_escape};
pub use token::{LexError, Token, TokenKind};

/// Tokens of a text in order, whitespace and comments included; the last is [`TokenKind::End`].
#[derive(Clone, Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    /// Kind of the last significant token: decides whether `.1` is a number or a dot.
    previous: TokenKind,
    ended: bool,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of `text`.
    pub fn new(text: &'a [u8]) -> Self {
        Self::starting_at(text, 0)
    }

    /// Starts at byte `pos` of `text`; spans count from the beginning of `text`.
    pub fn starting_at(text: &'a [u8], pos: usize) -> Self {
        Lexer {
            text,
            pos: pos.min(text.len()),
            previous: K::End,
            ended: false,
        }
    }

    /// The next token; after the end always [`TokenKind::End`].
    pub fn next_token(&mut self) -> Token {
        let start = self.pos;
        let kind = self.scan();
        if kind.is_significant() {
            self.previous = kind;
        }
        Token {
            kind,
            span: Span {
                start: offset(start),
                end: offset(self.pos),
                ..Span::default()
            },
        }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.pos..]
    }

    /// Takes `len` bytes as a token of `kind`.
    fn take(&mut self, len: usize, kind: TokenKind) -> TokenKind {
        self.pos = (self.pos + len).min(self.text.len());
        kind
    }

    fn scan(&mut self) -> TokenKind {
        let Some(&first) = self.rest().first() else {
            return K::End;
        };
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => self.whitespace(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word_or_prefixed_string(),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() && !self.dot_follows_value() => self.number(),
            b'\'' => self.quoted(b'\'', K::String),
            b'"' | b'`' => self.quoted(first, K::QuotedIdentifier),
            b'$' => self.dollar(),
            b'#' if matches!(self.byte(1), b' ' | b'!') => self.line_comment(),
            0x80.. => self.non_ascii(),
            _ => self.punctuation(first),
        }
    }

    fn whitespace(&mut self) -> TokenKind {
        loop {
            let spaces = self
                .rest()
                .iter()
                .take_while(|b| b.is_ascii_whitespace() || **b == 0x0b);
            self.pos += spaces.count();
            match unicode_space(self.rest()) {
                Some(len) => self.pos += len,
                None => return K::Whitespace,
            }
        }
    }

    fn word_or_prefixed_string(&mut self) -> TokenKind {
        if self.byte(1) == b'\'' {
            match self.byte(0) {
                b'x' | b'X' => return self.simple_quoted(K::HexString),
                b'b' | b'B' => return self.simple_quoted(K::BinaryString),
                _ => {}
            }
        }
        let len = self.rest().iter().take_while(|b| is_word(**b)).count();
        self.take(len, K::Word)
    }

    /// `x'..'`: no escapes inside.
    fn simple_quoted(&mut self, kind: TokenKind) -> TokenKind {
        match self.rest()[2..].iter().position(|b| *b == b'\'') {
            Some(len) => self.take(len + 3, kind),
            None => self.take(self.rest().len(), K::Error(LexError::UnclosedQuote)),
        }
    }

    fn dot_follows_value(&self) -> bool {
        matches!(
            self.previous,
            K::Word | K::QuotedIdentifier | K::Number | K::CloseRound | K::CloseSquare
        )
    }

    fn number(&mut self) -> TokenKind {
        let rest = self.rest();
        let len = if self.previous == K::Dot {
            rest.iter().take_while(|b| b.is_ascii_digit()).count()
        } else {
            number_len(rest)
        };
        if !rest.get(len).copied().is_some_and(is_word) {
            return self.take(len, K::Number);
        }
        // Names may begin with digits: `2020_visits`.
        let word_len = rest.iter().take_while(|b| is_word(**b)).count();
        if word_len > len {
            return self.take(word_len, K::Word);
        }
        self.take(len, K::Error(LexError::BadNumber))
    }

    /// Text in quotes, where a backslash takes the next byte along and a doubled quote is one.
    fn quoted(&mut self, quote: u8, kind: TokenKind) -> TokenKind {
        let rest = self.rest();
        let mut at = 1;
        while let Some(&b) = rest.get(at) {
            if b == b'\\' {
                at += 2;
            } else if b != quote {
                at += 1;
            } else if rest.get(at + 1) == Some(&quote) {
                at += 2;
            } else {
                return self.take(at + 1, kind);
            }
        }
        self.take(rest.len(), K::Error(LexError::UnclosedQuote))
    }

    /// A heredoc, a word with a dollar, or nothing known.
    fn dollar(&mut self) -> TokenKind {
        let rest = self.rest();
        let tag = rest[1..]
            .iter()
            .take_while(|b| is_word(**b) && **b != b'$')
            .count();
        if rest.get(tag + 1) == Some(&b'$') {
            let (tag, body) = rest.split_at(tag + 2);
            return match find(body, tag) {
                Some(at) => self.take(at + 2 * tag.len(), K::Heredoc),
                None => self.take(rest.len(), K::Error(LexError::UnclosedQuote)),
            };
        }
        match tag {
            0 => self.take(1, K::Error(LexError::UnknownCharacter)),
            _ => self.take(
                1 + rest[1..].iter().take_while(|b| is_word(**b)).count(),
                K::Word,
            ),
        }
    }

    fn line_comment(&mut self) -> TokenKind {
        let len = self.rest().iter().take_while(|b| **b != b'\n').count();
        self.take(len, K::Comment)
    }

    /// Comments nest: each `/*` inside wants a `*/` of its own.
    fn block_comment(&mut self) -> TokenKind {
        let rest = self.rest();
        let (mut at, mut depth) = (2, 1_usize);
        while let Some(next) = rest[at..].iter().position(|b| matches!(b, b'*' | b'/')) {
            at += next;
            match (rest[at], rest.get(at + 1)) {
                (b'/', Some(b'*')) => (at, depth) = (at + 2, depth + 1),
                (b'*', Some(b'/')) => (at, depth) = (at + 2, depth - 1),
                _ => at += 1,
            }
            if depth == 0 {
                return self.take(at, K::Comment);
            }
        }
        self.take(rest.len(), K::Error(LexError::UnclosedComment))
    }

    fn non_ascii(&mut self) -> TokenKind {
        let rest = self.rest();
        if unicode_space(rest).is_some() {
            return self.whitespace();
        }
        if rest.starts_with("−".as_bytes()) {
            return self.take(3, K::Minus);
        }
        for (open, close, kind) in [("‘", "’", K::String), ("“", "”", K::QuotedIdentifier)]
        {
            if rest.starts_with(open.as_bytes()) {
                return match find(&rest[3..], close.as_bytes()) {
                    Some(at) => self.take(at + 6, kind),
                    None => self.take(rest.len(), K::Error(LexError::UnclosedQuote)),
                };
            }
        }
        let len = 1 + rest[1..].iter().take_while(|b| **b & 0xc0 == 0x80).count();
        self.take(len, K::Error(LexError::UnknownCharacter))
    }

    fn punctuation(&mut self, first: u8) -> TokenKind {
        let (len, kind) = match (first, self.byte(1), self.byte(2)) {
            (b'-', b'-', _) | (b'/', b'/', _) => return self.line_comment(),
            (b'/', b'*', _) => return self.block_comment(),
            (b'-', b'>', _) => (2, K::Arrow),
            (b':', b':', _) => (2, K::DoubleColon),
            (b'=', b'=', _) => (2, K::Equals),
            (b'!', b'=', _) | (b'<', b'>', _) => (2, K::NotEquals),
            (b'!', b'~', b'*') => (3, K::NotTildeAsterisk),
            (b'!', b'~', _) => (2, K::NotTilde),
            (b'~', b'*', _) => (2, K::TildeAsterisk),
            (b'<', b'=', b'>') => (3, K::Spaceship),
            (b'<', b'=', _) => (2, K::LessOrEquals),
            (b'>', b'=', _) => (2, K::GreaterOrEquals),
            (b'|', b'|', _) => (2, K::Concatenation),
            (b'@', b'@', _) => (2, K::DoubleAt),
            (b'\\', b'G', _) => (2, K::VerticalDelimiter),
            _ => match single(first) {
                Some(kind) => (1, kind),
                None => (1, K::Error(LexError::UnknownCharacter)),
            },
        };
        self.take(len, kind)
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if self.ended {
            return None;
        }
        let token = self.next_token();
        self.ended = token.kind == K::End;
        Some(token)
    }
}

/// Tokens of one byte.
fn single(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'(' => K::OpenRound,
        b')' => K::CloseRound,
        b'[' => K::OpenSquare,
        b']' => K::CloseSquare,
        b'{' => K::OpenCurly,
        b'}' => K::CloseCurly,
        b',' => K::Comma,
        b';' => K::Semicolon,
        b'.' => K::Dot,
        b'*' => K::Asterisk,
        b'+' => K::Plus,
        b'-' => K::Minus,
        b'/' => K::Slash,
        b'%' => K::Percent,
        b'?' => K::Question,
        b':' => K::Colon,
        b'=' => K::Equals,
        b'<' => K::Less,
        b'>' => K::Greater,
        b'~' => K::Tilde,
        b'^' => K::Caret,
        b'@' => K::At,
        _ => return None,
    })
}

/// Offsets are 32 bits wide; the parser refuses longer texts before it starts.
fn offset(pos: usize) -> u32 {
    u32::try_from(pos).unwrap_or(u32::MAX)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$'
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|w| w == what)
}

/// Length of the space character that `text` begins with, if it is one beyond ASCII.
fn unicode_space(text: &[u8]) -> Option<usize> {
    const SPACES: [&str; 17] = [
        "\u{85}", "\u{a0}", "\u{180e}", "\u{2000}", "\u{2001}", "\u{2002}", "\u{2003}", "\u{2009}",
        "\u{200a}", "\u{200b}", "\u{200c}", "\u{200d}", "\u{2028}", "\u{202f}", "\u{2060}",
        "\u{3000}", "\u{feff}",
    ];
    SPACES
        .iter()
        .find(|s| text.starts_with(s.as_bytes()))
        .map(|s| s.len())
}

/// Length of the number that `text` begins with: `12`, `1_000`, `1.5e-3`, `.5`, `0xff`, `0x1p3`, `0b1`.
fn number_len(text: &[u8]) -> usize {
    let byte = |at: usize| text.get(at).copied().unwrap_or(0);
    let digits = |mut at: usize, is_digit: fn(&u8) -> bool| {
        while is_digit(&byte(at)) || (byte(at) == b'_' && at > 0 && is_digit(&byte(at + 1))) {
            at += 1;
        }
        at
    };
    let prefix = byte(1).to_ascii_lowercase();
    if byte(0) == b'0' && prefix == b'b' && matches!(byte(2), b'0' | b'1') {
        return digits(2, |b| matches!(b, b'0' | b'1'));
    }
    let hex = byte(0) == b'0' && prefix == b'x' && byte(2).is_ascii_hexdigit();
    let is_digit: fn(&u8) -> bool = if hex {
        u8::is_ascii_hexdigit
    } else {
        u8::is_ascii_digit
    };
    let mut at = digits(if hex { 2 } else { 0 }, is_digit);
    if byte(at) == b'.' {
        at = digits(at + 1, is_digit);
    }
    let exponent = if hex { b'p' } else { b'e' };
    if byte(at).to_ascii_lowercase() == exponent {
        let sign = usize::from(matches!(byte(at + 1), b'+' | b'-'));
        if byte(at + 1 + sign).is_ascii_digit() {
            at = digits(at + 1 + sign, u8::is_ascii_digit);
        }
    }
    at
}

#[cfg(test)]
mod tests;
