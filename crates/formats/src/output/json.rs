//! Writes one JSON document: JSON, JSONCompact and their Strings variants.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::escape::write_json_string;
use basalt_types::text::{
    ColumnText, Indent, IndentUnit, Style, TextOptions, write_f64, write_integer,
};

use super::rows::bind;
use super::{Statistics, Writer};
use crate::FormatSettings;

/// Names of the columns as JSON strings.
pub(super) fn quoted_names(header: &[(String, DataType)], options: &TextOptions) -> Vec<Vec<u8>> {
    let quote = |(name, _): &(String, DataType)| {
        let mut quoted = Vec::new();
        write_json_string(
            name.as_bytes(),
            options.json.escape_forward_slashes,
            &mut quoted,
        );
        quoted
    };
    header.iter().map(quote).collect()
}

/// Writes one value as a string whatever its type; NULL has a name of its own.
pub(super) fn write_string_value(
    column: &ColumnText,
    row: usize,
    options: &TextOptions,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    column.write(
        row,
        if column.is_null(row) {
            Style::Pretty
        } else {
            Style::Plain
        },
        out,
    );
    let text = out.split_off(start);
    write_json_string(&text, options.json.escape_forward_slashes, out);
}

/// A level of tabs and the values' style below it.
pub(super) const fn tabs(level: u8) -> Indent {
    Indent {
        unit: IndentUnit::Tab,
        level,
    }
}

/// Replaces what is no UTF-8 from `start` on, each run of it by one mark.
pub(super) fn make_utf8(start: usize, out: &mut Vec<u8>) {
    if std::str::from_utf8(&out[start..]).is_ok() {
        return;
    }
    let bytes = out.split_off(start);
    let mut in_run = false;
    for chunk in bytes.utf8_chunks() {
        in_run &= chunk.valid().is_empty();
        out.extend_from_slice(chunk.valid().as_bytes());
        if !chunk.invalid().is_empty() && !in_run {
            out.extend_from_slice("\u{fffd}".as_bytes());
            in_run = true;
        }
    }
}

/// Writes the member `meta`: names and types of the columns.
pub(super) fn write_meta(
    header: &[(String, DataType)],
    names: &[Vec<u8>],
    options: &TextOptions,
    out: &mut Vec<u8>,
) {
    let escape_slashes = options.json.escape_forward_slashes;
    out.extend_from_slice(b"\t\"meta\":\n\t[\n");
    for (i, ((_, data_type), name)) in header.iter().zip(names).enumerate() {
        out.extend_from_slice(if i > 0 {
            b",\n\t\t{\n\t\t\t\"name\": "
        } else {
            b"\t\t{\n\t\t\t\"name\": "
        });
        out.extend_from_slice(name);
        out.extend_from_slice(b",\n\t\t\t\"type\": ");
        write_json_string(data_type.to_string().as_bytes(), escape_slashes, out);
        out.extend_from_slice(b"\n\t\t}");
    }
    out.extend_from_slice(b"\n\t]");
}

/// Writes the members behind the rows.
pub(super) fn write_statistics(
    rows: u64,
    statistics: &Statistics,
    with_counters: bool,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b",\n\n\t\"rows\": ");
    write_integer(rows, out);
    if let Some(rows) = statistics.rows_before_limit_at_least {
        out.extend_from_slice(b",\n\n\t\"rows_before_limit_at_least\": ");
        write_integer(rows, out);
    }
    if with_counters {
        out.extend_from_slice(b",\n\n\t\"statistics\":\n\t{\n\t\t\"elapsed\": ");
        write_f64(statistics.elapsed, out);
        out.extend_from_slice(b",\n\t\t\"rows_read\": ");
        write_integer(statistics.rows_read, out);
        out.extend_from_slice(b",\n\t\t\"bytes_read\": ");
        write_integer(statistics.bytes_read, out);
        out.extend_from_slice(b"\n\t}");
    }
}

