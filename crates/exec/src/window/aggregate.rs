//! Computes an aggregate function over each row's frame, with as few updates as the frames allow.
//!
//! Frames that do not overlap are groups. Frames that only grow are one state, read again and
//! again. Short frames that move are fed anew; for long ones a tree of states answers each in
//! logarithmic time (`tree`).

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Int64Type, UInt64Type};
use basalt_analyzer::udaf::AggregateUdf;
use basalt_error::{Error, Result};
use basalt_functions::aggregate::{BoundAggregate, Groups, Shortcut};
use datafusion::logical_expr::AggregateUDF;

use super::frames::Frames;
use super::step::bug;
use super::tree;

/// Frames of this many rows on average are fed anew for each row.
const SHORT_FRAME: usize = 64;

/// Rows that are gathered at once for short frames.
const GATHERED_ROWS: usize = 1 << 18;

/// The result of an aggregate function for each row.
pub(super) fn column(udaf: &AggregateUDF, args: &[ArrayRef], frames: &Frames) -> Result<ArrayRef> {
    let udaf = udaf
        .inner()
        .downcast_ref::<AggregateUdf>()
        .ok_or_else(|| Error::bug("window over a foreign aggregate function"))?;
    let bound = udaf.bound();
    if let Some(array) = by_difference(bound, args, frames)? {
        return Ok(array);
    }
    let (runs, run_of_row) = frames.runs();
    let results = if disjoint(&runs) {
        as_groups(bound, args, &runs)?
    } else if growing(&runs) {
        running(bound, args, &runs)?
    } else if total(&runs) <= runs.len().saturating_mul(SHORT_FRAME) {
        gathered(bound, args, &runs)?
    } else {
        tree::results(bound, args, &runs)?
    };
    let order = UInt64Array::from_iter_values(run_of_row.into_iter().map(|r| r as u64));
    take(&results, &order, None).map_err(bug)
}

/// Counts and integer sums: what is up to the end less what is up to the start.
fn by_difference(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    frames: &Frames,
) -> Result<Option<ArrayRef>> {
    let edges = || frames.starts.iter().zip(&frames.ends);
    match bound.shortcut {
        Some(Shortcut::CountAll) => {
            let counts = edges().map(|(start, end)| (end - start) as u64);
            Ok(Some(Arc::new(UInt64Array::from_iter_values(counts))))
        }
        Some(Shortcut::SumInteger) => {
            let Some(values) = args.first() else {
                return Err(Error::bug("sum without an argument"));
            };
            let wide = arrow::compute::cast(values, &bound.return_type.physical()).map_err(bug)?;
            let wide: Vec<u64> = match wide.data_type() {
                DataType::UInt64 => wide.as_primitive::<UInt64Type>().values().to_vec(),
                DataType::Int64 => {
                    let values = wide.as_primitive::<Int64Type>().values().iter();
                    values.map(|v| *v as u64).collect()
                }
                _ => return Ok(None),
            };
            let mut sums = Vec::with_capacity(wide.len() + 1);
            let mut sum = 0_u64;
            sums.push(sum);
            for value in wide {
                sum = sum.wrapping_add(value);
                sums.push(sum);
            }
            let sums = edges().map(|(start, end)| sums[*end].wrapping_sub(sums[*start]));
            Ok(Some(if bound.return_type.is_signed() {
                Arc::new(Int64Array::from_iter_values(sums.map(|s| s as i64)))
            } else {
                Arc::new(UInt64Array::from_iter_values(sums))
            }))
        }
        None => Ok(None),
    }
}

fn disjoint(runs: &[Range<usize>]) -> bool {
    runs.windows(2).all(|pair| pair[1].start >= pair[0].end)
}

/// Whether each frame holds the one before or starts behind it.
fn growing(runs: &[Range<usize>]) -> bool {
    runs.windows(2).all(|pair| {
        let (before, next) = (&pair[0], &pair[1]);
        next.start >= before.end || (next.start == before.start && next.end >= before.end)
    })
}

