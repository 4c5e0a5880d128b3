//! Writes rows whose values are separated by a character: TabSeparated, CSV, LineAsString.

use basalt_types::DataType;
use basalt_types::text::escape::write_escaped;
use basalt_types::text::{ColumnText, Style};

use super::rows::{Layout, RowWriter};
use crate::FormatSettings;
use crate::registry::{Header, Kind};

/// How a field is written.
#[derive(Debug)]
enum Field {
    /// The value's text in this style.
    Text(Style),
    /// CSV: in double quotes.
    Quoted,
    /// CSV: as it is.
    Bare,
    /// CSV: each element a field of its own.
    Elements(Vec<Field>),
    /// CSV: as each of a Variant's types is written.
    Alternatives(Vec<Field>),
}

/// Rows of fields.
pub(super) struct Separated {
    fields: Vec<Field>,
    names: Vec<String>,
    types: Vec<String>,
    header: Header,
    delimiter: u8,
    line_end: &'static [u8],
    null: Vec<u8>,
}

pub(super) fn writer(
    kind: Kind,
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> RowWriter<Separated> {
    let is_csv = matches!(kind, Kind::Csv(_));
    let (style, lines) = match kind {
        Kind::TabSeparated(lines) => (Some(Style::Escaped), lines),
        Kind::TabSeparatedRaw(lines) => (Some(Style::Plain), lines),
        Kind::Csv(lines) => (None, lines),
        _ => (Some(Style::Plain), Header::None),
    };
    let flatten = settings.output_format_csv_serialize_tuple_into_separate_columns;
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for (name, data_type) in header {
        if is_csv && flatten {
            flatten_header(name, data_type, &mut names, &mut types);
        } else {
            names.push(name.clone());
            types.push(data_type.to_string());
        }
    }
    let field = |t: &DataType| style.map_or_else(|| csv_field(t, flatten), Field::Text);
    let (null, crlf) = if is_csv {
        (
            &settings.format_csv_null_representation,
            settings.output_format_csv_crlf_end_of_line,
        )
    } else {
        (
            &settings.format_tsv_null_representation,
            settings.output_format_tsv_crlf_end_of_line,
        )
    };
    let layout = Separated {
        fields: header.iter().map(|(_, t)| field(t)).collect(),
        names,
        types,
        header: lines,
        delimiter: if is_csv {
            settings.format_csv_delimiter
        } else {
            b'\t'
        },
        line_end: if crlf { b"\r\n" } else { b"\n" },
        null: null.clone().into_bytes(),
    };
    RowWriter::new(layout, header, settings.text_options())
}

fn flatten_header(
    name: &str,
    data_type: &DataType,
    names: &mut Vec<String>,
    types: &mut Vec<String>,
) {
    match data_type {
        DataType::Tuple(tuple) if !tuple.types.is_empty() => {
            for (i, t) in tuple.types.iter().enumerate() {
                flatten_header(&format!("{name}.{}", tuple.name(i)), t, names, types);
            }
        }
        other => {
            names.push(name.to_string());
            types.push(other.to_string());
        }
    }
}

fn csv_field(data_type: &DataType, flatten: bool) -> Field {
    match data_type.base() {
        DataType::Tuple(tuple) if flatten => {
            Field::Elements(tuple.types.iter().map(|t| csv_field(t, flatten)).collect())
        }
        DataType::Variant(types) => {
            Field::Alternatives(types.iter().map(|t| csv_field(t, false)).collect())
        }
        DataType::Bool | DataType::Interval(_) | DataType::Nothing => Field::Bare,
        t if t.is_number() => Field::Bare,
        _ => Field::Quoted,
    }
}

impl Separated {
    fn write_line(&self, values: &[String], out: &mut Vec<u8>) {
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                out.push(self.delimiter);
            }
            match self.fields.first() {
                Some(Field::Text(Style::Escaped)) => write_escaped(value.as_bytes(), out),
                Some(Field::Text(_)) => out.extend_from_slice(value.as_bytes()),
                _ => {
                    out.push(b'"');
                    out.extend_from_slice(value.replace('"', "\"\"").as_bytes());
                    out.push(b'"');
                }
            }
        }
        out.extend_from_slice(self.line_end);
    }
}

/// A value as a field; `around` is what parts the elements of tuples, and what NULL is.
fn write_field(
    field: &Field,
    (column, row): (&ColumnText, usize),
    around: (u8, &[u8]),
    out: &mut Vec<u8>,
) {
    let (delimiter, null) = around;
    if column.is_null(row) {
        return out.extend_from_slice(null);
    }
    match field {
        Field::Text(style) => column.write(row, *style, out),
        Field::Bare => column.write(row, Style::Plain, out),
        Field::Quoted => {
            out.push(b'"');
            let start = out.len();
            column.write(row, Style::Plain, out);
            double_quotes(start, out);
            out.push(b'"');
        }
        Field::Alternatives(fields) => {
            if let Some((number, values)) = column.alternative(row) {
                write_field(&fields[number], (values, row), around, out);
            }
        }
        Field::Elements(fields) => {
            let elements = column.tuple_elements().unwrap_or_default();
            for (i, (field, element)) in fields.iter().zip(elements).enumerate() {
                if i > 0 {
                    out.push(delimiter);
                }
                write_field(field, (element, row), around, out);
            }
        }
    }
}

/// How values stand in CSV, also as single ones of other formats.
#[derive(Clone, Debug)]
pub(super) struct CsvValues {
    delimiter: u8,
    null: Vec<u8>,
    /// Whether each element of a tuple is a field of its own.
    flatten: bool,
}

impl CsvValues {
    pub(super) fn new(settings: &FormatSettings) -> Self {
        Self {
            delimiter: settings.format_csv_delimiter,
            null: settings.format_csv_null_representation.clone().into_bytes(),
            flatten: settings.output_format_csv_serialize_tuple_into_separate_columns,
        }
    }

    /// A value of a column of type `data_type`.
    pub(super) fn write(
        &self,
        data_type: &DataType,
        column: &ColumnText,
        row: usize,
        out: &mut Vec<u8>,
    ) {
        let field = csv_field(data_type, self.flatten);
        write_field(&field, (column, row), (self.delimiter, &self.null), out);
    }
}

/// A text as a field of CSV.
pub(super) fn write_csv_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.extend_from_slice(text);
    double_quotes(start, out);
    out.push(b'"');
}

/// Doubles the double quotes from `start` on.
fn double_quotes(start: usize, out: &mut Vec<u8>) {
    if memchr::memchr(b'"', &out[start..]).is_none() {
        return;
    }
    let text = out.split_off(start);
    for part in text.split_inclusive(|b| *b == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
}

impl Layout for Separated {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if self.header >= Header::Names {
            self.write_line(&self.names, out);
        }
        if self.header == Header::NamesAndTypes {
            self.write_line(&self.types, out);
        }
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        for (i, (field, column)) in self.fields.iter().zip(columns).enumerate() {
            if i > 0 {
                out.push(self.delimiter);
            }
            let around = (self.delimiter, self.null.as_slice());
            write_field(field, (column, row), around, out);
        }
        out.extend_from_slice(self.line_end);
    }

    fn totals(&mut self, columns: &[ColumnText], out: &mut Vec<u8>) {
        out.extend_from_slice(self.line_end);
        self.row(columns, 0, out);
    }

    fn extremes(&mut self, columns: &[ColumnText], out: &mut Vec<u8>) {
        out.extend_from_slice(self.line_end);
        self.row(columns, 0, out);
        self.row(columns, 1, out);
    }
}
