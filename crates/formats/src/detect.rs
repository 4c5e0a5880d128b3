//! Guesses a format by the first bytes of a source whose name does not tell it.

use basalt_types::parse_data_type;
use basalt_types::text::Cursor;

use crate::input::json_text::{expect_colon, read_string, take_value};
use crate::registry::{FormatEntry, lookup};

/// Formats whose files begin with the same bytes. A message of Arrow begins with a mark in front of its
/// length.
const BEGINNINGS: [(&[u8], &str); 3] = [
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"\xff\xff\xff\xff", "ArrowStream"),
];

/// Bytes of a source that tell most likely of what format it is.
pub const FIRST_BYTES: u64 = 64 << 10;

/// The format that bytes which begin with `first` are most likely of; none if they are no text.
pub fn from_first_bytes(first: &[u8]) -> Option<&'static FormatEntry> {
    let known = BEGINNINGS
        .iter()
        .find(|(bytes, _)| first.starts_with(bytes));
    let name = match known {
        Some((_, name)) => name,
        None if is_native(first) => "Native",
        None if first.contains(&0) => return None,
        None => of_text(first),
    };
    lookup(name).ok()
}

/// Whether a block of columns begins here: two numbers, the name of a column and that of a type.
fn is_native(first: &[u8]) -> bool {
    let mut cursor = Cursor::new(first);
    let mut number = || {
        let mut value = 0_usize;
        for shift in (0..28).step_by(7) {
            let byte = cursor.peek()?;
            cursor.advance(1);
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(value)
    };
    let (Some(1..), Some(_), Some(len)) = (number(), number(), number()) else {
        return false;
    };
    cursor.take(len);
    let len = usize::from(cursor.peek().unwrap_or(0));
    cursor.advance(1);
    let data_type = std::str::from_utf8(cursor.take(len));
    data_type.is_ok_and(|name| parse_data_type(name).is_ok())
}

fn of_text(first: &[u8]) -> &'static str {
    let text = first.trim_ascii_start();
    let line = text.split(|b| *b == b'\n').next().unwrap_or(text);
    match text {
        [b'{', rest @ ..] if rest.trim_ascii_start().starts_with(b"\"meta\"") => "JSON",
        [b'{', ..] if are_columns(text) => "JSONColumns",
        [b'{', ..] if behind_values(text, b'{').is_some_and(|rest| !rest.contains(&b'{')) => {
            "JSONObjectEachRow"
        }
        [b'{', ..] => "JSONEachRow",
        [b'[', rest @ ..] if rest.trim_ascii_start().starts_with(b"{") => "JSONEachRow",
        [b'[', ..] if behind_values(text, b'[').is_some() => "JSONCompactColumns",
        [b'[', ..] => "JSONCompactEachRow",
        [b'(', ..] => "Values",
        _ if is_tskv(first) => "TSKV",
        _ if !line.contains(&b'\t') && line.contains(&b',') => "CSV",
        _ => "TabSeparated",
    }
}

/// Whether each object here has arrays for values, one for a column.
fn are_columns(text: &[u8]) -> bool {
    let mut rest = text;
    while rest.starts_with(b"{") {
        match behind_values(rest, b'[') {
            Some(behind) => rest = behind.trim_ascii_start(),
            None => return false,
        }
    }
    true
}

/// What stands behind the object or array that `text` begins with, if all its values begin with `bracket`, as
/// far as the bytes go, and have something in them: what is empty tells no types.
fn behind_values(text: &[u8], bracket: u8) -> Option<&[u8]> {
    let mut cursor = Cursor::new(text);
    let has_names = cursor.peek() == Some(b'{');
    cursor.advance(1);
    let mut is_first = true;
    loop {
        cursor.skip_space();
        let is_named = !has_names
            || read_string(&mut cursor, &mut Vec::new()).is_ok()
                && expect_colon(&mut cursor).is_ok();
        if !is_named || cursor.is_at_end() {
            // More may stand behind these bytes.
            return (!is_first).then_some(&[]);
        }
        if !cursor.eat(bracket) || matches!(cursor.rest().trim_ascii_start(), [b']' | b'}', ..]) {
            return None;
        }
        let value = &text[text.len() - cursor.rest().len() - 1..];
        cursor = Cursor::new(value);
        is_first = false;
        if take_value(&mut cursor, u64::MAX).is_err() {
            return Some(&[]);
        }
        cursor.skip_space();
        if !cursor.eat(b',') {
            cursor.advance(1);
            return Some(cursor.rest());
        }
    }
}

/// Whether all lines consist of names with values. A line that these bytes do not end tells nothing, unless
/// they are all that there are: TSKV ends with a line feed.
fn is_tskv(first: &[u8]) -> bool {
    let is_whole = (first.len() as u64) < FIRST_BYTES;
    let Some(end) = first.iter().rposition(|b| *b == b'\n') else {
        return false;
    };
    let (lines, rest) = (&first[..end], &first[end + 1..]);
    let is_pair = |field: &[u8]| field.contains(&b'=') || field == b"tskv";
    let mut fields = lines.split(|b| matches!(b, b'\n' | b'\t'));
    (rest.is_empty() || !is_whole) && fields.all(is_pair)
}

#[cfg(test)]
mod tests {
    use super::from_first_bytes;

    #[test]
    fn formats_are_told_by_how_they_begin() {
        for (first, format) in [
            ("PAR1\u{15}", "Parquet"),
            ("{\"a\":1}\n", "JSONEachRow"),
            ("{\n\t\"meta\":\n\t[", "JSON"),
            ("\n [ {\"a\":1} ]", "JSONEachRow"),
            ("[1, 2]\n", "JSONCompactEachRow"),
            ("{\"a\":[1],\"b\":[[2]]}", "JSONColumns"),
            ("{\"a\":[1, 2", "JSONColumns"),
            ("{\"a\":[1],\"b", "JSONColumns"),
            ("{\"a\":[1]}\n{\"a\":[2]}\n", "JSONColumns"),
            ("{\"a\":[1]}\n{\"a\":2}\n", "JSONEachRow"),
            ("{\"a\":[1],\"b\":2}", "JSONEachRow"),
            ("{\"a\":[]}", "JSONEachRow"),
            ("{\"r\":{\"a\":1},\"s\":{\"a\":2}}\n", "JSONObjectEachRow"),
            ("{\"r\":{\"a\":1}}\n{\"r\":{\"a\":2}}\n", "JSONEachRow"),
            ("[[1, 2], ['x']]", "JSONCompactColumns"),
            ("[[1, 2], 3]", "JSONCompactEachRow"),
            ("a=1\tb=2\nc=\n", "TSKV"),
            ("tskv\ta=1\n", "TSKV"),
            ("a=1\nb\n", "TabSeparated"),
            ("a=1", "TabSeparated"),
            ("\u{1}\u{2}\u{1}c\u{5}UInt8xy", "Native"),
            ("\u{1}\u{2}\u{1}c\u{5}UInt9xy", "TabSeparated"),
            ("(1, 'a'), (2, 'b')", "Values"),
            ("1,2\n3\t4\n", "CSV"),
            ("1\tb,c\n", "TabSeparated"),
            ("words\n", "TabSeparated"),
            ("", "TabSeparated"),
        ] {
            let found = from_first_bytes(first.as_bytes()).map(|f| f.name);
            assert_eq!(found, Some(format), "{first}");
        }
        assert!(from_first_bytes(b"\x1f\x8b\x08\0").is_none());
        let stream = from_first_bytes(b"\xff\xff\xff\xff\x78\0\0\0");
        assert_eq!(stream.map(|f| f.name), Some("ArrowStream"));
    }
}
