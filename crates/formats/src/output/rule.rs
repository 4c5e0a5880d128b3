//! Writes single values by an escaping rule, which CustomSeparated and Template are made of.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::text::escape::{write_escaped, write_json_string};
use basalt_types::text::{ColumnText, Style};

use super::separated::{CsvValues, write_csv_string};
use crate::FormatSettings;

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Escaped,
    Quoted,
    Csv,
    Json,
    Xml,
    Raw,
}

impl Rule {
    pub(crate) fn parse(name: &str) -> Result<Self> {
        Ok(match name {
            "Escaped" => Self::Escaped,
            "Quoted" => Self::Quoted,
            "CSV" => Self::Csv,
            "JSON" => Self::Json,
            "XML" => Self::Xml,
            "Raw" => Self::Raw,
            _ => {
                return Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!(
                        "Use Escaped, Quoted, CSV, JSON, XML or Raw: values cannot be written by escaping rule '{name}'"
                    ),
                ));
            }
        })
    }
}

/// Writes values by rules.
#[derive(Clone, Debug)]
pub(super) struct RuleWriter {
    null: Vec<u8>,
    csv: CsvValues,
    escape_slashes: bool,
}

impl RuleWriter {
    pub(super) fn new(settings: &FormatSettings) -> Self {
        Self {
            null: settings.format_tsv_null_representation.clone().into_bytes(),
            csv: CsvValues::new(settings),
            escape_slashes: settings.output_format_json_escape_forward_slashes,
        }
    }

    /// A value of a column of type `data_type`.
    pub(super) fn value(
        &self,
        rule: Rule,
        data_type: &DataType,
        (column, row): (&ColumnText, usize),
        out: &mut Vec<u8>,
    ) {
        let style = match rule {
            Rule::Csv => return self.csv.write(data_type, column, row, out),
            Rule::Escaped | Rule::Raw | Rule::Xml if column.is_null(row) => {
                return out.extend_from_slice(&self.null);
            }
            Rule::Escaped => Style::Escaped,
            Rule::Quoted => Style::Quoted,
            Rule::Json => Style::Json,
            Rule::Xml => Style::Xml,
            Rule::Raw => Style::Plain,
        };
        column.write(row, style, out);
    }

    /// A text: the name or the type of a column.
    pub(super) fn text(&self, rule: Rule, text: &str, out: &mut Vec<u8>) {
        match rule {
            Rule::Escaped => write_escaped(text.as_bytes(), out),
            Rule::Quoted => {
                out.push(b'\'');
                write_escaped(text.as_bytes(), out);
                out.push(b'\'');
            }
            Rule::Csv => write_csv_string(text.as_bytes(), out),
            Rule::Json => write_json_string(text.as_bytes(), self.escape_slashes, out),
            Rule::Xml => {
                for byte in text.bytes() {
                    match byte {
                        b'<' => out.extend_from_slice(b"&lt;"),
                        b'&' => out.extend_from_slice(b"&amp;"),
                        other => out.push(other),
                    }
                }
            }
            Rule::Raw => out.extend_from_slice(text.as_bytes()),
        }
    }
}
