//! Writes tables for reading on a terminal: Pretty, PrettyCompact, PrettySpace.
//!
//! Widths depend on all rows, so the first and last rows are kept as text until the end; what
//! lies between them is only counted.

mod cell;
mod grid;

use std::collections::VecDeque;

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::{Style, TextOptions};

use super::rows::bind;
use super::vertical::VerticalWriter;
use super::{Statistics, Writer};
use crate::FormatSettings;
use crate::registry::Grid;
use crate::settings::Toggle;
use cell::{Cell, Column, Limits};
use grid::{Charset, Table};
pub(super) use grid::{write_digit_groups, write_trailing_spaces};

/// Columns, settings and the rows that will be shown.
pub(super) struct PrettyWriter {
    header: Vec<(String, DataType)>,
    types: Vec<DataType>,
    settings: FormatSettings,
    options: TextOptions,
    grid: Grid,
    color: bool,
    shown: Shown,
    totals: Option<RecordBatch>,
    extremes: Option<RecordBatch>,
    /// Rows that tables have shown.
    written: usize,
    /// Rows again, as long as they may be shown vertically.
    batches: Vec<RecordBatch>,
}

/// The first and the last rows.
#[derive(Default)]
struct Shown {
    head: Vec<Vec<Cell>>,
    tail: VecDeque<Vec<Cell>>,
    rows: usize,
}

fn limits(settings: &FormatSettings, first_column: usize, is_single_value: bool) -> Limits {
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let is_cut =
        !is_single_value || settings.output_format_pretty_max_value_width_apply_for_single_value;
    let value_width = size(settings.output_format_pretty_max_value_width);
    Limits {
        first_column,
        cut_width: if is_cut && value_width > 0 {
            value_width
        } else {
            usize::MAX
        },
        value_width,
        pad_width: size(settings.output_format_pretty_max_column_pad_width),
        name_width: size(settings.output_format_pretty_max_column_name_width_cut_to),
        name_slack: size(settings.output_format_pretty_max_column_name_width_min_chars_to_cut),
    }
}

/// Names as the Vertical format shows them: the middle of long ones is cut out.
pub(super) fn names_alone(header: &[(String, DataType)], settings: &FormatSettings) -> Vec<String> {
    let limits = limits(settings, 0, false);
    header
        .iter()
        .map(|(name, t)| Column::new(name, t).name_alone(&limits))
        .collect()
}

impl PrettyWriter {
    pub(super) fn new(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        grid: Grid,
        escapes: bool,
    ) -> Self {
        Self {
            header: header.to_vec(),
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            settings: settings.clone(),
            options: settings.pretty_text_options(),
            grid,
            color: escapes && settings.output_format_pretty_color == Toggle::On,
            shown: Shown::default(),
            totals: None,
            extremes: None,
            written: 0,
            batches: Vec::new(),
        }
    }

    fn cells(&self, batch: &RecordBatch, rows: std::ops::Range<usize>) -> Result<Vec<Vec<Cell>>> {
        let columns = bind(&self.types, batch, &self.options)?;
        let multiline = self.settings.output_format_pretty_multiline_fields;
        let row_cells = |row| {
            let cell = |column: &basalt_types::text::ColumnText| {
                let mut text = Vec::new();
                column.write(row, Style::Pretty, &mut text);
                Cell::new(text, column.is_null(row), multiline)
            };
            columns.iter().map(cell).collect()
        };
        Ok(rows.map(row_cells).collect())
    }

    fn columns(&self) -> Vec<Column> {
        let column = |(name, data_type): &(String, DataType)| Column::new(name, data_type);
        self.header.iter().map(column).collect()
    }

    /// What a table of `total` rows looks like.
    fn table(&self, total: usize) -> Table {
        let footer_from = self
            .settings
            .output_format_pretty_display_footer_column_names_min_rows;
        Table {
            charset: Charset::new(&self.settings.output_format_pretty_grid_charset),
            grid: self.grid,
            color: self.color,
            highlight_digits: self.color
                && self.settings.output_format_pretty_highlight_digit_groups,
            highlight_spaces: self.color
                && self.settings.output_format_pretty_highlight_trailing_spaces,
            numbers: self.settings.output_format_pretty_row_numbers,
            number_width: total.to_string().len(),
            footer: self
                .settings
                .output_format_pretty_display_footer_column_names
                && total as u64 >= footer_from,
            tip_threshold: self
                .settings
                .output_format_pretty_single_large_number_tip_threshold,
        }
    }

    /// Writes a table; `rows` are those to show with their numbers, of `total` that there were.
    fn write_table(&mut self, rows: Vec<(usize, Vec<Cell>)>, total: usize, out: &mut Vec<u8>) {
        let table = self.table(total);
        let is_single_value = total == 1 && self.header.len() == 1;
        let limits = limits(&self.settings, table.first_column(), is_single_value);
        let (mut columns, mut rows) = (self.columns(), rows);
        cell::fit(&mut columns, &mut rows, &limits);
        // Totals and extremes have no rows once there have been as many as may be shown.
        rows.truncate(self.rows_left());
        self.written += rows.len();
        table.write(&columns, &rows, out);
    }

