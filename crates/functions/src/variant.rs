//! Runs functions that know nothing of `Variant` on the values of each alternative.
//!
//! An alternative that a function does not take is an error only once a row has it. Rows without a
//! value are NULL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::variant::VariantArray;

use crate::function::bug;
use crate::scalar::core::cast::{ArrayCast, array_cast};
use crate::{Arg, BoundFunction, Column, Context, ScalarFunction};

/// The function over the alternatives of its first argument that is a `Variant`; `None` if there is no
/// such argument.
pub(crate) fn bind(
    function: &ScalarFunction,
    args: &[Arg],
    context: &Context,
) -> Option<Result<BoundFunction>> {
    let is_variant = |a: &Arg| matches!(a.data_type, DataType::Variant(_));
    let place = args.iter().position(is_variant)?;
    let DataType::Variant(alternatives) = &args[place].data_type else {
        return None;
    };
    Some(bind_each(function, args, (place, alternatives), context))
}

fn bind_each(
    function: &ScalarFunction,
    args: &[Arg],
    (place, alternatives): (usize, &[DataType]),
    context: &Context,
) -> Result<BoundFunction> {
    let bound = alternatives.iter().map(|alternative| {
        let mut args = args.to_vec();
        args[place] = Arg::new(alternative.clone());
        BoundFunction::bind(function, &args, context)
    });
    let bound: Vec<Result<BoundFunction>> = bound.collect();
    let types = bound.iter().flatten().map(|b| plain(&b.return_type));
    let return_type = common(types.collect()).ok_or_else(|| {
        Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "None of the alternatives of {} are compatible with function {}",
                args[place].data_type, function.name
            ),
        )
    })?;
    let calls: Vec<Result<(BoundFunction, ArrayCast)>> = bound
        .into_iter()
        .map(|b| {
            let b = b?;
            let cast = array_cast(&b.return_type, &return_type, context)?;
            Ok((b, cast))
        })
        .collect();
    let none = new_null_array(&return_type.physical(), 1);
    let none = if return_type.holds_null() {
        none
    } else {
        crate::scalar::core::defaults::default_array(&return_type, 1)?
    };
    let may_fail = calls.iter().any(|call| match call {
        Ok((bound, _)) => bound.may_fail,
        Err(_) => true,
    });
    let eval = move |columns: &[Column], num_rows: usize| {
        let variant = columns[place].expand(num_rows)?;
        each_alternative(&variant, &none, |idx, rows, values| {
            let (function, cast) = calls[idx].as_ref().map_err(Clone::clone)?;
            let mut columns = columns
                .iter()
                .map(|column| of_rows(column, rows))
                .collect::<Result<Vec<_>>>()?;
            columns[place] = Column::new(Arc::clone(values));
            cast(&function.call(&columns, rows.len())?)
        })
    };
    let mut bound = BoundFunction::from_parts(function.name, return_type, Arc::new(eval));
    bound.purity = function.purity;
    bound.may_fail = may_fail;
    Ok(bound)
}

/// The type without NULL: where results of one type meet, it is added again.
fn plain(data_type: &DataType) -> DataType {
    data_type.base().clone()
}

fn common(types: Vec<DataType>) -> Option<DataType> {
    let (first, rest) = types.split_first()?;
    if rest.iter().all(|t| t == first) {
        return Some(first.clone().to_nullable());
    }
    let mut alternatives = Vec::new();
    for data_type in types {
        match data_type {
            DataType::Variant(inner) => alternatives.extend(inner.iter().cloned()),
            DataType::Nothing => {}
            other => alternatives.push(other),
        }
    }
    Some(DataType::variant(alternatives))
}

fn of_rows(column: &Column, rows: &UInt32Array) -> Result<Column> {
    if column.is_const {
        return Ok(column.clone());
    }
    Ok(Column::new(take(&column.array, rows, None).map_err(bug)?))
}

/// Calls `run` for each alternative that rows have, with its position, these rows and their values, and
/// puts the results in the rows' order; `none` has the one result of rows without a value.
///
/// # Errors
/// What `run` reports.
pub(crate) fn each_alternative(
    array: &ArrayRef,
    none: &ArrayRef,
    mut run: impl FnMut(usize, &UInt32Array, &ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let variant = VariantArray::of(array)?;
    let num_rows = array.len();
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); variant.alternatives.len()];
    for row in 0..num_rows {
        let number = usize::from(variant.discriminator(row));
        if let Some(rows) = rows_of.get_mut(number) {
            rows.push(u32::try_from(row).map_err(|_| Error::bug("a batch of too many rows"))?);
        }
    }
    let mut results = vec![Arc::clone(none)];
    let mut places = vec![(0, 0); num_rows];
    for (idx, rows) in rows_of.into_iter().enumerate() {
        if rows.is_empty() {
            continue;
        }
        let rows = UInt32Array::from(rows);
        let values = take(&variant.alternatives[idx], &rows, None).map_err(bug)?;
        let result = run(idx, &rows, &values)?;
        if rows.len() == num_rows {
            return Ok(result);
        }
        for (i, row) in rows.values().iter().enumerate() {
            places[*row as usize] = (results.len(), i);
        }
        results.push(result);
    }
    let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
    interleave(&results, &places).map_err(bug)
}
