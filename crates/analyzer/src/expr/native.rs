//! Builds what DataFusion runs itself and its optimizer understands: comparisons, logic, branches.
//!
//! Short circuit comes with it: a branch that is not taken is not evaluated.

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::core::cast::CastMode;
use basalt_functions::scalar::core::comparison::read_constant;
use basalt_types::{DataType, least_supertype, supertype_or_variant};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};

use super::{Resolver, literal};
use crate::Typed;
use crate::expr::cast::cast;

impl Resolver<'_> {
    /// `AND` and `OR` of any number of conditions, three-valued.
    pub(crate) fn logic(&self, is_and: bool, args: Vec<Typed>) -> Result<Typed> {
        let name = if is_and { "and" } else { "or" };
        if args.len() < 2 {
            return Err(Error::new(
                ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
                format!(
                    "Function {name} takes at least 2 arguments, got {}",
                    args.len()
                ),
            ));
        }
        if args.iter().any(|a| a.data_type == DataType::Nothing) {
            return self.call_by_name(name, args);
        }
        let constant = args.iter().all(|a| a.constant.is_some());
        let nullable = args.iter().any(|a| a.data_type.is_nullable());
        let predicates = args.iter().map(logical).collect::<Result<Vec<_>>>()?;
        let operator = if is_and { Operator::And } else { Operator::Or };
        let combined =
            balanced(predicates, operator).ok_or_else(|| Error::bug("logic without arguments"))?;
        let mut typed = Typed::from_predicate(combined, nullable);
        if args.iter().any(is_bool) {
            typed.data_type = bool_type(nullable);
        }
        fold_if(constant, typed)
    }

    pub(crate) fn not(&self, args: Vec<Typed>) -> Result<Typed> {
        let is_native = |t: &DataType| !t.has_variant() && *t.base() != DataType::Nothing;
        if matches!(args.as_slice(), [arg] if !is_native(&arg.data_type)) {
            return self.call_by_name("not", args);
        }
        let [arg] = one("not", args)?;
        let predicate = Expr::Not(Box::new(logical(&arg)?));
        let nullable = arg.data_type.is_nullable();
        let mut typed = Typed::from_predicate(predicate, nullable);
        if is_bool(&arg) {
            typed.data_type = bool_type(nullable);
        }
        fold_if(arg.constant.is_some(), like_argument(&arg.data_type, typed))
    }

    pub(crate) fn is_null(&self, args: Vec<Typed>, is_null: bool) -> Result<Typed> {
        let [arg] = one(if is_null { "isNull" } else { "isNotNull" }, args)?;
        if !arg.data_type.holds_null() {
            return literal::unsigned(u64::from(!is_null));
        }
        let constant = arg.constant.is_some();
        let inner = Box::new(arg.expr);
        let predicate = if is_null {
            Expr::IsNull(inner)
        } else {
            Expr::IsNotNull(inner)
        };
        fold_if(constant, Typed::from_predicate(predicate, false))
    }

    /// `if(c, a, b)` and `multiIf(c1, a1, …, b)`.
    pub(crate) fn branches(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        let fits = if name == "if" {
            args.len() == 3
        } else {
            args.len() >= 3 && args.len() % 2 == 1
        };
        if !fits {
            return Err(Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                format!("Function {name} takes conditions, each with a value, and a last value"),
            ));
        }
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        let mut args = args.into_iter().peekable();
        while let Some(arg) = args.next() {
            if args.peek().is_some() {
                conditions.push(check_condition(name, arg)?);
                values.extend(args.next());
            } else {
                values.push(arg);
            }
        }
        self.case(conditions, values, supertype_or_variant)
    }

    fn case(
        &self,
        conditions: Vec<Typed>,
        values: Vec<Typed>,
        supertype: fn(&[DataType]) -> Result<DataType>,
    ) -> Result<Typed> {
        // A choice has no dictionary, even if all of its branches are LowCardinality.
        let types = values
            .iter()
            .map(|v| v.data_type.without_any_low_cardinality());
        let common = supertype(&types.collect::<Vec<_>>())?;
        let constant = conditions
            .iter()
            .chain(&values)
            .all(|t| t.constant.is_some());
        // A choice between more than two goes its own way in ClickHouse.
        let mode = if conditions.len() == 1 {
            CastMode::Branch
        } else {
            CastMode::Normal
        };
        let mut values = values
            .into_iter()
            .map(|v| {
                let settings = self.analyzer.settings();
                let context = settings.context();
                cast(v, &common, mode, context).map(|t| Box::new(t.expr))
            })
            .collect::<Result<Vec<_>>>()?;
        let last = values.pop();
        let mut when_then = Vec::with_capacity(values.len());
        for (condition, value) in conditions.iter().zip(values) {
            when_then.push((Box::new(condition.to_predicate()?), value));
        }
        fold_if(
            constant,
            Typed::new(Expr::Case(Case::new(None, when_then, last)), common),
        )
    }

    /// `CASE x WHEN v THEN r … ELSE e END`; a NULL matches a NULL.
    pub(crate) fn case_with_expression(&self, args: Vec<Typed>) -> Result<Typed> {
        if args.len() < 4 || args.len() % 2 == 1 {
            let code = match args.is_empty() {
                true => ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
                false => ErrorCode::BAD_ARGUMENTS,
            };
            return Err(Error::new(
                code,
                "Function caseWithExpression takes an expression, pairs of values and a last value",
            ));
        }
        let mut args = args.into_iter();
        let subject = args
            .next()
            .ok_or_else(|| Error::bug("CASE without expression"))?;
        let rest: Vec<Typed> = args.collect();
        let compared = rest.iter().step_by(2).take(rest.len() / 2);
        let only_texts = compared.clone().all(is_constant_text);
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        let mut rest = rest.into_iter().peekable();
        while let Some(first) = rest.next() {
            match rest.next() {
                Some(value) => {
                    conditions.push(self.matches(subject.clone(), first, only_texts)?);
                    values.push(value);
                }
                None => values.push(first),
            }
        }
        self.case(conditions, values, least_supertype)
    }

    /// Whether a value of `CASE` is that of a WHEN; `only_texts` if all of them are constant texts.
    fn matches(&self, a: Typed, b: Typed, only_texts: bool) -> Result<Typed> {
        let (b, is_other) = self.case_value(&a, b, only_texts)?;
        if is_other {
            return literal::unsigned(0);
        }
        let both_null = match (a.data_type.is_nullable(), b.data_type.is_nullable()) {
            (true, true) => Some(a.expr.clone().is_null().and(b.expr.clone().is_null())),
            _ => None,
        };
        let equal = if *b.data_type.base() == DataType::Nothing {
            literal::unsigned(0)?
        } else {
            self.comparison("equals", vec![a, b])?
        };
        match both_null {
            Some(both) => Ok(Typed::from_predicate(both.or(equal.to_predicate()?), true)),
            None => Ok(equal),
        }
    }

    /// The value of a WHEN in a type that compares with the subject's, and whether it can never be equal:
    /// numbers and texts are read as each other, but a text is no date, as in ClickHouse.
    fn case_value(&self, subject: &Typed, value: Typed, only_texts: bool) -> Result<(Typed, bool)> {
        let base = subject.data_type.base();
        let is_day_or_time = base.is_date() || matches!(base, DataType::DateTime(_));
        if only_texts && is_day_or_time {
            // A text that is no date at all is an error all the same.
            value.clone().cast_to(base, self.analyzer)?;
            return Ok((value, true));
        }
        let is_number = base.is_integer() || base.is_float();
        let value_is_number = value.data_type.is_integer() || value.data_type.is_float();
        if is_constant_text(&value) && is_number {
            return Ok((value.cast_to(base, self.analyzer)?, false));
        }
        if value_is_number && value.constant.is_some() && base.is_string() {
            return Ok((value.cast_to(&DataType::String, self.analyzer)?, false));
        }
        Ok((value, false))
    }

    /// `=`, `<` and the others: natively where Arrow's order of values is the dialect's.
    pub(crate) fn comparison(&self, name: &str, args: Vec<Typed>) -> Result<Typed> {
        let args = self.texts_as_times(args)?;
        if let Some(compared) = self.compared_by_elements(name, &args)? {
            return Ok(compared);
        }
        // Arrow compares UUIDs from their first byte on, ClickHouse from their second half.
        let is_order = !matches!(name, "equals" | "notEquals");
        let other_order = is_order && args.iter().any(|a| *a.data_type.base() == DataType::Uuid);
        let native = args.len() == 2 && !other_order && native_type(&args[0], &args[1]).is_some();
        if !native {
            return self.call_by_name(name, args);
        }
        let [a, b] = <[Typed; 2]>::try_from(args).map_err(|_| Error::bug("comparison of two"))?;
        let constant = a.constant.is_some() && b.constant.is_some();
        let nullable = a.data_type.is_nullable() || b.data_type.is_nullable();
        let is_low = |t: &Typed| matches!(t.data_type, DataType::LowCardinality(_));
        let low_cardinality =
            (is_low(&a) && b.constant.is_some()) || (is_low(&b) && a.constant.is_some());
        let common = native_type(&a, &b).ok_or_else(|| Error::bug("no common type"))?;
        let (a, b) = (self.narrow_to(a, &common)?, self.narrow_to(b, &common)?);
        let operator = match name {
            "equals" => Operator::Eq,
            "notEquals" => Operator::NotEq,
            "less" => Operator::Lt,
            "greater" => Operator::Gt,
            "lessOrEquals" => Operator::LtEq,
            _ => Operator::GtEq,
        };
        let expr = Expr::BinaryExpr(BinaryExpr::new(Box::new(a), operator, Box::new(b)));
        let typed = Typed::from_predicate(expr, nullable);
        let typed = if low_cardinality {
            low_cardinality_of(typed)
        } else {
            typed
        };
        fold_if(constant, typed)
    }

    /// Of two arguments, a constant text beside a date, time or address as a constant of its type.
    fn texts_as_times(&self, mut args: Vec<Typed>) -> Result<Vec<Typed>> {
        let [a, b] = args.as_mut_slice() else {
            return Ok(args);
        };
        let (text, other) = match (&a.constant, &b.constant) {
            (Some(_), None) => (a, &b.data_type),
            (None, Some(_)) => (b, &a.data_type),
            _ => return Ok(args),
        };
        let is_read = matches!(
            other.base(),
            DataType::Date
                | DataType::Date32
                | DataType::DateTime(_)
                | DataType::DateTime64(_, _)
                | DataType::Ipv4
                | DataType::Ipv6
        );
        let value = text
            .constant
            .as_ref()
            .filter(|value| value.null_count() == 0);
        if let (true, DataType::String, Some(value)) = (is_read, &text.data_type, value) {
            let settings = self.analyzer.settings();
            let context = settings.context();
            if let Some(read) = read_constant(value, other.base(), context)? {
                *text = Typed::constant(read, other.base().clone())?;
            }
        }
        Ok(args)
    }

    fn narrow_to(&self, typed: Typed, common: &DataType) -> Result<Expr> {
        let to = if typed.data_type.is_nullable() {
            common.clone().to_nullable()
        } else {
            common.clone()
        };
        Ok(typed.cast_to(&to, self.analyzer)?.expr)
    }
}