    /// How many rows may still be shown.
    fn rows_left(&self) -> usize {
        self.max_rows().saturating_sub(self.written)
    }

    fn max_rows(&self) -> usize {
        usize::try_from(self.settings.output_format_pretty_max_rows).unwrap_or(usize::MAX)
    }

    /// Whether few rows of many columns are too wide, or their values have several lines.
    fn wants_vertical(&self) -> bool {
        let settings = &self.settings;
        let max_rows = settings.output_format_pretty_fallback_to_vertical_max_rows_per_chunk;
        let min_columns = settings.output_format_pretty_fallback_to_vertical_min_columns;
        let min_width = settings.output_format_pretty_fallback_to_vertical_min_table_width;
        let fits = !settings.output_format_pretty_fallback_to_vertical
            || self.shown.rows as u64 > max_rows
            || (self.header.len() as u64) < min_columns
            || self.shown.rows == 0;
        if fits {
            return false;
        }
        let mut rows: Vec<(usize, Vec<Cell>)> = self
            .shown
            .head
            .iter()
            .chain(&self.shown.tail)
            .map(|r| (1, r.clone()))
            .collect();
        let has_lines = rows
            .iter()
            .any(|(_, cells)| cells.iter().any(Cell::has_lines));
        let mut columns = self.columns();
        let first_column = self.table(self.shown.rows).first_column();
        let limits = limits(settings, first_column, false);
        cell::fit(&mut columns, &mut rows, &limits);
        let width: usize = columns.iter().map(|c| c.width).sum();
        has_lines || width as u64 >= min_width
    }

    fn write_vertical(&self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        let mut vertical =
            VerticalWriter::new(&self.header, &self.settings).in_pretty(self.color, &self.options);
        for batch in &self.batches {
            vertical.batch(batch, out)?;
        }
        for (title, batch) in [
            ("\nTotals:\n", &self.totals),
            ("\nExtremes:\n", &self.extremes),
        ] {
            if let Some(batch) = batch {
                out.extend_from_slice(title.as_bytes());
                vertical.without_gap(batch, out)?;
            }
        }
        vertical.end(statistics, out)
    }
}

impl Writer for PrettyWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        let max_rows = self.max_rows();
        let (head_len, tail_len) = (max_rows.div_ceil(2), max_rows / 2);
        let num_rows = batch.num_rows();
        let into_head = head_len.saturating_sub(self.shown.head.len()).min(num_rows);
        let head = self.cells(batch, 0..into_head)?;
        self.shown.head.extend(head);
        let tail_start = into_head.max(num_rows.saturating_sub(tail_len));
        self.shown
            .tail
            .extend(self.cells(batch, tail_start..num_rows)?);
        while self.shown.tail.len() > tail_len {
            self.shown.tail.pop_front();
        }
        self.shown.rows += num_rows;
        let max_vertical = self
            .settings
            .output_format_pretty_fallback_to_vertical_max_rows_per_chunk;
        if self.shown.rows as u64 <= max_vertical {
            self.batches.push(batch.clone());
        } else {
            self.batches.clear();
        }
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        self.totals = Some(batch.clone()).filter(|b| b.num_rows() > 0);
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        self.extremes = Some(batch.clone()).filter(|b| b.num_rows() > 0);
        Ok(())
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        if self.wants_vertical() {
            return self.write_vertical(statistics, out);
        }
        let total = self.shown.rows;
        let shown = self.shown.head.len() + self.shown.tail.len();
        let first_of_tail = total - self.shown.tail.len();
        let head = std::mem::take(&mut self.shown.head).into_iter().enumerate();
        let tail = std::mem::take(&mut self.shown.tail).into_iter().enumerate();
        let rows: Vec<(usize, Vec<Cell>)> = head
            .map(|(i, cells)| (i + 1, cells))
            .chain(tail.map(|(i, cells)| (first_of_tail + i + 1, cells)))
            .collect();
        if !rows.is_empty() {
            self.write_table(rows, total, out);
        }
        if total >= self.max_rows() {
            if self.grid == Grid::Space {
                out.push(b'\n');
            }
            out.extend_from_slice(format!("Showed {shown} out of {total} rows.\n").as_bytes());
        }
        for (title, batch) in [
            ("\nTotals:\n", self.totals.take()),
            ("\nExtremes:\n", self.extremes.take()),
        ] {
            if let Some(batch) = batch {
                out.extend_from_slice(title.as_bytes());
                let cells = self.cells(&batch, 0..batch.num_rows())?;
                let rows = cells.into_iter().enumerate().map(|(i, c)| (i + 1, c));
                self.write_table(rows.collect(), batch.num_rows(), out);
            }
        }
        Ok(())
    }
}
