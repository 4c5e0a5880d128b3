//! Writes one JSON value per row: JSONEachRow, JSONCompactEachRow and their kin.

use ::arrow::record_batch::RecordBatch;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::escape::write_json_string;
use basalt_types::text::{ColumnText, Indent, IndentUnit, Style, TextOptions};

use super::json::{make_utf8, quoted_names, write_string_value};
use super::rows::{Layout, RowWriter, bind};
use super::{Statistics, Writer};
use crate::FormatSettings;
use crate::registry::Header;

/// Writes rows as objects.
pub(super) struct Objects {
    names: Vec<Vec<u8>>,
    options: TextOptions,
    strings: bool,
    pretty: bool,
    validate_utf8: bool,
}

impl Objects {
    fn new(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        strings: bool,
        pretty: bool,
    ) -> Self {
        let options = settings.text_options();
        Self {
            names: quoted_names(header, &options),
            options,
            strings,
            pretty,
            validate_utf8: settings.output_format_json_validate_utf8,
        }
    }

    /// Writes the row's object, all columns but `except`.
    fn write(&self, columns: &[ColumnText], row: usize, except: Option<usize>, out: &mut Vec<u8>) {
        let start = out.len();
        let (first, next, colon, last): (&[u8], &[u8], &[u8], &[u8]) = if self.pretty {
            (b"\n    ", b",\n    ", b": ", b"\n")
        } else {
            (b"", b",", b":", b"")
        };
        let indent = Indent {
            unit: IndentUnit::FourSpaces,
            level: 1,
        };
        let style = if self.pretty {
            Style::JsonLines(indent)
        } else {
            Style::Json
        };
        out.push(b'{');
        let members = self.names.iter().zip(columns).enumerate();
        let members = members.filter(|(i, _)| Some(*i) != except);
        for (i, (_, (name, column))) in members.enumerate() {
            out.extend_from_slice(if i > 0 { next } else { first });
            out.extend_from_slice(name);
            out.extend_from_slice(colon);
            if self.strings {
                write_string_value(column, row, &self.options, out);
            } else {
                column.write(row, style, out);
            }
        }
        out.extend_from_slice(last);
        out.push(b'}');
        if self.validate_utf8 {
            make_utf8(start, out);
        }
    }
}

/// One object per row, on lines of their own or in an array.
pub(super) struct EachRow {
    objects: Objects,
    as_array: bool,
    rows: u64,
}

pub(super) fn each_row(
    header: &[(String, DataType)],
    settings: &FormatSettings,
    strings: bool,
    pretty: bool,
) -> RowWriter<EachRow> {
    let layout = EachRow {
        objects: Objects::new(header, settings, strings, pretty),
        as_array: settings.output_format_json_array_of_rows,
        rows: 0,
    };
    RowWriter::new(layout, header, settings.text_options())
}

impl Layout for EachRow {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.as_array {
            out.extend_from_slice(b"[\n");
        }
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        if self.as_array && self.rows > 0 {
            out.extend_from_slice(b",\n");
        }
        self.objects.write(columns, row, None, out);
        if !self.as_array {
            out.push(b'\n');
        }
        self.rows += 1;
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) {
        if self.as_array {
            out.extend_from_slice(b"\n]\n");
        }
    }
}

/// One object whose members are the rows.
pub(super) struct ObjectOfRows {
    objects: Objects,
    rows: u64,
    /// The column that holds the members' names, if a setting tells one.
    name_column: Option<usize>,
}

pub(super) fn object_each_row(
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> RowWriter<ObjectOfRows> {
    let layout = ObjectOfRows {
        objects: Objects::new(header, settings, false, false),
        rows: 0,
        name_column: header
            .iter()
            .position(|(n, _)| *n == settings.format_json_object_each_row_column_for_object_name),
    };
    RowWriter::new(layout, header, settings.text_options())
}

impl Layout for ObjectOfRows {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\n");
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        if self.rows > 0 {
            out.extend_from_slice(b",\n");
        }
        self.rows += 1;
        let mut name = Vec::new();
        match self.name_column.and_then(|i| columns.get(i)) {
            Some(column) => column.write(row, Style::Plain, &mut name),
            None => name.extend_from_slice(format!("row_{}", self.rows).as_bytes()),
        }
        out.push(b'\t');
        let escape_slashes = self.objects.options.json.escape_forward_slashes;
        write_json_string(&name, escape_slashes, out);
        out.extend_from_slice(b": ");
        self.objects.write(columns, row, self.name_column, out);
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\n}\n");
    }
}

