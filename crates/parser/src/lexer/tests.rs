//! Checks token boundaries.

use super::{LexError, Lexer, TokenKind as K, decode_heredoc, decode_hex_string, decode_quoted};

fn kinds(text: &str) -> Vec<K> {
    let tokens = Lexer::new(text.as_bytes()).map(|t| t.kind);
    tokens
        .filter(|k| k.is_significant() && *k != K::End)
        .collect()
}

fn words(text: &str) -> Vec<&str> {
    Lexer::new(text.as_bytes())
        .filter(|t| t.kind.is_significant() && t.kind != K::End)
        .map(|t| &text[t.span.start as usize..t.span.end as usize])
        .collect()
}

#[test]
fn tuple_indexes_are_no_fractions() {
    assert_eq!(words("t.1.2"), ["t", ".", "1", ".", "2"]);
    assert_eq!(words("t.1e5"), ["t", ".", "1e5"]);
    assert_eq!(
        kinds("a[1].5"),
        [
            K::Word,
            K::OpenSquare,
            K::Number,
            K::CloseSquare,
            K::Dot,
            K::Number
        ]
    );
    assert_eq!(kinds("+.5"), [K::Plus, K::Number]);
}

#[test]
fn numbers() {
    for text in [
        "1", "1.", "1.5", ".5", "1e10", "1E-10", "0xff", "0x1.8p3", "0b101", "1_000", "1_0.5",
    ] {
        assert_eq!(kinds(text), [K::Number], "{text}");
    }
    assert_eq!(kinds("2020_x"), [K::Word]);
    assert_eq!(kinds("1.5x"), [K::Error(LexError::BadNumber), K::Word]);
    assert_eq!(words("1..2"), ["1.", ".", "2"]);
}

#[test]
fn strings_and_comments() {
    assert_eq!(
        kinds("'it''s' \"a\" `b` -- x\n /* y */ # z\n#! w"),
        [K::String, K::QuotedIdentifier, K::QuotedIdentifier]
    );
    assert_eq!(kinds("$$a'b$$ $t$ $$ $t$"), [K::Heredoc, K::Heredoc]);
    assert_eq!(kinds("'abc"), [K::Error(LexError::UnclosedQuote)]);
    assert_eq!(kinds("/* abc"), [K::Error(LexError::UnclosedComment)]);
    assert_eq!(kinds("/* a /* b */"), [K::Error(LexError::UnclosedComment)]);
    assert_eq!(kinds("/* a /*/ b */ c */ x /*/ */"), [K::Word]);
    assert_eq!(kinds("/* */ */"), [K::Asterisk, K::Slash]);
    assert_eq!(
        kinds("\u{a0}‘a’ − “b”"),
        [K::String, K::Minus, K::QuotedIdentifier]
    );
}

#[test]
fn decoding() {
    assert_eq!(decode_quoted(br"'a\n\d\x41\N''\'\0'"), b"a\n\\dA''\0");
    assert_eq!(decode_heredoc(b"$a$x$y$a$"), b"x$y");
    assert_eq!(decode_hex_string(b"x'4142'"), Some(b"AB".to_vec()));
    assert_eq!(decode_hex_string(b"x'1'"), Some(vec![1]));
    assert_eq!(
        decode_hex_string(b"b'0100000101000010'"),
        Some(b"AB".to_vec())
    );
    assert_eq!(decode_hex_string(b"x'zz'"), None);
}
