//! Writes arrays, tuples and maps as text, their parts through [`ColumnText`].

use std::ops::Range;

use super::column::ColumnText;
use super::escape::write_json_string;
use super::options::{Indent, IndentUnit, Style};
use crate::TupleType;

impl Style {
    /// How the elements of a value of this style are written.
    fn nested(self) -> Self {
        match self {
            Style::Json | Style::Xml => self,
            Style::JsonLines(indent) => Style::JsonLines(indent.deeper()),
            Style::Plain | Style::Escaped | Style::Quoted => Style::Quoted,
            Style::Pretty | Style::PrettyQuoted => Style::PrettyQuoted,
        }
    }

    fn is_json(self) -> bool {
        matches!(self, Style::Json | Style::JsonLines(_))
    }

    /// Starts a line of its own in JSON over several lines.
    fn new_line(self, out: &mut Vec<u8>) {
        if let Style::JsonLines(indent) = self {
            out.push(b'\n');
            indent.write(out);
        }
    }
}

impl Indent {
    /// One level deeper.
    #[must_use]
    pub fn deeper(self) -> Self {
        let level = self.level.saturating_add(1);
        Self { level, ..self }
    }

    /// Appends the space at the start of a line.
    pub fn write(self, out: &mut Vec<u8>) {
        let level = usize::from(self.level);
        let (len, byte) = match self.unit {
            IndentUnit::Tab => (level, b'\t'),
            IndentUnit::FourSpaces => (level * 4, b' '),
            IndentUnit::Space if level == 0 => (0, b' '),
            IndentUnit::Space => (level + 1, b' '),
        };
        out.resize(out.len() + len, byte);
    }
}

pub(super) fn write_array(items: &ColumnText, rows: Range<usize>, style: Style, out: &mut Vec<u8>) {
    if style == Style::Xml {
        out.extend_from_slice(b"<array>");
        rows.for_each(|row| write_xml_element(items, row, "elem", out));
        return out.extend_from_slice(b"</array>");
    }
    // Arrays of scalars and empty ones stay on their line.
    let on_one_line = items.is_scalar() || rows.is_empty();
    let line = if on_one_line {
        Style::Json
    } else {
        style.nested()
    };
    let (start, end) = (rows.start, rows.end);
    out.push(b'[');
    for row in rows {
        if row > start {
            out.push(b',');
        }
        line.new_line(out);
        items.write(row, style.nested(), out);
    }
    if end > start && !on_one_line {
        style.new_line(out);
    }
    out.push(b']');
}

pub(super) fn write_tuple(
    columns: &[ColumnText],
    tuple: &TupleType,
    row: usize,
    style: Style,
    out: &mut Vec<u8>,
) {
    let has_names = !tuple.names.is_empty() && tuple.names.len() == columns.len();
    match style {
        Style::Xml => {
            out.extend_from_slice(b"<tuple>");
            columns
                .iter()
                .for_each(|column| write_xml_element(column, row, "elem", out));
            out.extend_from_slice(b"</tuple>");
        }
        Style::Json | Style::JsonLines(_) => {
            let names = columns
                .first()
                .filter(|c| has_names && c.options().json.named_tuples_as_objects);
            write_json_tuple(
                columns,
                names.map(|_| tuple.names.as_slice()),
                row,
                style,
                out,
            );
        }
        Style::Pretty | Style::PrettyQuoted
            if has_names
                && columns
                    .iter()
                    .all(|c| c.options().pretty.named_tuples_as_json) =>
        {
            let indent = Indent {
                unit: IndentUnit::Space,
                level: 0,
            };
            write_json_tuple(
                columns,
                Some(&tuple.names),
                row,
                Style::JsonLines(indent),
                out,
            );
        }
        _ => {
            out.push(b'(');
            for (i, column) in columns.iter().enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                column.write(row, style.nested(), out);
            }
            out.push(b')');
        }
    }
}

fn write_json_tuple(
    columns: &[ColumnText],
    names: Option<&[impl AsRef<str>]>,
    row: usize,
    style: Style,
    out: &mut Vec<u8>,
) {
    out.push(if names.is_some() { b'{' } else { b'[' });
    for (i, column) in columns.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        style.nested().new_line(out);
        if let Some(name) = names.and_then(|names| names.get(i)) {
            let escape_slashes = column.options().json.escape_forward_slashes;
            write_json_string(name.as_ref().as_bytes(), escape_slashes, out);
            write_colon(style, out);
        }
        column.write(row, style.nested(), out);
    }
    if columns.is_empty() && style != Style::Json {
        out.push(b'\n');
    }
    style.new_line(out);
    out.push(if names.is_some() { b'}' } else { b']' });
}

fn write_colon(style: Style, out: &mut Vec<u8>) {
    out.extend_from_slice(if style == Style::Json { b":" } else { b": " });
}

pub(super) fn write_map(
    entries: &[ColumnText; 2],
    rows: Range<usize>,
    style: Style,
    out: &mut Vec<u8>,
) {
    let [keys, values] = entries;
    if style == Style::Xml {
        return write_xml_map(entries, rows, out);
    }
    let as_pairs = style.is_json() && keys.options().json.map_as_array_of_tuples;
    out.push(if as_pairs { b'[' } else { b'{' });
    let (start, end) = (rows.start, rows.end);
    for row in rows {
        if row > start {
            out.push(b',');
        }
        if as_pairs {
            let as_objects = keys.options().json.named_tuples_as_objects;
            let names = as_objects.then_some(&["keys", "values"][..]);
            style.nested().new_line(out);
            write_json_tuple(entries, names, row, style.nested(), out);
        } else if style.is_json() {
            style.nested().new_line(out);
            keys.write_json_key(row, out);
            write_colon(style, out);
            values.write(row, style.nested(), out);
        } else {
            keys.write(row, style.nested(), out);
            out.push(b':');
            values.write(row, style.nested(), out);
        }
    }
    if end > start {
        style.new_line(out);
    }
    out.push(if as_pairs { b']' } else { b'}' });
}

fn write_xml_map(entries: &[ColumnText; 2], rows: Range<usize>, out: &mut Vec<u8>) {
    let [keys, values] = entries;
    out.extend_from_slice(b"<map>");
    for row in rows {
        out.extend_from_slice(b"<elem>");
        write_xml_element(keys, row, "key", out);
        write_xml_element(values, row, "value", out);
        out.extend_from_slice(b"</elem>");
    }
    out.extend_from_slice(b"</map>");
}

fn write_xml_element(column: &ColumnText, row: usize, name: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("<{name}>").as_bytes());
    column.write(row, Style::Xml, out);
    out.extend_from_slice(format!("</{name}>").as_bytes());
}

impl ColumnText {
    /// Keys of JSON objects are strings: whatever is none is put in quotes.
    fn write_json_key(&self, row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        self.write(row, Style::Json, out);
        if out.get(start) != Some(&b'"') {
            let text = out.split_off(start);
            write_json_string(&text, self.options().json.escape_forward_slashes, out);
        }
    }
}
