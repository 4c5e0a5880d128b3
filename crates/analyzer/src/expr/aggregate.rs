//! Resolves calls of aggregate functions.

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::Arg;
use basalt_functions::aggregate::{BoundAggregate, bind, is_aggregate, null_for_empty};
use basalt_parser::ast::{self, NullsAction};
use basalt_types::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;

use super::Resolver;
use super::window::needs_window;
use crate::{Typed, udaf};

/// An aggregate function with its resolved arguments.
pub(crate) struct ResolvedAggregate {
    /// Tells apart what name, parameters and types differ in.
    pub(crate) key: String,
    pub(crate) bound: BoundAggregate,
    pub(crate) args: Vec<Expr>,
}

impl Resolver<'_> {
    /// `sum(x)`, `quantile(0.9)(x)`, `countIf(c)`.
    pub(crate) fn aggregate_call(&self, f: &ast::Function) -> Result<Typed> {
        let resolved = self.resolve_aggregate(f)?;
        let data_type = resolved.bound.return_type.clone();
        if let Some(sum) = self.sum_of_shifted(f, &data_type)? {
            return Ok(sum);
        }
        if let Some(distinct) = self.distinct_with_condition(f, &data_type)? {
            return Ok(distinct);
        }
        Ok(Typed::new(
            udaf::call(resolved.key, resolved.bound, resolved.args),
            data_type,
        ))
    }

    fn resolve_aggregate(&self, f: &ast::Function) -> Result<ResolvedAggregate> {
        {
            let mut state = self.state.borrow_mut();
            if state.aggregate_depth > 0 {
                return Err(nested(&f.name));
            }
            state.aggregate_depth += 1;
        }
        let result = self.resolve_parts(f);
        self.state.borrow_mut().aggregate_depth -= 1;
        let resolved = result?;
        // An alias may have been resolved before, where nothing was around it.
        if resolved.args.iter().any(has_aggregate) {
            return Err(nested(&f.name));
        }
        Ok(resolved)
    }

    /// As [`Resolver::resolve_aggregate`], but whatever is around it.
    pub(super) fn resolve_parts(&self, f: &ast::Function) -> Result<ResolvedAggregate> {
        let mut name = self.implementation_name(f)?;
        let args = self.aggregate_args(f, &name)?;
        let params = self.resolve_all(f.params.as_deref().unwrap_or_default())?;
        let types: Vec<DataType> = args
            .iter()
            .map(|a| a.data_type.without_any_low_cardinality())
            .collect();
        let param_args: Vec<Arg> = params.iter().map(Typed::arg).collect();
        if let Some(i) = param_args.iter().position(|p| p.constant.is_none()) {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Parameter {} of aggregate function {name} must be constant",
                    i + 1
                ),
            ));
        }
        let settings = self.analyzer.settings();
        let context = settings.context();
        let mut bound = bind(&name, &param_args, &types, context);
        let is_list =
            |b: &BoundAggregate| matches!(b.return_type, DataType::Array(_) | DataType::Map(..));
        if self.analyzer.flag("aggregate_functions_null_for_empty")
            && !bound.as_ref().is_ok_and(is_list)
        {
            let other = null_for_empty(&name);
            // States that were made without the setting are still merged.
            if let Ok(or_null) = bind(&other, &param_args, &types, context) {
                (name, bound) = (other, Ok(or_null));
            }
        }
        let bound = bound?;
        let mut key = format!("{name}->{}", bound.return_type);
        for param in &params {
            key.push_str(&format!(":{}", param.expr));
        }
        for data_type in &types {
            key.push_str(&format!(",{data_type}"));
        }
        let mut exprs: Vec<Expr> = args.into_iter().map(|a| a.expr).collect();
        if exprs.is_empty() {
            // DataFusion counts the rows of a batch by its arguments' arrays.
            exprs.push(super::literal::unsigned(1)?.expr);
        }
        Ok(ResolvedAggregate {
            key,
            bound,
            args: exprs,
        })
    }

    /// The arguments of a function that counts different values.
    fn distinct_args(&self, args: &[ast::Expr]) -> Result<Vec<Typed>> {
        let mut all = Vec::with_capacity(args.len());
        for arg in args {
            let (inner, of_tuple) = without_injective(arg);
            let mut resolved = self.resolve_all(std::slice::from_ref(inner))?;
            // NULL is no value, but a tuple of it is.
            if of_tuple && resolved.iter().any(|r| r.data_type.holds_null()) {
                resolved = self.resolve_all(std::slice::from_ref(arg))?;
            }
            all.extend(resolved);
        }
        Ok(all)
    }

    /// The arguments of the aggregate function `name`.
    fn aggregate_args(&self, f: &ast::Function, name: &str) -> Result<Vec<Typed>> {
        // `count(*)` counts rows whatever the columns are.
        let is_star = name.eq_ignore_ascii_case("count")
            && matches!(f.args.as_slice(), [only] if is_asterisk(only));
        let mut args = if is_star {
            Vec::new()
        } else if COUNTS_DISTINCT.contains(&name) {
            self.distinct_args(&f.args)?
        } else {
            self.resolve_all(&f.args)?
        };
        if name.to_ascii_lowercase().ends_with("concat") || name == "string_agg" {
            check_delimiter(name, &args)?;
        }
        if name.eq_ignore_ascii_case("count") && args.len() == 1 && !args[0].data_type.is_nullable()
        {
            args.clear();
        }
        let has_window = |e: &Expr| e.exists(|e| Ok(matches!(e, Expr::WindowFunction(_))));
        if args.iter().any(|a| has_window(&a.expr).unwrap_or(false)) {
            return Err(Error::new(
                ErrorCode::ILLEGAL_AGGREGATION,
                format!("A window function is found inside aggregate function {name}"),
            ));
        }
        Ok(args)
    }

    /// Names that stand for another function by a setting or a modifier.
    pub(super) fn implementation_name(&self, f: &ast::Function) -> Result<String> {
        let settings = self.analyzer.settings();
        let implementation = settings.changed().get("count_distinct_implementation");
        let distinct = implementation.map_or("uniqExact", String::as_str);
        let lower = f.name.to_ascii_lowercase();
        if let Some(rest) = lower.strip_prefix("countdistinct") {
            return Ok(format!(
                "{distinct}{}",
                &f.name[f.name.len() - rest.len()..]
            ));
        }
        let table = match f.nulls {
            None => return Ok(f.name.clone()),
            Some(_) if !is_aggregate(&f.name) && !needs_window(&f.name) => {
                return Ok(f.name.clone());
            }
            Some(NullsAction::Respect) => RESPECTING,
            Some(NullsAction::Ignore) => IGNORING,
        };
        let stands_for = table.iter().find_map(|(name, other)| {
            let rest = lower.strip_prefix(name)?;
            let other = format!("{other}{}", &f.name[f.name.len() - rest.len()..]);
            is_aggregate(&other).then_some(other)
        });
        match stands_for {
            Some(other) => Ok(other),
            None if f.nulls == Some(NullsAction::Ignore) || lower.contains("respect") => {
                Ok(f.name.clone())
            }
            None => Err(Error::not_implemented(format!(
                "Function {} with RESPECT NULLS",
                f.name
            ))),
        }
    }

    /// `grouping(key, …)`: a marker that the GROUP BY above replaces.
    pub(crate) fn grouping_call(&self, args: Vec<Typed>) -> Result<Typed> {
        if !self.has_group_by {
            return Err(Error::new(
                ErrorCode::ILLEGAL_AGGREGATION,
                "Add GROUP BY: function grouping tells which of its keys a row is of",
            ));
        }
        let bound = basalt_functions::BoundFunction::from_parts(
            GROUPING,
            DataType::UInt64,
            std::sync::Arc::new(|_, _| {
                Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    "Function grouping takes keys of GROUP BY",
                ))
            }),
        );
        let exprs = args.into_iter().map(|a| a.expr).collect();
        Ok(Typed::new(
            crate::udf::call(GROUPING.to_owned(), bound, exprs),
            DataType::UInt64,
        ))
    }
}

