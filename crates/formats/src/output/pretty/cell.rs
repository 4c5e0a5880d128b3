//! Measures and cuts the texts of a table's cells.

use basalt_types::DataType;
use unicode_width::UnicodeWidthChar;

use crate::output::markdown::is_right_aligned;

/// Where tabs stop.
const TAB: usize = 8;

/// The text of a value.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) lines: Vec<Line>,
    pub(super) is_null: bool,
    /// Whether the end of the text was cut off.
    pub(super) is_cut: bool,
    /// Whether the last line ends with a line feed.
    pub(super) ends_with_line: bool,
}

/// One line of a text and how wide it is on the terminal.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    pub(super) width: usize,
}

impl Cell {
    pub(super) fn new(text: Vec<u8>, is_null: bool, multiline: bool) -> Self {
        let line = |text: &[u8]| Line {
            text: text.to_vec(),
            width: 0,
        };
        let ends_with_line = multiline && text.ends_with(b"\n");
        let lines = if multiline && text.contains(&b'\n') {
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            text.split(|b| *b == b'\n').map(line).collect()
        } else {
            vec![Line { text, width: 0 }]
        };
        Self {
            lines,
            is_null,
            is_cut: false,
            ends_with_line,
        }
    }

    pub(super) fn has_lines(&self) -> bool {
        self.lines.len() > 1 || self.ends_with_line
    }

    /// Cuts the text to `max` columns of the terminal.
    fn cut(&mut self, max: usize, start: usize) {
        let mut used = 0;
        for i in 0..self.lines.len() {
            let width = self.lines[i].width;
            if used + width > max {
                let line = &mut self.lines[i];
                line.text = prefix(&line.text, max - used, start).to_vec();
                line.width = max - used;
                self.lines.truncate(i + 1);
                self.is_cut = true;
                return;
            }
            used += width;
        }
    }
}

/// A column's name and what its cells need.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) name_width: usize,
    /// Of the widest cell or name, within the limits.
    pub(super) width: usize,
    pub(super) is_right: bool,
    pub(super) is_number: bool,
}

impl Column {
    pub(super) fn new(name: &str, data_type: &DataType) -> Self {
        let is_bool = *data_type.base() == DataType::Bool;
        Self {
            name: name.to_string(),
            name_width: 0,
            width: 0,
            is_right: is_right_aligned(data_type),
            is_number: data_type.is_number() && !is_bool,
        }
    }

    /// The name as the Vertical format shows it, where values need no room beside it.
    pub(super) fn name_alone(mut self, limits: &Limits) -> String {
        self.name_width = width(self.name.as_bytes(), 0);
        self.cut_name(0, limits);
        self.name
    }

    /// Cuts the middle out of a long name that is no plain identifier.
    fn cut_name(&mut self, value_width: usize, limits: &Limits) {
        let target = value_width.max(limits.name_width);
        let is_plain = self
            .name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if limits.name_width == 0 || is_plain || self.name_width <= target + limits.name_slack {
            return;
        }
        let left = prefix(self.name.as_bytes(), target / 2, 0);
        let reversed: String = self.name.chars().rev().collect();
        let right = prefix(reversed.as_bytes(), target - target / 2 - 1, 0);
        let right: String = String::from_utf8_lossy(right).chars().rev().collect();
        self.name = format!("{}{CUT}{right}", String::from_utf8_lossy(left));
        self.name_width = width(self.name.as_bytes(), 0);
    }
}

/// Stands where text was cut out.
pub(super) const CUT: char = '⋯';

/// How wide things may get.
pub(super) struct Limits {
    pub(super) value_width: usize,
    pub(super) pad_width: usize,
    pub(super) name_width: usize,
    pub(super) name_slack: usize,
}

/// Measures all cells and cuts what is too wide; the first column's text begins at `start`.
pub(super) fn fit(
    columns: &mut [Column],
    rows: &mut [(usize, Vec<Cell>)],
    limits: &Limits,
    mut start: usize,
) {
    for (i, column) in columns.iter_mut().enumerate() {
        let mut value_width = 0;
        for cell in rows.iter_mut().filter_map(|(_, cells)| cells.get_mut(i)) {
            for line in &mut cell.lines {
                line.width = width(&line.text, start);
            }
            cell.cut(limits.value_width, start);
            let widest = cell.lines.iter().map(|l| l.width).max().unwrap_or(0);
            value_width = value_width.max(widest);
        }
        value_width = value_width.min(limits.pad_width);
        // Names are measured as if each stood at the start of a line.
        column.name_width = width(column.name.as_bytes(), 0);
        column.cut_name(value_width, limits);
        column.width = value_width.max(column.name_width.min(limits.pad_width));
        start += column.width + 3;
    }
}

/// Columns of the terminal that `text` takes if it begins at column `start`.
pub(super) fn width(text: &[u8], start: usize) -> usize {
    measure(text, usize::MAX, start).0
}

/// The longest start of `text` that is at most `max` columns wide.
fn prefix(text: &[u8], max: usize, start: usize) -> &[u8] {
    let (_, len) = measure(text, max, start);
    &text[..len]
}

/// Width and length of the longest start of `text` that is at most `max` wide. Bytes that are
/// no UTF-8, control characters and colour sequences take no place.
fn measure(text: &[u8], max: usize, start: usize) -> (usize, usize) {
    if text.iter().all(|b| (b' '..0x7f).contains(b)) {
        let len = text.len().min(max);
        return (len, len);
    }
    let (mut width, mut len) = (0, 0);
    for chunk in text.utf8_chunks() {
        let mut in_sequence = false;
        for c in chunk.valid().chars() {
            let char_width = match c {
                '\x1b' => {
                    in_sequence = true;
                    0
                }
                _ if in_sequence => {
                    in_sequence = !c.is_ascii_alphabetic();
                    0
                }
                '\u{2028}' | '\u{2029}' => 0,
                '\t' => TAB - (start + width) % TAB,
                // Emoji take one column here whatever the terminal makes of them.
                '\u{1f000}'..='\u{1faff}' => 1,
                c => c.width().unwrap_or(0),
            };
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

#[cfg(test)]
mod tests {
    use super::width;

    #[test]
    fn widths_are_those_of_the_terminal() {
        for (text, start, expected) in [
            ("abc", 5, 3),
            ("\t\t", 5, 11),
            ("ab\t\tc", 5, 12),
            ("日本", 0, 4),
            ("e\u{301}", 0, 1),
            ("a\rb\x01", 0, 2),
            ("\x1b[31mx", 0, 1),
            ("\u{1f600}", 0, 1),
        ] {
            assert_eq!(width(text.as_bytes(), start), expected, "{text:?}");
        }
        assert_eq!(width(b"\xff\xffa", 0), 1);
    }
}
