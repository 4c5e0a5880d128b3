//! Variance, standard deviation, skewness, kurtosis.

use basalt_error::Result;
use basalt_types::DataType;

use super::moments::{Finish, Moments, bind_as, bind_number, check};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// One entry of [`FUNCTIONS`].
const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    resolve: fn(&AggregateCall<'_>) -> Result<BoundAggregate>,
) -> AggregateFunction {
    AggregateFunction {
        name,
        aliases,
        syntax: "(x)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    entry("varPop", &["VAR_POP"], "Population variance.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [var_pop(m), 0.0])
    }),
    entry("varSamp", &["VAR_SAMP"], "Sample variance.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [var_samp(m), 0.0])
    }),
    entry(
        "stddevPop",
        &["STDDEV_POP", "STD"],
        "Population standard deviation.",
        |call| bind_number::<Powers, 5>(call, 1, |m| [var_pop(m).sqrt(), 0.0]),
    ),
    entry(
        "stddevSamp",
        &["STDDEV_SAMP", "STDDEV"],
        "Sample standard deviation.",
        |call| bind_number::<Powers, 5>(call, 1, |m| [var_samp(m).sqrt(), 0.0]),
    ),
    entry(
        "varPopStable",
        &[],
        "Population variance, numerically stable.",
        |call| stable(call, |m| [stable_pop(m), 0.0]),
    ),
    entry(
        "varSampStable",
        &[],
        "Sample variance, numerically stable.",
        |call| stable(call, |m| [stable_samp(m), 0.0]),
    ),
    entry(
        "stddevPopStable",
        &[],
        "Population standard deviation, numerically stable.",
        |call| stable(call, |m| [stable_pop(m).sqrt(), 0.0]),
    ),
    entry(
        "stddevSampStable",
        &[],
        "Sample standard deviation, numerically stable.",
        |call| stable(call, |m| [stable_samp(m).sqrt(), 0.0]),
    ),
    entry("skewPop", &[], "Population skewness.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [third(m) / var_pop(m).powf(1.5), 0.0])
    }),
    entry("skewSamp", &[], "Sample skewness.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [third(m) / var_samp(m).powf(1.5), 0.0])
    }),
    entry("kurtPop", &[], "Population kurtosis.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [fourth(m) / var_pop(m).powi(2), 0.0])
    }),
    entry("kurtSamp", &[], "Sample kurtosis.", |call| {
        bind_number::<Powers, 5>(call, 1, |m| [fourth(m) / var_samp(m).powi(2), 0.0])
    }),
];

/// Number of values and the sums of their first four powers.
#[derive(Debug)]
struct Powers;

impl Moments<5> for Powers {
    #[inline]
    fn add(state: &mut [f64; 5], x: f64, _y: f64) {
        state[0] += 1.0;
        state[1] += x;
        state[2] += x * x;
        state[3] += x * x * x;
        state[4] += x * x * x * x;
    }
}

fn var_pop(m: &[f64; 5]) -> f64 {
    if m[0] == 0.0 {
        return f64::NAN;
    }
    not_negative((m[2] - m[1] * m[1] / m[0]) / m[0])
}

fn var_samp(m: &[f64; 5]) -> f64 {
    if m[0] <= 1.0 {
        return f64::NAN;
    }
    not_negative((m[2] - m[1] * m[1] / m[0]) / (m[0] - 1.0))
}

/// Rounding errors may make a variance slightly negative; NaN stays.
fn not_negative(variance: f64) -> f64 {
    // NaN becomes 0, too.
    if variance > 0.0 { variance } else { 0.0 }
}

fn third(m: &[f64; 5]) -> f64 {
    (m[3] - (3.0 * m[2] - 2.0 * m[1] * m[1] / m[0]) * m[1] / m[0]) / m[0]
}

fn fourth(m: &[f64; 5]) -> f64 {
    let inner = 6.0 * m[2] - 3.0 * m[1] * m[1] / m[0];
    (m[4] - (4.0 * m[3] - inner * m[1] / m[0]) * m[1] / m[0]) / m[0]
}

/// The stable forms are Float64 for any argument.
fn stable(call: &AggregateCall<'_>, finish: Finish<3>) -> Result<BoundAggregate> {
    check(call, 1)?;
    Ok(bind_as::<Deviations, 3>(DataType::Float64, 1, finish))
}

/// Number of values, their mean and the sum of squared deviations from it (Welford).
#[derive(Debug)]
struct Deviations;

impl Moments<3> for Deviations {
    #[inline]
    fn add(state: &mut [f64; 3], x: f64, _y: f64) {
        let delta = x - state[1];
        state[0] += 1.0;
        state[1] += delta / state[0];
        state[2] += delta * (x - state[1]);
    }

    fn merge(state: &mut [f64; 3], other: &[f64; 3]) {
        let total = state[0] + other[0];
        if other[0] == 0.0 {
            return;
        }
        let delta = other[1] - state[1];
        state[2] += other[2] + delta * delta * state[0] * other[0] / total;
        state[1] += delta * other[0] / total;
        state[0] = total;
    }
}

fn stable_pop(m: &[f64; 3]) -> f64 {
    if m[0] < 1.0 {
        f64::INFINITY
    } else {
        m[2] / m[0]
    }
}

fn stable_samp(m: &[f64; 3]) -> f64 {
    if m[0] < 2.0 {
        f64::INFINITY
    } else {
        m[2] / (m[0] - 1.0)
    }
}
