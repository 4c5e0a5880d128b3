//! Random numbers of the usual distributions.

use std::sync::Arc;

use arrow::array::{Float64Array, UInt64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::source::Source;
use crate::{Call, Purity, Resolved, ScalarFunction};

const fn random(
    name: &'static str,
    syntax: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
) -> ScalarFunction {
    ScalarFunction {
        name,
        purity: Purity::PerRow,
        syntax,
        description: "A random number of the distribution that the name says.",
        resolve,
        ..ScalarFunction::BASE
    }
}

/// The functions of this file. A last argument only tells several calls in a query apart.
pub const FUNCTIONS: &[ScalarFunction] = &[
    random("randUniform", "randUniform(min, max)", |c| {
        let [min, max] = parameters(c, 2)?;
        if min > max {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Swap them: min ({min}) of randUniform is greater than max ({max})"),
            ));
        }
        real(c, 2, |s, p| p[0] + (p[1] - p[0]) * s.canonical())
    }),
    random("randNormal", "randNormal(mean, stddev)", |c| {
        real(c, 2, |s, p| p[0] + p[1] * normal(s))
    }),
    random("randLogNormal", "randLogNormal(mean, stddev)", |c| {
        real(c, 2, |s, p| (p[0] + p[1] * normal(s)).exp())
    }),
    random("randExponential", "randExponential(lambda)", |c| {
        real(c, 1, |s, p| exponential(s) / p[0])
    }),
    random("randChiSquared", "randChiSquared(degrees)", |c| {
        real(c, 1, |s, p| chi_squared(s, p[0]))
    }),
    random("randStudentT", "randStudentT(degrees)", |c| {
        real(c, 1, |s, p| {
            normal(s) / (chi_squared(s, p[0]) / p[0]).sqrt()
        })
    }),
    random("randFisherF", "randFisherF(degrees1, degrees2)", |c| {
        real(c, 2, |s, p| {
            (chi_squared(s, p[0]) / p[0]) / (chi_squared(s, p[1]) / p[1])
        })
    }),
    random("randBernoulli", "randBernoulli(probability)", |c| {
        whole(c, 1, |s, p| u64::from(s.canonical() < p[0]))
    }),
    random(
        "randBinomial",
        "randBinomial(experiments, probability)",
        |c| whole(c, 2, |s, p| binomial(s, p[0].max(0.0) as u64, p[1])),
    ),
    random(
        "randNegativeBinomial",
        "randNegativeBinomial(experiments, probability)",
        |c| {
            whole(c, 2, |s, p| {
                let rate = gamma(s, p[0]) * (1.0 - p[1]) / p[1];
                poisson(s, rate)
            })
        },
    ),
    random("randPoisson", "randPoisson(mean)", |c| {
        whole(c, 1, |s, p| poisson(s, p[0]))
    }),
];

/// The constant parameters of the distribution.
fn parameters(call: &Call<'_>, count: usize) -> Result<[f64; 2]> {
    call.expect_args(count..=count + 1)?;
    let mut parameters = [0.0; 2];
    for (idx, parameter) in parameters.iter_mut().enumerate().take(count) {
        *parameter = call.constant_f64(idx)?;
    }
    let bad = parameters.iter().any(|p| !p.is_finite());
    let wants_share = ["randBernoulli", "randBinomial", "randNegativeBinomial"];
    let is_share =
        !wants_share.contains(&call.name) || (0.0..=1.0).contains(&parameters[count - 1]);
    let wants_positive = [
        "randExponential",
        "randChiSquared",
        "randStudentT",
        "randFisherF",
        "randPoisson",
    ];
    let is_positive =
        !wants_positive.contains(&call.name) || parameters.iter().take(count).all(|p| *p > 0.0);
    let has_shape =
        call.name != "randNegativeBinomial" || parameters[0] > 0.0 && parameters[1] > 0.0;
    if bad || !is_share || !is_positive || !has_shape {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Parameters of function {} are out of their range",
                call.name
            ),
        ));
    }
    Ok(parameters)
}

fn real(
    call: &Call<'_>,
    count: usize,
    sample: fn(&mut Source, [f64; 2]) -> f64,
) -> Result<Resolved> {
    let parameters = parameters(call, count)?;
    Resolved::new(DataType::Float64, move |_, num_rows| {
        let mut source = Source::new();
        let values = (0..num_rows).map(|_| sample(&mut source, parameters));
        Ok(Arc::new(Float64Array::from_iter_values(values)))
    })
}

fn whole(
    call: &Call<'_>,
    count: usize,
    sample: fn(&mut Source, [f64; 2]) -> u64,
) -> Result<Resolved> {
    let parameters = parameters(call, count)?;
    Resolved::new(DataType::UInt64, move |_, num_rows| {
        let mut source = Source::new();
        let values = (0..num_rows).map(|_| sample(&mut source, parameters));
        Ok(Arc::new(UInt64Array::from_iter_values(values)))
    })
}

/// A number above 0 and up to 1, whose logarithm is finite.
fn above_zero(source: &mut Source) -> f64 {
    1.0 - source.canonical()
}

fn exponential(source: &mut Source) -> f64 {
    -above_zero(source).ln()
}

/// By Box and Muller.
fn normal(source: &mut Source) -> f64 {
    let radius = (2.0 * exponential(source)).sqrt();
    radius * (std::f64::consts::TAU * source.canonical()).cos()
}

/// By Marsaglia and Tsang.
fn gamma(source: &mut Source, shape: f64) -> f64 {
    if shape < 1.0 {
        let boost = above_zero(source).powf(1.0 / shape);
        return gamma(source, shape + 1.0) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(source);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && above_zero(source).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

fn chi_squared(source: &mut Source, degrees: f64) -> f64 {
    2.0 * gamma(source, degrees / 2.0)
}

/// Halves the number of experiments by the median's beta distribution until few are left.
fn binomial(source: &mut Source, mut experiments: u64, mut probability: f64) -> u64 {
    let mut successes = 0;
    while experiments > 64 {
        let a = 1 + experiments / 2;
        let b = experiments + 1 - a;
        let (x, y) = (gamma(source, a as f64), gamma(source, b as f64));
        let median = x / (x + y);
        if median >= probability {
            experiments = a - 1;
            probability /= median;
        } else {
            successes += a;
            experiments = b - 1;
            probability = (probability - median) / (1.0 - median);
        }
    }
    let few = (0..experiments).filter(|_| source.canonical() < probability);
    successes + few.count() as u64
}

/// By Ahrens and Dieter: jumps over most of a large mean, then counts.
fn poisson(source: &mut Source, mut mean: f64) -> u64 {
    let mut count = 0;
    while mean > 30.0 {
        let jump = (mean * 0.875).floor();
        let reached = gamma(source, jump);
        if reached > mean {
            return count + binomial(source, jump as u64 - 1, mean / reached);
        }
        count += jump as u64;
        mean -= reached;
    }
    let mut time = exponential(source);
    while time <= mean {
        count += 1;
        time += exponential(source);
    }
    count
}
