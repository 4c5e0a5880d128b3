//! Draws a table: its lines, names, rows and marks.

use basalt_types::text::terminal::prefix;

use super::cell::{CUT, Cell, Column, Line};
use crate::output::number_tip::write_tip;
use crate::registry::Grid;

const BOLD: &str = "\x1b[1m";
const GRAY: &str = "\x1b[90m";
const UNDERLINED: &str = "\x1b[4m";
const RED_UNDERLINED: &str = "\x1b[31m\x1b[4m";
const BRIGHT_RED: &str = "\x1b[31;1m";
const RESET: &str = "\x1b[0m";

/// A horizontal line: left end, dash, crossing, right end.
type Rule = [&'static str; 4];

/// The characters of a grid.
pub(super) struct Charset {
    top: Rule,
    heavy_top: Rule,
    heavy_under: Rule,
    middle: Rule,
    bottom: Rule,
    footer_over: Rule,
    footer_under: Rule,
    bar: &'static str,
    heavy_bar: &'static str,
    dash: &'static str,
    /// At the end of a line that goes on, at the start of its continuation.
    wrap: [&'static str; 2],
    cut: &'static str,
}

const UTF8: Charset = Charset {
    top: ["┌", "─", "┬", "┐"],
    heavy_top: ["┏", "━", "┳", "┓"],
    heavy_under: ["┡", "━", "╇", "┩"],
    middle: ["├", "─", "┼", "┤"],
    bottom: ["└", "─", "┴", "┘"],
    footer_over: ["┢", "━", "╈", "┪"],
    footer_under: ["┗", "━", "┻", "┛"],
    bar: "│",
    heavy_bar: "┃",
    dash: "─",
    wrap: ["↴", "↳"],
    cut: "⋯",
};

const ASCII_RULE: Rule = ["+", "-", "+", "+"];

const ASCII: Charset = Charset {
    top: ASCII_RULE,
    heavy_top: ASCII_RULE,
    heavy_under: ASCII_RULE,
    middle: ASCII_RULE,
    bottom: ASCII_RULE,
    footer_over: ASCII_RULE,
    footer_under: ASCII_RULE,
    bar: "|",
    heavy_bar: "|",
    dash: "-",
    wrap: ["\\", ">"],
    cut: "~",
};

impl Charset {
    pub(super) fn new(name: &str) -> &'static Self {
        if name.eq_ignore_ascii_case("ASCII") {
            &ASCII
        } else {
            &UTF8
        }
    }
}

/// What a table looks like.
pub(super) struct Table {
    pub(super) charset: &'static Charset,
    pub(super) grid: Grid,
    pub(super) color: bool,
    pub(super) highlight_digits: bool,
    pub(super) highlight_spaces: bool,
    /// Whether rows are numbered.
    pub(super) numbers: bool,
    /// Digits of the highest row number.
    pub(super) number_width: usize,
    pub(super) footer: bool,
    pub(super) tip_threshold: u64,
}

fn push(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

fn pad(count: usize, text: &str, out: &mut Vec<u8>) {
    (0..count).for_each(|_| push(text, out));
}

impl Table {
    /// Where on the terminal the first column's text begins, were rows numbered.
    pub(super) fn first_column(&self) -> usize {
        self.number_width + 2 + if self.grid == Grid::Space { 1 } else { 2 }
    }

    /// Columns in front of the grid.
    fn margin(&self) -> usize {
        if self.numbers {
            self.number_width + 2
        } else {
            0
        }
    }

    pub(super) fn write(&self, columns: &[Column], rows: &[(usize, Vec<Cell>)], out: &mut Vec<u8>) {
        self.write_head(columns, out);
        let mut previous = None;
        for (number, cells) in rows {
            if let Some(previous) = previous {
                self.write_between(columns, number - previous > 1, out);
            }
            self.write_row(columns, *number, cells, out);
            previous = Some(*number);
        }
        self.write_foot(columns, out);
    }

    fn write_head(&self, columns: &[Column], out: &mut Vec<u8>) {
        match self.grid {
            Grid::Full => {
                self.write_rule(columns, &self.charset.heavy_top, out);
                self.write_names(columns, self.charset.heavy_bar, out);
                self.write_rule(columns, &self.charset.heavy_under, out);
            }
            Grid::Compact => self.write_named_rule(columns, &self.charset.top, out),
            Grid::Space => {
                self.write_space_names(columns, out);
                out.push(b'\n');
            }
        }
    }

    fn write_foot(&self, columns: &[Column], out: &mut Vec<u8>) {
        match (self.grid, self.footer) {
            (Grid::Full, true) => {
                self.write_rule(columns, &self.charset.footer_over, out);
                self.write_names(columns, self.charset.heavy_bar, out);
                self.write_rule(columns, &self.charset.footer_under, out);
            }
            (Grid::Compact, true) => self.write_named_rule(columns, &self.charset.bottom, out),
            (Grid::Full | Grid::Compact, false) => {
                self.write_rule(columns, &self.charset.bottom, out);
            }
            (Grid::Space, true) => {
                out.push(b'\n');
                self.write_space_names(columns, out);
                out.push(b'\n');
            }
            (Grid::Space, false) => {}
        }
    }

    /// What stands between two rows, also if there were rows between them.
    fn write_between(&self, columns: &[Column], is_gap: bool, out: &mut Vec<u8>) {
        if self.grid == Grid::Full {
            self.write_rule(columns, &self.charset.middle, out);
        }
        if !is_gap {
            return;
        }
        pad(self.margin(), " ", out);
        let cells: usize = columns.iter().map(|c| c.width + 3).sum();
        let width = if self.grid == Grid::Space {
            cells - 2
        } else {
            cells + 1
        };
        for i in 0..width {
            push(if i % 2 == 0 { self.charset.dash } else { " " }, out);
        }
        out.push(b'\n');
        if self.grid == Grid::Full {
            self.write_rule(columns, &self.charset.middle, out);
        }
    }

    fn write_rule(&self, columns: &[Column], rule: &Rule, out: &mut Vec<u8>) {
        let [left, dash, cross, right] = rule;
        pad(self.margin(), " ", out);
        push(left, out);
        for (i, column) in columns.iter().enumerate() {
            push(if i > 0 { cross } else { "" }, out);
            pad(column.width + 2, dash, out);
        }
        push(right, out);
        out.push(b'\n');
    }

    fn write_name(&self, column: &Column, filler: &str, out: &mut Vec<u8>) {
        let padding = column.width.saturating_sub(column.name_width);
        let name = column.name.replace(CUT, self.charset.cut);
        pad(if column.is_right { padding } else { 0 }, filler, out);
        push(if self.color { BOLD } else { "" }, out);
        push(&name, out);
        push(if self.color { RESET } else { "" }, out);
        pad(if column.is_right { 0 } else { padding }, filler, out);
    }

    fn write_names(&self, columns: &[Column], bar: &str, out: &mut Vec<u8>) {
        pad(self.margin(), " ", out);
        for column in columns {
            push(bar, out);
            out.push(b' ');
            self.write_name(column, " ", out);
            out.push(b' ');
        }
        push(bar, out);
        out.push(b'\n');
    }

    /// A rule with the names in it.
    fn write_named_rule(&self, columns: &[Column], rule: &Rule, out: &mut Vec<u8>) {
        let [left, dash, cross, right] = rule;
        pad(self.margin(), " ", out);
        push(left, out);
        for (i, column) in columns.iter().enumerate() {
            push(if i > 0 { cross } else { "" }, out);
            push(dash, out);
            self.write_name(column, dash, out);
            push(dash, out);
        }
        push(right, out);
        out.push(b'\n');
    }

    fn write_space_names(&self, columns: &[Column], out: &mut Vec<u8>) {
        pad(self.margin(), " ", out);
        for (i, column) in columns.iter().enumerate() {
            push(if i > 0 { "   " } else { " " }, out);
            self.write_name(column, " ", out);
        }
        out.push(b'\n');
    }

    fn write_row(&self, columns: &[Column], number: usize, cells: &[Cell], out: &mut Vec<u8>) {
        let height = cells.iter().map(|c| c.lines.len()).max().unwrap_or(1);
        let bar = if self.grid == Grid::Space {
            ""
        } else {
            self.charset.bar
        };
        for line in 0..height {
            if self.numbers && line == 0 {
                self.write_number(number, out);
            } else {
                pad(self.margin(), " ", out);
            }
            push(bar, out);
            for (i, (column, cell)) in columns.iter().zip(cells).enumerate() {
                push(
                    if i == 0 {
                        ""
                    } else if bar.is_empty() {
                        " "
                    } else {
                        bar
                    },
                    out,
                );
                self.write_line(column, cell, line, out);
            }
            push(bar, out);
            self.write_number_tip(columns, cells, out);
            out.push(b'\n');
        }
    }

    fn write_number(&self, number: usize, out: &mut Vec<u8>) {
        let digits = number.to_string().len();
        pad(self.number_width.saturating_sub(digits), " ", out);
        self.write_gray(&format!("{number}. "), out);
    }

    fn write_gray(&self, text: &str, out: &mut Vec<u8>) {
        push(if self.color { GRAY } else { "" }, out);
        push(text, out);
        push(if self.color { RESET } else { "" }, out);
    }

    /// One line of a cell, with the spaces or marks at its sides.
    fn write_line(&self, column: &Column, cell: &Cell, line_idx: usize, out: &mut Vec<u8>) {
        let Some(line) = cell.lines.get(line_idx) else {
            return pad(column.width + 2, " ", out);
        };
        let [goes_on, went_on] = self.charset.wrap;
        if line_idx > 0 {
            self.write_gray(went_on, out);
        } else {
            out.push(b' ');
        }
        let is_last = line_idx + 1 == cell.lines.len() && !cell.ends_with_line;
        let padding = column.width.saturating_sub(line.width);
        pad(if column.is_right { padding } else { 0 }, " ", out);
        self.write_text(column, cell, line, out);
        pad(if column.is_right { 0 } else { padding }, " ", out);
        if !is_last {
            self.write_gray(goes_on, out);
        } else if !line.is_cut {
            out.push(b' ');
        }
    }

    fn write_text(&self, column: &Column, cell: &Cell, line: &Line, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        if cell.is_null {
            text.extend_from_slice(&line.text);
        } else if column.is_number && self.highlight_digits {
            write_digit_groups(&line.text, &mut text);
        } else if self.highlight_spaces {
            write_trailing_spaces(&line.text, &mut text);
        } else {
            text.extend_from_slice(&line.text);
        }
        if !line.is_cut {
            return out.extend_from_slice(&text);
        }
        out.extend_from_slice(prefix(&text, line.width, self.first_column()));
        push(if self.color { BRIGHT_RED } else { "" }, out);
        push(self.charset.cut, out);
        push(if self.color { RESET } else { "" }, out);
    }

    /// Tells the last column's large number in words.
    fn write_number_tip(&self, columns: &[Column], cells: &[Cell], out: &mut Vec<u8>) {
        if let (Some(column), Some(cell)) = (columns.last(), cells.last())
            && column.is_number
            && !cell.is_null
            && let Some(line) = cell.lines.first()
        {
            let mut tip = Vec::new();
            write_tip(&line.text, self.tip_threshold, &mut tip);
            if !tip.is_empty() {
                self.write_gray(&String::from_utf8_lossy(&tip), out);
            }
        }
    }
}

/// Underlines the digits in front of every third one of a number's whole part.
pub(in crate::output) fn write_digit_groups(text: &[u8], out: &mut Vec<u8>) {
    let start = text
        .iter()
        .position(u8::is_ascii_digit)
        .unwrap_or(text.len());
    let whole = text[start..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    for (i, byte) in text.iter().enumerate() {
        let behind = (start + whole).saturating_sub(i + 1);
        let is_mark = i >= start && behind > 0 && behind.is_multiple_of(3);
        push(if is_mark { UNDERLINED } else { "" }, out);
        out.push(*byte);
        push(if is_mark { RESET } else { "" }, out);
    }
}

/// Marks the white space at the end of a text.
pub(in crate::output) fn write_trailing_spaces(text: &[u8], out: &mut Vec<u8>) {
    // A vertical tab is white space here, unlike for `is_ascii_whitespace`.
    let is_space = |b: &u8| *b == 0x0b || b.is_ascii_whitespace();
    let end = text.iter().rposition(|b| !is_space(b));
    let end = end.map_or(0, |i| i + 1);
    out.extend_from_slice(&text[..end]);
    if end < text.len() {
        push(RED_UNDERLINED, out);
        out.extend_from_slice(&text[end..]);
        push(RESET, out);
    }
}
