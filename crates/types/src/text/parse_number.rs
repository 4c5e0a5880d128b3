//! Reads integers and booleans from text.
//!
//! The `read_*` functions take the longest text that is a number and leave the rest; the
//! `parse_*` functions want the whole text. Integers wrap on overflow, as in ClickHouse.

use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;
use super::cursor::excerpt;

/// An integer type that text can be read as.
pub trait Integer: Copy {
    /// Whether a minus may stand in front.
    const SIGNED: bool;
    /// The low bits of `value`.
    fn wrap(value: u64) -> Self;
}

macro_rules! integer {
    ($($name:ident $signed:literal,)*) => {
        $(impl Integer for $name {
            const SIGNED: bool = $signed;
            #[inline]
            fn wrap(value: u64) -> Self {
                value as $name
            }
        })*
    };
}

integer! { u8 false, u16 false, u32 false, u64 false, i8 true, i16 true, i32 true, i64 true, }

fn not_whole(text: &[u8], rest: &[u8], kind: &str) -> Error {
    let parsed = &text[..text.len() - rest.len()];
    Error::new(
        ErrorCode::CANNOT_PARSE_TEXT,
        if parsed.is_empty() {
            format!(
                "Cannot parse string '{}' as {kind}: syntax error at begin of string",
                excerpt(text)
            )
        } else {
            format!(
                "Cannot parse string '{}' as {kind}: syntax error at position {} (parsed just '{}')",
                excerpt(text),
                parsed.len(),
                excerpt(parsed)
            )
        },
    )
}

/// Runs `read` over the whole of `text`; text that is left over is an error.
///
/// # Errors
/// `CANNOT_PARSE_TEXT` if text is left over, else the reader's.
#[inline]
pub fn parse_whole<T>(
    text: &[u8],
    kind: &str,
    read: impl FnOnce(&mut Cursor<'_>) -> Result<T>,
) -> Result<T> {
    let mut cursor = Cursor::new(text);
    let value = read(&mut cursor)?;
    if cursor.is_at_end() {
        Ok(value)
    } else {
        Err(not_whole(text, cursor.rest(), kind))
    }
}

/// Parses the whole of `text` as an integer.
///
/// # Errors
/// `CANNOT_PARSE_TEXT`, `CANNOT_PARSE_NUMBER`, or `ATTEMPT_TO_READ_AFTER_EOF` for no text at all.
#[inline]
pub fn parse_int<T: Integer>(text: &[u8]) -> Result<T> {
    parse_whole(text, "integer", |cursor| read_int(cursor))
}

/// Reads an integer.
///
/// # Errors
/// As [`parse_int`].
#[inline]
pub fn read_int<T: Integer>(cursor: &mut Cursor<'_>) -> Result<T> {
    let start = cursor.rest();
    let negative = T::SIGNED && cursor.eat(b'-');
    if !negative {
        cursor.eat(b'+');
    }
    let text = cursor.rest();
    let mut value = 0_u64;
    let mut len = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        len += 1;
    }
    if len == 0 {
        return Err(no_digits(start));
    }
    cursor.advance(len);
    Ok(T::wrap(if negative {
        value.wrapping_neg()
    } else {
        value
    }))
}

#[cold]
pub(super) fn no_digits(text: &[u8]) -> Error {
    match text.first() {
        None => Error::new(
            ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
            "Attempt to read after eof: a number is expected, the text is empty",
        ),
        Some(b'-' | b'+') => Error::new(
            ErrorCode::CANNOT_PARSE_NUMBER,
            format!(
                "Cannot parse number, expected digits after at most one sign (unsigned types take no '-'): {}",
                excerpt(text)
            ),
        ),
        Some(_) => Error::new(
            ErrorCode::CANNOT_PARSE_TEXT,
            format!(
                "Cannot parse string '{}' as a number: syntax error at begin of string",
                excerpt(text)
            ),
        ),
    }
}

/// Texts that stand for true or false, in any case.
const BOOLEANS: [(&[u8], bool); 16] = [
    (b"true", true),
    (b"false", false),
    (b"t", true),
    (b"f", false),
    (b"yes", true),
    (b"no", false),
    (b"y", true),
    (b"n", false),
    (b"on", true),
    (b"off", false),
    (b"enable", true),
    (b"disable", false),
    (b"enabled", true),
    (b"disabled", false),
    (b"1", true),
    (b"0", false),
];

/// Parses the whole of `text` as `Bool`.
///
/// # Errors
/// `CANNOT_PARSE_BOOL`.
pub fn parse_bool(text: &[u8]) -> Result<bool> {
    let known = BOOLEANS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    known.map(|(_, value)| *value).ok_or_else(|| no_bool(text))
}

/// Reads a `Bool` that stands without quotes where texts have them: `true`, `false`, 1 or 0.
///
/// # Errors
/// `CANNOT_PARSE_BOOL`, or `CANNOT_PARSE_INPUT_ASSERTION_FAILED` if only the first letter is right.
pub fn read_bool_word(cursor: &mut Cursor<'_>) -> Result<bool> {
    let (word, value) = match cursor.peek() {
        Some(b't' | b'T') => ("true", true),
        Some(b'f' | b'F') => ("false", false),
        Some(b'1') => ("1", true),
        Some(b'0') => ("0", false),
        _ => return Err(no_bool(cursor.rest())),
    };
    match cursor.eat_text_ignoring_case(word.as_bytes()) {
        true => Ok(value),
        false => Err(Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "Cannot parse input: expected '{word}' before: '{}'",
                cursor.excerpt()
            ),
        )),
    }
}

fn no_bool(text: &[u8]) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_BOOL,
        format!(
            "Cannot parse boolean value here: '{}', should be true/false, t/f, yes/no, y/n, on/off, enable/disable, enabled/disabled or 1/0",
            excerpt(text)
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::{parse_bool, parse_int};

    fn code<T>(result: basalt_error::Result<T>) -> u16 {
        result.err().map_or(0, |e| e.code().number)
    }

    #[test]
    fn integers_wrap_and_want_digits() {
        assert_eq!(parse_int::<u8>(b"300"), Ok(44));
        assert_eq!(parse_int::<i8>(b"-129"), Ok(127));
        assert_eq!(parse_int::<u8>(b"+5"), Ok(5));
        assert_eq!(parse_int::<i64>(b"9223372036854775808"), Ok(i64::MIN));
        assert_eq!(
            parse_int::<u64>(b"99999999999999999999999"),
            Ok(200_376_420_520_689_663)
        );
        assert_eq!(parse_int::<i32>(b"007"), Ok(7));
        assert_eq!(code(parse_int::<u8>(b"-1")), 72);
        assert_eq!(code(parse_int::<u8>(b"")), 32);
        for bad in ["12abc", " 12", "12 ", "1.5", "abc"] {
            assert_eq!(code(parse_int::<i32>(bad.as_bytes())), 6, "{bad}");
        }
    }

    #[test]
    fn booleans_have_many_names() {
        for text in ["true", "TRUE", "t", "yes", "y", "on", "1", "enable", "tRue"] {
            assert_eq!(parse_bool(text.as_bytes()), Ok(true), "{text}");
        }
        assert_eq!(parse_bool(b"Off"), Ok(false));
        assert_eq!(code(parse_bool(b"2")), 467);
        assert_eq!(code(parse_bool(b"")), 467);
    }
}
