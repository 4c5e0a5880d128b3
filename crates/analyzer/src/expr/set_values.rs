//! Reads the values of the right side of IN: listed ones, those of an array, the rows of a table or of a
//! subquery.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_functions::scalar::core::cast::{CastMode, cast_function};
use basalt_functions::{Arg, BoundFunction, Column, registry};
use basalt_parser::ast::{self, ExprKind};
use basalt_types::{DataType, TupleType};
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, StructArray, UInt8Array, new_null_array,
};
use datafusion::arrow::buffer::BooleanBuffer;
use datafusion::arrow::compute::kernels::cmp::gt;
use datafusion::arrow::compute::{cast, concat, filter, nullif};
use datafusion::arrow::datatypes::{Field, Float32Type, Float64Type};
use datafusion::arrow::row::{RowConverter, Rows, SortField};

use super::subquery::Subquery;
use super::{Resolver, literal};
use crate::plan::{RowLimit, StreamOperator, project, stream_node};
use crate::query::{OutputColumn, Planned};
use crate::scope::ScopeColumn;
use crate::typed::column;
use crate::{Typed, plan_error};

impl Resolver<'_> {
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
    pub(super) fn set_of_row(
        &self,
        left: &DataType,
        right: &ast::Expr,
    ) -> Result<Option<Vec<Typed>>> {
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

    /// The set's values as one array of the left side's type, without those that are none of it.
    pub(super) fn set_values(&self, left: &DataType, right: &ast::Expr) -> Result<ArrayRef> {
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
        let is_tuple = matches!(wanted, DataType::Tuple(_));
        // No tuple is NULL.
        for typed in columns
            .into_iter()
            .filter(|item| !(is_tuple && is_null(item)))
        {
            let array = typed.constant.clone().ok_or_else(|| {
                Error::new(
                    ErrorCode::UNSUPPORTED_METHOD,
                    "Right side of IN must be constants, a table or a subquery",
                )
            })?;
            let is_fixed = matches!(typed.data_type.base(), DataType::FixedString(_));
            let converted = match is_fixed && *wanted == DataType::String {
                // With the zeros behind it, which those of subqueries lose.
                true => cast(&array, &wanted.physical()).map_err(|e| Error::bug(e.to_string()))?,
                false => self.convert(&array, &typed.data_type, wanted)?,
            };
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
            arrays.push(without(&misfits(&array, &converted), &converted)?);
        }
        let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
        if arrays.is_empty() {
            return Ok(datafusion::arrow::array::new_empty_array(
                &wanted.physical(),
            ));
        }
        concat(&arrays).map_err(|e| Error::bug(e.to_string()))
    }

    /// `(1, 2)` is two values, unless the left side is a tuple as deep, and it is one of its kind.
    fn tuple_items(&self, left: &DataType, items: &[ast::Expr]) -> Result<Vec<Typed>> {
        let resolved = self.resolve_all(items)?;
        let mut written = resolved.iter().filter(|item| !is_null(item));
        let depth = 1 + written.next().map_or(0, |t| tuple_depth(&t.data_type));
        match left.base() {
            DataType::Tuple(_) if resolved.iter().all(is_null) && resolved.len() == 1 => {
                Ok(Vec::new())
            }
            DataType::Tuple(elements) if tuple_depth(left) == depth => {
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
                if tuple_depth(left) == tuple_depth(&typed.data_type) {
                    Ok(vec![typed])
                } else {
                    Ok(items)
                }
            }
            _ => Ok(vec![typed]),
        }
    }

    pub(super) fn is_table(&self, expr: &ast::Expr) -> bool {
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
                || self.analyzer.environment.table(&name, None).is_ok())
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
            (_, [column]) => {
                let converted = self.convert(column, &types[0], wanted)?;
                without(&misfits(column, &converted), &converted)
            }
            (DataType::Tuple(tuple), columns) if tuple.types.len() == columns.len() => {
                let converted = self.tuples((columns, &types), tuple)?;
                without(&misfits_of(columns, &converted), &converted)
            }
            (DataType::Tuple(tuple), columns) => {
                Err(columns_mismatch(tuple.types.len(), columns.len()))
            }
            (_, columns) => Err(columns_mismatch(1, columns.len())),
        }
    }

    /// Tuples of columns, converted one by one.
    fn tuples(
        &self,
        (columns, types): (&[ArrayRef], &[DataType]),
        wanted: &TupleType,
    ) -> Result<ArrayRef> {
        let converted: Vec<ArrayRef> = columns
            .iter()
            .zip(types.iter().zip(&wanted.types))
            .map(|(c, (from, to))| self.convert(c, from, to))
            .collect::<Result<_>>()?;
        // Values that are none of the wanted type are NULL.
        let field = |(i, array): (usize, &ArrayRef)| {
            Field::new(wanted.name(i), array.data_type().clone(), true)
        };
        let fields = converted.iter().enumerate().map(field).collect();
        let rows = StructArray::try_new(fields, converted, None);
        Ok(Arc::new(rows.map_err(|e| Error::bug(e.to_string()))?))
    }

    /// Values of `from` as values of `to`; NULL where the way back does not lead to the same value.
    fn exact(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        let settings = self.analyzer.settings();
        let cast = |from: &DataType, to: &DataType, array: &ArrayRef| {
            let cast = cast_function(from, to, settings.context(), CastMode::Normal)?;
            cast.call(&[Column::new(Arc::clone(array))], array.len())
        };
        let there_and_back = cast(from.base(), to, array).and_then(|there| {
            if has_nothing_inside(from) {
                // No way leads back to `[]`.
                return Ok((there, None));
            }
            let back = cast(to, from.base(), &there)?;
            Ok((there, Some(back)))
        });
        match there_and_back {
            Ok((there, None)) => Ok(there),
            Ok((there, Some(back))) => unless_changed(array, &there, &back),
            // Which of several values it was is not known.
            Err(_) if array.len() > 1 => {
                let half = array.len() / 2;
                let left = self.exact(&array.slice(0, half), from, to)?;
                let right = self.exact(&array.slice(half, array.len() - half), from, to)?;
                concat(&[&left, &right]).map_err(|e| Error::bug(e.to_string()))
            }
            Err(_) => Ok(new_null_array(&to.physical(), array.len())),
        }
    }

    /// Values of `from` as values of `to`; NULL where they are none.
    fn convert(&self, array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
        // Tuples of all types alike, as the values of a set are put together.
        if let (DataType::Tuple(source), DataType::Tuple(target)) = (from.base(), to.base())
            && source.types.len() == target.types.len()
            && !target.types.is_empty()
        {
            return self.tuples((array.as_struct().columns(), &source.types), target);
        }
        if from.base() == to || from.base() == to.base() {
            return Ok(Arc::clone(array));
        }
        if *to.base() == DataType::Bool && from.base().is_number() {
            // Numbers other than 0 and 1 are no truth values.
            let bytes = self.convert(array, from, &DataType::UInt8)?;
            let are_others = gt(&bytes, &UInt8Array::new_scalar(1));
            let values = are_others.and_then(|others| nullif(&bytes, &others));
            return values.map_err(|e| Error::bug(e.to_string()));
        }
        if *to.base() == DataType::Ipv4 && from.is_integer() {
            return self.convert(array, from, &DataType::UInt32);
        }
        let is_rounded = to.is_decimal() && (from.is_decimal() || from.is_float())
            || to.base().is_date_or_time() && from.base().is_date_or_time();
        if is_rounded || matches!(to.base(), DataType::Array(_) | DataType::Map(..)) {
            return self.exact(array, from, to.base());
        }
        if to.has_variant() || from.has_variant() {
            let settings = self.analyzer.settings();
            let context = settings.context();
            return Ok(match cast_function(from, to, context, CastMode::Normal) {
                Ok(cast) => cast.call(&[Column::new(Arc::clone(array))], array.len())?,
                // Values of a type that is not among those of the Variant.
                Err(_) => new_null_array(&to.physical(), array.len()),
            });
        }
        let type_name = literal::string(to.base().to_string().as_bytes())?;
        let args = [Arg::new(from.clone()), type_name.arg()];
        let function = registry::get_scalar("accurateCastOrNull")?;
        let bound = BoundFunction::bind(function, &args, self.analyzer.settings().context())?;
        let name = type_name
            .constant
            .ok_or_else(|| Error::bug("constant type name"))?;
        let there = bound.call(
            &[Column::new(Arc::clone(array)), Column::constant(name)],
            array.len(),
        )?;
        if !from.is_decimal() || !to.is_integer() {
            return Ok(there);
        }
        // Fractions were cut off.
        let settings = self.analyzer.settings();
        let [to, from] = [to, from].map(|t| t.base().clone().to_nullable());
        let back = cast_function(&to, &from, settings.context(), CastMode::Normal)?;
        let back = back.call(&[Column::new(Arc::clone(&there))], array.len())?;
        unless_changed(array, &there, &back)
    }
}

