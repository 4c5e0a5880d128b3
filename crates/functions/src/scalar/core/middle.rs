//! `midpoint`, `avg2`: the middle of some values of one type; `clamp`: a value between two bounds.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, least_supertype};

use super::conditional::{bind, select};
use super::decimals::{Ticks, Width, decimal_array, digits, ticks_of};
use super::numeric::{Native, Num, Numbers, array_of, map1, values, with_native};
use crate::function::with_nulls;
use crate::scalar::arrays::unify::Unify;
use crate::scalar::strings::shapes::{bad_arguments, validity_of};
use crate::{Arg, Call, Column, Nulls, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "midpoint",
        nulls: Nulls::Own,
        syntax: "midpoint(x, …)",
        description: "The mean of numbers, dates or times, in their common type; NULLs are left out.",
        resolve: |call| {
            call.expect_args(1..=usize::MAX)?;
            midpoint(call)
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "avg2",
        nulls: Nulls::Own,
        syntax: "avg2(x, y)",
        description: "The mean of two numbers, dates or times, in their common type.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            midpoint(call)
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "clamp",
        syntax: "clamp(x, min, max)",
        description: "The value, or the bound that it lies beyond.",
        resolve: clamp,
        ..ScalarFunction::BASE
    },
];

fn midpoint(call: &Call<'_>) -> Result<Resolved> {
    let types = call.data_types();
    if let [only] = types.as_slice() {
        return Resolved::new(only.clone(), |columns, num_rows| {
            columns[0].expand(num_rows)
        });
    }
    let result = least_supertype(&types)?;
    let plain = result.base().clone();
    if plain == DataType::Nothing {
        return Resolved::new(result.clone(), move |_, num_rows| {
            Ok(new_null_array(&result.physical(), num_rows))
        });
    }
    if !plain.is_number() && !plain.is_date_or_time() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!(
                "Function {} takes numbers, dates and times, got {plain}",
                call.name
            ),
        ));
    }
    let casts = Unify::all(&types, &result, call.context)?;
    let nullable = result.is_nullable();
    Resolved::new(result, move |columns, num_rows| {
        let arrays = columns
            .iter()
            .zip(&casts)
            .map(|(c, cast)| cast.column(c)?.expand(num_rows))
            .collect::<Result<Vec<_>>>()?;
        let middles = match (Num::of(&plain), digits(&plain)) {
            (Some(num), _) => means(&arrays, num, num_rows)?,
            (None, Some((precision, _))) if precision <= 38 => {
                decimal_means::<i128>(&arrays, &plain, num_rows)?
            }
            _ => decimal_means::<i256>(&arrays, &plain, num_rows)?,
        };
        if !nullable {
            return Ok(middles);
        }
        let any_valid = |row| arrays.iter().any(|a| a.is_valid(row));
        let valid: NullBuffer = (0..num_rows).map(any_valid).collect();
        with_nulls(&middles, Some(valid))
    })
}

/// Means of the rows' values that are not NULL, as numbers of a type.
fn means(arrays: &[ArrayRef], num: Num, num_rows: usize) -> Result<ArrayRef> {
    let means = Column::new(if num.is_float() {
        array_of(float_means(arrays, num_rows)?)
    } else {
        array_of(integer_means(arrays, num.is_signed(), num_rows)?)
    });
    with_native!(num, T => map1::<T, T>(&means, num_rows, |mean| mean))
}

/// The columns' values as `T`.
fn all_values<T: Native>(arrays: &[ArrayRef]) -> Result<Vec<Vec<T>>> {
    let values = arrays
        .iter()
        .map(|array| Numbers::converted(array.as_ref()));
    values.collect()
}

fn float_means(arrays: &[ArrayRef], num_rows: usize) -> Result<Vec<f64>> {
    let columns = all_values::<f64>(arrays)?;
    let mean = |row: usize| {
        let used = (0..columns.len()).filter(|c| arrays[*c].is_valid(row));
        let count = used.clone().count().max(1);
        used.map(|c| columns[c][row]).sum::<f64>() / count as f64
    };
    Ok((0..num_rows).map(mean).collect())
}

/// In 128 bits, cut towards zero; a mean lies between values of the type, so that 64 bits hold it.
fn integer_means(arrays: &[ArrayRef], is_signed: bool, num_rows: usize) -> Result<Vec<i64>> {
    let columns = all_values::<i64>(arrays)?;
    let wide = |bits: i64| match is_signed {
        true => i128::from(bits),
        false => i128::from(bits as u64),
    };
    let mean = |row: usize| {
        let used = (0..columns.len()).filter(|c| arrays[*c].is_valid(row));
        let count = used.clone().count().max(1);
        (used.map(|c| wide(columns[c][row])).sum::<i128>() / count as i128) as i64
    };
    Ok((0..num_rows).map(mean).collect())
}

fn decimal_means<T: Ticks>(
    arrays: &[ArrayRef],
    decimal: &DataType,
    num_rows: usize,
) -> Result<ArrayRef> {
    let columns = arrays.iter().map(|a| Column::new(Arc::clone(a)));
    let ticks = columns.map(|c| ticks_of::<T>(&c, Width::W256));
    let ticks = ticks.collect::<Result<Vec<_>>>()?;
    let mut means = Vec::with_capacity(num_rows);
    for row in 0..num_rows {
        let (mut sum, mut count) = (T::from_i128(0), 0);
        for (array, ticks) in arrays.iter().zip(&ticks) {
            if array.is_valid(row) {
                sum = sum.add_wrapping(ticks[row]);
                count += 1;
            }
        }
        means.push(sum.div_wrapping(T::from_i128(count.max(1))));
    }
    decimal_array(means, decimal, None)
}

fn clamp(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    let types = call.data_types();
    let result = least_supertype(&types)?;
    let casts = Unify::all(&types, &result, call.context)?;
    let pair = [Arg::new(result.clone()), Arg::new(result.clone())];
    let less = bind("less", &pair, call.context)?;
    let not_greater = bind("lessOrEquals", &pair, call.context)?;
    let num = Num::of(&result);
    Resolved::new(result, move |columns, num_rows| {
        let cast = |idx: usize| -> Result<Column> {
            let array = casts[idx].column(&columns[idx])?.expand(num_rows)?;
            Ok(Column::new(array))
        };
        let (value, min, max) = (cast(0)?, cast(1)?, cast(2)?);
        let valid = validity_of(columns, num_rows);
        let crossed = less.call(&[max.clone(), min.clone()], num_rows)?;
        let crossed = values::<u8>(crossed.as_ref())?;
        let is_valid = |row: usize| valid.as_ref().is_none_or(|v| v.is_valid(row));
        if (0..num_rows).any(|row| crossed[row] != 0 && is_valid(row)) {
            return Err(bad_arguments(
                "The minimum of function clamp must not be greater than the maximum",
            ));
        }
        let below = less.call(&[value.clone(), min.clone()], num_rows)?;
        let raised = select(values::<u8>(below.as_ref())?, &min, &value, num)?;
        let raised = Column::new(raised);
        // A NaN is not below the maximum, either, and becomes it.
        let stays = not_greater.call(&[raised.clone(), max.clone()], num_rows)?;
        select(values::<u8>(stays.as_ref())?, &raised, &max, num)
    })
}
