//! Reads the numbers of rows in LIMIT and OFFSET: counts, from the end if negative, and shares.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, SetExpr};
use basalt_types::DataType;
use datafusion::arrow::array::{Array, AsArray};
use datafusion::arrow::datatypes::{Float64Type, Int64Type, UInt64Type};
use datafusion::logical_expr::LogicalPlan;

use super::Planned;
use crate::Typed;
use crate::expr::Resolver;
use crate::plan::{RowBound, StreamOperator, limited_rows, stream_node};
use crate::plan_error;

/// The numbers of rows in the clauses of a SELECT.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowBounds {
    pub(super) limit: Option<RowBound>,
    pub(super) offset: Option<RowBound>,
    /// LIMIT and OFFSET of LIMIT BY.
    pub(super) limit_by: Option<(RowBound, RowBound)>,
}

impl RowBounds {
    /// The rows that ORDER BY has to keep of `select`, where a number says so; other steps between it and
    /// the LIMIT need all of them.
    pub(super) fn num_sorted(&self, select: &ast::Select) -> Option<u64> {
        let (limit, offset) = match (&self.limit, &self.offset) {
            (Some(RowBound::Rows(limit)), None) => (*limit, 0),
            (Some(RowBound::Rows(limit)), Some(RowBound::Rows(offset))) => (*limit, *offset),
            _ => return None,
        };
        let is_direct = select.distinct == ast::Distinct::None && !select.with_ties;
        (is_direct && self.limit_by.is_none()).then(|| limit.saturating_add(offset))
    }

    /// Reads the numbers of `select`, whose names `resolver` knows.
    ///
    /// # Errors
    /// `INVALID_LIMIT_EXPRESSION` if one is no constant, no number, or a fraction beyond 1.
    pub(super) fn of_select(resolver: &Resolver<'_>, select: &ast::Select) -> Result<Self> {
        let bound = |expr: &Option<ast::Expr>, clause| {
            let placed = |e: &ast::Expr| {
                let bound = row_bound(resolver, e, clause);
                bound.map_err(|error| resolver.analyzer.placed(error, e.span))
            };
            expr.as_ref().map(placed).transpose()
        };
        let whole = |expr, clause| match bound(expr, clause)? {
            Some(RowBound::Share(_)) => Err(Error::not_implemented(format!(
                "A fractional {clause} of LIMIT BY"
            ))),
            bound => Ok(bound.unwrap_or(RowBound::Rows(0))),
        };
        if select.limit_range.is_some() {
            return Err(Error::not_implemented("LIMIT with AFTER or UNTIL"));
        }
        let limit_by = match &select.limit_by {
            None => None,
            Some(by) => Some((
                whole(&Some(by.limit.clone()), "LIMIT")?,
                whole(&by.offset, "OFFSET")?,
            )),
        };
        Ok(Self {
            limit: bound(&select.limit, "LIMIT")?,
            offset: bound(&select.offset, "OFFSET")?,
            limit_by,
        })
    }
}

/// The constant in a clause.
fn row_bound(resolver: &Resolver<'_>, expr: &ast::Expr, clause: &str) -> Result<RowBound> {
    let invalid = |why: &str| {
        Error::new(
            ErrorCode::INVALID_LIMIT_EXPRESSION,
            format!("The number in {clause} {why}"),
        )
    };
    let constant = resolver.constant(expr)?;
    let (array, data_type) = constant.ok_or_else(|| invalid("must be constant"))?;
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
    let value = Typed::constant(array, data_type)?.cast_to(&to, resolver.analyzer)?;
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

/// The rows that the settings `limit` and `offset` of a subquery leave.
pub(super) fn within_settings(planned: Planned, body: &SetExpr) -> Result<Planned> {
    let value = |name| {
        let mut settings = settings_of(body).iter().rev();
        let setting = settings.find(|s| s.name == name)?;
        let value = setting.value.as_ref()?;
        let text = || std::str::from_utf8(value.as_string()?).ok()?.parse().ok();
        usize::try_from(value.as_u64().or_else(text)?).ok()
    };
    let limit = value("limit").filter(|limit| *limit > 0);
    let offset = value("offset").unwrap_or(0);
    if limit.is_none() && offset == 0 {
        return Ok(planned);
    }
    let plan = match limit {
        Some(limit) => limited_rows(planned.plan, offset, Some(limit))?,
        None => without_first(planned.plan, offset as u64)?,
    };
    Ok(Planned { plan, ..planned })
}

/// The rows of a subquery behind the first `offset`. A plain step of DataFusion's would not keep the sort below.
pub(super) fn without_first(plan: LogicalPlan, offset: u64) -> Result<LogicalPlan> {
    let operator = StreamOperator::LimitRows {
        offset: RowBound::Rows(offset),
        limit: RowBound::Rows(u64::MAX),
    };
    stream_node(plan, operator).map_err(plan_error)
}

/// The settings of a SELECT, those of the last one for all branches of a set operation.
fn settings_of(body: &SetExpr) -> &[ast::Setting] {
    match body {
        SetExpr::Select(select) => &select.settings,
        SetExpr::Nested(inner) => settings_of(inner),
        SetExpr::Operation { branches, .. } => match branches.last() {
            Some(SetExpr::Select(last)) => &last.settings,
            _ => &[],
        },
    }
}
