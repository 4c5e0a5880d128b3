//! Writes JSON by columns: JSONColumns, JSONCompactColumns, JSONColumnsWithMetadata.
//!
//! A column's values stand together, so all of them are kept as text until the end.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::{Style, TextOptions};

use super::json::{make_utf8, quoted_names, tabs, write_meta, write_statistics};
use super::rows::bind;
use super::{Statistics, Writer};
use crate::FormatSettings;

/// Collects the columns' values.
pub(super) struct JsonColumnsWriter {
    header: Vec<(String, DataType)>,
    types: Vec<DataType>,
    names: Vec<Vec<u8>>,
    options: TextOptions,
    compact: bool,
    metadata: bool,
    with_counters: bool,
    validate_utf8: bool,
    rows: u64,
    values: Vec<Vec<u8>>,
    totals: Vec<u8>,
    extremes: Vec<u8>,
}

impl JsonColumnsWriter {
    pub(super) fn new(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        compact: bool,
        metadata: bool,
    ) -> Self {
        let options = settings.text_options();
        Self {
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            names: quoted_names(header, &options),
            values: vec![Vec::new(); header.len()],
            header: header.to_vec(),
            options,
            compact,
            metadata,
            with_counters: settings.output_format_write_statistics,
            validate_utf8: settings.output_format_json_validate_utf8,
            rows: 0,
            totals: Vec::new(),
            extremes: Vec::new(),
        }
    }

    /// `"name":` and a row as an object.
    fn member(&self, member: (&str, u8), batch: &RecordBatch, row: usize) -> Result<Vec<u8>> {
        let (name, level) = member;
        let mut out = Vec::new();
        let columns = bind(&self.types, batch, &self.options)?;
        tabs(level).write(&mut out);
        out.extend_from_slice(format!("\"{name}\":\n").as_bytes());
        tabs(level).write(&mut out);
        out.push(b'{');
        for (i, (name, column)) in self.names.iter().zip(&columns).enumerate() {
            out.extend_from_slice(if i > 0 { b",\n" } else { b"\n" });
            tabs(level + 1).write(&mut out);
            out.extend_from_slice(name);
            out.extend_from_slice(b": ");
            column.write(row, Style::Json, &mut out);
        }
        out.push(b'\n');
        tabs(level).write(&mut out);
        out.push(b'}');
        Ok(out)
    }
}

impl Writer for JsonColumnsWriter {
    fn begin(&mut self, _out: &mut Vec<u8>) -> Result<()> {
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for (column, values) in columns.iter().zip(&mut self.values) {
            for row in 0..batch.num_rows() {
                if !values.is_empty() {
                    values.extend_from_slice(b", ");
                }
                column.write(row, Style::Json, values);
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        if self.metadata && batch.num_rows() > 0 {
            self.totals = self.member(("totals", 1), batch, 0)?;
        }
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, _out: &mut Vec<u8>) -> Result<()> {
        if self.metadata && batch.num_rows() > 1 {
            let (min, max) = (
                self.member(("min", 2), batch, 0)?,
                self.member(("max", 2), batch, 1)?,
            );
            self.extremes = [b"\t\"extremes\":\n\t{\n", &min[..], b",\n", &max, b"\n\t}"].concat();
        }
        Ok(())
    }

    fn kept_bytes(&self) -> usize {
        self.values.iter().map(Vec::capacity).sum()
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        let level = if self.metadata { 2 } else { 1 };
        let start = out.len();
        if self.metadata {
            out.extend_from_slice(b"{\n");
            write_meta(&self.header, &self.names, &self.options, out);
            out.extend_from_slice(b",\n\n\t\"data\":\n\t");
        }
        out.extend_from_slice(if self.compact { b"[\n" } else { b"{\n" });
        if self.rows > 0 || !(self.compact || self.metadata) {
            for (i, (name, values)) in self.names.iter().zip(&self.values).enumerate() {
                out.extend_from_slice(if i > 0 { b",\n" } else { b"" });
                tabs(level).write(out);
                if !self.compact {
                    out.extend_from_slice(name);
                    out.extend_from_slice(b": ");
                }
                out.push(b'[');
                out.extend_from_slice(values);
                out.push(b']');
            }
        }
        out.push(b'\n');
        tabs(level - 1).write(out);
        out.push(if self.compact { b']' } else { b'}' });
        if self.metadata {
            for part in [&self.totals, &self.extremes] {
                if !part.is_empty() {
                    out.extend_from_slice(b",\n\n");
                    out.extend_from_slice(part);
                }
            }
            write_statistics(self.rows, statistics, self.with_counters, out);
            out.extend_from_slice(b"\n}");
        }
        if self.metadata || self.validate_utf8 {
            make_utf8(start, out);
        }
        out.push(b'\n');
        Ok(())
    }
}
