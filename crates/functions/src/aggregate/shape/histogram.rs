//! `histogram`: at most so many bins, whose bounds follow the values.
//!
//! Values are points with a weight. Whenever there are twice as many points as bins, the closest
//! neighbours merge until there are as many as bins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, StructArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::values::{to_floats, wrong_array};
use crate::aggregate::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "histogram",
    nulls: AggregateNulls::SkipNotNull,
    max_params: 1,
    syntax: "histogram(bins)(x)",
    description: "Bins that follow the values: lower bound, upper bound and height of each.",
    resolve,
    ..AggregateFunction::BASE
}];

const MAX_BINS: u64 = 250;

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_params(1..=1)?;
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let max_bins = match call.param_u64(0)? {
        0 => return Err(call.bad_param(0, &"there must be a bin")),
        bins if bins > MAX_BINS => {
            return Err(Error::new(
                ErrorCode::PARAMETER_OUT_OF_BOUND,
                format!("Function histogram has at most {MAX_BINS} bins, not {bins}"),
            ));
        }
        bins => bins as usize,
    };
    let return_type = DataType::array(bin_type());
    Ok(bind_collected(
        return_type,
        call.types,
        Histogram { max_bins },
    ))
}

fn bin_type() -> DataType {
    DataType::tuple(vec![DataType::Float64; 3])
}

#[derive(Debug)]
struct Histogram {
    max_bins: usize,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    mean: f64,
    weight: f64,
}

/// Merges the closest neighbours until at most `max` points are left, in order.
fn merge_closest(points: &mut Vec<Point>, max: usize) {
    points.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    if points.len() <= max {
        return;
    }
    let len = points.len();
    let mut next: Vec<usize> = (1..=len).collect();
    let mut previous: Vec<Option<usize>> = (0..len).map(|i| i.checked_sub(1)).collect();
    let mut active = vec![true; len];
    // Gaps are never negative, and so their bits are ordered as they are.
    let gap = |points: &[Point], left: usize, right: usize| {
        (points[right].mean - points[left].mean).abs().to_bits()
    };
    let mut gaps: BinaryHeap<Reverse<(u64, usize)>> = (1..len)
        .map(|i| Reverse((gap(points, i - 1, i), i - 1)))
        .collect();
    let mut left_over = len;
    while left_over > max {
        let Some(Reverse((distance, left))) = gaps.pop() else {
            break;
        };
        let right = next[left];
        if !active[left] || right == len || gap(points, left, right) != distance {
            continue;
        }
        let (a, b) = (points[left], points[right]);
        let weight = a.weight + b.weight;
        points[left] = Point {
            mean: (a.mean * a.weight + b.mean * b.weight) / weight,
            weight,
        };
        active[right] = false;
        next[left] = next[right];
        if next[left] < len {
            previous[next[left]] = Some(left);
            gaps.push(Reverse((gap(points, left, next[left]), left)));
        }
        if let Some(before) = previous[left] {
            gaps.push(Reverse((gap(points, before, left), before)));
        }
        left_over -= 1;
    }
    let mut kept = active.into_iter();
    points.retain(|_| kept.next().unwrap_or(false));
}

impl Histogram {
    /// Lower bound, upper bound and height of each bin.
    fn bins(&self, values: &[f64]) -> Result<Vec<[f64; 3]>> {
        let mut points: Vec<Point> = Vec::with_capacity(self.max_bins * 2);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            if !value.is_finite() {
                return Err(Error::new(
                    ErrorCode::INCORRECT_DATA,
                    "Leave out infinite values and NaN: function histogram has no bin for them",
                ));
            }
            points.push(Point {
                mean: *value,
                weight: 1.0,
            });
            (least, greatest) = (least.min(*value), greatest.max(*value));
            if points.len() >= self.max_bins * 2 {
                merge_closest(&mut points, self.max_bins);
            }
        }
        merge_closest(&mut points, self.max_bins);
        let bins = points.iter().enumerate().map(|(i, point)| {
            let before = i.checked_sub(1).and_then(|i| points.get(i));
            let after = points.get(i + 1);
            let weight_of = |other: Option<&Point>| other.map_or(point.weight, |p| p.weight);
            [
                before.map_or(least, |p| (p.mean + point.mean) / 2.0),
                after.map_or(greatest, |p| (p.mean + point.mean) / 2.0),
                (weight_of(before) + 6.0 * point.weight + weight_of(after)) / 8.0,
            ]
        });
        Ok(bins.collect())
    }
}

impl RowsFunction for Histogram {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let mut bins = Vec::new();
        let mut offsets = vec![0];
        for group in range {
            bins.extend(self.bins(&values[rows.rows(group)])?);
            offsets.push(bins.len());
        }
        let ArrowType::Struct(fields) = bin_type().physical() else {
            return Err(wrong_array(&rows.columns[0]));
        };
        let field = |i: usize| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(bins.iter().map(|b| b[i])))
        };
        let bins = StructArray::try_new(fields, vec![field(0), field(1), field(2)], None);
        let bins: ArrayRef = Arc::new(bins.map_err(bug)?);
        list_of(&bins, &offsets, item_field(&bin_type()))
    }
}
