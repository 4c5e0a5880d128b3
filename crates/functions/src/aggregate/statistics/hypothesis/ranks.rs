//! Tests by the order of values: `mannWhitneyUTest`, `kolmogorovSmirnovTest`.

use basalt_error::{Error, ErrorCode, Result};

use super::distributions::normal_above;
use super::{Sample, bind};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "mannWhitneyUTest",
        max_params: 2,
        syntax: "mannWhitneyUTest[(alternative[, continuity_correction])](value, sample)",
        description: "Mann and Whitney's test that two samples are of one population.",
        resolve: resolve_mann_whitney,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "kolmogorovSmirnovTest",
        max_params: 2,
        syntax: "kolmogorovSmirnovTest[(alternative[, method])](value, sample)",
        description: "Kolmogorov and Smirnov's test that two samples are of one distribution.",
        resolve: resolve_kolmogorov_smirnov,
        ..AggregateFunction::BASE
    },
];

/// What is believed if the hypothesis is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Alternative {
    TwoSided,
    Greater,
    Less,
}

fn alternative(call: &AggregateCall<'_>) -> Result<Alternative> {
    if call.params.is_empty() {
        return Ok(Alternative::TwoSided);
    }
    match call.param_bytes(0)?.as_slice() {
        b"two-sided" => Ok(Alternative::TwoSided),
        b"greater" => Ok(Alternative::Greater),
        b"less" => Ok(Alternative::Less),
        _ => Err(call.bad_param(0, &"it is none of 'two-sided', 'greater' and 'less'")),
    }
}

fn both_samples(sample: &Sample<'_>, name: &str) -> Result<(Vec<f64>, Vec<f64>)> {
    let (x, y) = sample.split();
    if x.is_empty() || y.is_empty() {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Aggregate function {name} requires both samples to be non empty"),
        ));
    }
    Ok((x, y))
}

fn resolve_mann_whitney(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let alternative = alternative(call)?;
    let correction = match call.params.len() {
        0 | 1 => true,
        _ => call.param_u64(1)? != 0,
    };
    bind(call, &["u_statistic", "p_value"], move |sample| {
        let (x, y) = both_samples(sample, "mannWhitneyUTest")?;
        Ok(mann_whitney(&x, &y, alternative, correction))
    })
}

