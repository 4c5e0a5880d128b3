//! Writes one XML document.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::escape::write_xml;
use basalt_types::text::{ColumnText, Style, TextOptions, write_f64, write_integer};

use super::json::make_utf8;
use super::rows::bind;
use super::{Statistics, Writer};
use crate::FormatSettings;

/// Writes the document.
pub(super) struct XmlWriter {
    header: Vec<(String, DataType)>,
    types: Vec<DataType>,
    /// Names of the rows' elements.
    elements: Vec<String>,
    options: TextOptions,
    with_counters: bool,
    rows: u64,
    in_rows: bool,
}

/// A column's own name if it can be an element's.
fn element_name(name: &str) -> String {
    let can_start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if can_start && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        name.to_string()
    } else {
        "field".to_string()
    }
}

impl XmlWriter {
    pub(super) fn new(header: &[(String, DataType)], settings: &FormatSettings) -> Self {
        Self {
            header: header.to_vec(),
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            elements: header.iter().map(|(name, _)| element_name(name)).collect(),
            options: settings.text_options(),
            with_counters: settings.output_format_write_statistics,
            rows: 0,
            in_rows: true,
        }
    }

    /// Writes one row as the element `name`, `level` tabs deep.
    fn write_row(
        &self,
        name: (&str, usize),
        columns: &[ColumnText],
        row: usize,
        out: &mut Vec<u8>,
    ) {
        let (name, level) = name;
        let tabs = "\t".repeat(level);
        let start = out.len();
        out.extend_from_slice(format!("{tabs}<{name}>\n").as_bytes());
        for (element, column) in self.elements.iter().zip(columns) {
            out.extend_from_slice(format!("{tabs}\t<{element}>").as_bytes());
            column.write(row, Style::Xml, out);
            out.extend_from_slice(format!("</{element}>\n").as_bytes());
        }
        out.extend_from_slice(format!("{tabs}</{name}>\n").as_bytes());
        make_utf8(start, out);
    }

    fn end_rows(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.in_rows, false) {
            out.extend_from_slice(b"\t</data>\n");
        }
    }
}

fn write_number(level: usize, name: &str, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.resize(out.len() + level, b'\t');
    out.extend_from_slice(format!("<{name}>").as_bytes());
    write(out);
    out.extend_from_slice(format!("</{name}>\n").as_bytes());
}

impl Writer for XmlWriter {
    fn is_by_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(
            b"<?xml version='1.0' encoding='UTF-8' ?>\n<result>\n\t<meta>\n\t\t<columns>\n",
        );
        for (name, data_type) in &self.header {
            out.extend_from_slice(b"\t\t\t<column>\n\t\t\t\t<name>");
            write_xml(name.as_bytes(), out);
            out.extend_from_slice(b"</name>\n\t\t\t\t<type>");
            write_xml(data_type.to_string().as_bytes(), out);
            out.extend_from_slice(b"</type>\n\t\t\t</column>\n");
        }
        out.extend_from_slice(b"\t\t</columns>\n\t</meta>\n\t<data>\n");
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for row in 0..batch.num_rows() {
            self.write_row(("row", 2), &columns, row, out);
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        if batch.num_rows() > 0 {
            let columns = bind(&self.types, batch, &self.options)?;
            self.write_row(("totals", 1), &columns, 0, out);
        }
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        if batch.num_rows() > 1 {
            out.extend_from_slice(b"\t<extremes>\n");
            let columns = bind(&self.types, batch, &self.options)?;
            self.write_row(("min", 2), &columns, 0, out);
            self.write_row(("max", 2), &columns, 1, out);
            out.extend_from_slice(b"\t</extremes>\n");
        }
        Ok(())
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        self.end_rows(out);
        write_number(1, "rows", out, |out| write_integer(self.rows, out));
        if let Some(rows) = statistics.rows_before_limit_at_least {
            write_number(1, "rows_before_limit_at_least", out, |out| {
                write_integer(rows, out)
            });
        }
        if self.with_counters {
            out.extend_from_slice(b"\t<statistics>\n");
            write_number(2, "elapsed", out, |out| write_f64(statistics.elapsed, out));
            write_number(2, "rows_read", out, |out| {
                write_integer(statistics.rows_read, out)
            });
            write_number(2, "bytes_read", out, |out| {
                write_integer(statistics.bytes_read, out)
            });
            out.extend_from_slice(b"\t</statistics>\n");
        }
        out.extend_from_slice(b"</result>\n");
        Ok(())
    }
}