/// What a function is with RESPECT NULLS, by its name in small letters; combinators may follow.
const RESPECTING: &[(&str, &str)] = &[
    ("anylast", "anyLastRespectNulls"),
    ("last_value", "anyLastRespectNulls"),
    ("any_value", "anyRespectNulls"),
    ("first_value", "anyRespectNulls"),
    ("any", "anyRespectNulls"),
];

/// What a function is with IGNORE NULLS.
const IGNORING: &[(&str, &str)] = &[
    ("anylast_respect_nulls", "anyLast"),
    ("anylastrespectnulls", "anyLast"),
    ("last_value_respect_nulls", "anyLast"),
    ("lastvaluerespectnulls", "anyLast"),
    ("any_value_respect_nulls", "any"),
    ("anyvaluerespectnulls", "any"),
    ("first_value_respect_nulls", "any"),
    ("firstvaluerespectnulls", "any"),
    ("any_respect_nulls", "any"),
    ("anyrespectnulls", "any"),
];

/// Functions that count as many values of `toString(x)` and `tuple(x)` as of `x`.
const COUNTS_DISTINCT: [&str; 5] = [
    "uniq",
    "uniqExact",
    "uniqHLL12",
    "uniqCombined",
    "uniqCombined64",
];

/// The argument of `toString(x)` and `tuple(x)`, which differ where x does, and whether it was in a tuple.
fn without_injective(expr: &ast::Expr) -> (&ast::Expr, bool) {
    match &expr.unaliased().kind {
        ast::ExprKind::Function(f)
            if f.args.len() == 1
                && f.over.is_none()
                && ["toString", "tuple"].contains(&f.name.as_str()) =>
        {
            let (inner, of_tuple) = without_injective(&f.args[0]);
            (inner, of_tuple || f.name == "tuple")
        }
        _ => (expr, false),
    }
}

