//! Writes rows on lines of their own syntax: TSKV, Values, SQLInsert.

use basalt_types::DataType;
use basalt_types::text::{ColumnText, Style};

use super::Statistics;
use super::rows::{Layout, RowWriter};
use crate::FormatSettings;

/// `name=value` separated by tabs.
pub(super) struct Tskv {
    /// Escaped names with the `=` behind them.
    names: Vec<Vec<u8>>,
    null: Vec<u8>,
}

pub(super) fn tskv(header: &[(String, DataType)], settings: &FormatSettings) -> RowWriter<Tskv> {
    let name = |(name, _): &(String, DataType)| {
        let mut escaped = Vec::new();
        basalt_types::text::escape::write_escaped(name.as_bytes(), &mut escaped);
        let mut whole = Vec::new();
        for byte in escaped {
            if byte == b'=' {
                whole.push(b'\\');
            }
            whole.push(byte);
        }
        whole.push(b'=');
        whole
    };
    let names = header.iter().map(name).collect();
    let null = settings.format_tsv_null_representation.clone().into_bytes();
    RowWriter::new(Tskv { names, null }, header, settings.text_options())
}

impl Layout for Tskv {
    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        for (i, (name, column)) in self.names.iter().zip(columns).enumerate() {
            if i > 0 {
                out.push(b'\t');
            }
            out.extend_from_slice(name);
            if column.is_null(row) {
                out.extend_from_slice(&self.null);
            } else {
                column.write(row, Style::Escaped, out);
            }
        }
        out.push(b'\n');
    }
}

/// Rows in brackets.
pub(super) struct Values {
    has_rows: bool,
}

pub(super) fn values(
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> RowWriter<Values> {
    RowWriter::new(Values { has_rows: false }, header, settings.text_options())
}

impl Layout for Values {
    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_rows, true) {
            out.push(b',');
        }
        write_brackets(columns, row, b",", out);
    }
}

fn write_brackets(columns: &[ColumnText], row: usize, separator: &[u8], out: &mut Vec<u8>) {
    out.push(b'(');
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        column.write(row, Style::Quoted, out);
    }
    out.push(b')');
}

/// `INSERT INTO … VALUES …;` for a number of rows each.
pub(super) struct SqlInsert {
    start: Vec<u8>,
    max_rows: u64,
    rows: u64,
}

pub(super) fn sql_insert(
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> RowWriter<SqlInsert> {
    let verb = if settings.output_format_sql_insert_use_replace {
        "REPLACE"
    } else {
        "INSERT"
    };
    let mut start = format!(
        "{verb} INTO {} ",
        settings.output_format_sql_insert_table_name
    );
    if settings.output_format_sql_insert_include_column_names {
        let quote = if settings.output_format_sql_insert_quote_names {
            "`"
        } else {
            ""
        };
        let names: Vec<String> = header
            .iter()
            .map(|(n, _)| format!("{quote}{n}{quote}"))
            .collect();
        start.push_str(&format!("({}) ", names.join(", ")));
    }
    start.push_str("VALUES ");
    let layout = SqlInsert {
        start: start.into_bytes(),
        max_rows: settings.output_format_sql_insert_max_batch_size.max(1),
        rows: 0,
    };
    RowWriter::new(layout, header, settings.text_options())
}

impl Layout for SqlInsert {
    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        if self.rows == self.max_rows {
            out.extend_from_slice(b";\n");
            self.rows = 0;
        }
        if self.rows == 0 {
            out.extend_from_slice(&self.start);
        } else {
            out.extend_from_slice(b", ");
        }
        write_brackets(columns, row, b", ", out);
        self.rows += 1;
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) {
        out.extend_from_slice(b";\n");
    }
}
