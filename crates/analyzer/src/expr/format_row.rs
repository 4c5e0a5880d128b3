//! Resolves `formatRow` and `formatRowNoNewline`, which need the formats and the names of columns.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_formats::registry::Kind;
use basalt_formats::{FormatSettings, Statistics};
use basalt_functions::{BoundFunction, Column, StringColumn};
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::{ArrayRef, BinaryViewBuilder, RecordBatch};
use datafusion::arrow::datatypes::{Fields, Schema};

use super::Resolver;
use super::native::fold_if;
use crate::{Typed, udf};

/// Whether the name is one of these functions.
pub(crate) fn is_format_row(name: &str) -> bool {
    matches!(name, "formatRow" | "formatRowNoNewline")
}

/// Names and types of the values of a row.
type Header = Vec<(String, DataType)>;

impl Resolver<'_> {
    /// `formatRow(format, x, y, …)`: each row as the text of a result of one row.
    pub(crate) fn format_row(&self, name: &str, args: &[ast::Expr]) -> Result<Typed> {
        let [format, values @ ..] = args else {
            return Err(too_few(name));
        };
        if values.is_empty() {
            return Err(too_few(name));
        }
        let format = self.format_of_rows(name, format)?;
        let (mut header, mut exprs, mut is_constant) = (Header::new(), Vec::new(), true);
        for item in self.items(values)? {
            is_constant &= item.typed.constant.is_some();
            header.push((item.name, item.typed.data_type));
            exprs.push(item.typed.expr);
        }
        let mut settings = FormatSettings {
            state_forms: basalt_functions::aggregate::state_form,
            ..FormatSettings::default()
        };
        let current = self.analyzer.settings();
        for (setting, value) in current.changed() {
            settings.set(setting, value)?;
        }
        let key = format!("{name}:{format}:{header:?}:{:?}", current.changed());
        let rows = Rows {
            format,
            header,
            settings,
            without_newline: name == "formatRowNoNewline",
        };
        let eval = move |columns: &[Column], num_rows: usize| rows.write(columns, num_rows);
        let bound = BoundFunction::from_parts(name, DataType::String, Arc::new(eval));
        let typed = Typed::new(udf::call(key, bound, exprs), DataType::String);
        fold_if(is_constant, typed)
    }

    /// The name of the format, which must be one that writes row by row.
    fn format_of_rows(&self, name: &str, format: &ast::Expr) -> Result<String> {
        let format = self.resolve(format)?;
        let constant = format.constant.filter(|_| format.data_type.is_string());
        let constant = constant.ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!("The first argument of {name} must be a format's name"),
            )
        })?;
        let text = StringColumn::of_array(&constant, true)?;
        let entry = basalt_formats::lookup(&String::from_utf8_lossy(text.value(0)))?;
        let is_by_rows = !matches!(
            entry.kind,
            Kind::Pretty { .. }
                | Kind::JsonColumns { .. }
                | Kind::Native
                | Kind::Arrow
                | Kind::ArrowStream
                | Kind::Parquet
                | Kind::Null
        );
        if is_by_rows && entry.is_output {
            return Ok(entry.name.to_owned());
        }
        Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Choose a format that writes row by row: {name} cannot write {}",
                entry.name
            ),
        ))
    }
}

fn too_few(name: &str) -> Error {
    Error::new(
        ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
        format!("Function {name} takes a format's name and at least one value"),
    )
}

/// How rows are written.
struct Rows {
    format: String,
    header: Header,
    settings: FormatSettings,
    without_newline: bool,
}

impl Rows {
    /// The text of each row.
    fn write(&self, columns: &[Column], num_rows: usize) -> Result<ArrayRef> {
        let fields: Fields = self.header.iter().map(|(n, t)| t.field(n)).collect();
        let arrays = columns.iter().map(|c| c.expand(num_rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
            .map_err(|e| Error::bug(e.to_string()))?;
        let mut out = BinaryViewBuilder::with_capacity(num_rows);
        let mut text = Vec::new();
        for row in 0..num_rows {
            text.clear();
            let mut sink = basalt_formats::output(&self.format, &self.header, &self.settings)?;
            sink.write_batch(&batch.slice(row, 1), &mut text)?;
            sink.finish(&Statistics::default(), &mut text)?;
            let line = match text.strip_suffix(b"\n") {
                Some(line) if self.without_newline => line,
                _ => &text,
            };
            out.append_value(line);
        }
        Ok(Arc::new(out.finish()))
    }
}
