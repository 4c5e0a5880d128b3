//! Reads the numbers of rows in LIMIT and OFFSET: counts, from the end if negative, and shares.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast;
use basalt_types::DataType;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{Float64Type, Int64Type, UInt64Type};

use super::Analyzer;
use crate::Typed;
use crate::plan::RowBound;

/// The constant in a clause.
///
/// # Errors
/// `INVALID_LIMIT_EXPRESSION` if it is no constant, no number, or a fraction beyond 1.
pub(super) fn row_bound(
    analyzer: &Analyzer<'_>,
    expr: &ast::Expr,
    clause: &str,
) -> Result<RowBound> {
    let invalid = |why: &str| {
        Error::new(
            ErrorCode::INVALID_LIMIT_EXPRESSION,
            format!("The number in {clause} {why}"),
        )
    };
    let (array, data_type) = analyzer.constant(expr).map_err(|e| {
        if e.code() == ErrorCode::UNKNOWN_IDENTIFIER {
            invalid("must be constant")
        } else {
            e
        }
    })?;
    let to = if data_type.is_float() {
        DataType::Float64
    } else if data_type == DataType::UInt64 {
        DataType::UInt64
    } else if data_type.is_integer() {
        DataType::Int64
    } else {
        return Err(invalid(&format!(
            "must be an integer or a share below 1, not of type {data_type}"
        )));
    };
    let value = Typed::constant(array, data_type)?.cast_to(&to, analyzer)?;
    let value = value.constant.ok_or_else(|| Error::bug("constant"))?;
    if value.is_empty() || value.is_null(0) {
        return Err(invalid("must not be NULL"));
    }
    match to {
        DataType::UInt64 => Ok(RowBound::Rows(value.as_primitive::<UInt64Type>().value(0))),
        DataType::Int64 => {
            let number = value.as_primitive::<Int64Type>().value(0);
            Ok(match u64::try_from(number) {
                Ok(rows) => RowBound::Rows(rows),
                Err(_) => RowBound::FromEnd(number.unsigned_abs()),
            })
        }
        _ => {
            let number = value.as_primitive::<Float64Type>().value(0);
            if number.fract() == 0.0 && (0.0..1e18).contains(&number) {
                Ok(RowBound::Rows(number as u64))
            } else if number > 0.0 && number < 1.0 {
                Ok(RowBound::Share(number.to_string()))
            } else {
                Err(invalid("must be an integer or a share between 0 and 1"))
            }
        }
    }
}
