//! Resolves IN: its right side becomes a set of the left side's type before the query runs.
//!
//! Values that are none of the left type (`300 IN (…)` for a `UInt8`) cannot match and are left
//! out, NULL too: only a NULL on the left gives NULL.

use std::collections::HashSet;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::BoundFunction;
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::compute::is_not_null;
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Case, InList};

use super::native::fold_if;
use super::native::like_argument;
use super::value_set::{SetKind, ValueSet};
use super::{Resolver, literal};
use crate::plan::{KeyOverflow, RowLimit, table_bytes, text_bytes};
use crate::{Typed, plan_error, udf};

/// Up to here a set is a list that DataFusion's optimizer and the scan see through.
const MAX_LIST_LEN: usize = 32;

/// Whether a function is IN or NOT IN, in any of their kinds.
pub(crate) fn is_in(function: &str) -> bool {
    matches!(
        function,
        "in" | "globalIn"
            | "notIn"
            | "globalNotIn"
            | "nullIn"
            | "globalNullIn"
            | "notNullIn"
            | "globalNotNullIn"
    )
}

impl Resolver<'_> {
    /// `x IN …`, `x NOT IN …`.
    pub(crate) fn in_call(&self, name: &str, args: &[ast::Expr]) -> Result<Typed> {
        let [left, right] = args else {
            return Err(Error::new(
                ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                format!("Operator {name} takes a value and a set"),
            ));
        };
        let negated = matches!(
            name,
            "notIn" | "globalNotIn" | "notNullIn" | "globalNotNullIn"
        );
        let not_if = |negated, found| match negated {
            true => self.not(vec![found]),
            false => Ok(found),
        };
        let named = self.analyzer.named_by_parameters(right)?;
        let right = named.as_ref().unwrap_or(right);
        let left = self.resolve(left)?;
        let null_matches = self.analyzer.flag("transform_null_in");
        // The set of `nullIn` still has no NULL: that takes the setting.
        let null_is_no_member = name.to_ascii_lowercase().contains("null") && !null_matches;
        if has_nothing(&left.data_type) {
            self.refuse_set_of_nothing(right)?;
        }
        refuse_tuple_in_nothing(&left.data_type, right)?;
        let left_is_null = *left.data_type.base() == DataType::Nothing;
        if (null_matches || null_is_no_member)
            && let Some(items) = self.set_of_row(&left.data_type, right)?
        {
            return not_if(negated, self.member_of_row(&left, items, true)?);
        }
        if left_is_null && null_is_no_member {
            return literal::unsigned(u64::from(negated));
        }
        if left_is_null && !null_matches {
            return literal::null();
        }
        let as_type = if left_is_null {
            DataType::UInt8.to_nullable()
        } else {
            left.data_type.clone()
        };
        let (as_type, left) = match nullable_inside(&as_type) {
            Some(wider) => (wider.clone(), left.cast_to(&wider, self.analyzer)?),
            None => (as_type, left),
        };
        if !null_matches
            && !null_is_no_member
            && let Some(items) = self.set_of_row(&as_type, right)?
        {
            return not_if(negated, self.member_of_row(&left, items, false)?);
        }
        let values = self.set_values(&as_type, right)?;
        self.check_size(&values)?;
        let has_null = values.null_count() > 0;
        let left = left.cast_to(&as_type, self.analyzer)?;
        let expr = left.expr.clone();
        let mut result = self.member(left, (without_nulls(&values)?, null_matches))?;
        if (null_matches || null_is_no_member) && as_type.is_nullable() {
            // NULL is a value like any other.
            let constant = result.constant.is_some();
            let found = has_null && null_matches;
            let null = Box::new(literal::unsigned(u64::from(found))?.expr);
            let cases = vec![(Box::new(expr.is_null()), null)];
            let case = Case::new(None, cases, Some(Box::new(result.expr)));
            result = fold_if(constant, Typed::new(Expr::Case(case), DataType::UInt8))?;
        }
        let result = like_argument(&as_type, result);
        not_if(negated, result)
    }

    /// The elements of `[]` are of no type, which no written value has.
    fn refuse_set_of_nothing(&self, right: &ast::Expr) -> Result<()> {
        let is_subquery = matches!(right.unaliased().kind, ExprKind::Subquery(_));
        if is_subquery || self.is_table(right) {
            return Ok(());
        }
        let set = self.resolve(right)?.data_type;
        let of = match set.base() {
            DataType::Array(element) => element.base(),
            DataType::Tuple(tuple) => tuple.types.first().map_or(&set, DataType::base),
            one => one,
        };
        if of.is_string() {
            return Err(Error::not_implemented("Text as a value of type Nothing"));
        }
        Err(Error::new(
            ErrorCode::TYPE_MISMATCH,
            format!(
                "Cast the empty array to Array(T): IN takes no {of} as a value of type Nothing"
            ),
        ))
    }

    /// Refuses larger sets than settings allow.
    fn check_size(&self, values: &ArrayRef) -> Result<()> {
        let limit = match self.analyzer.size_limit(RowLimit::Set) {
            Some(limit) if limit.overflow == KeyOverflow::Throw => limit,
            _ => return Ok(()),
        };
        let size = |num_values: usize| {
            let num_values = num_values as u64;
            let keys = std::slice::from_ref(values);
            (num_values, table_bytes(keys, num_values) + text_bytes(keys))
        };
        let (most, bytes) = size(values.len());
        if !limit.is_passed(most, bytes) {
            return Ok(());
        }
        let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())]);
        let rows = converter.and_then(|c| c.convert_columns(&[Arc::clone(values)]));
        let rows = rows.map_err(|e| Error::bug(e.to_string()))?;
        let (num_values, bytes) = size(rows.iter().collect::<HashSet<_>>().len());
        match limit.is_passed(num_values, bytes) {
            true => Err(limit.error(num_values, bytes)),
            false => Ok(()),
        }
    }

    /// Whether the set has a value; a tuple with a NULL inside is only there if `null_matches`.
    fn member(&self, left: Typed, (values, null_matches): (ArrayRef, bool)) -> Result<Typed> {
        let constant = left.constant.is_some();
        let nullable = left.data_type.holds_null();
        if *left.data_type.base() == DataType::Nothing {
            return literal::null();
        }
        if values.len() <= MAX_LIST_LEN && is_listable(left.data_type.base()) {
            let scalar =
                |i| ScalarValue::try_from_array(&values, i).map(|s| Expr::Literal(s, None));
            let list: Vec<Expr> = (0..values.len())
                .map(scalar)
                .collect::<datafusion::error::Result<_>>()
                .map_err(plan_error)?;
            if list.is_empty() && !nullable {
                return literal::unsigned(0);
            }
            if !list.is_empty() {
                let expr = Expr::InList(InList::new(Box::new(left.expr), list, false));
                return fold_if(constant, Typed::from_predicate(expr, nullable));
            }
        }
        let of = SetKind {
            null_matches,
            nullable,
            has_variant: left.data_type.has_variant(),
        };
        let set = ValueSet::new(&values, null_matches, of.has_variant)?;
        let return_type = if nullable {
            DataType::UInt8.to_nullable()
        } else {
            DataType::UInt8
        };
        let mut bound = BoundFunction::from_parts(
            "in",
            return_type.clone(),
            Arc::new(move |columns, num_rows| {
                Ok(Arc::new(set.contains(&columns[0].expand(num_rows)?)?) as ArrayRef)
            }),
        );
        bound.may_fail = false;
        bound.members = (!null_matches && !of.has_variant).then(|| Arc::clone(&values));
        let new_key = || self.analyzer.fresh("set");
        let key = self.analyzer.sets.key(&values, of, new_key);
        fold_if(
            constant,
            Typed::new(udf::call(key, bound, vec![left.expr]), return_type),
        )
    }
}