/// Checks that the delimiter of `groupConcat(x, delimiter)` is constant.
fn check_delimiter(name: &str, args: &[Typed]) -> Result<()> {
    match args {
        [_, delimiter] if delimiter.constant.is_none() => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("The delimiter of aggregate function {name} must be constant"),
        )),
        _ => Ok(()),
    }
}

fn nested(function: &str) -> Error {
    Error::new(
        ErrorCode::ILLEGAL_AGGREGATION,
        format!("Aggregate function {function} is found inside another aggregate function"),
    )
}

fn is_asterisk(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ast::ExprKind::Matcher(m)
        if m.pattern == ast::MatcherPattern::All || m.qualifier.is_none())
}

/// Name of the marker function of `grouping()`.
pub(crate) const GROUPING: &str = "grouping";

/// Whether an aggregate function is in the expression.
pub(crate) fn has_aggregate(expr: &Expr) -> bool {
    let mut found = false;
    // The closure never fails, and so neither does the walk.
    let _ = expr.apply(|e| {
        if matches!(e, Expr::AggregateFunction(_)) {
            found = true;
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}

/// Checks that a clause has no aggregate function.
///
/// # Errors
/// `ILLEGAL_AGGREGATION`, naming the clause.
pub(crate) fn forbid_aggregates(expr: &Expr, clause: &str) -> Result<()> {
    if has_aggregate(expr) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_AGGREGATION,
            format!(
                "{}: an aggregate function is found in {clause}",
                instead(clause, "Use HAVING")
            ),
        ));
    }
    let has_window = expr.exists(|e| Ok(matches!(e, Expr::WindowFunction(_))));
    if has_window.unwrap_or(false) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_AGGREGATION,
            format!(
                "{}: a window function is found in {clause}",
                instead(clause, "Use QUALIFY")
            ),
        ));
    }
    Ok(())
}

/// What to do instead of what a clause does not take: `filter` where it filters rows.
fn instead<'a>(clause: &str, filter: &'a str) -> &'a str {
    match clause {
        "WHERE" | "PREWHERE" => filter,
        _ => "Compute it in a subquery",
    }
}