fn low_cardinality_of(mut typed: Typed) -> Typed {
    typed.data_type = DataType::LowCardinality(std::sync::Arc::new(typed.data_type));
    typed
}

/// What a function of a single LowCardinality argument gives is LowCardinality, too.
pub(super) fn like_argument(argument: &DataType, result: Typed) -> Typed {
    match argument {
        DataType::LowCardinality(_) => low_cardinality_of(result),
        _ => result,
    }
}

/// The type that two values can be compared in by Arrow's kernels, with the dialect's result.
///
/// A constant takes the type of the other side where its value is one of that type, so that a
/// column is compared as it is stored.
fn native_type(a: &Typed, b: &Typed) -> Option<DataType> {
    let (x, y) = (a.data_type.base(), b.data_type.base());
    if x.is_integer() && y.is_integer() {
        for (constant, column) in [(a, y), (b, x)] {
            let value = constant.constant.as_ref();
            if value.is_some_and(|v| fits_integer(v, column)) && column != constant.data_type.base()
            {
                return Some(column.clone());
            }
        }
        return least_supertype(&[x.clone(), y.clone()])
            .ok()
            .filter(|t| *t != DataType::Bool)
            .or_else(|| (x == y).then(|| x.clone()));
    }
    let same_kind = x == y
        && matches!(
            x,
            DataType::String
                | DataType::FixedString(_)
                | DataType::Date
                | DataType::Date32
                | DataType::Uuid
                | DataType::Ipv4
                | DataType::Ipv6
                | DataType::Decimal { .. }
        );
    let times = matches!((x, y), (DataType::DateTime(_), DataType::DateTime(_)));
    let ticks =
        matches!((x, y), (DataType::DateTime64(p, _), DataType::DateTime64(q, _)) if p == q);
    (same_kind || times || ticks).then(|| x.clone())
}

