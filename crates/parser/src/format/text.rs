//! Writes names, strings and numbers.

use crate::keywords::is_reserved_name;

/// Words that ClickHouse quotes although they look like names.
const QUOTED_WORDS: &[&str] = &[
    "ALL", "DISTINCT", "FALSE", "FROM", "INF", "NAN", "NULL", "SELECT", "SOME", "TABLE", "TOP",
    "TRUE", "VALUES",
];

/// Words that begin a form of expression.
const FORM_WORDS: &[&str] = &["CASE", "INTERVAL"];

/// A name as ClickHouse writes it, in backticks if it needs them there.
pub(crate) fn identifier(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty();
    let is_quoted = QUOTED_WORDS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(name));
    if plain && !is_quoted {
        return name.to_owned();
    }
    backticked(name)
}

/// Whether a clause or operator begins with `name`: it may be read as that where it stands as a name.
pub(super) fn is_risky_name(name: &str) -> bool {
    is_reserved_name(name.as_bytes())
}

/// Whether a form of expression begins with `name`.
pub(super) fn is_form_word(name: &str) -> bool {
    FORM_WORDS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(name))
}

/// Whether a clause or modifier could begin with `name` where a function's name stands.
pub(super) fn is_clause_word(name: &str) -> bool {
    const FUNCTIONS: &[&str] = &["AND", "BETWEEN", "OR", "LIKE", "ILIKE"];
    let is_function = FUNCTIONS.iter().any(|word| word.eq_ignore_ascii_case(name));
    is_reserved_name(name.as_bytes()) && !is_function
}

/// A name in backticks.
pub(crate) fn backticked(name: &str) -> String {
    format!("`{}`", escaped(name.as_bytes(), '`'))
}

/// A string in single quotes.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    format!("'{}'", escaped(bytes, '\''))
}

/// `bytes` with escapes; what is not UTF-8 becomes `\xHH`.
fn escaped(bytes: &[u8], quote: char) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                '\0' => out.push_str("\\0"),
                '\\' => out.push_str("\\\\"),
                c if c == quote => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        for b in chunk.invalid() {
            out.push_str(&format!("\\x{b:02X}"));
        }
    }
    out
}

/// A Float64 in the shortest form that reads back the same; always with a point or exponent.
pub(crate) fn float(value: f64) -> String {
    let text = shortest(value);
    let is_integer = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_integer { text + "." } else { text }
}

/// As ClickHouse prints floats: plain between 1e-6 and 1e21, else with an exponent.
pub(crate) fn shortest(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return format!("{value}");
    }
    format!("{value:e}")
}