/// One array per row.
pub(super) struct Arrays {
    header: Header,
    names: Vec<Vec<u8>>,
    types: Vec<String>,
    options: TextOptions,
    strings: bool,
    validate_utf8: bool,
}

pub(super) fn compact_each_row(
    header: &[(String, DataType)],
    settings: &FormatSettings,
    strings: bool,
    lines: Header,
) -> RowWriter<Arrays> {
    let options = settings.text_options();
    let layout = Arrays {
        header: lines,
        names: quoted_names(header, &options),
        types: header.iter().map(|(_, t)| t.to_string()).collect(),
        options: options.clone(),
        strings,
        validate_utf8: settings.output_format_json_validate_utf8,
    };
    RowWriter::new(layout, header, options)
}

impl Layout for Arrays {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.header >= Header::Names {
            out.push(b'[');
            out.extend_from_slice(&self.names.join(&b", "[..]));
            out.extend_from_slice(b"]\n");
        }
        if self.header == Header::NamesAndTypes {
            out.push(b'[');
            for (i, data_type) in self.types.iter().enumerate() {
                out.extend_from_slice(if i > 0 { b", " } else { b"" });
                let escape_slashes = self.options.json.escape_forward_slashes;
                write_json_string(data_type.as_bytes(), escape_slashes, out);
            }
            out.extend_from_slice(b"]\n");
        }
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(b'[');
        write_elements((columns, row), self.strings, &self.options, out);
        out.extend_from_slice(b"]\n");
        if self.validate_utf8 {
            make_utf8(start, out);
        }
    }
}

fn write_elements(
    (columns, row): (&[ColumnText], usize),
    strings: bool,
    options: &TextOptions,
    out: &mut Vec<u8>,
) {
    for (i, column) in columns.iter().enumerate() {
        out.extend_from_slice(if i > 0 { b", " } else { b"" });
        if strings {
            write_string_value(column, row, options, out);
        } else {
            column.write(row, Style::Json, out);
        }
    }
}

/// One event per line: the columns, rows, totals, and what the query read.
pub(super) struct WithProgress {
    header: Vec<(String, DataType)>,
    types: Vec<DataType>,
    objects: Objects,
    /// Whether rows are arrays.
    compact: bool,
}

impl WithProgress {
    pub(super) fn new(
        header: &[(String, DataType)],
        settings: &FormatSettings,
        compact: bool,
        strings: bool,
    ) -> Self {
        Self {
            header: header.to_vec(),
            types: header.iter().map(|(_, t)| t.clone()).collect(),
            objects: Objects::new(header, settings, strings, false),
            compact,
        }
    }

    fn events(&self, events: &[&str], batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.objects.options)?;
        for row in 0..batch.num_rows() {
            let event = events.get(row).or(events.last()).copied().unwrap_or("row");
            out.extend_from_slice(format!("{{\"{event}\":").as_bytes());
            if self.compact {
                let Objects {
                    strings, options, ..
                } = &self.objects;
                out.push(b'[');
                write_elements((&columns, row), *strings, options, out);
                out.push(b']');
            } else {
                self.objects.write(&columns, row, None, out);
            }
            out.extend_from_slice(b"}\n");
        }
        Ok(())
    }
}

impl Writer for WithProgress {
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"{\"meta\":[");
        for (i, ((_, data_type), name)) in self.header.iter().zip(&self.objects.names).enumerate() {
            out.extend_from_slice(if i > 0 { b",{\"name\":" } else { b"{\"name\":" });
            out.extend_from_slice(name);
            out.extend_from_slice(b",\"type\":");
            let escape_slashes = self.objects.options.json.escape_forward_slashes;
            write_json_string(data_type.to_string().as_bytes(), escape_slashes, out);
            out.push(b'}');
        }
        out.extend_from_slice(b"]}\n");
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.events(&["row"], batch, out)
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.events(&["totals"], batch, out)
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        self.events(&["min", "max"], batch, out)
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        let Statistics {
            elapsed,
            rows_read,
            bytes_read,
            ..
        } = statistics;
        if *rows_read == 0 {
            return Ok(());
        }
        // A query's time in nanoseconds fits for centuries.
        let elapsed_ns = (elapsed * 1e9) as u64;
        out.extend_from_slice(
            format!(
                "{{\"progress\":{{\"read_rows\":\"{rows_read}\",\"read_bytes\":\"{bytes_read}\",\"total_rows_to_read\":\"{rows_read}\",\"elapsed_ns\":\"{elapsed_ns}\"}}}}\n"
            )
            .as_bytes(),
        );
        Ok(())
    }
}