fn fits_integer(value: &datafusion::arrow::array::ArrayRef, data_type: &DataType) -> bool {
    use datafusion::arrow::array::Array;
    use datafusion::arrow::compute::cast;
    value.is_valid(0)
        && *data_type != DataType::Bool
        && cast(value, &data_type.physical()).is_ok_and(|v| v.is_valid(0))
}

fn is_bool(typed: &Typed) -> bool {
    *typed.data_type.base() == DataType::Bool
}

fn bool_type(nullable: bool) -> DataType {
    if nullable {
        DataType::Bool.to_nullable()
    } else {
        DataType::Bool
    }
}

/// The chain as a tree of little depth: what walks over it costs more the deeper it is.
fn balanced(mut chain: Vec<Expr>, operator: Operator) -> Option<Expr> {
    while chain.len() > 1 {
        let mut pairs = Vec::with_capacity(chain.len().div_ceil(2));
        let mut exprs = chain.into_iter();
        while let Some(a) = exprs.next() {
            pairs.push(match exprs.next() {
                Some(b) => Expr::BinaryExpr(BinaryExpr::new(Box::new(a), operator, Box::new(b))),
                None => a,
            });
        }
        chain = pairs;
    }
    chain.pop()
}

fn logical(typed: &Typed) -> Result<Expr> {
    typed.to_predicate().map_err(|_| {
        Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Compare it with something: a condition of type {} is no number",
                typed.data_type
            ),
        )
    })
}

fn is_constant_text(typed: &Typed) -> bool {
    typed.constant.is_some() && typed.data_type.is_string()
}

fn check_condition(name: &str, condition: Typed) -> Result<Typed> {
    let base = condition.data_type.base();
    if matches!(base, DataType::UInt8 | DataType::Bool | DataType::Nothing) {
        return Ok(condition);
    }
    Err(Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!(
            "Compare it with something: illegal type {} of a condition of function {name}. Must be UInt8",
            condition.data_type
        ),
    ))
}

fn one(name: &str, args: Vec<Typed>) -> Result<[Typed; 1]> {
    <[Typed; 1]>::try_from(args).map_err(|args| {
        Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            format!("Function {name} takes 1 argument, got {}", args.len()),
        )
    })
}

pub(crate) fn fold_if(constant: bool, typed: Typed) -> Result<Typed> {
    if constant { typed.folded() } else { Ok(typed) }
}