/// Whether the type is Nothing or a tuple with it.
fn has_nothing(data_type: &DataType) -> bool {
    match data_type {
        DataType::Tuple(tuple) => tuple.types.iter().any(has_nothing),
        other => *other == DataType::Nothing,
    }
}

/// A tuple's type whose NULLs have a type that the set's values can be cast to.
fn nullable_inside(data_type: &DataType) -> Option<DataType> {
    let DataType::Tuple(tuple) = data_type else {
        return None;
    };
    let is_null = |t: &DataType| *t.base() == DataType::Nothing;
    if tuple.types.len() < 2 || !tuple.types.iter().any(is_null) {
        return None;
    }
    let wider = |t: &DataType| {
        if is_null(t) {
            DataType::UInt8.to_nullable()
        } else {
            t.clone()
        }
    };
    Some(DataType::Tuple(Arc::new(basalt_types::TupleType {
        types: tuple.types.iter().map(wider).collect(),
        names: tuple.names.clone(),
    })))
}

/// Whether Arrow's equality is the dialect's for the type.
fn is_listable(base: &DataType) -> bool {
    (base.is_integer() && *base != DataType::Bool)
        || matches!(
            base,
            DataType::String | DataType::Date | DataType::DateTime(_)
        )
}

fn without_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    let valid = is_not_null(array).map_err(|e| Error::bug(e.to_string()))?;
    datafusion::arrow::compute::filter(array, &valid).map_err(|e| Error::bug(e.to_string()))
}

/// `[]` has no elements that a tuple could be.
fn refuse_tuple_in_nothing(left: &DataType, right: &ast::Expr) -> Result<()> {
    match (left.base(), &right.unaliased().kind) {
        (DataType::Tuple(_), ExprKind::Array(items)) if items.is_empty() => Err(Error::new(
            ErrorCode::INCORRECT_ELEMENT_OF_SET,
            format!("Invalid element type in set: {left}, not Array(Nothing)"),
        )),
        _ => Ok(()),
    }
}
