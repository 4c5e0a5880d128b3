//! `largestTriangleThreeBuckets`: the points of a line that show its shape best.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::physical::item_field;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::values::{to_floats, wrong_array};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "largestTriangleThreeBuckets",
    aliases: &["lttb"],
    max_params: 1,
    syntax: "largestTriangleThreeBuckets(n)(x, y)",
    description: "The n points of a line that keep its look.",
    resolve,
    ..AggregateFunction::BASE
}];

fn resolve(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_params(1..=1)?;
    call.expect_args(2..=2)?;
    let mut shown = Vec::new();
    for (idx, data_type) in call.types.iter().enumerate() {
        call.expect_type(idx, |t| {
            t.is_integer() || t.is_float() || t.is_date() || t.is_date_time()
        })?;
        shown.push(if data_type.is_integer() || data_type.is_float() {
            DataType::Float64
        } else {
            data_type.clone()
        });
    }
    let num_points = usize::try_from(call.param_u64(0)?).unwrap_or(usize::MAX);
    let point = DataType::tuple(shown);
    let function = Triangles {
        num_points,
        point: point.clone(),
    };
    Ok(bind_collected(DataType::array(point), call.types, function))
}

#[derive(Debug)]
struct Triangles {
    num_points: usize,
    point: DataType,
}

/// Which of the points, sorted by x, are kept: the first, the last, and one of each bucket
/// between them, that of the largest triangle with the one kept before and the next bucket's mean.
fn chosen(points: &[(f64, f64)], num_points: usize) -> Vec<usize> {
    let len = points.len();
    if num_points >= len {
        return (0..len).collect();
    }
    match num_points {
        0 => return Vec::new(),
        1 => return vec![0],
        2 => return vec![0, len - 1],
        _ => {}
    }
    let size = (len - 2) as f64 / (num_points - 2) as f64;
    let edge = |bucket: usize| (((bucket as f64) * size) as usize + 1).min(len - 1);
    let mut kept = vec![0];
    let mut last = points[0];
    for bucket in 0..num_points - 2 {
        let next = edge(bucket + 1)..edge(bucket + 2).max(edge(bucket + 1) + 1).min(len);
        let count = next.len() as f64;
        let (x, y) = points[next]
            .iter()
            .fold((0.0, 0.0), |sum, p| (sum.0 + p.0, sum.1 + p.1));
        let (x, y) = (x / count, y / count);
        let mut best = (-1.0, edge(bucket));
        for (i, p) in points
            .iter()
            .enumerate()
            .take(edge(bucket + 1))
            .skip(edge(bucket))
        {
            let area = ((last.0 - x) * (p.1 - last.1) - (last.0 - p.0) * (y - last.1)).abs() / 2.0;
            if area > best.0 {
                best = (area, i);
            }
        }
        kept.push(best.1);
        last = points[best.1];
    }
    kept.push(len - 1);
    kept
}

impl RowsFunction for Triangles {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let (x, y) = (to_floats(&rows.columns[0])?, to_floats(&rows.columns[1])?);
        let mut taken: Vec<u64> = Vec::new();
        let mut offsets = vec![0];
        for group in range {
            let mut order: Vec<usize> = rows.rows(group).collect();
            order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
            let points: Vec<(f64, f64)> = order.iter().map(|row| (x[*row], y[*row])).collect();
            let kept = chosen(&points, self.num_points);
            taken.extend(kept.into_iter().map(|i| order[i] as u64));
            offsets.push(taken.len());
        }
        let ArrowType::Struct(fields) = self.point.physical() else {
            return Err(wrong_array(&rows.columns[0]));
        };
        let taken = UInt64Array::from(taken);
        let columns = rows.columns.iter().zip(&fields).map(|(column, field)| {
            let values = arrow::compute::take(column, &taken, None).map_err(bug)?;
            arrow::compute::cast(&values, field.data_type()).map_err(bug)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let points = StructArray::try_new(fields, columns, None).map_err(bug)?;
        let points: ArrayRef = Arc::new(points);
        list_of(&points, &offsets, item_field(&self.point))
    }
}
