//! Writes INSERT: its target, its columns and its source.

use super::Writer;
use super::text::identifier;
use crate::ast::{ExprKind, Insert, InsertSource, InsertTarget, OutputOptions};

impl Writer {
    pub(super) fn insert(&mut self, insert: &Insert) {
        self.put("INSERT INTO ");
        match &insert.target {
            InsertTarget::Table(name) => {
                // `FUNCTION x` would be a table function.
                let is_word = name.database.is_none()
                    && ["FUNCTION", "TABLE"]
                        .iter()
                        .any(|w| w.eq_ignore_ascii_case(&name.name));
                if is_word {
                    self.put(&super::text::backticked(&name.name));
                } else {
                    self.object_name(name);
                }
            }
            InsertTarget::Function(function) => {
                self.put("FUNCTION ");
                self.table_function(function);
            }
        }
        if let Some(partition_by) = &insert.partition_by {
            self.put(" PARTITION BY ");
            // A name before the list of columns would become a call.
            let name =
                insert.columns.is_some() && matches!(partition_by.kind, ExprKind::Identifier(_));
            let parentheses = name && !partition_by.span.parenthesised;
            self.put_if(parentheses, "(");
            self.expr(partition_by);
            self.put_if(parentheses, ")");
        }
        if let Some(columns) = &insert.columns {
            self.put(" ");
            self.parentheses(columns, |w, e| w.aliased(e));
        }
        if let Some(infile) = &insert.infile {
            self.put(" FROM INFILE ");
            self.outfile(infile);
        }
        self.settings_line(&insert.settings);
        match &insert.source {
            InsertSource::Format { name, .. } if name.is_empty() => {}
            InsertSource::Format { name, .. } => {
                if insert.settings.is_empty() {
                    self.put(" ")
                } else {
                    self.line()
                }
                self.put("FORMAT ");
                self.put(&format_name(name));
            }
            InsertSource::Query(query) => {
                if insert.settings.is_empty() {
                    self.put(" ")
                } else {
                    self.line()
                }
                self.query_body(&query.body);
                if let Some(format) = &query.output.format {
                    self.put(" FORMAT ");
                    self.put(&format_name(format));
                }
                self.output(&OutputOptions {
                    format: None,
                    ..query.output.clone()
                });
            }
        }
    }
}

/// A format's name: `Values` and `Null` stay as they are.
fn format_name(name: &str) -> String {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain {
        name.to_owned()
    } else {
        identifier(name)
    }
}
