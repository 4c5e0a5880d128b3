//! Plans and judges experiments with two samples: `proportionsZTest`, `minSampleSizeConversion`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, StructArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, TupleType};

use crate::aggregate::distributions::{normal_above, where_falls_to};
use crate::scalar::arrays::floats::to_floats;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "proportionsZTest",
        syntax: "proportionsZTest(successes_x, successes_y, trials_x, trials_y, confidence, pool_type)",
        description: "z-test that two samples have the same proportion of successes.",
        resolve: resolve_proportions,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "minSampleSizeConversion",
        syntax: "minSampleSizeConversion(baseline, mde, power, alpha)",
        description: "Size of each of two samples that shows a difference of their proportions.",
        resolve: |call| resolve_size(call, 4, of_proportions),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "minSampleSizeContinuous",
        aliases: &["minSampleSizeContinous"],
        syntax: "minSampleSizeContinuous(baseline, sigma, mde, power, alpha)",
        description: "Size of each of two samples that shows a difference of their means.",
        resolve: |call| resolve_size(call, 5, of_means),
        ..ScalarFunction::BASE
    },
];

/// A tuple of floats with these names.
fn floats_named(names: &[&str]) -> DataType {
    DataType::Tuple(Arc::new(TupleType {
        types: vec![DataType::Float64; names.len()],
        names: names.iter().map(|n| (*n).to_owned()).collect(),
    }))
}

/// One tuple for each row.
fn tuples<const N: usize>(rows: &[[f64; N]], data_type: &DataType) -> Result<ArrayRef> {
    let ArrowType::Struct(fields) = data_type.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    let column = |i: usize| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|r| r[i])))
    };
    let array = StructArray::try_new(fields, (0..N).map(column).collect(), None);
    Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
}

/// All arguments in one row.
fn row_of(floats: &[Vec<f64>], columns: &[Column], row: usize) -> Vec<f64> {
    let values = floats.iter().zip(columns);
    values.map(|(f, c)| f[c.row(row)]).collect()
}

/// The value that a standard normal one exceeds with that probability, from 0 to 1/2.
fn normal_quantile_above(probability: f64) -> f64 {
    where_falls_to(probability, normal_above)
}

fn resolve_proportions(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(6..=6)?;
    (0..4).try_for_each(|idx| call.expect_type(idx, DataType::is_unsigned))?;
    call.expect_type(4, DataType::is_float)?;
    let is_pooled = match call.constant_str(5)?.as_str() {
        "pooled" => true,
        "unpooled" => false,
        _ => {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "The last argument of function proportionsZTest must be 'pooled' or 'unpooled'",
            ));
        }
    };
    let result = floats_named(&[
        "z_statistic",
        "p_value",
        "confidence_interval_low",
        "confidence_interval_high",
    ]);
    Resolved::new(result.clone(), move |columns, num_rows| {
        let floats = columns[..5].iter().map(|c| to_floats::<f64>(&c.array));
        let floats = floats.collect::<Result<Vec<_>>>()?;
        let rows: Vec<[f64; 4]> = (0..num_rows)
            .map(|row| proportions(&row_of(&floats, columns, row), is_pooled))
            .collect();
        tuples(&rows, &result)
    })
}

/// Statistic, probability of one as far from 0, and the interval of the difference.
fn proportions(args: &[f64], is_pooled: bool) -> [f64; 4] {
    let &[successes_x, successes_y, trials_x, trials_y, confidence] = args else {
        return [f64::NAN; 4];
    };
    let (x, y) = (successes_x / trials_x, successes_y / trials_y);
    let has_none = successes_x == 0.0 || successes_y == 0.0 || trials_x == 0.0 || trials_y == 0.0;
    let apart = (x * (1.0 - x) / trials_x + y * (1.0 - y) / trials_y).sqrt();
    let error = if is_pooled {
        let all = (successes_x + successes_y) / (trials_x + trials_y);
        (all * (1.0 - all) * (1.0 / trials_x + 1.0 / trials_y)).sqrt()
    } else {
        apart
    };
    let difference = x - y;
    let statistic = difference / error;
    let is_confidence = confidence > 0.0 && confidence < 1.0;
    if has_none || !statistic.is_finite() || !is_confidence {
        return [f64::NAN; 4];
    }
    let margin = normal_quantile_above((1.0 - confidence) / 2.0) * apart;
    [
        statistic,
        2.0 * normal_above(statistic.abs()),
        difference - margin,
        difference + margin,
    ]
}

fn resolve_size(
    call: &Call<'_>,
    num_args: usize,
    size: fn(&[f64]) -> [f64; 3],
) -> Result<Resolved> {
    call.expect_args(num_args..=num_args)?;
    for idx in 0..num_args {
        let may_be_integer = num_args == 5 && idx < 2;
        call.expect_type(idx, |t| t.is_float() || may_be_integer && t.is_integer())?;
        if idx > 0 {
            call.constant(idx)?;
        }
    }
    let result = floats_named(&[
        "minimum_sample_size",
        "detect_range_lower",
        "detect_range_upper",
    ]);
    Resolved::new(result.clone(), move |columns, num_rows| {
        let floats = columns.iter().map(|c| to_floats::<f64>(&c.array));
        let floats = floats.collect::<Result<Vec<_>>>()?;
        let rows: Vec<[f64; 3]> = (0..num_rows)
            .map(|row| size(&row_of(&floats, columns, row)))
            .collect();
        tuples(&rows, &result)
    })
}

/// What the power of a test and its level of significance say of the distance in standard errors.
fn distances(power: f64, alpha: f64) -> Option<(f64, f64)> {
    let is_probability = |p: f64| p > 0.0 && p < 1.0;
    if !is_probability(power) || !is_probability(alpha) {
        return None;
    }
    // Below 1/2 the quantile is on the other side of 0.
    let of_power = if power >= 0.5 {
        normal_quantile_above(1.0 - power)
    } else {
        -normal_quantile_above(power)
    };
    Some((normal_quantile_above(alpha / 2.0), of_power))
}

/// By the formula for two proportions of which the first is known.
fn of_proportions(args: &[f64]) -> [f64; 3] {
    let &[first, effect, power, alpha] = args else {
        return [f64::NAN; 3];
    };
    let Some((of_alpha, of_power)) = distances(power, alpha).filter(|_| effect > 0.0) else {
        return [f64::NAN; 3];
    };
    let second = first + effect;
    let mean = (first + second) / 2.0;
    let together = of_alpha * (2.0 * mean * (1.0 - mean)).sqrt();
    let apart = of_power * (first * (1.0 - first) + second * (1.0 - second)).sqrt();
    let size = (together + apart).powi(2) / effect.powi(2);
    [size, first - effect, first + effect]
}

/// By the formula for two means of values that vary alike; the effect is a part of the first mean.
fn of_means(args: &[f64]) -> [f64; 3] {
    let &[mean, sigma, effect, power, alpha] = args else {
        return [f64::NAN; 3];
    };
    let Some((of_alpha, of_power)) = distances(power, alpha).filter(|_| effect > 0.0) else {
        return [f64::NAN; 3];
    };
    let difference = mean * effect;
    let size = 2.0 * sigma.powi(2) * (of_alpha + of_power).powi(2) / difference.powi(2);
    [size, mean * (1.0 - effect), mean * (1.0 + effect)]
}
