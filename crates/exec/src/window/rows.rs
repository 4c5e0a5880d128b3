//! Window functions of a row's place: ranks, and values of other rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, UInt64Array};
use arrow::compute::interleave;
use arrow::datatypes::{Float64Type, Int64Type};
use basalt_analyzer::plan::WindowFunction;
use basalt_error::{Error, ErrorCode, Result};

use super::frames::{Frames, Layout};
use crate::stream::bug;

/// A row's partition, its equal rows and how many runs of equal rows are before it.
struct Ranked<'a> {
    row: usize,
    partition: &'a Range<usize>,
    peers: &'a Range<usize>,
    group: usize,
}

/// Functions that number rows.
pub(super) fn ranking(function: &WindowFunction, layout: &Layout) -> Result<ArrayRef> {
    let num_rows = layout.partitions.last().map_or(0, |rows| rows.end);
    let whole = |f: &dyn Fn(Ranked<'_>) -> usize| -> ArrayRef {
        let mut values = Vec::with_capacity(num_rows);
        for_each(layout, |ranked| values.push(f(ranked) as u64));
        Arc::new(UInt64Array::from(values))
    };
    let fraction = |f: &dyn Fn(Ranked<'_>) -> f64| -> ArrayRef {
        let mut values = Vec::with_capacity(num_rows);
        for_each(layout, |ranked| values.push(f(ranked)));
        Arc::new(Float64Array::from(values))
    };
    Ok(match function {
        WindowFunction::RowNumber => whole(&|r| r.row - r.partition.start + 1),
        WindowFunction::Rank => whole(&|r| r.peers.start - r.partition.start + 1),
        WindowFunction::DenseRank => whole(&|r| r.group + 1),
        WindowFunction::PercentRank => fraction(&|r| match r.partition.len() {
            1 => 0.0,
            len => (r.peers.start - r.partition.start) as f64 / (len - 1) as f64,
        }),
        WindowFunction::CumeDist => {
            fraction(&|r| (r.peers.end - r.partition.start) as f64 / r.partition.len() as f64)
        }
        WindowFunction::Ntile(buckets) => {
            let buckets = usize::try_from(*buckets).unwrap_or(usize::MAX);
            whole(&|r| bucket(r.row - r.partition.start, r.partition.len(), buckets))
        }
        _ => return Err(Error::bug("window function of no row's place")),
    })
}

/// Which of `buckets` a row is in; the first ones have a row more if they cannot be equal.
fn bucket(row: usize, num_rows: usize, buckets: usize) -> usize {
    let (size, larger) = (num_rows / buckets, num_rows % buckets);
    let in_larger = larger * (size + 1);
    if row < in_larger {
        row / (size + 1) + 1
    } else {
        larger + (row - in_larger) / size.max(1) + 1
    }
}

fn for_each(layout: &Layout, mut f: impl FnMut(Ranked<'_>)) {
    for (partition, groups) in layout.partitions.iter().zip(&layout.groups) {
        for (group, peers) in layout.peers[groups.clone()].iter().enumerate() {
            for row in peers.clone() {
                f(Ranked {
                    row,
                    partition,
                    peers,
                    group,
                });
            }
        }
    }
}

/// `lag` and `lead`: the value so many rows away if it is in the frame, else the default.
pub(super) fn offset(args: &[ArrayRef], frames: &Frames, lead: bool) -> Result<ArrayRef> {
    let [values, offsets, defaults] = args else {
        return Err(Error::bug("arguments of a window function"));
    };
    let offsets = offset_values(offsets, 0)?;
    pick(values, defaults, frames, |row| {
        let offset = usize::try_from(offsets[row]).unwrap_or(usize::MAX);
        if lead {
            row.checked_add(offset)
        } else {
            row.checked_sub(offset)
        }
    })
}

/// `nth_value`: row `n` of the frame, else the default.
pub(super) fn nth_value(args: &[ArrayRef], frames: &Frames) -> Result<ArrayRef> {
    let [values, offsets, defaults] = args else {
        return Err(Error::bug("arguments of a window function"));
    };
    let offsets = offset_values(offsets, 1)?;
    pick(values, defaults, frames, |row| {
        let offset = usize::try_from(offsets[row] - 1).unwrap_or(usize::MAX);
        frames.starts[row].checked_add(offset)
    })
}

fn pick(
    values: &ArrayRef,
    defaults: &ArrayRef,
    frames: &Frames,
    target: impl Fn(usize) -> Option<usize>,
) -> Result<ArrayRef> {
    let places: Vec<(usize, usize)> = (0..values.len())
        .map(|row| match target(row) {
            Some(other) if (frames.starts[row]..frames.ends[row]).contains(&other) => (0, other),
            _ => (1, row),
        })
        .collect();
    let sources: [&dyn Array; 2] = [values, defaults];
    interleave(&sources, &places).map_err(bug)
}

fn offset_values(offsets: &ArrayRef, least: i64) -> Result<Vec<i64>> {
    let offsets = offsets
        .as_primitive_opt::<Int64Type>()
        .ok_or_else(|| Error::bug("offset of a window function"))?;
    if offsets.null_count() > 0 || offsets.values().iter().any(|o| *o < least) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("The offset of a window function must be from {least} up in every row"),
        ));
    }
    Ok(offsets.values().to_vec())
}

/// `nonNegativeDerivative`: growth against the row before, for so many ticks of time; 0 where the
/// value or the time does not grow.
pub(super) fn derivative(args: &[ArrayRef], layout: &Layout, ticks: u64) -> Result<ArrayRef> {
    let [metrics, times] = args else {
        return Err(Error::bug("arguments of a window function"));
    };
    let metrics = metrics.as_primitive_opt::<Float64Type>();
    let times = times.as_primitive_opt::<Int64Type>();
    let (Some(metrics), Some(times)) = (metrics, times) else {
        return Err(Error::bug("arguments of a derivative"));
    };
    let mut result = vec![0.0; metrics.len()];
    for partition in &layout.partitions {
        let rows = result.iter_mut().enumerate();
        let rows = rows.take(partition.end).skip(partition.start + 1);
        for (row, result) in rows {
            let growth = metrics.value(row) - metrics.value(row - 1);
            let elapsed = times.value(row).wrapping_sub(times.value(row - 1));
            if elapsed > 0 && growth >= 0.0 {
                *result = growth / elapsed as f64 * ticks as f64;
            }
        }
    }
    Ok(Arc::new(Float64Array::from(result)))
}
