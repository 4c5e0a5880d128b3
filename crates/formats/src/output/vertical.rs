//! Writes each value on a line of its own: Vertical, and Pretty where a table is too wide.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::{ColumnText, Style, TextOptions, terminal};

use super::number_tip::write_tip;
use super::pretty::{names_alone, write_digit_groups, write_trailing_spaces};
use super::rows::bind;
use super::{Statistics, Writer};
use crate::FormatSettings;
use crate::settings::Toggle;

/// Writes rows as blocks of lines.
pub(super) struct VerticalWriter {
    types: Vec<DataType>,
    /// Names with a colon, padded to the same width.
    names: Vec<String>,
    options: TextOptions,
    max_rows: u64,
    tip_threshold: u64,
    rows: u64,
    style: Style,
    color: bool,
    /// Whether totals or extremes have been written.
    has_ended: bool,
}

impl VerticalWriter {
    pub(super) fn new(header: &[(String, DataType)], settings: &FormatSettings) -> Self {
        let names = names_alone(header, settings);
        let name_width = |name: &str| terminal::width(name.as_bytes(), 0);
        let width = names.iter().map(|n| name_width(n)).max().unwrap_or(0);
        let pad = |name: &String| format!("{name}:{}", " ".repeat(width - name_width(name) + 1));
        Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            names: names.iter().map(pad).collect(),
            options: settings.text_options(),
            max_rows: settings.output_format_pretty_max_rows,
            tip_threshold: settings.output_format_pretty_single_large_number_tip_threshold,
            rows: 0,
            style: Style::Plain,
            color: settings.output_format_pretty_color == Toggle::On,
            has_ended: false,
        }
    }

    /// Values as in the Pretty formats.
    pub(super) fn in_pretty(mut self, color: bool, options: &TextOptions) -> Self {
        self.style = Style::Pretty;
        self.color = color;
        self.options = options.clone();
        self
    }

    /// Writes rows, numbered on, without an empty line before the first.
    pub(super) fn without_gap(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for row in 0..batch.num_rows() {
            if row > 0 {
                out.push(b'\n');
            }
            self.rows += 1;
            self.write_numbered(&columns, row, out);
        }
        Ok(())
    }

    fn write_numbered(&self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        let title = format!("Row {}:", self.rows);
        // As wide as the number after this one would be.
        let width = format!("Row {}:", self.rows + 1).len();
        self.write_title(&title, width, out);
        self.write_values(columns, row, out);
    }

    fn write_title(&self, title: &str, width: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(title.as_bytes());
        out.push(b'\n');
        out.extend_from_slice("─".repeat(width).as_bytes());
        out.push(b'\n');
    }

    fn write_values(&self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        for ((name, column), data_type) in self.names.iter().zip(columns).zip(&self.types) {
            let (label, space) = name.split_at(name.trim_end().len());
            let [bold, gray, reset] = if self.color {
                ["\x1b[1m", "\x1b[90m", "\x1b[0m"]
            } else {
                [""; 3]
            };
            out.extend_from_slice(format!("{bold}{label}{reset}{space}").as_bytes());
            let mut text = Vec::new();
            column.write(
                row,
                if column.is_null(row) {
                    Style::Pretty
                } else {
                    self.style
                },
                &mut text,
            );
            let is_number = data_type.is_number() && *data_type.base() != DataType::Bool;
            match (self.color && !column.is_null(row), is_number) {
                (true, true) => write_digit_groups(&text, out),
                (true, false) => write_trailing_spaces(&text, out),
                (false, _) => out.extend_from_slice(&text),
            }
            let mut tip = Vec::new();
            if is_number && !column.is_null(row) {
                write_tip(&text, self.tip_threshold, &mut tip);
            }
            if !tip.is_empty() {
                out.extend_from_slice(gray.as_bytes());
                out.extend_from_slice(&tip);
                out.extend_from_slice(reset.as_bytes());
            }
            out.push(b'\n');
        }
    }

    /// Parts the rows from what follows.
    fn end_rows(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_ended, true) {
            self.write_left_out(out);
            out.push(b'\n');
        }
    }

    /// Says so if rows were left out.
    fn write_left_out(&self, out: &mut Vec<u8>) {
        if self.rows > self.max_rows {
            out.extend_from_slice(format!("\nShowed first {}.\n", self.max_rows).as_bytes());
        }
    }

    /// Writes `Totals:`, `Min:` or `Max:` and the row.
    fn write_special(
        &mut self,
        title: &str,
        batch: &RecordBatch,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        if row < batch.num_rows() {
            out.push(b'\n');
            self.write_title(title, title.len(), out);
            self.write_values(&columns, row, out);
        }
        Ok(())
    }
}

impl Writer for VerticalWriter {
    fn is_by_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for row in 0..batch.num_rows() {
            self.rows += 1;
            if self.rows > self.max_rows {
                continue;
            }
            if self.rows > 1 {
                out.push(b'\n');
            }
            self.write_numbered(&columns, row, out);
        }
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        self.write_special("Totals:", batch, 0, out)
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        self.write_special("Min:", batch, 0, out)?;
        self.write_special("Max:", batch, 1, out)
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        if !self.has_ended {
            self.write_left_out(out);
        }
        Ok(())
    }
}
