//! Measures and cuts the texts of a table's cells.

use basalt_types::DataType;
use basalt_types::text::terminal::{prefix, width};

use crate::output::markdown::is_right_aligned;

/// The text of a value.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) lines: Vec<Line>,
    pub(super) is_null: bool,
    /// Whether line feeds part the text into lines.
    multiline: bool,
    /// Whether the last line ends with a line feed.
    pub(super) ends_with_line: bool,
}

/// One line of a text and how wide it is on the terminal.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) text: Vec<u8>,
    pub(super) width: usize,
    /// Whether only the first `width` columns are shown.
    pub(super) is_cut: bool,
}

impl Cell {
    pub(super) fn new(text: Vec<u8>, is_null: bool, multiline: bool) -> Self {
        let line = |text: &[u8]| Line {
            text: text.to_vec(),
            width: 0,
            is_cut: false,
        };
        let ends_with_line = multiline && text.ends_with(b"\n");
        let lines = if multiline && text.contains(&b'\n') {
            let text = text.strip_suffix(b"\n").unwrap_or(&text);
            text.split(|b| *b == b'\n').map(line).collect()
        } else {
            vec![line(&text)]
        };
        Self {
            lines,
            is_null,
            multiline,
            ends_with_line,
        }
    }

    pub(super) fn has_lines(&self) -> bool {
        self.lines.len() > 1 || self.ends_with_line
    }

    /// Measures the lines where the text begins at column `start`, returns the widest, and cuts
    /// what is wider than the limit. Lines are padded and cut as if the cell stood in the first
    /// column, as ClickHouse does; it shows where cells have tabs.
    fn fit(&mut self, start: usize, limits: &Limits) -> usize {
        let mut widest = 0;
        for line in &mut self.lines {
            let in_place = width(&line.text, start);
            widest = widest.max(in_place);
            line.width = if self.multiline {
                width(&line.text, limits.first_column)
            } else {
                in_place
            };
            line.is_cut = line.width > limits.cut_width;
            line.width = line.width.min(limits.cut_width);
        }
        widest
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
    /// Where on the terminal the first column's text begins.
    pub(super) first_column: usize,
    /// Texts are cut to this.
    pub(super) cut_width: usize,
    /// Columns get no wider than this for their values.
    pub(super) value_width: usize,
    /// Columns get no wider than this.
    pub(super) pad_width: usize,
    pub(super) name_width: usize,
    pub(super) name_slack: usize,
}

/// Measures all cells and cuts what is too wide.
pub(super) fn fit(columns: &mut [Column], rows: &mut [(usize, Vec<Cell>)], limits: &Limits) {
    let mut start = limits.first_column;
    for (i, column) in columns.iter_mut().enumerate() {
        let cells = rows.iter_mut().filter_map(|(_, cells)| cells.get_mut(i));
        let widest = cells.map(|cell| cell.fit(start, limits)).max();
        let value_width = widest
            .unwrap_or(0)
            .min(limits.value_width)
            .min(limits.pad_width);
        // Names are measured as if each stood at the start of a line.
        column.name_width = width(column.name.as_bytes(), 0);
        column.cut_name(value_width, limits);
        column.width = value_width.max(column.name_width.min(limits.pad_width));
        start += column.width + 3;
    }
}
