//! Writes conversions out: natively where only a number's width changes, else by a function.

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::core::cast::{CastMode, cast_function, keep_zone};
use basalt_types::DataType;
use datafusion::logical_expr::{Cast, Expr};

use super::Resolver;
use crate::query::Analyzer;
use crate::{Typed, udf};

impl Typed {
    /// The expression converted to `to`, constants at once.
    pub(crate) fn cast_to(self, to: &DataType, analyzer: &Analyzer<'_>) -> Result<Self> {
        cast(self, to, CastMode::Normal, analyzer.settings().context())
    }
}

/// The expression converted to `to`, constants at once.
///
/// # Errors
/// What the conversion reports: for types that do not convert, and for constants that do not.
pub fn cast(
    typed: Typed,
    to: &DataType,
    mode: CastMode,
    context: &basalt_functions::Context,
) -> Result<Typed> {
    if typed.data_type == *to {
        return Ok(typed);
    }
    let is_constant = typed.constant.is_some();
    let from = typed.data_type.clone();
    let result = if same_values(&from, to) {
        Typed::new(typed.expr, to.clone())
    } else if widens(&from, to) {
        Typed::new(
            Expr::Cast(Cast::new(Box::new(typed.expr), to.physical())),
            to.clone(),
        )
    } else {
        let bound = cast_function(&from, to, context, mode)?;
        let key = format!("cast:{mode:?}:{from}:{to}:{}", context.time_zone.name());
        let data_type = bound.return_type.clone();
        Typed::new(udf::call(key, bound, vec![typed.expr]), data_type)
    };
    if is_constant {
        result.folded()
    } else {
        Ok(result)
    }
}

/// Whether the arrays are the same and no value has to be checked or changed.
fn same_values(from: &DataType, to: &DataType) -> bool {
    let (a, b) = (from.without_low_cardinality(), to.without_low_cardinality());
    a == b || (!a.is_nullable() && b.is_nullable() && *a == *b.base())
}

/// Whether every integer of `from` is one of `to`.
fn widens(from: &DataType, to: &DataType) -> bool {
    let (Some(a), Some(b)) = (from.base().fixed_size_bytes(), to.base().fixed_size_bytes()) else {
        return false;
    };
    let plain = |t: &DataType| t.is_integer() && *t.base() != DataType::Bool;
    let fits = match (from.is_unsigned(), to.is_unsigned()) {
        (x, y) if x == y => a <= b,
        (true, false) => a < b,
        _ => false,
    };
    plain(from) && plain(to) && fits && (to.is_nullable() || !from.is_nullable())
}

impl Resolver<'_> {
    /// `CAST(x, 'T')` and `x::T`.
    pub(crate) fn cast_call(&self, args: Vec<Typed>, keep_nullable: bool) -> Result<Typed> {
        let [value, type_name] = <[Typed; 2]>::try_from(args).map_err(|_| {
            Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                "CAST takes 2 arguments: a value and a type",
            )
        })?;
        let name = constant_text(&type_name).ok_or_else(|| {
            Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "Second argument of CAST must be a constant string, the name of a type",
            )
        })?;
        let mut to = keep_zone(&value.data_type, basalt_types::parse_data_type(&name)?);
        if keep_nullable && value.data_type.is_nullable() {
            to = to.to_nullable();
        }
        let settings = self.analyzer.settings();
        let context = settings.context();
        let is_constant = value.constant.is_some();
        let expr = self.keeps_casts.get().then(|| value.expr.clone());
        let result = cast(value, &to, CastMode::Reading, context)?;
        if is_constant || expr != Some(result.expr.clone()) {
            return Ok(result);
        }
        let data_type = result.data_type.clone();
        let kept = self.call_by_name("identity", vec![result])?;
        Ok(Typed::new(kept.expr, data_type))
    }
}

/// The text of a constant string.
pub(crate) fn constant_text(typed: &Typed) -> Option<String> {
    let array = typed.constant.as_ref()?;
    let strings = basalt_functions::StringColumn::of_array(array, true).ok()?;
    String::from_utf8(strings.value(0).to_vec()).ok()
}
