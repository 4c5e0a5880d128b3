//! Computes an aggregate function over each row's frame, with as few updates as the frames allow.
//!
//! Frames that do not overlap are groups. Frames that only grow are one state, read again and
//! again. Those that move are fed anew or answered from a tree of states (`moving`).

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::compute::{concat, take};
use arrow::datatypes::{DataType, Int64Type, UInt64Type};
use basalt_analyzer::udaf::AggregateUdf;
use basalt_error::{Error, Result};
use basalt_functions::aggregate::{Aggregator, BoundAggregate, Groups, Shortcut, group_ids};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::AggregateUDF;

use super::frames::Frames;
use super::moving;
use crate::memory;
use crate::stream::bug;

/// Growing frames whose states are computed at once from that of the last one.
const FRAMES_AT_ONCE: usize = 32;

/// The result of an aggregate function for each row.
pub(super) fn column(
    udaf: &AggregateUDF,
    args: &[ArrayRef],
    frames: &Frames,
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let udaf = udaf
        .inner()
        .downcast_ref::<AggregateUdf>()
        .ok_or_else(|| Error::bug("window over a foreign aggregate function"))?;
    let bound = udaf.bound();
    if let Some(array) = by_difference(bound, args, frames, memory)? {
        return Ok(array);
    }
    memory::grow(memory, Frames::runs_bytes(frames.starts.len()))?;
    let (runs, run_of_row) = frames.runs();
    let short_state = bound.state_types.iter().all(DataType::is_primitive);
    let results = if disjoint(&runs) {
        as_groups(bound, args, &runs, memory)?
    } else if growing(&runs) {
        if short_state {
            running_at_once(bound, args, &runs, memory)?
        } else {
            running(bound, args, &runs, memory)?
        }
    } else {
        moving::results(bound, args, &runs, memory)?
    };
    let order = UInt64Array::from_iter_values(run_of_row.into_iter().map(|r| r as u64));
    if runs.len() < order.len() {
        let copied = results.get_array_memory_size() / runs.len().max(1);
        memory::grow(memory, copied.saturating_mul(order.len()))?;
    }
    take(&results, &order, None).map_err(bug)
}

/// Results of the frames so far, whose memory counts: each of them may be as long as its frame.
pub(super) struct Results<'a> {
    arrays: Vec<ArrayRef>,
    size_bytes: usize,
    memory: &'a MemoryReservation,
}

impl<'a> Results<'a> {
    pub(super) fn new(memory: &'a MemoryReservation) -> Self {
        Self {
            arrays: Vec::new(),
            size_bytes: 0,
            memory,
        }
    }

    pub(super) fn push(&mut self, array: ArrayRef) -> Result<()> {
        let size_bytes = array.get_array_memory_size();
        memory::grow(self.memory, size_bytes)?;
        self.size_bytes += size_bytes;
        self.arrays.push(array);
        Ok(())
    }

    pub(super) fn joined(self) -> Result<ArrayRef> {
        memory::grow(self.memory, self.size_bytes)?;
        let arrays: Vec<&dyn Array> = self.arrays.iter().map(AsRef::as_ref).collect();
        let joined = concat(&arrays).map_err(bug)?;
        self.memory.shrink(self.size_bytes);
        Ok(joined)
    }
}

