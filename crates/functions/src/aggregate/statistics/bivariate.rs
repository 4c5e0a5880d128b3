//! Covariance, correlation, linear regression.

use std::sync::Arc;

use basalt_error::Result;
use basalt_types::{DataType, TupleType};

use super::moments::{Finish, Moments, bind_as, bind_number, check, refuse_decimals};
use crate::aggregate::{
    AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate, OnlyNulls,
};

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
        syntax: "(x, y)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// An entry of a function whose name is found in any case.
const fn any_case(
    name: &'static str,
    description: &'static str,
    resolve: fn(&AggregateCall<'_>) -> Result<BoundAggregate>,
) -> AggregateFunction {
    AggregateFunction {
        name,
        syntax: "(y, x)",
        description,
        case_insensitive: true,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    entry(
        "covarPop",
        &["COVAR_POP"],
        "Population covariance.",
        |call| bind_number::<Sums, 6>(call, 2, |m| [covariance(m, m[0]), 0.0]),
    ),
    entry("covarSamp", &["COVAR_SAMP"], "Sample covariance.", |call| {
        bind_number::<Sums, 6>(call, 2, |m| [covariance(m, m[0] - 1.0), 0.0])
    }),
    any_case("corr", "Pearson's correlation coefficient.", |call| {
        bind_number::<Sums, 6>(call, 2, |m| [correlation(m), 0.0])
    }),
    entry(
        "covarPopStable",
        &[],
        "Population covariance, numerically stable.",
        |call| {
            stable(call, |m| {
                [
                    if m[0] < 1.0 {
                        f64::INFINITY
                    } else {
                        m[5] / m[0]
                    },
                    0.0,
                ]
            })
        },
    ),
    entry(
        "covarSampStable",
        &[],
        "Sample covariance, numerically stable.",
        |call| {
            stable(call, |m| {
                let few = m[0] < 2.0;
                [
                    if few {
                        f64::INFINITY
                    } else {
                        m[5] / (m[0] - 1.0)
                    },
                    0.0,
                ]
            })
        },
    ),
    entry(
        "corrStable",
        &[],
        "Pearson's correlation coefficient, numerically stable.",
        |call| {
            stable(call, |m| {
                let few = m[0] < 2.0;
                [
                    if few {
                        f64::INFINITY
                    } else {
                        m[5] / (m[3] * m[4]).sqrt()
                    },
                    0.0,
                ]
            })
        },
    ),
    entry(
        "simpleLinearRegression",
        &[],
        "Slope k and intercept b of the least squares line through the points (x, y).",
        resolve_line,
    ),
    any_case(
        "regr_slope",
        "Slope of the line that fits y by x.",
        |call| regression(call, |m| [sxy(m) / sxx(m), 0.0]),
    ),
    any_case(
        "regr_intercept",
        "Intercept of the line that fits y by x.",
        |call| regression(call, |m| [(m[2] - sxy(m) / sxx(m) * m[1]) / m[0], 0.0]),
    ),
    any_case("regr_r2", "Square of the correlation of x and y.", |call| {
        regression(call, |m| [sxy(m) * sxy(m) / (sxx(m) * syy(m)), 0.0])
    }),
    any_case("regr_avgx", "Mean of the independent variable x.", |call| {
        regression(call, |m| [m[1] / m[0], 0.0])
    }),
    any_case("regr_avgy", "Mean of the dependent variable y.", |call| {
        regression(call, |m| [m[2] / m[0], 0.0])
    }),
    any_case("regr_sxx", "Sum of squared deviations of x.", |call| {
        regression(call, |m| [sxx(m), 0.0])
    }),
    any_case("regr_syy", "Sum of squared deviations of y.", |call| {
        regression(call, |m| [syy(m), 0.0])
    }),
    any_case(
        "regr_sxy",
        "Sum of products of the deviations of x and y.",
        |call| regression(call, |m| [sxy(m), 0.0]),
    ),
    AggregateFunction {
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Zero,
        ..any_case("regr_count", "Number of pairs.", |call| {
            check(call, 2)?;
            Ok(bind_as::<Swapped, 6>(DataType::UInt64, 2, |m| [m[0], 0.0]))
        })
    },
];

/// Number of pairs, then the sums of x, y, xy, xx and yy.
#[derive(Debug)]
pub(super) struct Sums;

impl Moments<6> for Sums {
    #[inline]
    fn add(state: &mut [f64; 6], x: f64, y: f64) {
        state[0] += 1.0;
        state[1] += x;
        state[2] += y;
        state[3] += x * y;
        state[4] += x * x;
        state[5] += y * y;
    }
}

pub(super) fn covariance(m: &[f64; 6], divisor: f64) -> f64 {
    if divisor <= 0.0 {
        return f64::NAN;
    }
    (m[3] - m[1] * m[2] / m[0]) / divisor
}

pub(super) fn correlation(m: &[f64; 6]) -> f64 {
    let [n, x, y, xy, xx, yy] = *m;
    (n * xy - x * y) / ((n * xx - x * x) * (n * yy - y * y)).sqrt()
}

fn resolve_line(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    check(call, 2)?;
    let return_type = DataType::Tuple(Arc::new(TupleType {
        types: vec![DataType::Float64; 2],
        names: vec!["k".to_owned(), "b".to_owned()],
    }));
    Ok(bind_as::<Sums, 6>(return_type, 2, |m| {
        let [n, x, y, xy, xx, _] = *m;
        let divisor = xx * n - x * x;
        if n == 0.0 || divisor == 0.0 {
            return [f64::NAN; 2];
        }
        let slope = (xy * n - x * y) / divisor;
        [slope, (y - slope * x) / n]
    }))
}

/// The stable forms are Float64 for any argument.
fn stable(call: &AggregateCall<'_>, finish: Finish<6>) -> Result<BoundAggregate> {
    check(call, 2)?;
    Ok(bind_as::<Deviations, 6>(DataType::Float64, 2, finish))
}

/// The functions of SQL's standard have y first.
fn regression(call: &AggregateCall<'_>, finish: Finish<6>) -> Result<BoundAggregate> {
    check(call, 2)?;
    refuse_decimals(call)?;
    Ok(bind_as::<Swapped, 6>(DataType::Float64, 2, finish))
}

fn sxx(m: &[f64; 6]) -> f64 {
    m[4] - m[1] * m[1] / m[0]
}

fn syy(m: &[f64; 6]) -> f64 {
    m[5] - m[2] * m[2] / m[0]
}

fn sxy(m: &[f64; 6]) -> f64 {
    m[3] - m[1] * m[2] / m[0]
}

/// Number of pairs, means of x and y, sums of the squared deviations of x and y and of their
/// products.
#[derive(Debug)]
struct Deviations;

impl Moments<6> for Deviations {
    #[inline]
    fn add(state: &mut [f64; 6], x: f64, y: f64) {
        let (dx, dy) = (x - state[1], y - state[2]);
        state[0] += 1.0;
        state[1] += dx / state[0];
        state[2] += dy / state[0];
        state[3] += dx * (x - state[1]);
        state[4] += dy * (y - state[2]);
        state[5] += dx * (y - state[2]);
    }

    fn merge(state: &mut [f64; 6], other: &[f64; 6]) {
        if other[0] == 0.0 {
            return;
        }
        let total = state[0] + other[0];
        let (dx, dy) = (other[1] - state[1], other[2] - state[2]);
        let factor = state[0] * other[0] / total;
        state[3] += other[3] + dx * dx * factor;
        state[4] += other[4] + dy * dy * factor;
        state[5] += other[5] + dx * dy * factor;
        state[1] += dx * other[0] / total;
        state[2] += dy * other[0] / total;
        state[0] = total;
    }
}

/// [`Sums`] with the arguments swapped.
#[derive(Debug)]
struct Swapped;

impl Moments<6> for Swapped {
    #[inline]
    fn add(state: &mut [f64; 6], x: f64, y: f64) {
        Sums::add(state, y, x);
    }
}
