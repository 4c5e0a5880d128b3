//! `exponentialTimeDecayed…`: rows count the less the longer they lie before the last one.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};

/// Needed by all of these: without one there is no last row.
const DECAYED: AggregateFunction = AggregateFunction {
    nulls: AggregateNulls::Own,
    max_params: 1,
    ..AggregateFunction::BASE
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "exponentialTimeDecayedSum",
        syntax: "exponentialTimeDecayedSum(decay)(x, time) OVER (…)",
        description: "Sum of the values, each less by e for each `decay` of time since.",
        resolve: |call| resolve(call, true, |rows| rows.map(|(x, weight)| x * weight).sum()),
        ..DECAYED
    },
    AggregateFunction {
        name: "exponentialTimeDecayedMax",
        syntax: "exponentialTimeDecayedMax(decay)(x, time) OVER (…)",
        description: "Greatest of the values, each less by e for each `decay` of time since.",
        resolve: |call| {
            resolve(call, true, |rows| {
                rows.map(|(x, weight)| x * weight)
                    .fold(f64::NEG_INFINITY, f64::max)
            })
        },
        ..DECAYED
    },
    AggregateFunction {
        name: "exponentialTimeDecayedCount",
        syntax: "exponentialTimeDecayedCount(decay)(time) OVER (…)",
        description: "Number of rows, each less by e for each `decay` of time since.",
        resolve: |call| resolve(call, false, |rows| rows.map(|(_, weight)| weight).sum()),
        ..DECAYED
    },
    AggregateFunction {
        name: "exponentialTimeDecayedAvg",
        syntax: "exponentialTimeDecayedAvg(decay)(x, time) OVER (…)",
        description: "Average of the values, each counting less by e for each `decay` of time since.",
        resolve: |call| {
            resolve(call, true, |rows| {
                let (sum, weights) = rows.fold((0.0, 0.0), |(sum, weights), (x, weight)| {
                    (sum + x * weight, weights + weight)
                });
                sum / weights
            })
        },
        ..DECAYED
    },
];

/// Combines the values and weights of a frame's rows.
type Combine = fn(&mut dyn Iterator<Item = (f64, f64)>) -> f64;

fn resolve(call: &AggregateCall<'_>, has_values: bool, combine: Combine) -> Result<BoundAggregate> {
    call.expect_params(1..=1)?;
    let time = usize::from(has_values);
    call.expect_args(time + 1..=time + 1)?;
    let is_plain = |t: &DataType| t.is_integer() || t.is_float();
    let is_time = matches!(
        call.types[time],
        DataType::DateTime(_) | DataType::DateTime64(..)
    );
    if !(is_time || is_plain(&call.types[time])) || (has_values && !is_plain(&call.types[0])) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "Function {} takes numbers and, as the last argument, a DateTime or number",
                call.name
            ),
        ));
    }
    let ticks = match &call.types[time] {
        DataType::DateTime64(precision, _) => 10_f64.powi(i32::from(*precision)),
        _ => 1.0,
    };
    let function = Decayed {
        has_values,
        decay: call.param_f64(0)? * ticks,
        combine,
    };
    Ok(bind_collected(DataType::Float64, call.types, function))
}

#[derive(Debug)]
struct Decayed {
    has_values: bool,
    /// In units of the time.
    decay: f64,
    combine: Combine,
}

impl RowsFunction for Decayed {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let times = to_floats(&rows.columns[usize::from(self.has_values)])?;
        let values = if self.has_values {
            to_floats(&rows.columns[0])?
        } else {
            vec![1.0; times.len()]
        };
        let of_group = |group: usize| {
            let frame = rows.rows(group);
            let Some(now) = times[frame.clone()].last().copied() else {
                return f64::NAN;
            };
            let mut weighted = frame.map(|row| {
                let weight = ((times[row] - now) / self.decay).exp();
                (values[row], weight)
            });
            (self.combine)(&mut weighted)
        };
        let results = range.map(of_group).collect::<Vec<f64>>();
        Ok(Arc::new(Float64Array::from(results)))
    }
}
