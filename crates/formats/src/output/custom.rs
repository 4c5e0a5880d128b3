//! Writes CustomSeparated: rows of values with whatever the settings put around and between them.

use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::text::ColumnText;

use super::Statistics;
use super::rows::{Layout, RowWriter};
use super::rule::{Rule, RuleWriter};
use crate::FormatSettings;
use crate::registry::Header;

pub(super) struct CustomSeparated {
    columns: Vec<(String, DataType)>,
    header: Header,
    rule: Rule,
    writer: RuleWriter,
    settings: FormatSettings,
    has_rows: bool,
}

pub(super) fn writer(
    columns: &[(String, DataType)],
    settings: &FormatSettings,
    header: Header,
) -> Result<RowWriter<CustomSeparated>> {
    let layout = CustomSeparated {
        columns: columns.to_vec(),
        header,
        rule: Rule::parse(&settings.format_custom_escaping_rule)?,
        writer: RuleWriter::new(settings),
        settings: settings.clone(),
        has_rows: false,
    };
    Ok(RowWriter::new(layout, columns, settings.text_options()))
}

impl CustomSeparated {
    /// A row whose fields `field` writes.
    fn line(&mut self, out: &mut Vec<u8>, field: impl Fn(&Self, usize, &mut Vec<u8>)) {
        let settings = &self.settings;
        if std::mem::replace(&mut self.has_rows, true) {
            out.extend_from_slice(settings.format_custom_row_between_delimiter.as_bytes());
        }
        out.extend_from_slice(settings.format_custom_row_before_delimiter.as_bytes());
        for i in 0..self.columns.len() {
            if i > 0 {
                out.extend_from_slice(self.settings.format_custom_field_delimiter.as_bytes());
            }
            field(self, i, out);
        }
        out.extend_from_slice(self.settings.format_custom_row_after_delimiter.as_bytes());
    }
}

impl Layout for CustomSeparated {
    fn begin(&mut self, out: &mut Vec<u8>) {
        let before = &self.settings.format_custom_result_before_delimiter;
        out.extend_from_slice(before.as_bytes());
        if self.header >= Header::Names {
            self.line(out, |this, i, out| {
                this.writer.text(this.rule, &this.columns[i].0, out);
            });
        }
        if self.header == Header::NamesAndTypes {
            self.line(out, |this, i, out| {
                let name = this.columns[i].1.to_string();
                this.writer.text(this.rule, &name, out);
            });
        }
    }

    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>) {
        self.line(out, |this, i, out| {
            let value = (&columns[i], row);
            this.writer.value(this.rule, &this.columns[i].1, value, out);
        });
    }

    fn end(&mut self, _statistics: &Statistics, out: &mut Vec<u8>) {
        let after = &self.settings.format_custom_result_after_delimiter;
        out.extend_from_slice(after.as_bytes());
    }
}
