//! Answers frames that move on: each is fed anew, or merged from a tree of states (`tree`), whichever is less
//! work for the function's states.

use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use basalt_error::Result;
use basalt_functions::aggregate::BoundAggregate;
use basalt_types::values_bytes;
use datafusion::execution::memory_pool::MemoryReservation;

use super::aggregate::{Results, fed, rows_of, slices};
use super::tree;
use crate::memory;

/// Frames of this many rows on average are fed anew for each row if states are single numbers: fewer rows
/// than the nodes of a tree that one would be merged from cost.
const SHORT_FRAME: usize = 64;

/// Bytes of states that are merged in the time in which one row is fed.
const BYTES_PER_ROW: usize = 4;

/// Rows that are gathered at once, so few that their states stay in the processor's cache.
const GATHERED_ROWS: usize = 1 << 14;

/// One result for each of the frames.
pub(super) fn results(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let num_rows: usize = runs.iter().map(Range::len).sum();
    if num_rows / runs.len().max(1) <= rows_of_a_merge(bound, args, runs, memory)? {
        gathered(bound, args, runs, memory)
    } else {
        tree::results(bound, args, runs, memory)
    }
}

/// The work of merging a long frame from a tree, as a number of rows that are fed in the same time: up to two
/// nodes of each level, whose states are as long as those of their rows but no longer than the frame's.
///
/// Where states keep all values this is more than the frame's rows; where they keep the distinct ones, it
/// depends on the values.
fn rows_of_a_merge(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<usize> {
    let longest = runs.iter().max_by_key(|run| run.len());
    let Some(frame) = longest.filter(|run| !run.is_empty()) else {
        return Ok(SHORT_FRAME);
    };
    if bound.state_types.iter().all(DataType::is_primitive) {
        return Ok(SHORT_FRAME);
    }
    let of_row = state_bytes(bound, args, frame.start..frame.start + 1, memory)?;
    let of_frame = state_bytes(bound, args, frame.clone(), memory)?;
    let levels = 0..=frame.len().ilog2();
    let merged: usize = levels
        .map(|level| of_row.saturating_mul(1 << level).min(of_frame))
        .sum();
    Ok(2 * merged / BYTES_PER_ROW)
}

fn state_bytes(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    rows: Range<usize>,
    memory: &MemoryReservation,
) -> Result<usize> {
    let frame = std::slice::from_ref(&rows);
    let mut state = fed(bound, &slices(args, &rows), frame)?;
    let held = memory.new_empty();
    memory::grow(&held, state.size_bytes())?;
    Ok(values_bytes(&state.states(0..1)?))
}

/// One result for each of the frames, all of whose rows are fed.
fn gathered(
    bound: &BoundAggregate,
    args: &[ArrayRef],
    runs: &[Range<usize>],
    memory: &MemoryReservation,
) -> Result<ArrayRef> {
    let mut results = Results::new(memory);
    let mut rest = runs;
    while !rest.is_empty() {
        let (mut taken, mut num_rows) = (0, 0);
        while taken < rest.len() && num_rows < GATHERED_ROWS {
            num_rows += rest[taken].len();
            taken += 1;
        }
        let (chunk, behind) = rest.split_at(taken);
        rest = behind;
        let mut states = fed(bound, &rows_of(args, chunk)?, chunk)?;
        let held = memory.new_empty();
        memory::grow(&held, states.size_bytes())?;
        results.push(states.finish(0..chunk.len())?)?;
    }
    results.joined()
}
