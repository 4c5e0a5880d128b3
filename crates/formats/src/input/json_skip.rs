//! Goes over JSON values that nobody asked for, and finds what is no JSON.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::Cursor;

use super::json_text::{expected, skip_string, take_number, too_deep};

/// Goes over one value.
///
/// # Errors
/// `INCORRECT_DATA` where no value begins and where an object or array does not go on as such.
pub(super) fn skip_value(cursor: &mut Cursor<'_>, max_depth: u64) -> Result<()> {
    // What closes the objects and arrays that are open.
    let mut open: Vec<u8> = Vec::new();
    loop {
        match cursor.peek() {
            Some(bracket @ (b'{' | b'[')) => {
                if open.len() as u64 >= max_depth {
                    return Err(too_deep());
                }
                open.push(if bracket == b'{' { b'}' } else { b']' });
                cursor.advance(1);
                cursor.skip_space();
                if !is_closed(cursor, &mut open) {
                    skip_key(cursor, &open)?;
                    continue;
                }
            }
            _ => skip_scalar(cursor)?,
        }
        if !go_to_next(cursor, &mut open)? {
            return Ok(());
        }
    }
}

/// Goes behind a value, to the next one within the same object or array or around it; `false` if there is none.
fn go_to_next(cursor: &mut Cursor<'_>, open: &mut Vec<u8>) -> Result<bool> {
    while let Some(close) = open.last().copied() {
        cursor.skip_space();
        let has_comma = cursor.eat(b',');
        cursor.skip_space();
        // ClickHouse wants no comma between the members of an object, and takes one behind the last.
        let may_close = !has_comma || close == b'}';
        if may_close && is_closed(cursor, open) {
            continue;
        }
        if !has_comma && close == b']' {
            return Err(unexpected("',' or ']'", cursor));
        }
        skip_key(cursor, open)?;
        return Ok(true);
    }
    Ok(false)
}

/// Takes the end of the innermost object or array, if it is next.
fn is_closed(cursor: &mut Cursor<'_>, open: &mut Vec<u8>) -> bool {
    let is_closed = open.last().is_some_and(|close| cursor.eat(*close));
    if is_closed {
        open.pop();
    }
    is_closed
}

/// Goes over the name of a member with its colon, if the innermost value is an object.
fn skip_key(cursor: &mut Cursor<'_>, open: &[u8]) -> Result<()> {
    if open.last() != Some(&b'}') {
        return Ok(());
    }
    if cursor.peek() != Some(b'"') {
        return Err(unexpected("a name in quotes", cursor));
    }
    skip_string(cursor)?;
    cursor.skip_space();
    if !cursor.eat(b':') {
        return Err(unexpected("':'", cursor));
    }
    cursor.skip_space();
    Ok(())
}

fn skip_scalar(cursor: &mut Cursor<'_>) -> Result<()> {
    match cursor.peek() {
        Some(b'"') => skip_string(cursor),
        Some(b'-' | b'+' | b'.' | b'0'..=b'9') => skip_number(cursor),
        Some(b'n') => skip_word(cursor, "null"),
        Some(b't') => skip_word(cursor, "true"),
        Some(b'f') => skip_word(cursor, "false"),
        _ => Err(unexpected("a value", cursor)),
    }
}

fn skip_number(cursor: &mut Cursor<'_>) -> Result<()> {
    let start = *cursor;
    let mut text = take_number(cursor).to_vec();
    if matches!(text.as_slice(), b"-" | b"+") {
        text.extend_from_slice(cursor.take_while(|b| b.is_ascii_alphabetic()));
    }
    let text = std::str::from_utf8(&text).ok();
    match text.and_then(|t| t.parse::<f64>().ok()) {
        Some(_) => Ok(()),
        None => Err(unexpected("a number", &start)),
    }
}

fn skip_word(cursor: &mut Cursor<'_>, word: &str) -> Result<()> {
    match cursor.eat_text(word.as_bytes()) {
        true => Ok(()),
        false => Err(expected(word, cursor)),
    }
}

fn unexpected(what: &str, cursor: &Cursor<'_>) -> Error {
    let code = ErrorCode::INCORRECT_DATA;
    Error::new(code, expected(what, cursor).message())
}