fn mann_whitney(x: &[f64], y: &[f64], alternative: Alternative, correction: bool) -> Vec<f64> {
    let mut all: Vec<(f64, bool)> = x.iter().map(|v| (*v, true)).collect();
    all.extend(y.iter().map(|v| (*v, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (nx, ny, n) = (x.len() as f64, y.len() as f64, all.len() as f64);
    let (mut ranks_of_x, mut ties, mut start) = (0.0, 0.0, 0);
    for run in all.chunk_by(|a, b| a.0 == b.0) {
        let len = run.len() as f64;
        let rank = start as f64 + (len + 1.0) / 2.0;
        ranks_of_x += rank * run.iter().filter(|(_, of_x)| *of_x).count() as f64;
        ties += len * len * len - len;
        start += run.len();
    }
    let u = ranks_of_x - nx * (nx + 1.0) / 2.0;
    let other = nx * ny - u;
    let used = match alternative {
        Alternative::Greater => u,
        Alternative::Less => other,
        Alternative::TwoSided => u.max(other),
    };
    let tie_factor = 1.0 - ties / (n * n * n - n);
    let deviation = (tie_factor * nx * ny * (n + 1.0) / 12.0).sqrt();
    let mean = nx * ny / 2.0 + if correction { 0.5 } else { 0.0 };
    let z = (used - mean) / deviation;
    let p = match alternative {
        Alternative::TwoSided => 2.0 * normal_above(z.abs()),
        _ => normal_above(z),
    };
    vec![u, p]
}

/// How the probability of a distance is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Auto,
    Exact,
    Asymptotic,
}

/// Samples larger than this are not counted exactly unless asked for.
const EXACT_ROWS: usize = 10_000;

fn resolve_kolmogorov_smirnov(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    let alternative = alternative(call)?;
    let method = match call.params.len() {
        0 | 1 => Method::Auto,
        _ => match call.param_bytes(1)?.as_slice() {
            b"auto" => Method::Auto,
            b"exact" => Method::Exact,
            b"asymp" | b"asymptotic" => Method::Asymptotic,
            _ => return Err(call.bad_param(1, &"it is none of 'auto', 'exact' and 'asymp'")),
        },
    };
    bind(call, &["d_statistic", "p_value"], move |sample| {
        let (x, y) = both_samples(sample, "kolmogorovSmirnovTest")?;
        let d = distance(x.clone(), y.clone(), alternative);
        let exact = match method {
            Method::Auto => x.len().max(y.len()) <= EXACT_ROWS,
            other => other == Method::Exact,
        };
        let p = if exact {
            exact_p(d, x.len(), y.len(), alternative)
        } else {
            asymptotic_p(d, x.len() as f64, y.len() as f64, alternative)
        };
        Ok(vec![d, p.clamp(0.0, 1.0)])
    })
}

/// The greatest distance of the samples' distribution functions.
fn distance(mut x: Vec<f64>, mut y: Vec<f64>, alternative: Alternative) -> f64 {
    x.sort_by(f64::total_cmp);
    y.sort_by(f64::total_cmp);
    let (mut i, mut j) = (0, 0);
    let (mut above, mut below) = (0.0_f64, 0.0_f64);
    while i < x.len() && j < y.len() {
        let value = x[i].min(y[j]);
        while i < x.len() && x[i] <= value {
            i += 1;
        }
        while j < y.len() && y[j] <= value {
            j += 1;
        }
        let (nx, ny) = (x.len() as f64, y.len() as f64);
        let difference = (i as f64 * ny - j as f64 * nx) / (nx * ny);
        above = above.max(difference);
        below = below.max(-difference);
        if value.is_nan() {
            break;
        }
    }
    match alternative {
        Alternative::Greater => above,
        Alternative::Less => below,
        Alternative::TwoSided => above.max(below),
    }
}

/// The share of all ways to mix the samples that reach the distance: those that never do are
/// counted along the paths of a lattice, scaled so that the counts stay small.
fn exact_p(d: f64, nx: usize, ny: usize, alternative: Alternative) -> f64 {
    let (m, n) = (nx as f64, ny as f64);
    let limit = (0.5 + (d * m * n - 1e-7).floor()) / (m * n);
    let reaches = |i: usize, j: usize| {
        let difference = i as f64 / m - j as f64 / n;
        match alternative {
            Alternative::TwoSided => difference.abs() > limit,
            _ => difference > limit,
        }
    };
    let mut counts: Vec<f64> = (0..=ny)
        .map(|j| if reaches(0, j) { 0.0 } else { 1.0 })
        .collect();
    for j in 1..=ny {
        if counts[j - 1] == 0.0 {
            counts[j] = 0.0;
        }
    }
    for i in 1..=nx {
        let weight = i as f64 / (i + ny) as f64;
        counts[0] = if reaches(i, 0) {
            0.0
        } else {
            weight * counts[0]
        };
        for j in 1..=ny {
            counts[j] = if reaches(i, j) {
                0.0
            } else {
                weight * counts[j] + counts[j - 1]
            };
        }
    }
    1.0 - counts.last().copied().unwrap_or(0.0)
}

fn asymptotic_p(d: f64, nx: f64, ny: f64, alternative: Alternative) -> f64 {
    let (m, n) = (nx.max(ny), nx.min(ny));
    let z = (m * n / (m + n)).sqrt() * d;
    if alternative != Alternative::TwoSided {
        let correction = 2.0 * z * (m + 2.0 * n) / (m * n * (m + n)).sqrt() / 3.0;
        return (-2.0 * z * z - correction).exp();
    }
    if z <= 0.0 {
        return 1.0;
    }
    let terms = 1..=100;
    if z < 1.0 {
        let pi = std::f64::consts::PI;
        let sum: f64 = terms
            .map(|k| {
                let odd = f64::from(2 * k - 1);
                (-odd * odd * pi * pi / (8.0 * z * z)).exp()
            })
            .sum();
        return 1.0 - (2.0 * pi).sqrt() / z * sum;
    }
    let sum: f64 = terms
        .map(|k| {
            let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
            sign * (-2.0 * f64::from(k * k) * z * z).exp()
        })
        .sum();
    2.0 * sum
}