fn total(runs: &[Range<usize>]) -> usize {
    runs.iter().map(Range::len).sum()
}

fn slices(args: &[ArrayRef], rows: &Range<usize>) -> Vec<ArrayRef> {
    args.iter()
        .map(|a| a.slice(rows.start, rows.len()))
        .collect()
}

/// One result for each of the frames, which do not overlap.
fn as_groups(bound: &BoundAggregate, args: &[ArrayRef], runs: &[Range<usize>]) -> Result<ArrayRef> {
    let mut states = (bound.factory)();
    let mut ids = Vec::with_capacity(total(runs));
    for (group, rows) in runs.iter().enumerate() {
        ids.extend(std::iter::repeat_n(group, rows.len()));
    }
    let first = runs.first().map_or(0, |r| r.start);
    let is_whole = ids.len() == runs.last().map_or(0, |r| r.end) - first;
    let args = if is_whole {
        slices(args, &(first..first + ids.len()))
    } else {
        rows_of(args, runs)?
    };
    let groups = Groups {
        ids: Some(&ids),
        num_groups: runs.len(),
        num_rows: ids.len(),
    };
    states.update(&args, groups)?;
    states.finish(0..runs.len())
}

/// The rows of the frames one after another.
fn rows_of(args: &[ArrayRef], runs: &[Range<usize>]) -> Result<Vec<ArrayRef>> {
    let rows = runs.iter().flat_map(|r| r.clone()).map(|row| row as u64);
    let rows = UInt64Array::from_iter_values(rows);
    args.iter()
        .map(|a| take(a, &rows, None).map_err(bug))
        .collect()
}

/// One result for each of the frames, each of which holds the one before or starts anew.
fn running(bound: &BoundAggregate, args: &[ArrayRef], runs: &[Range<usize>]) -> Result<ArrayRef> {
    let mut results: Vec<ArrayRef> = Vec::with_capacity(runs.len());
    let mut states = (bound.factory)();
    let mut fed = 0..0;
    let mut zeros: Vec<usize> = Vec::new();
    for rows in runs {
        if rows.start != fed.start || fed.end > rows.end {
            states = (bound.factory)();
            fed = rows.start..rows.start;
        }
        let more = fed.end..rows.end;
        zeros.resize(more.len(), 0);
        // Ids make every function take the rows in their order, also floats' sums.
        let groups = Groups {
            ids: Some(&zeros),
            num_groups: 1,
            num_rows: more.len(),
        };
        states.update(&slices(args, &more), groups)?;
        fed.end = rows.end;
        results.push(states.finish(0..1)?);
    }
    let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
    concat(&results).map_err(bug)
}

/// One result for each of the frames, which are short: all of their rows are fed.
fn gathered(bound: &BoundAggregate, args: &[ArrayRef], runs: &[Range<usize>]) -> Result<ArrayRef> {
    let mut results: Vec<ArrayRef> = Vec::new();
    let mut rest = runs;
    while !rest.is_empty() {
        let (mut taken, mut num_rows) = (0, 0);
        while taken < rest.len() && num_rows < GATHERED_ROWS {
            num_rows += rest[taken].len();
            taken += 1;
        }
        let (chunk, behind) = rest.split_at(taken);
        rest = behind;
        let mut ids = Vec::with_capacity(num_rows);
        for (group, rows) in chunk.iter().enumerate() {
            ids.extend(std::iter::repeat_n(group, rows.len()));
        }
        let groups = Groups {
            ids: Some(&ids),
            num_groups: chunk.len(),
            num_rows: ids.len(),
        };
        let mut states = (bound.factory)();
        states.update(&rows_of(args, chunk)?, groups)?;
        results.push(states.finish(0..chunk.len())?);
    }
    let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
    concat(&results).map_err(bug)
}
