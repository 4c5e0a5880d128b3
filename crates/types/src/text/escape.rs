//! Escapes strings with backslashes as TSV, SQL literals and JSON do, and reads them back.

use basalt_error::{Error, ErrorCode, Result};

use super::Cursor;

/// What a byte becomes behind a backslash in TSV and in quotes; 0 stands for no escape.
const ESCAPES: [u8; 256] = {
    let mut table = [0; 256];
    table[0x00] = b'0';
    table[0x08] = b'b';
    table[0x09] = b't';
    table[0x0a] = b'n';
    table[0x0c] = b'f';
    table[0x0d] = b'r';
    table[b'\'' as usize] = b'\'';
    table[b'\\' as usize] = b'\\';
    table
};

/// Writes `text` with the escapes of TSV (and of quoted strings: the set is the same).
pub fn write_escaped(text: &[u8], out: &mut Vec<u8>) {
    let mut start = 0;
    for (i, byte) in text.iter().enumerate() {
        let escape = ESCAPES[usize::from(*byte)];
        if escape != 0 {
            out.extend_from_slice(&text[start..i]);
            out.extend_from_slice(&[b'\\', escape]);
            start = i + 1;
        }
    }
    out.extend_from_slice(&text[start..]);
}

/// Writes `text` as an SQL literal: in single quotes, with escapes.
pub fn write_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    write_escaped(text, out);
    out.push(b'\'');
}

/// Writes `text` as a JSON string; bytes that are no UTF-8 stay as they are.
pub fn write_json_string(text: &[u8], escape_forward_slashes: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut start = 0;
    for (i, byte) in text.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'/' if escape_forward_slashes => b"\\/",
            0x08 => b"\\b",
            0x09 => b"\\t",
            0x0a => b"\\n",
            0x0c => b"\\f",
            0x0d => b"\\r",
            0x00..=0x1f => {
                out.extend_from_slice(&text[start..i]);
                start = i + 1;
                write_unicode_escape(*byte, out);
                continue;
            }
            // U+2028 and U+2029 end lines in JavaScript.
            0xa8 | 0xa9 if i >= start + 2 && text[i - 2..i] == [0xe2, 0x80] => {
                out.extend_from_slice(&text[start..i - 2]);
                start = i + 1;
                out.extend_from_slice(if *byte == 0xa8 {
                    b"\\u2028"
                } else {
                    b"\\u2029"
                });
                continue;
            }
            _ => continue,
        };
        out.extend_from_slice(&text[start..i]);
        out.extend_from_slice(escape);
        start = i + 1;
    }
    out.extend_from_slice(&text[start..]);
    out.push(b'"');
}

/// Writes `text` as the text of an XML element.
pub fn write_xml(text: &[u8], out: &mut Vec<u8>) {
    for byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            other => out.push(*other),
        }
    }
}

fn write_unicode_escape(byte: u8, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"\\u00");
    out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

/// Undoes [`write_escaped`] and the further escapes that ClickHouse reads.
///
/// # Errors
/// `CANNOT_PARSE_ESCAPE_SEQUENCE` for a backslash with nothing behind it.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut cursor = Cursor::new(text);
    loop {
        out.extend_from_slice(cursor.take_while(|b| b != b'\\'));
        if cursor.is_at_end() {
            return Ok(());
        }
        cursor.advance(1);
        read_escape(&mut cursor, out)?;
    }
}

/// Reads what follows a backslash.
fn read_escape(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<()> {
    let Some(byte) = cursor.peek() else {
        return Err(Error::new(
            ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
            "Cannot parse escape sequence: nothing behind the backslash",
        ));
    };
    cursor.advance(1);
    let value = match byte {
        b'a' => 0x07,
        b'b' => 0x08,
        b'e' => 0x1b,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'0' => 0,
        b'x' => match cursor.rest() {
            [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let value = hex_digit(*high) << 4 | hex_digit(*low);
                cursor.advance(2);
                value
            }
            _ => {
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_ESCAPE_SEQUENCE,
                    "Cannot parse escape sequence: two hexadecimal digits must follow \\x",
                ));
            }
        },
        b'\\' | b'\'' | b'"' | b'`' | b'/' | b'=' => byte,
        // `\N` is NULL at the start of a field; elsewhere it stands for nothing.
        b'N' => return Ok(()),
        // Also a line feed, as Hive and Postgres write one.
        0x00..=0x1f => byte,
        _ => {
            out.push(b'\\');
            byte
        }
    };
    out.push(value);
    Ok(())
}

/// Value of a hexadecimal digit, 0 for any other byte.
pub fn hex_digit(byte: u8) -> u8 {
    // Below 16.
    char::from(byte).to_digit(16).unwrap_or(0) as u8
}

/// Reads a string in single quotes and appends its value to `out`; a doubled quote is one quote.
///
/// # Errors
/// `CANNOT_PARSE_QUOTED_STRING` if there is no quote at the start or none at the end.
pub fn read_quoted(cursor: &mut Cursor<'_>, quote: u8, out: &mut Vec<u8>) -> Result<()> {
    if !cursor.eat(quote) {
        return Err(Error::new(
            ErrorCode::CANNOT_PARSE_QUOTED_STRING,
            format!(
                "Cannot parse quoted string: expected opening quote '{}', got '{}'",
                char::from(quote),
                cursor.excerpt()
            ),
        ));
    }
    loop {
        out.extend_from_slice(cursor.take_while(|b| b != b'\\' && b != quote));
        match cursor.peek() {
            None => {
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_QUOTED_STRING,
                    "Cannot parse quoted string: expected closing quote",
                ));
            }
            Some(b'\\') => {
                cursor.advance(1);
                read_escape(cursor, out)?;
            }
            Some(_) => {
                cursor.advance(1);
                if !cursor.eat(quote) {
                    return Ok(());
                }
                out.push(quote);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{read_quoted, unescape, write_escaped, write_json_string, write_quoted};
    use crate::text::Cursor;

    #[test]
    fn escapes_come_back() {
        let text: Vec<u8> = (0..=255).collect();
        let mut escaped = Vec::new();
        write_escaped(&text, &mut escaped);
        let mut back = Vec::new();
        unescape(&escaped, &mut back).expect("own escapes");
        assert_eq!(back, text);
        let mut quoted = Vec::new();
        write_quoted(&text, &mut quoted);
        let mut cursor = Cursor::new(&quoted);
        back.clear();
        read_quoted(&mut cursor, b'\'', &mut back).expect("own quotes");
        assert_eq!((back, cursor.is_at_end()), (text, true));
    }

    #[test]
    fn odd_escapes_are_read_as_in_clickhouse() {
        let mut out = Vec::new();
        unescape(b"a\\x41\\tb\\qc\\e\\0z\\\n\\\x7f", &mut out).expect("valid");
        assert_eq!(out, b"aA\tb\\qc\x1b\0z\n\\\x7f");
        assert!(unescape(b"a\\", &mut out).is_err());
    }

    #[test]
    fn json_strings_escape_controls_and_slashes() {
        let mut out = Vec::new();
        write_json_string(b"a/b\"c\\d\n\t\x01\x7f\xff\x0b\xe2\x80\xa8", true, &mut out);
        assert_eq!(
            out,
            b"\"a\\/b\\\"c\\\\d\\n\\t\\u0001\x7f\xff\\u000B\\u2028\""
        );
    }
}