/// Whether it is a NULL without a type.
fn is_null(typed: &Typed) -> bool {
    *typed.data_type.base() == DataType::Nothing
}

/// Whether elements of arrays or maps are of no type, as those of `[]` and `[NULL]`.
fn has_nothing_inside(data_type: &DataType) -> bool {
    match data_type.base() {
        DataType::Nothing => true,
        DataType::Array(element) => has_nothing_inside(element),
        DataType::Map(key, value) => has_nothing_inside(key) || has_nothing_inside(value),
        DataType::Tuple(tuple) => tuple.types.iter().any(has_nothing_inside),
        _ => false,
    }
}

/// The rows whose value, or an element of it, has become NULL.
fn misfits(source: &ArrayRef, converted: &ArrayRef) -> BooleanBuffer {
    if let (Some(tuples), Some(_)) = (source.as_struct_opt(), converted.as_struct_opt()) {
        return misfits_of(tuples.columns(), converted);
    }
    let Some(nulls) = converted.logical_nulls() else {
        return BooleanBuffer::new_unset(source.len());
    };
    match source.logical_nulls() {
        Some(earlier) => &!nulls.inner() & earlier.inner(),
        None => !nulls.inner(),
    }
}

/// The same for tuples of some elements.
fn misfits_of(elements: &[ArrayRef], converted: &ArrayRef) -> BooleanBuffer {
    let none = BooleanBuffer::new_unset(converted.len());
    let converted = converted.as_struct().columns();
    let of_elements = elements.iter().zip(converted).map(|(s, c)| misfits(s, c));
    of_elements.fold(none, |all, misfits| &all | &misfits)
}

