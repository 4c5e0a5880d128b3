//! Numbers blocks and their rows; compares rows with their neighbours inside a block.

use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{Array, ArrayRef, UInt32Array, new_null_array};
use arrow::compute::{is_not_null, take};
use basalt_error::Result;
use basalt_types::{DataType, least_supertype};

use super::entry;
use crate::function::bug;
use crate::scalar::core::arithmetic::{BinaryOp, resolve_binary};
use crate::scalar::core::cast::array_cast;
use crate::scalar::core::defaults::default_array;
use crate::scalar::core::numeric::array_of;
use crate::scalar::strings::shapes::Ints;
use crate::{Arg, Call, Column, Nulls, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["blockNumber"],
        Purity::PerRow,
        ("blockNumber()", "Number of the block that a row is in."),
        |call| {
            call.expect_args(0..=0)?;
            let blocks = AtomicU64::new(0);
            Resolved::new(DataType::UInt64, move |_, num_rows| {
                Ok(array_of(vec![
                    blocks.fetch_add(1, Ordering::Relaxed);
                    num_rows
                ]))
            })
        },
    ),
    entry(
        &["rowNumberInBlock"],
        Purity::PerRow,
        (
            "rowNumberInBlock()",
            "Number of a row in its block, from 0.",
        ),
        |call| {
            call.expect_args(0..=0)?;
            Resolved::new(DataType::UInt64, |_, num_rows| {
                Ok(array_of((0..num_rows as u64).collect::<Vec<u64>>()))
            })
        },
    ),
    entry(
        &["rowNumberInAllBlocks"],
        Purity::PerRow,
        (
            "rowNumberInAllBlocks()",
            "Number of a row among all that the function has seen.",
        ),
        |call| {
            call.expect_args(0..=0)?;
            let rows = AtomicU64::new(0);
            Resolved::new(DataType::UInt64, move |_, num_rows| {
                let first = rows.fetch_add(num_rows as u64, Ordering::Relaxed);
                Ok(array_of(
                    (first..first + num_rows as u64).collect::<Vec<u64>>(),
                ))
            })
        },
    ),
    ScalarFunction {
        nulls: Nulls::Own,
        ..entry(
            &["runningDifference"],
            Purity::PerRow,
            (
                "runningDifference(x)",
                "Difference to the row before in the block; the first is 0.",
            ),
            |call| running_difference(call, false),
        )
    },
    ScalarFunction {
        nulls: Nulls::Own,
        ..entry(
            &["runningDifferenceStartingWithFirstValue"],
            Purity::PerRow,
            (
                "runningDifferenceStartingWithFirstValue(x)",
                "Difference to the row before in the block; the first is its own value.",
            ),
            |call| running_difference(call, true),
        )
    },
    ScalarFunction {
        nulls: Nulls::Own,
        ..entry(
            &["neighbor"],
            Purity::PerRow,
            (
                "neighbor(x, offset[, default])",
                "Value of another row of the block, some rows behind or (negative) before.",
            ),
            neighbor,
        )
    },
];

/// Differences as `minus` computes them.
fn running_difference(call: &Call<'_>, starts_with_value: bool) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let from = call.data_type(0).clone();
    let takes = from.is_integer() || from.is_float() || from.is_decimal() || from.is_date_or_time();
    if !takes {
        return Err(call.illegal_type(0));
    }
    let nullable = from.is_nullable();
    let arg = Arg::new(from.base().clone());
    let minus = resolve_binary(BinaryOp::Minus, &[arg.clone(), arg], call.context)?;
    let result = minus.return_type.clone();
    let first_cast = match starts_with_value && !from.is_date_or_time() {
        true => Some(array_cast(from.base(), &result, call.context)?),
        false => None,
    };
    let result = if nullable {
        result.to_nullable()
    } else {
        result
    };
    let base = result.base().clone();
    Resolved::new(result, move |columns, num_rows| {
        let all = columns[0].expand(num_rows)?;
        let places = places_among_valid(&all);
        let values = arrow::compute::filter(&all, &is_not_null(&all).map_err(bug)?).map_err(bug)?;
        let Some(rows) = values.len().checked_sub(1) else {
            return Ok(new_null_array(&base.physical(), num_rows));
        };
        let pair = [
            Column::new(values.slice(1, rows)),
            Column::new(values.slice(0, rows)),
        ];
        let rest = (minus.eval)(&pair, rows)?;
        let first = match &first_cast {
            Some(cast) => cast(&values.slice(0, 1))?,
            None => default_array(&base, 1)?,
        };
        take(&concat(&[&first, &rest])?, &places, None).map_err(bug)
    })
}

/// For each row its number among those that are not NULL, which are skipped.
fn places_among_valid(array: &ArrayRef) -> UInt32Array {
    let mut num_valid = 0;
    let places = (0..array.len()).map(|row| {
        let place = array.is_valid(row).then_some(num_valid);
        num_valid += u32::from(place.is_some());
        place
    });
    places.collect()
}

fn concat(parts: &[&ArrayRef]) -> Result<ArrayRef> {
    let parts: Vec<&dyn Array> = parts.iter().map(|p| p.as_ref()).collect();
    arrow::compute::concat(&parts).map_err(bug)
}

fn neighbor(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(1, DataType::is_integer)?;
    let from = call.data_type(0).clone();
    let result = match call.args.get(2) {
        Some(default) => least_supertype(&[from.clone(), default.data_type.clone()])?,
        None => from.clone(),
    };
    let value_cast = array_cast(&from, &result, call.context)?;
    let default_cast = match call.args.get(2) {
        Some(default) => Some(array_cast(&default.data_type, &result, call.context)?),
        None => None,
    };
    let data_type = result.clone();
    Resolved::new(result, move |columns, num_rows| {
        let values = value_cast(&columns[0].expand(num_rows)?)?;
        let defaults = match (&default_cast, columns.get(2)) {
            (Some(cast), Some(column)) => cast(&column.expand(num_rows)?)?,
            _ => default_array(&data_type, num_rows)?,
        };
        let offsets = Ints::new(&columns[1])?;
        let both = concat(&[&values, &defaults])?;
        let picked = (0..num_rows).map(|row| {
            let other = (row as i64).saturating_add(offsets.value(row));
            let other = usize::try_from(other).ok().filter(|o| *o < num_rows);
            // Batches are far below 2^31 rows.
            other.unwrap_or(num_rows + row) as u32
        });
        let picked = UInt32Array::from_iter_values(picked);
        take(&both, &picked, None).map_err(bug)
    })
}
