//! Differences, intervals and averages along an axis: `deltaSum`, `intervalLengthSum`, …

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, UInt64Array};
use arrow::datatypes::{ArrowNativeTypeOp, DataType as ArrowType};
use basalt_error::Result;
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, primitive, primitive_array, to_floats, visit_primitive,
};
use crate::aggregate::{
    AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate, OnlyNulls,
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "deltaSum",
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Refused,
        syntax: "deltaSum(x)",
        description: "Sum of the differences between neighbours that are positive.",
        resolve: |call| resolve_delta(call, 1),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "deltaSumTimestamp",
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::Refused,
        syntax: "deltaSumTimestamp(x, timestamp)",
        description: "As deltaSum, in the order of the timestamps.",
        resolve: |call| resolve_delta(call, 2),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "boundingRatio",
        syntax: "boundingRatio(x, y)",
        description: "Slope between the leftmost and the rightmost point.",
        resolve: |call| resolve_floats(call, DataType::Float64, bounding_ratio),
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "intervalLengthSum",
        syntax: "intervalLengthSum(start, end)",
        description: "Length of the union of the intervals.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            same_types(call)?;
            let result = if call.types[0].is_float() {
                DataType::Float64
            } else {
                DataType::UInt64
            };
            resolve_floats(call, result, union_length)
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "maxIntersections",
        syntax: "maxIntersections(start, end)",
        description: "Most intervals that overlap at one point.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            same_types(call)?;
            resolve_floats(call, DataType::UInt64, |x, y| most_overlaps(x, y).0)
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "maxIntersectionsPosition",
        syntax: "maxIntersectionsPosition(start, end)",
        description: "The first point at which the most intervals overlap.",
        resolve: |call| {
            call.expect_args(2..=2)?;
            same_types(call)?;
            resolve_floats(call, call.types[0].clone(), |x, y| most_overlaps(x, y).1)
        },
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "exponentialMovingAverage",
        max_params: 1,
        syntax: "exponentialMovingAverage(half_decay)(x, time)",
        description: "Average of the values that counts one half for each half_decay of time.",
        resolve: resolve_moving_average,
        ..AggregateFunction::BASE
    },
];

fn same_types(call: &AggregateCall<'_>) -> Result<()> {
    if call.types[0] == call.types[1] {
        Ok(())
    } else {
        Err(call.illegal_type(1))
    }
}

fn resolve_delta(call: &AggregateCall<'_>, num_args: usize) -> Result<BoundAggregate> {
    call.expect_args(num_args..=num_args)?;
    let data_type = &call.types[0];
    if !(data_type.is_integer() || data_type.is_float()) {
        return Err(call.illegal_type(0));
    }
    if num_args == 2 {
        call.expect_type(1, |t| {
            let wide = t.is_integer() || t.is_float() || *t == DataType::Date;
            (wide
                && t.fixed_size_bytes()
                    .is_some_and(|b| b >= 4 || *t == DataType::Date))
                || matches!(t, DataType::DateTime(_))
        })?;
    }
    visit_primitive(&data_type.physical(), BindDelta(call.types))
        .ok_or_else(|| call.illegal_type(0))
}

struct BindDelta<'a>(&'a [DataType]);

impl PrimitiveVisitor for BindDelta<'_> {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let data_type = self.0[0].clone();
        let function = DeltaSum::<T> {
            arrow: data_type.physical(),
            values: PhantomData,
        };
        bind_collected(data_type, self.0, function)
    }
}

#[derive(Debug)]
struct DeltaSum<T> {
    arrow: ArrowType,
    values: PhantomData<fn() -> T>,
}

impl<T: Primitive> RowsFunction for DeltaSum<T> {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = primitive::<T>(&rows.columns[0])?.values();
        let times = rows.columns.get(1).map(to_floats).transpose()?;
        let sums = range.map(|group| {
            let order = in_order(rows.rows(group), times.as_deref());
            order.windows(2).fold(T::Native::ZERO, |sum, pair| {
                let (before, after) = (values[pair[0]], values[pair[1]]);
                if after > before {
                    sum.add_wrapping(after.sub_wrapping(before))
                } else {
                    sum
                }
            })
        });
        Ok(primitive_array::<T>(sums.collect(), None, &self.arrow))
    }
}