fn without(misfits: &BooleanBuffer, array: &ArrayRef) -> Result<ArrayRef> {
    if misfits.count_set_bits() == 0 {
        return Ok(Arc::clone(array));
    }
    filter(array, &BooleanArray::new(!misfits, None)).map_err(|e| Error::bug(e.to_string()))
}

/// Values that were cast, and NULL for those that are others when they are cast `back`.
fn unless_changed(array: &ArrayRef, there: &ArrayRef, back: &ArrayRef) -> Result<ArrayRef> {
    let (back, array) = (
        rows_of(&with_one_zero(back))?,
        rows_of(&with_one_zero(array))?,
    );
    let differs = back.iter().zip(&array).map(|(b, a)| Some(b != a));
    let differs: BooleanArray = differs.collect();
    nullif(there, &differs).map_err(|e| Error::bug(e.to_string()))
}

/// Floats with 0 in place of -0, other values as they are.
fn with_one_zero(array: &ArrayRef) -> ArrayRef {
    if let Some(floats) = array.as_primitive_opt::<Float64Type>() {
        return Arc::new(floats.unary::<_, Float64Type>(|f| f + 0.0));
    }
    if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
        return Arc::new(floats.unary::<_, Float32Type>(|f| f + 0.0));
    }
    Arc::clone(array)
}

fn parts_of(name: &ast::ObjectName) -> Vec<String> {
    name.database.iter().chain([&name.name]).cloned().collect()
}

/// Values of any type as rows, which are equal if the values are.
fn rows_of(array: &ArrayRef) -> Result<Rows> {
    let field = SortField::new(array.data_type().clone());
    RowConverter::new(vec![field])
        .and_then(|converter| converter.convert_columns(&[Arc::clone(array)]))
        .map_err(|e| Error::bug(e.to_string()))
}

/// Tuples within each other, each the first element of the one around it.
fn tuple_depth(data_type: &DataType) -> usize {
    match data_type.base() {
        DataType::Tuple(tuple) => 1 + tuple.types.first().map_or(0, tuple_depth),
        _ => 0,
    }
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
