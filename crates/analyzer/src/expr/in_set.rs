//! Resolves IN: its right side becomes a set of the left side's type before the query runs.
//!
//! Values that are none of the left type (`300 IN (…)` for a `UInt8`) cannot match and are left
//! out, NULL too: only a NULL on the left gives NULL.

use std::collections::HashSet;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{Arg, BoundFunction, Column, registry};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::DataType;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, StructArray, new_null_array};
use datafusion::arrow::compute::{concat, is_not_null};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::{Case, InList};

use super::native::fold_if;
use super::native::like_argument;
use super::subquery::Subquery;
use super::value_set::ValueSet;
use super::{Resolver, literal};
use crate::plan::{
    KeyOverflow, RowLimit, StreamOperator, project, stream_node, table_bytes, text_bytes,
};
use crate::query::{OutputColumn, Planned};
use crate::scope::ScopeColumn;
use crate::typed::column;
use crate::{Typed, plan_error, udf};

/// Up to here a set is a list that DataFusion's optimizer and the scan see through.
const MAX_LIST_LEN: usize = 32;

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

    /// The rows of a set under the limit of sets; constants are taken whole.
    fn with_few_values(&self, planned: Planned) -> Result<Planned> {
        let Some(limit) = self.analyzer.size_limit(RowLimit::Set) else {
            return Ok(planned);
        };
        let keys = planned.columns.iter().map(|c| c.internal.clone());
        let operator = StreamOperator::KeysAtMost {
            keys: keys.collect(),
            limit,
        };
        let plan = stream_node(planned.plan, operator).map_err(plan_error)?;
        Ok(Planned { plan, ..planned })
    }

    /// The values of a set that is not the same in all rows.
    fn set_of_row(&self, left: &DataType, right: &ast::Expr) -> Result<Option<Vec<Typed>>> {
        let items = match &right.unaliased().kind {
            ExprKind::Literal(_) | ExprKind::Subquery(_) => return Ok(None),
            ExprKind::Identifier(_) if self.is_table(right) => return Ok(None),
            ExprKind::Tuple(items) => self.tuple_items(left, items)?,
            ExprKind::Function(f) if f.name == "tuple" => self.tuple_items(left, &f.args)?,
            _ => vec![self.resolve(right)?],
        };
        let is_of_row = items.iter().any(|i| i.constant.is_none());
        Ok(is_of_row.then_some(items))
    }

    /// The set's values as one array of the left side's type; NULL for values that are none of it.
    fn set_values(&self, left: &DataType, right: &ast::Expr) -> Result<ArrayRef> {
        let wanted = left.base();
        let columns = match &right.unaliased().kind {
            ExprKind::Subquery(query) => {
                let planned = match self.subquery(query)? {
                    Subquery::Plain(planned) => planned,
                    Subquery::Correlated { .. } => {
                        return Err(Error::not_implemented("IN with a correlated subquery"));
                    }
                };
                return self
                    .convert_rows(self.rows_of(self.with_few_values(planned)?, None)?, wanted);
            }
            ExprKind::Identifier(_) if self.is_table(right) => {
                let name = right
                    .as_object_name()
                    .ok_or_else(|| Error::bug("table name"))?;
                let planned = match self.rows_around(&parts_of(&name))? {
                    Some(planned) => planned,
                    None => self.analyzer.whole_table(&name, self.outer)?,
                };
                return self
                    .convert_rows(self.rows_of(self.with_few_values(planned)?, None)?, wanted);
            }
            ExprKind::Tuple(items) => self.tuple_items(left, items)?,
            ExprKind::Function(f) if f.name == "tuple" => self.tuple_items(left, &f.args)?,
            _ => self.single_item(left, self.resolve(right)?)?,
        };
        let mut arrays = Vec::with_capacity(columns.len());
        for typed in columns {
            let array = typed.constant.clone().ok_or_else(|| {
                Error::new(
                    ErrorCode::UNSUPPORTED_METHOD,
                    "Right side of IN must be constants, a table or a subquery",
                )
            })?;
            let converted = self.convert(&array, &typed.data_type, wanted)?;
            let is_bad_text = *typed.data_type.base() == DataType::String
                && converted.null_count() > array.null_count();
            if is_bad_text && wanted.is_date_or_time() {
                // Text that is no date at all is an error, unlike a day that does not exist.
                typed.clone().cast_to(wanted, self.analyzer)?;
            }
            if is_bad_text && wanted.is_number() {
                let text = crate::expr::cast::constant_text(&typed).unwrap_or_default();
                return Err(Error::new(
                    ErrorCode::TYPE_MISMATCH,
                    format!("Cannot convert string '{text}' in the right side of IN to {wanted}"),
                ));
            }
            arrays.push(converted);
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        if arrays.is_empty() {
            return Ok(datafusion::arrow::array::new_empty_array(
                &wanted.physical(),
            ));
        }
        concat(&arrays).map_err(|e| Error::bug(e.to_string()))
    }

    /// `(1, 2)` is two values, unless the left side is a tuple and it is one of its kind.
    fn tuple_items(&self, left: &DataType, items: &[ast::Expr]) -> Result<Vec<Typed>> {
        let resolved = self.resolve_all(items)?;
        let is_tuple = |t: &Typed| matches!(t.data_type.base(), DataType::Tuple(_));
        match left.base() {
            DataType::Tuple(elements) if !resolved.iter().any(is_tuple) => {
                if elements.types.len() != resolved.len() {
                    return Err(element_mismatch(elements.types.len(), resolved.len()));
                }
                Ok(vec![self.call_by_name("tuple", resolved)?])
            }
            _ => Ok(resolved),
        }
    }

    /// A constant array (or tuple behind a name) gives its elements, anything else itself.
    fn single_item(&self, left: &DataType, typed: Typed) -> Result<Vec<Typed>> {
        let Some(array) = typed.constant.clone() else {
            return Ok(vec![typed]);
        };
        match &typed.data_type {
            DataType::Array(element) if !matches!(left.base(), DataType::Array(_)) => {
                let values = array.as_list::<i32>().value(0);
                let of_row = |i| Typed::constant(values.slice(i, 1), element.as_ref().clone());
                (0..values.len()).map(of_row).collect()
            }
            DataType::Tuple(tuple) => {
                let items = array.as_struct().columns().iter().zip(&tuple.types);
                let items: Vec<Typed> = items
                    .map(|(c, t)| Typed::constant(Arc::clone(c), t.clone()))
                    .collect::<Result<_>>()?;
                let nested = items
                    .iter()
                    .any(|t| matches!(t.data_type, DataType::Tuple(_)));
                let left_is_tuple = matches!(left.base(), DataType::Tuple(_));
                if left_is_tuple && !nested {
                    Ok(vec![typed])
                } else {
                    Ok(items)
                }
            }
            _ => Ok(vec![typed]),
        }
    }

    fn is_table(&self, expr: &ast::Expr) -> bool {
        let Some(name) = expr.as_object_name() else {
            return false;
        };
        let parts = parts_of(&name);
        let known_name = self.names.has(&parts)
            || self.aliases.get(&name.name).is_some()
            || self.outer.expression(&name.name).is_some();
        !known_name
            && (self.outer.subquery(&name.name).is_some()
                || self.is_around(&parts)
                || self.analyzer.environment.table(&name).is_ok())
    }

    /// Whether the query is over the rows of one table, of that name.
    fn is_around(&self, parts: &[String]) -> bool {
        let columns = &self.scope.columns;
        let is_of_table = |c: &ScopeColumn| c.qualifier.ends_with(parts);
        self.rows.is_some() && !columns.is_empty() && columns.iter().all(is_of_table)
    }

    /// The rows that the query is over, if they are those of the table of that name.
    fn rows_around(&self, parts: &[String]) -> Result<Option<Planned>> {
        let Some(rows) = self.rows.filter(|_| self.is_around(parts)) else {
            return Ok(None);
        };
        let shown = self.scope.columns.iter().filter(|c| c.is_shown());
        let columns: Vec<OutputColumn> = shown
            .map(|c| OutputColumn {
                name: c.name.clone(),
                internal: c.internal.clone(),
                data_type: c.data_type.clone(),
            })
            .collect();
        let exprs = columns.iter().map(|c| column(&c.internal)).collect();
        let plan = project(rows.clone(), exprs)?;
        Ok(Some(Planned {
            plan,
            columns,
            totals: None,
        }))
    }

    /// Rows of a subquery: one column is the value, several are a tuple.
    fn convert_rows(
        &self,
        (columns, types): (Vec<ArrayRef>, Vec<DataType>),
        wanted: &DataType,
    ) -> Result<ArrayRef> {
        match (wanted, columns.as_slice()) {
            (DataType::Tuple(tuple), [_])
                if !matches!(types[0].base(), DataType::Tuple(_)) && tuple.types.len() != 1 =>
            {
                Err(columns_mismatch(tuple.types.len(), 1))
            }
            (_, [column]) => self.convert(column, &types[0], wanted),
            (DataType::Tuple(tuple), columns) if tuple.types.len() == columns.len() => {
                let converted: Vec<ArrayRef> = columns
                    .iter()
                    .zip(types.iter().zip(&tuple.types))
                    .map(|(c, (from, to))| self.convert(c, from, to))
                    .collect::<Result<_>>()?;
                let field =
                    |(i, t): (usize, &DataType)| t.clone().to_nullable().field(tuple.name(i));
                let fields = tuple.types.iter().enumerate().map(field).collect();
                let rows = StructArray::try_new(fields, converted, None);
                Ok(Arc::new(rows.map_err(|e| Error::bug(e.to_string()))?))
            }
            (DataType::Tuple(tuple), columns) => {
                Err(columns_mismatch(tuple.types.len(), columns.len()))
            }
            (_, columns) => Err(columns_mismatch(1, columns.len())),
        }
    }

    /// Values of `from` as values of `to`; NULL where they are none.
    fn convert(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        if from.base() == to || from.base() == to.base() {
            return Ok(Arc::clone(array));
        }
        if let (DataType::Tuple(source), DataType::Tuple(target)) = (from.base(), to)
            && source.types.len() == target.types.len()
        {
            let columns = array.as_struct().columns().to_vec();
            return self.convert_rows((columns, source.types.clone()), to);
        }
        if to.has_variant() || from.has_variant() {
            let context = self.analyzer.environment.context();
            return Ok(match cast_function(from, to, context, CastMode::Normal) {
                Ok(cast) => cast.call(&[Column::new(Arc::clone(array))], array.len())?,
                // Values of a type that is not among those of the Variant.
                Err(_) => new_null_array(&to.physical(), array.len()),
            });
        }
        let type_name = literal::string(to.to_string().as_bytes())?;
        let args = [Arg::new(from.clone()), type_name.arg()];
        let function = registry::get_scalar("accurateCastOrNull")?;
        let bound = BoundFunction::bind(function, &args, self.analyzer.environment.context())?;
        let name = type_name
            .constant
            .ok_or_else(|| Error::bug("constant type name"))?;
        bound.call(
            &[Column::new(Arc::clone(array)), Column::constant(name)],
            array.len(),
        )
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
        let set = ValueSet::new(&values, null_matches, left.data_type.has_variant())?;
        let return_type = if nullable {
            DataType::UInt8.to_nullable()
        } else {
            DataType::UInt8
        };
        let bound = BoundFunction::from_parts(
            "in",
            return_type.clone(),
            Arc::new(move |columns, num_rows| {
                Ok(Arc::new(set.contains(&columns[0].expand(num_rows)?)?) as ArrayRef)
            }),
        );
        let key = self.analyzer.fresh("set");
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

fn parts_of(name: &ast::ObjectName) -> Vec<String> {
    name.database.iter().chain([&name.name]).cloned().collect()
}

fn without_nulls(array: &ArrayRef) -> Result<ArrayRef> {
    let valid = is_not_null(array).map_err(|e| Error::bug(e.to_string()))?;
    datafusion::arrow::compute::filter(array, &valid).map_err(|e| Error::bug(e.to_string()))
}

fn columns_mismatch(left: usize, right: usize) -> Error {
    Error::new(
        ErrorCode::NUMBER_OF_COLUMNS_DOESNT_MATCH,
        format!("Number of columns in IN does not match: {left} on the left, {right} on the right"),
    )
}

fn element_mismatch(left: usize, right: usize) -> Error {
    Error::new(
        ErrorCode::INCORRECT_ELEMENT_OF_SET,
        format!("Incorrect size of tuple in set: {right} instead of {left}"),
    )
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