/// The rows by their times, or as they are.
fn in_order(rows: Range<usize>, times: Option<&[f64]>) -> Vec<usize> {
    let mut rows: Vec<usize> = rows.collect();
    if let Some(times) = times {
        rows.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
    }
    rows
}

fn resolve_floats(
    call: &AggregateCall<'_>,
    return_type: DataType,
    compute: fn(&[f64], &[f64]) -> f64,
) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    for idx in 0..2 {
        call.expect_type(idx, |t| t.is_number() || t.is_date_or_time())?;
    }
    let function = OfPairs {
        compute,
        arrow: return_type.physical(),
    };
    Ok(bind_collected(return_type, call.types, function))
}

/// A function of the two arguments' values as floats.
#[derive(Debug)]
struct OfPairs {
    compute: fn(&[f64], &[f64]) -> f64,
    arrow: ArrowType,
}

impl RowsFunction for OfPairs {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (x, y) = (to_floats(&rows.columns[0])?, to_floats(&rows.columns[1])?);
        let results = range.map(|group| {
            let rows = rows.rows(group);
            (self.compute)(&x[rows.clone()], &y[rows])
        });
        let results = Float64Array::from_iter_values(results);
        if self.arrow == ArrowType::UInt64 {
            let whole = results.values().iter().map(|v| *v as u64);
            return Ok(Arc::new(UInt64Array::from_iter_values(whole)));
        }
        arrow::compute::cast(&results, &self.arrow).map_err(bug)
    }
}

fn bounding_ratio(x: &[f64], y: &[f64]) -> f64 {
    let points = || x.iter().zip(y);
    let left = points().min_by(|a, b| a.0.total_cmp(b.0));
    let right = points().max_by(|a, b| a.0.total_cmp(b.0));
    match (left, right) {
        (Some((x1, y1)), Some((x2, y2))) => (y2 - y1) / (x2 - x1),
        _ => f64::NAN,
    }
}

fn union_length(starts: &[f64], ends: &[f64]) -> f64 {
    let mut intervals: Vec<(f64, f64)> = starts
        .iter()
        .copied()
        .zip(ends.iter().copied())
        .filter(|(start, end)| start < end)
        .collect();
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut length = 0.0;
    let mut covered = f64::NEG_INFINITY;
    for (start, end) in intervals {
        let from = start.max(covered);
        if end > from {
            length += end - from;
            covered = end;
        }
    }
    length
}

/// The most overlaps and where they begin.
fn most_overlaps(starts: &[f64], ends: &[f64]) -> (f64, f64) {
    let mut changes: Vec<(f64, i64)> = Vec::with_capacity(starts.len() * 2);
    for (start, end) in starts.iter().zip(ends) {
        changes.push((*start, 1));
        changes.push((*end, -1));
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut now, mut most, mut position) = (0, 0, 0.0);
    for (point, change) in changes {
        now += change;
        if now > most {
            (most, position) = (now, point);
        }
    }
    (most as f64, position)
}

fn resolve_moving_average(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    call.expect_params(1..=1)?;
    for idx in 0..2 {
        call.expect_type(idx, |t| t.is_number() || t.is_date_or_time())?;
    }
    let half_decay = call.param_f64(0)?;
    Ok(bind_collected(
        DataType::Float64,
        call.types,
        MovingAverage { half_decay },
    ))
}

#[derive(Debug)]
struct MovingAverage {
    half_decay: f64,
}

impl RowsFunction for MovingAverage {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (values, times) = (to_floats(&rows.columns[0])?, to_floats(&rows.columns[1])?);
        let decay = |distance: f64| (-distance / self.half_decay).exp2();
        // The weights of an endless row of values, one in each unit of time.
        let sum_of_weights = 1.0 / (1.0 - decay(1.0));
        let averages = range.map(|group| {
            let rows = rows.rows(group);
            let last = times[rows.clone()].iter().copied().fold(f64::MIN, f64::max);
            let weighted = rows.map(|row| values[row] * decay(last - times[row]));
            weighted.sum::<f64>() / sum_of_weights
        });
        Ok(Arc::new(Float64Array::from_iter_values(averages)))
    }
}