/// Writes the document.
pub(super) struct JsonWriter {
    header: Vec<(String, DataType)>,
    types: Vec<DataType>,
    names: Vec<Vec<u8>>,
    options: TextOptions,
    compact: bool,
    strings: bool,
    with_counters: bool,
    rows: u64,
    /// Whether the array of rows still waits for its end.
    in_rows: bool,
}

impl JsonWriter {
    pub(super) fn new(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        compact: bool,
        strings: bool,
    ) -> Self {
        let options = settings.text_options();
        let mut names = quoted_names(header, &options);
        names.iter_mut().for_each(|name| make_utf8(0, name));
        Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            header: header.to_vec(),
            names,
            options,
            compact,
            strings,
            with_counters: settings.output_format_write_statistics,
            rows: 0,
            in_rows: true,
        }
    }

    fn write_value(&self, column: &ColumnText, row: usize, level: u8, out: &mut Vec<u8>) {
        if self.strings {
            write_string_value(column, row, &self.options, out);
        } else if self.compact || !self.in_rows {
            // Only the rows themselves have nested values over several lines.
            column.write(row, Style::Json, out);
        } else {
            column.write(row, Style::JsonLines(tabs(level)), out);
        }
    }

    /// Writes a row as `[…]` or, its members at `level + 1`, as `{…}`.
    fn write_row(&self, columns: &[ColumnText], row: usize, level: u8, out: &mut Vec<u8>) {
        let start = out.len();
        if self.compact {
            out.push(b'[');
            for (i, column) in columns.iter().enumerate() {
                out.extend_from_slice(if i > 0 { b", " } else { b"" });
                self.write_value(column, row, level, out);
            }
            out.push(b']');
        } else {
            out.push(b'{');
            for (i, (name, column)) in self.names.iter().zip(columns).enumerate() {
                out.extend_from_slice(if i > 0 { b",\n" } else { b"\n" });
                tabs(level + 1).write(out);
                out.extend_from_slice(name);
                out.extend_from_slice(b": ");
                self.write_value(column, row, level + 1, out);
            }
            out.push(b'\n');
            tabs(level).write(out);
            out.push(b'}');
        }
        make_utf8(start, out);
    }

    fn end_rows(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.in_rows, false) {
            out.extend_from_slice(b"\n\t]");
        }
    }

    /// Writes `"name":` and a row, on the same line if compact.
    fn write_member(
        &self,
        member: (&str, u8),
        columns: &[ColumnText],
        row: usize,
        out: &mut Vec<u8>,
    ) {
        let (name, level) = member;
        tabs(level).write(out);
        out.extend_from_slice(format!("\"{name}\":").as_bytes());
        if self.compact {
            out.push(b' ');
        } else {
            out.push(b'\n');
            tabs(level).write(out);
        }
        self.write_row(columns, row, level, out);
    }
}

impl Writer for JsonWriter {
    fn is_by_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"{\n");
        write_meta(&self.header, &self.names, &self.options, out);
        out.extend_from_slice(b",\n\n\t\"data\":\n\t[\n");
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for row in 0..batch.num_rows() {
            out.extend_from_slice(if self.rows > 0 { b",\n\t\t" } else { b"\t\t" });
            self.write_row(&columns, row, 2, out);
            self.rows += 1;
        }
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        self.end_rows(out);
        if batch.num_rows() > 0 {
            out.extend_from_slice(b",\n\n");
            self.write_member(("totals", 1), &columns, 0, out);
        }
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        self.end_rows(out);
        if batch.num_rows() > 1 {
            out.extend_from_slice(b",\n\n\t\"extremes\":\n\t{\n");
            self.write_member(("min", 2), &columns, 0, out);
            out.extend_from_slice(b",\n");
            self.write_member(("max", 2), &columns, 1, out);
            out.extend_from_slice(b"\n\t}");
        }
        Ok(())
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        write_statistics(self.rows, statistics, self.with_counters, out);
        out.extend_from_slice(b"\n}\n");
        Ok(())
    }
}
