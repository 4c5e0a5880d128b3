//! Answers long frames from a tree of states: level 0 has a state for each row, every node above
//! merges two. A frame is at most two nodes of each level, merged from left to right, so that
//! functions which depend on the order (`any`, `groupArray`) see it.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, UInt64Array};
use arrow::compute::take;
use basalt_error::Result;
use basalt_functions::aggregate::{Aggregator, BoundAggregate, Groups, group_ids};
use datafusion::execution::memory_pool::MemoryReservation;

use crate::memory;
use crate::stream::bug;

/// The states of one level of the tree, as state columns.
type Level = Vec<ArrayRef>;

/// Nodes of one level that frames begin or end with: node and frame.
type Parts = Vec<(u64, usize)>;

/// One result for each of the frames.
pub(super) fn results(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    frames: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let first = frames.iter().map(|f| f.start).min().unwrap_or(0);
    let end = frames.iter().map(|f| f.end).max().unwrap_or(0);
    let num_rows = end.saturating_sub(first);
    let args: Vec<ArrayRef> = args.iter().map(|a| a.slice(first, num_rows)).collect();
    let levels = levels(bound, &args, num_rows, memory)?;
    let (left, right) = parts(frames, first, levels.len());
    let mut states = (bound.factory)();
    let of_states = memory.new_empty();
    let upwards = levels.iter().zip(&left);
    let downwards = levels.iter().zip(&right).rev();
    for (level, parts) in upwards.chain(downwards) {
        merge(states.as_mut(), level, parts, frames.len())?;
        memory::resize(&of_states, states.size_bytes())?;
    }
    states.finish(0..frames.len())
}

fn levels(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    num_rows: usize,
    memory: &MemoryReservation,
) -> Result<Vec<Level>> {
    let push = |levels: &mut Vec<Level>, level: Level| {
        let size_bytes = level.iter().map(Array::get_array_memory_size).sum();
        levels.push(level);
        memory::grow(memory, size_bytes)
    };
    let ids = group_ids(0..num_rows, num_rows)?;
    let mut states = (bound.factory)();
    let groups = Groups {
        ids: Some(&ids),
        num_groups: num_rows,
        num_rows,
    };
    states.update(args, groups)?;
    let mut levels = Vec::new();
    push(&mut levels, states.states(0..num_rows)?)?;
    let mut len = num_rows;
    while len > 1 {
        let above = len.div_ceil(2);
        let ids = group_ids((0..len).map(|node| node / 2), above)?;
        let mut states = (bound.factory)();
        let groups = Groups {
            ids: Some(&ids),
            num_groups: above,
            num_rows: len,
        };
        if let Some(level) = levels.last() {
            states.merge(level, groups)?;
        }
        push(&mut levels, states.states(0..above)?)?;
        len = above;
    }
    Ok(levels)
}

/// The nodes that make up the frames: those at their left side and those at their right side.
fn parts(frames: &[Range<usize>], first: usize, num_levels: usize) -> (Vec<Parts>, Vec<Parts>) {
    let mut left: Vec<Parts> = vec![Vec::new(); num_levels];
    let mut right: Vec<Parts> = vec![Vec::new(); num_levels];
    for (idx, frame) in frames.iter().enumerate() {
        if frame.is_empty() {
            continue;
        }
        let (mut from, mut to) = (frame.start - first, frame.end - first);
        for level in 0..num_levels {
            if from >= to {
                break;
            }
            if from % 2 == 1 {
                left[level].push((from as u64, idx));
                from += 1;
            }
            if to % 2 == 1 && from < to {
                to -= 1;
                right[level].push((to as u64, idx));
            }
            (from, to) = (from / 2, to / 2);
        }
    }
    (left, right)
}

fn merge(
    states: &mut dyn Aggregator,
    level: &Level,
    parts: &Parts,
    num_groups: usize,
) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    let nodes = UInt64Array::from_iter_values(parts.iter().map(|(node, _)| *node));
    let taken: Vec<ArrayRef> = level
        .iter()
        .map(|column| take(column, &nodes, None).map_err(bug))
        .collect::<Result<_>>()?;
    let ids = group_ids(parts.iter().map(|(_, frame)| *frame), num_groups)?;
    states.merge(
        &taken,
        Groups {
            ids: Some(&ids),
            num_groups,
            num_rows: ids.len(),
        },
    )
}
