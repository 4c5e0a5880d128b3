//! Names columns of query parameters: `{d:Date}` shows as `_CAST(18262, 'Date')`.
//!
//! The value stands there as the constant that it is inside: dates and enums as numbers, times with
//! fractions and decimals as texts. A String stands for itself.

use basalt_error::{Error, Result};
use basalt_parser::ast::{self, ExprKind, FloatLiteral, Literal};
use basalt_parser::column_name;
use basalt_types::DataType;
use basalt_types::text::{ColumnText, Style, TextOptions};
use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType as ArrowType, Float64Type, Int64Type, UInt64Type};

use crate::expr::Resolver;

impl Resolver<'_> {
    /// What a parameter shows as; `None` if its value is not known.
    pub(super) fn shown_parameter(
        &self,
        parameter: &ast::QueryParameter,
        span: ast::Span,
    ) -> Result<Option<String>> {
        let type_name = basalt_parser::format_data_type(&parameter.data_type);
        if type_name == "Identifier" {
            return Ok(self.analyzer.parameter(&parameter.name));
        }
        let value = self.parameter(parameter)?;
        let Some(constant) = &value.constant else {
            return Ok(None);
        };
        let shown = column_name(&shown_value(constant, &value.data_type)?);
        if matches!(value.data_type, DataType::String) {
            return Ok(Some(shown));
        }
        let written = self.written_type(span).unwrap_or(type_name);
        let written = column_name(&literal(Literal::String(written.into_bytes())));
        Ok(Some(format!("_CAST({shown}, {written})")))
    }

    /// The type of a `{name:Type}` as it is written in the statement.
    fn written_type(&self, span: ast::Span) -> Option<String> {
        let text = self.analyzer.text;
        let text = text.get(span.start as usize..span.end as usize)?;
        let text = String::from_utf8_lossy(text);
        let (_, written) = text.strip_prefix('{')?.strip_suffix('}')?.split_once(':')?;
        Some(written.trim().to_owned())
    }
}

fn literal(literal: Literal) -> ast::Expr {
    expr(ExprKind::Literal(literal))
}

fn expr(kind: ExprKind) -> ast::Expr {
    ast::Expr::new(kind, ast::Span::default())
}

/// The one value of an array as a constant.
fn shown_value(array: &ArrayRef, data_type: &DataType) -> Result<ast::Expr> {
    if array.is_null(0) {
        return Ok(literal(Literal::Null));
    }
    let bug = |e: datafusion::arrow::error::ArrowError| Error::bug(e.to_string());
    Ok(match data_type.without_low_cardinality().base() {
        DataType::Array(element) => {
            let items = array.as_list::<i32>().value(0);
            expr(ExprKind::Array(shown_values(&items, element)?))
        }
        DataType::Tuple(tuple) => {
            let columns = array.as_struct().columns().iter().zip(&tuple.types);
            let items = columns.map(|(column, t)| shown_value(column, t));
            expr(ExprKind::Tuple(items.collect::<Result<_>>()?))
        }
        DataType::Map(key, value) => {
            let entries = array.as_list::<i32>().value(0);
            let entries = entries.as_struct();
            let keys = shown_values(entries.column(0), key)?;
            let values = shown_values(entries.column(1), value)?;
            let pairs = keys.into_iter().zip(values);
            let pairs = pairs.map(|(k, v)| expr(ExprKind::Tuple(vec![k, v])));
            expr(ExprKind::Array(pairs.collect()))
        }
        DataType::DateTime64(precision, _) => {
            let ticks = array.as_primitive::<Int64Type>().value(0);
            literal(Literal::String(seconds(ticks, *precision).into_bytes()))
        }
        t @ (DataType::Bool
        | DataType::Decimal { .. }
        | DataType::String
        | DataType::FixedString(_)
        | DataType::Uuid
        | DataType::Ipv4
        | DataType::Ipv6) => {
            let mut text = Vec::new();
            let values = ColumnText::new(t, array, TextOptions::default())?;
            values.write(0, Style::Plain, &mut text);
            literal(Literal::String(text))
        }
        DataType::Float32 | DataType::Float64 => {
            let value = cast(array, &ArrowType::Float64).map_err(bug)?;
            let value = value.as_primitive::<Float64Type>().value(0);
            literal(Literal::Float(FloatLiteral {
                value,
                text: value.to_string(),
            }))
        }
        t if t.physical().is_unsigned_integer() => {
            let value = cast(array, &ArrowType::UInt64).map_err(bug)?;
            literal(Literal::UInt(value.as_primitive::<UInt64Type>().value(0)))
        }
        _ => {
            let value = cast(array, &ArrowType::Int64).map_err(bug)?;
            literal(Literal::Int(value.as_primitive::<Int64Type>().value(0)))
        }
    })
}

fn shown_values(values: &ArrayRef, data_type: &DataType) -> Result<Vec<ast::Expr>> {
    (0..values.len())
        .map(|i| shown_value(&values.slice(i, 1), data_type))
        .collect()
}

/// Ticks of a second's part as a decimal number without trailing zeros.
fn seconds(ticks: i64, precision: u8) -> String {
    let scale = 10_u64.pow(u32::from(precision));
    let (whole, part) = (ticks.unsigned_abs() / scale, ticks.unsigned_abs() % scale);
    let sign = if ticks < 0 { "-" } else { "" };
    let text = format!(
        "{sign}{whole}.{part:0width$}",
        width = usize::from(precision)
    );
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
