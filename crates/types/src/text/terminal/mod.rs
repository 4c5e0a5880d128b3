//! Measures texts on a terminal, as ClickHouse does, whatever the terminal makes of them.

mod widths;

/// Where tabs stop.
const TAB: usize = 8;

/// Columns of the terminal that `text` takes if it begins at column `start`.
pub fn width(text: &[u8], start: usize) -> usize {
    measure(text, usize::MAX, start).0
}

/// The longest start of `text` that is at most `max` columns wide.
pub fn prefix(text: &[u8], max: usize, start: usize) -> &[u8] {
    let (_, len) = measure(text, max, start);
    &text[..len]
}

/// Width and length of the longest start of `text` that is at most `max` wide. Bytes that are
/// no UTF-8 take no place.
fn measure(text: &[u8], max: usize, start: usize) -> (usize, usize) {
    if text.iter().all(|b| (b' '..0x7f).contains(b)) {
        let len = text.len().min(max);
        return (len, len);
    }
    let (mut width, mut len, mut in_sequence) = (0, 0, false);
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            let char_width = match c {
                '\t' => TAB - (start + width) % TAB,
                ' '..='~' if in_sequence => {
                    in_sequence = c < '@' || c == '[';
                    0
                }
                c => char_width(c),
            };
            in_sequence |= c == '\x1b';
            if width + char_width > max {
                return (width, len);
            }
            width += char_width;
            len += c.len_utf8();
        }
        len += chunk.invalid().len();
    }
    (width, len)
}

/// Columns of a character that is no tab.
fn char_width(c: char) -> usize {
    if c.is_ascii() {
        return usize::from(!c.is_ascii_control());
    }
    let is_among = |bounds: &[u32]| bounds.partition_point(|bound| *bound <= u32::from(c)) % 2 == 1;
    if is_among(widths::NONE) {
        0
    } else {
        1 + usize::from(is_among(widths::TWO))
    }
}

#[cfg(test)]
mod tests {
    use super::{prefix, width};

    #[test]
    fn widths_are_those_of_clickhouse() {
        for (text, start, expected) in [
            ("abc", 5, 3),
            ("\t\t", 5, 11),
            ("ab\t\tc", 5, 12),
            ("日本", 0, 4),
            ("e\u{301}", 0, 1),
            ("a\rb\x01\x7f", 0, 2),
            ("\u{1100}\u{1161}", 0, 3),
            ("\u{903}", 0, 0),
            ("\u{378}", 0, 0),
            ("\u{e000}", 0, 1),
            ("\u{1f600}", 0, 1),
            ("\u{231a}", 0, 2),
            ("\u{ad}\u{200b}", 0, 0),
        ] {
            assert_eq!(width(text.as_bytes(), start), expected, "{text:?}");
        }
        assert_eq!(width(b"\xff\xffa", 0), 1);
    }

    #[test]
    fn sequences_that_begin_with_escape_take_no_place() {
        for (text, expected) in [
            ("\x1b[31mx\x1b[0m", 1),
            ("\x1bhello", 4),
            ("\x1b[12", 0),
            ("\x1b[1;2mä日\tx", 9),
            ("\x1b[1\tab", 9),
            ("\x1b[äab", 2),
            ("\x1b\x1b[1mx", 1),
        ] {
            assert_eq!(width(text.as_bytes(), 0), expected, "{text:?}");
        }
    }

    #[test]
    fn starts_of_texts_are_cut_between_characters() {
        assert_eq!(prefix("日本".as_bytes(), 3, 0), "日".as_bytes());
        assert_eq!(prefix(b"ab\tc", 5, 4), b"ab\tc");
        assert_eq!(prefix(b"ab\tc", 5, 0), b"ab");
    }
}
