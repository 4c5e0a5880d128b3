//! Writes a table in Markdown.

use basalt_types::DataType;
use basalt_types::text::escape::write_escaped;
use basalt_types::text::{ColumnText, Style};

use super::rows::{Layout, RowWriter};
use crate::FormatSettings;

/// Rows between bars.
pub(super) struct Markdown {
    names: Vec<String>,
    is_right: Vec<bool>,
    /// Whether a column's values have a backslash before each punctuation character.
    escapes: Vec<bool>,
    null: Vec<u8>,
}

pub(super) fn writer(
    header: &[(String, DataType)],
    settings: &FormatSettings,
) -> RowWriter<Markdown> {
    // As in ClickHouse, only texts that stand alone: not those that may be NULL, nor parts.
    let is_text = |t: &DataType| {
        matches!(
            t,
            DataType::String | DataType::FixedString(_) | DataType::Enum8(_) | DataType::Enum16(_)
        )
    };
    let escapes = settings.output_format_markdown_escape_special_characters;
    let layout = Markdown {
        names: header.iter().map(|(name, _)| name.clone()).collect(),
        is_right: header.iter().map(|(_, t)| is_right_aligned(t)).collect(),
        escapes: header.iter().map(|(_, t)| escapes && is_text(t)).collect(),
        null: settings.format_tsv_null_representation.clone().into_bytes(),
    };
    RowWriter::new(layout, header, settings.text_options())
}

/// Numbers and times stand on the right, on the terminal too.
pub(super) fn is_right_aligned(data_type: &DataType) -> bool {
    match data_type.without_low_cardinality() {
        DataType::Bool => false,
        t => {
            let is_interval = matches!(t.base(), DataType::Interval(_));
            t.is_number() && *t.base() != DataType::Bool || t.is_date_or_time() || is_interval
        }
    }
}

impl Layout for Markdown {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"| ");
        for (i, name) in self.names.iter().enumerate() {
            out.extend_from_slice(if i > 0 { b" | " } else { b"" });
            write_escaped(name.as_bytes(), out);
        }
        out.extend_from_slice(b" |\n|");
        for is_right in &self.is_right {
            out.extend_from_slice(if *is_right { b"-:|" } else { b":-|" });
        }
        out.push(b'\n');
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(b"| ");
        for (i, column) in columns.iter().enumerate() {
            out.extend_from_slice(if i > 0 { b" | " } else { b"" });
            let start = out.len();
            if column.is_null(row) {
                out.extend_from_slice(&self.null);
            } else if self.escapes[i] {
                column.write(row, Style::Plain, out);
                escape_special(start, out);
            } else {
                column.write(row, Style::Escaped, out);
            }
        }
        out.extend_from_slice(b" |\n");
    }
}

/// Puts a backslash before what Markdown would take for markup, from `start` on.
fn escape_special(start: usize, out: &mut Vec<u8>) {
    for byte in out.split_off(start) {
        if byte.is_ascii_punctuation() {
            out.push(b'\\');
        }
        out.push(byte);
    }
}
