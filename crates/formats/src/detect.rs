//! Guesses a format by the first bytes of a source whose name does not tell it.

use crate::registry::{FormatEntry, lookup};

/// Formats whose files begin with the same bytes.
const BEGINNINGS: [(&[u8], &str); 2] = [(b"PAR1", "Parquet"), (b"ARROW1", "Arrow")];

/// Bytes of a source that tell most likely of what format it is.
pub const FIRST_BYTES: u64 = 4096;

/// The format that bytes which begin with `first` are most likely of; none if they are no text.
pub fn from_first_bytes(first: &[u8]) -> Option<&'static FormatEntry> {
    let known = BEGINNINGS
        .iter()
        .find(|(bytes, _)| first.starts_with(bytes));
    let name = match known {
        Some((_, name)) => name,
        None if first.contains(&0) => return None,
        None => of_text(first),
    };
    lookup(name).ok()
}

fn of_text(first: &[u8]) -> &'static str {
    let text = first.trim_ascii_start();
    let line = text.split(|b| *b == b'\n').next().unwrap_or(text);
    match text {
        [b'{', rest @ ..] if rest.trim_ascii_start().starts_with(b"\"meta\"") => "JSON",
        [b'{', ..] => "JSONEachRow",
        [b'[', rest @ ..] if rest.trim_ascii_start().starts_with(b"{") => "JSONEachRow",
        [b'[', ..] => "JSONCompactEachRow",
        [b'(', ..] => "Values",
        _ if !line.contains(&b'\t') && line.contains(&b',') => "CSV",
        _ => "TabSeparated",
    }
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
    }
}
