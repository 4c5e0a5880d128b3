//! `widthBucket`: the number of the bucket of equal width that a number falls into.

use basalt_error::Result;
use basalt_types::DataType;

use super::math::float_arguments;
use super::numeric::{Num, array_of, map1, values, with_native};
use crate::scalar::strings::shapes::{bad_arguments, validity_of};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "widthBucket",
    aliases: &["width_bucket"],
    case_insensitive: true,
    syntax: "widthBucket(x, low, high, count)",
    description: "The bucket of x, from 1, of `count` equal ones; 0 below low, count + 1 from high on.",
    resolve,
    ..ScalarFunction::BASE
}];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(4..=4)?;
    let fits = |t: &DataType| t.is_integer() || t.is_float();
    (0..3).try_for_each(|idx| call.expect_type(idx, fits))?;
    call.expect_type(3, DataType::is_unsigned)?;
    let count_bytes = call.data_type(3).fixed_size_bytes().unwrap_or(8);
    // One more than the count must fit.
    let result = Num::integer((2 * count_bytes).min(8), false);
    let bounds = Call {
        args: &call.args[..3],
        ..*call
    };
    let args = float_arguments(&bounds)?;
    Resolved::new(result.data_type(), move |columns, num_rows| {
        let floats = args.columns(&columns[..3])?;
        let floats = floats.iter().map(|c| expanded(c, num_rows));
        let floats = floats.collect::<Result<Vec<_>>>()?;
        let counts = map1::<u64, u64>(&columns[3], num_rows, |n| n)?;
        let counts = values::<u64>(counts.as_ref())?;
        let valid = validity_of(columns, num_rows);
        let mut buckets = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let is_valid = valid.as_ref().is_none_or(|v| v.is_valid(row));
            buckets.push(if is_valid {
                bucket(
                    [floats[0][row], floats[1][row], floats[2][row]],
                    counts[row],
                )?
            } else {
                0
            });
        }
        with_native!(result, T => map1::<u64, T>(&Column::new(array_of(buckets)), num_rows, |b| b as T))
    })
}

fn expanded(column: &Column, num_rows: usize) -> Result<Vec<f64>> {
    let array = map1::<f64, f64>(column, num_rows, |x| x)?;
    Ok(values::<f64>(array.as_ref())?.to_vec())
}

fn bucket([x, low, high]: [f64; 3], count: u64) -> Result<u64> {
    if count == 0 {
        return Err(bad_arguments(
            "The number of buckets of function widthBucket must not be 0",
        ));
    }
    if x.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bad_arguments(
            "The number and the bounds of function widthBucket must not be NaN",
        ));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bad_arguments(
            "The bounds of function widthBucket must be finite",
        ));
    }
    if low >= high || x < low {
        return Ok(0);
    }
    if x >= high {
        return Ok(count.saturating_add(1));
    }
    Ok(((x - low) / ((high - low) / count as f64)) as u64 + 1)
}