/// Counts and integer sums: what is up to the end less what is up to the start.
fn by_difference(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    frames: &Frames,
    memory: &MemoryReservation,
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
            // The values as 64 bits, the same as words, and their sums.
            memory::grow(memory, values.len().saturating_mul(3 * size_of::<u64>()))?;
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
        Some(Shortcut::UniqExact { .. }) | None => Ok(None),
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

/// The ids of rows of which so many belong to the first group, to the second, and so on.
fn ids_of(lengths: impl Iterator<Item = usize>, num_groups: usize) -> Result<Vec<u32>> {
    let groups = lengths.enumerate();
    group_ids(
        groups.flat_map(|(group, len)| std::iter::repeat_n(group, len)),
        num_groups,
    )
}

pub(super) fn slices(args: &[ArrayRef], rows: &Range<usize>) -> Vec<ArrayRef> {
    args.iter()
        .map(|a| a.slice(rows.start, rows.len()))
        .collect()
}

/// States of which each has taken the rows of its frame; `rows` has those of all frames one after another.
pub(super) fn fed(
    bound: &BoundAggregate,
    rows: &[ArrayRef],
    runs: &[Range<usize>],
) -> Result<Box<dyn Aggregator>> {
    let mut states = (bound.factory)();
    let ids = ids_of(runs.iter().map(Range::len), runs.len())?;
    let groups = Groups {
        ids: Some(&ids),
        num_groups: runs.len(),
        num_rows: ids.len(),
    };
    states.update(rows, groups)?;
    Ok(states)
}

/// One result for each of the frames, which do not overlap.
fn as_groups(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let first = runs.first().map_or(0, |r| r.start);
    let end = runs.last().map_or(0, |r| r.end);
    let is_whole = runs.iter().map(Range::len).sum::<usize>() == end - first;
    let rows = if is_whole {
        slices(args, &(first..end))
    } else {
        rows_of(args, runs)?
    };
    let mut states = fed(bound, &rows, runs)?;
    memory::grow(memory, states.size_bytes())?;
    states.finish(0..runs.len())
}

/// The rows of the frames one after another.
pub(super) fn rows_of(args: &[ArrayRef], runs: &[Range<usize>]) -> Result<Vec<ArrayRef>> {
    let rows = runs.iter().flat_map(|r| r.clone()).map(|row| row as u64);
    let rows = UInt64Array::from_iter_values(rows);
    args.iter()
        .map(|a| take(a, &rows, None).map_err(bug))
        .collect()
}

/// One result for each of the frames, each of which holds the one before or starts anew.
fn running(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let mut results = Results::new(memory);
    let mut states = (bound.factory)();
    let mut fed = 0..0;
    let mut zeros: Vec<u32> = Vec::new();
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
        results.push(states.finish(0..1)?)?;
    }
    results.joined()
}

/// As [`running`], many frames at a time: each has a group of its own that starts with the state of
/// the last frame before and takes the rows behind it. Adds the rows of a few frames several times,
/// and so saves the calls for each frame.
fn running_at_once(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let mut results = Results::new(memory);
    // No frame starts there, so that the first one has no state before it.
    let mut fed = usize::MAX..usize::MAX;
    let mut carried: Vec<ArrayRef> = Vec::new();
    let mut rest = runs;
    while let Some(first) = rest.first() {
        let begin = if fed.start == first.start {
            fed.end
        } else {
            first.start
        };
        let close = |run: &&Range<usize>| run.end.saturating_sub(begin) <= 2 * FRAMES_AT_ONCE;
        let taken = rest.iter().take(FRAMES_AT_ONCE).take_while(close).count();
        let (chunk, behind) = rest.split_at(taken.max(1));
        rest = behind;
        let continues = |run: &Range<usize>| run.start == fed.start && run.end >= fed.end;
        let mut states = (bound.factory)();
        let heirs = (0..chunk.len()).filter(|i| continues(&chunk[*i]));
        let heirs = group_ids(heirs, chunk.len())?;
        if !carried.is_empty() && !heirs.is_empty() {
            let zeros = UInt64Array::from_value(0, heirs.len());
            let copies = carried.iter().map(|c| take(c, &zeros, None).map_err(bug));
            let groups = Groups {
                ids: Some(&heirs),
                num_groups: chunk.len(),
                num_rows: heirs.len(),
            };
            states.merge(&copies.collect::<Result<Vec<_>>>()?, groups)?;
        }
        let more: Vec<Range<usize>> = chunk
            .iter()
            .map(|run| {
                if continues(run) {
                    fed.end..run.end
                } else {
                    run.clone()
                }
            })
            .collect();
        let ids = ids_of(more.iter().map(Range::len), chunk.len())?;
        let groups = Groups {
            ids: Some(&ids),
            num_groups: chunk.len(),
            num_rows: ids.len(),
        };
        states.update(&rows_of(args, &more)?, groups)?;
        results.push(states.finish(0..chunk.len())?)?;
        carried = states.states(chunk.len() - 1..chunk.len())?;
        fed = chunk[chunk.len() - 1].clone();
    }
    results.joined()
}
