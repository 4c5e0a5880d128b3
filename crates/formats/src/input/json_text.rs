//! Goes over the text of JSON: strings, numbers, what stands between them.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;

/// The error where something else stands than expected.
pub(super) fn expected(what: &str, cursor: &Cursor<'_>) -> Error {
    let found = if cursor.is_at_end() {
        "at end of stream".to_string()
    } else {
        format!("before: '{}'", cursor.excerpt())
    };
    Error::new(
        ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
        format!("Cannot parse input: expected {what} {found}"),
    )
}

/// The error where a value that nobody asked for cannot be skipped.
fn cannot_skip(cursor: &Cursor<'_>) -> Error {
    let code = ErrorCode::INCORRECT_DATA;
    Error::new(code, expected("a value", cursor).message())
}

/// Reads a JSON string and appends its value to `out`.
pub(crate) fn read_string(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<()> {
    let start = *cursor;
    if !cursor.eat(b'"') {
        return Err(bad_quote("opening", &start));
    }
    loop {
        let text = cursor.rest();
        let Some(end) = memchr::memchr2(b'"', b'\\', text) else {
            return Err(bad_quote("closing", &start));
        };
        out.extend_from_slice(cursor.take(end));
        let is_end = cursor.eat(b'"');
        if is_end {
            return Ok(());
        }
        cursor.advance(1);
        let Some(escape) = cursor.peek() else {
            return Err(bad_quote("closing", &start));
        };
        cursor.advance(1);
        match escape {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'u' => read_unicode(cursor, out)?,
            other => out.push(other),
        }
    }
}

/// Reads the four digits behind `\u`, and a second escape if they are the first half of a pair. A second half
/// alone stands for no character.
fn read_unicode(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<()> {
    let high = read_hex(cursor)?;
    let mut code = u32::from(high);
    if (0xd800..0xdc00).contains(&high) {
        let at = *cursor;
        let low = match cursor.eat_text(b"\\u") {
            true => read_hex(cursor)?,
            false => 0,
        };
        if !(0xdc00..0xe000).contains(&low) {
            return Err(Error::new(
                ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
                format!(
                    "Cannot parse escape sequence: the second part of a surrogate pair is missing: '{}'",
                    at.excerpt()
                ),
            ));
        }
        code = 0x10000 + (u32::from(high - 0xd800) << 10 | u32::from(low - 0xdc00));
    }
    let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}

fn read_hex(cursor: &mut Cursor<'_>) -> Result<u16> {
    let at = *cursor;
    let digits = std::str::from_utf8(cursor.take(4)).unwrap_or_default();
    let all_digits = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16)
        .ok()
        .filter(|_| all_digits)
        .ok_or_else(|| {
            Error::new(
                ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
                format!(
                    "Cannot parse escape sequence: four hexadecimal digits must follow \\u: '{}'",
                    at.excerpt()
                ),
            )
        })
}

/// Goes over a colon with space around it.
pub(crate) fn expect_colon(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.skip_space();
    cursor.expect(b':')?;
    cursor.skip_space();
    Ok(())
}

/// Goes over a number's text.
pub(super) fn take_number<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    cursor.take_while(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E'))
}

/// Goes over a number's text, which may also be the word of one that is not finite, behind a sign.
pub(super) fn take_float<'a>(cursor: &mut Cursor<'a>) -> &'a [u8] {
    match cursor.rest() {
        [b'-' | b'+', letter, ..] if letter.is_ascii_alphabetic() => {
            cursor.take_while(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'+'))
        }
        _ => take_number(cursor),
    }
}

/// Goes over one value by its brackets and quotes, whatever else is in it, and returns its text.
pub(crate) fn take_value<'a>(cursor: &mut Cursor<'a>, max_depth: u64) -> Result<&'a [u8]> {
    let text = cursor.rest();
    let mut depth = 0_u64;
    loop {
        match cursor.peek() {
            None => return Err(cannot_skip(cursor)),
            Some(b'"') => skip_string(cursor)?,
            Some(b'{' | b'[') => {
                depth += 1;
                if depth > max_depth {
                    return Err(too_deep());
                }
                cursor.advance(1);
            }
            Some(b'}' | b']') if depth > 0 => {
                depth -= 1;
                cursor.advance(1);
            }
            Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') if depth > 0 => cursor.advance(1),
            Some(_) => {
                let word = cursor.take_while(|b| {
                    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.' | b'_')
                });
                if word.is_empty() {
                    return Err(cannot_skip(cursor));
                }
            }
        }
        if depth == 0 {
            return Ok(&text[..text.len() - cursor.rest().len()]);
        }
    }
}

pub(super) fn skip_string(cursor: &mut Cursor<'_>) -> Result<()> {
    let start = *cursor;
    cursor.advance(1);
    while let Some(end) = memchr::memchr2(b'"', b'\\', cursor.rest()) {
        cursor.advance(end);
        if cursor.eat(b'"') {
            return Ok(());
        }
        cursor.advance(2);
    }
    Err(bad_quote("closing", &start))
}

pub(super) fn too_deep() -> Error {
    Error::new(ErrorCode::TOO_DEEP_RECURSION, "JSON is nested too deeply")
}

fn bad_quote(which: &str, at: &Cursor<'_>) -> Error {
    Error::new(
        ErrorCode::CANNOT_PARSE_QUOTED_STRING,
        format!(
            "Cannot parse JSON string: expected {which} quote: '{}'",
            at.excerpt()
        ),
    )
}

/// Takes a string that has no escapes.
#[inline]
pub(super) fn take_plain_string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let text = cursor.rest().strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', text)?;
    if text[end] == b'\\' {
        return None;
    }
    cursor.advance(end + 2);
    Some(&text[..end])
}
