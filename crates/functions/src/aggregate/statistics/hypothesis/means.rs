//! Tests of means: `studentTTest`, `welchTTest`, `meanZTest`, `analysisOfVariance`.

use std::collections::BTreeMap;

use basalt_error::{Error, ErrorCode, Result};

use super::distributions::{fisher_above, normal_above, student_beyond, where_falls_to};
use super::{Sample, bind, moments};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "studentTTest",
        max_params: 1,
        syntax: "studentTTest[(confidence)](value, sample)",
        description: "Student's t-test that two samples of equal variance have the same mean.",
        resolve: |call| resolve_t(call, student),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "welchTTest",
        max_params: 1,
        syntax: "welchTTest[(confidence)](value, sample)",
        description: "Welch's t-test that two samples have the same mean.",
        resolve: |call| resolve_t(call, welch),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "studentTTestOneSample",
        max_params: 1,
        syntax: "studentTTestOneSample[(confidence)](value, mean)",
        description: "Student's t-test that a sample has the given mean.",
        resolve: |call| resolve_t(call, one_sample),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "meanZTest",
        max_params: 3,
        syntax: "meanZTest(variance_x, variance_y, confidence)(value, sample)",
        description: "z-test that two samples of known variances have the same mean.",
        resolve: resolve_z,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "analysisOfVariance",
        aliases: &["anova"],
        syntax: "analysisOfVariance(value, sample)",
        description: "F-test that samples have the same mean.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            call.expect_type(1, |t| t.is_unsigned())?;
            bind(call, &["f_statistic", "p_value"], |s| Ok(variance(s)))
        },
        ..AggregateFunction::BASE
    },
];

/// What a t-test finds in its samples.
struct Difference {
    /// Difference of the means.
    mean: f64,
    /// Its standard error.
    error: f64,
    /// Degrees of freedom.
    freedom: f64,
}

fn student(sample: &Sample<'_>) -> Option<Difference> {
    let (x, y) = sample.split();
    let ((nx, mean_x, sx), (ny, mean_y, sy)) = (moments(&x), moments(&y));
    let freedom = nx + ny - 2.0;
    if x.is_empty() || y.is_empty() || freedom <= 0.0 {
        return None;
    }
    let variance = (sx + sy) / freedom;
    Some(Difference {
        mean: mean_x - mean_y,
        error: (variance * (1.0 / nx + 1.0 / ny)).sqrt(),
        freedom,
    })
}

fn welch(sample: &Sample<'_>) -> Option<Difference> {
    let (x, y) = sample.split();
    if x.len() < 2 || y.len() < 2 {
        return None;
    }
    let ((nx, mean_x, sx), (ny, mean_y, sy)) = (moments(&x), moments(&y));
    let (vx, vy) = (sx / (nx - 1.0) / nx, sy / (ny - 1.0) / ny);
    Some(Difference {
        mean: mean_x - mean_y,
        error: (vx + vy).sqrt(),
        freedom: (vx + vy) * (vx + vy) / (vx * vx / (nx - 1.0) + vy * vy / (ny - 1.0)),
    })
}

fn one_sample(sample: &Sample<'_>) -> Option<Difference> {
    let (n, mean, squares) = moments(sample.values);
    let expected = sample.second.first()?;
    (n > 1.0).then(|| Difference {
        mean: mean - expected,
        error: (squares / (n - 1.0) / n).sqrt(),
        freedom: n - 1.0,
    })
}

const T_FIELDS: [&str; 4] = [
    "t_statistic",
    "p_value",
    "confidence_interval_low",
    "confidence_interval_high",
];

fn resolve_t(
    call: &AggregateCall<'_>,
    difference: fn(&Sample<'_>) -> Option<Difference>,
) -> Result<BoundAggregate> {
    let confidence = match call.params.len() {
        0 => None,
        _ => Some(confidence(call, 0)?),
    };
    let shift = call.name == "studentTTestOneSample";
    let fields = if confidence.is_some() { 4 } else { 2 };
    bind(call, &T_FIELDS[..fields], move |sample| {
        let Some(found) = difference(sample) else {
            return Ok(vec![f64::NAN; fields]);
        };
        let t = found.mean / found.error;
        if !t.is_finite() {
            return Ok(vec![f64::NAN; fields]);
        }
        let mut result = vec![t, student_beyond(t, found.freedom)];
        if let Some(confidence) = confidence {
            let reach = where_falls_to(1.0 - confidence, |t| student_beyond(t, found.freedom));
            // For one sample the interval is that of its mean.
            let expected = sample.second.first().filter(|_| shift).copied();
            let centre = found.mean + expected.unwrap_or(0.0);
            let half = reach * found.error;
            result.extend([centre - half, centre + half]);
        }
        Ok(result)
    })
}

fn confidence(call: &AggregateCall<'_>, idx: usize) -> Result<f64> {
    let level = call.param_f64(idx)?;
    if level > 0.0 && level < 1.0 {
        return Ok(level);
    }
    Err(Error::new(
        ErrorCode::BAD_ARGUMENTS,
        format!(
            "Confidence level of function {} must be between 0 and 1, not {level}",
            call.name
        ),
    ))
}

fn resolve_z(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_params(3..=3)?;
    let (var_x, var_y) = (call.param_f64(0)?, call.param_f64(1)?);
    for (idx, variance) in [var_x, var_y].into_iter().enumerate() {
        if !(variance.is_finite() && variance > 0.0) {
            return Err(call.bad_param(idx, &"a variance must be positive"));
        }
    }
    let level = confidence(call, 2)?;
    let fields = [
        "z_statistic",
        "p_value",
        "confidence_interval_low",
        "confidence_interval_high",
    ];
    bind(call, &fields, move |sample| {
        let (x, y) = sample.split();
        if x.is_empty() || y.is_empty() {
            return Ok(vec![f64::NAN; 4]);
        }
        let ((nx, mean_x, _), (ny, mean_y, _)) = (moments(&x), moments(&y));
        let error = (var_x / nx + var_y / ny).sqrt();
        let difference = mean_x - mean_y;
        let z = difference / error;
        let half = where_falls_to((1.0 - level) / 2.0, normal_above) * error;
        Ok(vec![
            z,
            2.0 * normal_above(z.abs()),
            difference - half,
            difference + half,
        ])
    })
}

fn variance(sample: &Sample<'_>) -> Vec<f64> {
    let mut groups: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (value, index) in sample.values.iter().zip(sample.second) {
        groups.entry(*index as u64).or_default().push(*value);
    }
    let (n, mean, _) = moments(sample.values);
    let (mut between, mut within) = (0.0, 0.0);
    for values in groups.values() {
        let (size, group_mean, squares) = moments(values);
        between += size * (group_mean - mean) * (group_mean - mean);
        within += squares;
    }
    let free_between = groups.len() as f64 - 1.0;
    let free_within = n - groups.len() as f64;
    let f = between / free_between / (within / free_within);
    if f.is_nan() || f.is_infinite() || f < 0.0 {
        return vec![f64::NAN; 2];
    }
    vec![f, fisher_above(f, free_between, free_within)]
}
