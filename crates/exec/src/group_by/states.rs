//! Holds the states of all aggregates of one thread; counts and integer sums without a call.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, UInt64Array, new_empty_array};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Float64Type};
use basalt_analyzer::into_plan_error;
use basalt_functions::aggregate::{Aggregator, Groups, Shortcut};
use basalt_kernels::average::NUM_KEYS;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::counts::Counts;
use super::distinct::{self, DistinctCounts, ExportedSets, Held};
use super::fused_filter::PickedArgs;
use super::grouping::{AggregateArgs, AggregateSpec};
use super::ranks::ranks_of;
use super::spill::Budget;
use super::sums::Sums;

/// Groups that are made to see how much memory one takes.
const PROBED_GROUPS: usize = 1 << 10;

/// States of one aggregate for all groups.
#[derive(Debug)]
enum State {
    /// Rows of each group.
    Count(Counts),
    /// Sum of integers of each group.
    Sum(Sums),
    /// Distinct values of each group.
    Distinct(Box<dyn DistinctCounts>),
    /// Any other function.
    Other(Box<dyn Aggregator>),
}

impl State {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        match self {
            State::Count(counts) => counts.add_rows(groups),
            State::Sum(sums) => sums.add_rows(args, groups)?,
            State::Distinct(counts) => counts.update(args, groups)?,
            State::Other(states) => states.update(args, groups).map_err(into_plan_error)?,
        }
        Ok(())
    }
}

/// States of all aggregates for all groups of one thread.
#[derive(Debug, Default)]
pub(super) struct States {
    states: Vec<State>,
    num_groups: usize,
}

/// States to be merged into those of another thread, one a group.
#[derive(Debug)]
pub(crate) enum Exported {
    /// Numbers of rows.
    Counts(Counts),
    /// Sums.
    Sums(Vec<u64>),
    /// Sets of distinct values.
    Distinct(Arc<dyn ExportedSets>),
    /// Columns of [`Aggregator::states`].
    Columns(Vec<ArrayRef>),
}

impl Exported {
    /// The number of rows of each group.
    pub(crate) fn counts(num_rows: Vec<u64>) -> Self {
        Self::Counts(Counts::of(num_rows))
    }

    /// The sum of each group.
    pub(crate) fn sums(words: Vec<u64>) -> Self {
        Self::Sums(words)
    }

    /// Whether both are the same for the first group; all NaNs are.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Counts(a), Self::Counts(b)) => a.get(0) == b.get(0),
            (Self::Sums(a), Self::Sums(b)) => a.first() == b.first(),
            (Self::Columns(a), Self::Columns(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
            }
            _ => false,
        }
    }

    /// Number of rows of each group, if one of the aggregates is that.
    pub(super) fn row_counts(exported: &[Exported]) -> Option<&Counts> {
        match exported.get(Self::place_of_row_counts(exported)?) {
            Some(Exported::Counts(counts)) => Some(counts),
            _ => None,
        }
    }

    /// Which of the aggregates that is.
    pub(super) fn place_of_row_counts(exported: &[Exported]) -> Option<usize> {
        exported
            .iter()
            .position(|e| matches!(e, Exported::Counts(_)))
    }
}

fn is_same(a: &ArrayRef, b: &ArrayRef) -> bool {
    // What lies below a NULL does not count.
    let floats = |array: &ArrayRef| {
        let floats = array.as_primitive_opt::<Float64Type>();
        floats.filter(|f| f.is_valid(0)).map(|f| f.value(0))
    };
    match (floats(a), floats(b)) {
        (Some(a), Some(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

impl States {
    /// Whether one of the aggregates is the number of rows.
    pub(super) fn counts_rows(&self) -> bool {
        self.states
            .iter()
            .any(|state| matches!(state, State::Count(_)))
    }

    /// Whether one of the aggregates counts distinct values.
    pub(super) fn has_distinct(&self) -> bool {
        self.states
            .iter()
            .any(|state| matches!(state, State::Distinct(_)))
    }

    /// No groups yet.
    pub(super) fn new(grouping: &Grouping) -> Self {
        let has_groups = !grouping.keys.is_empty();
        let state = |spec: &AggregateSpec| match spec.bound.shortcut {
            Some(Shortcut::CountAll) => State::Count(Counts::default()),
            Some(Shortcut::SumInteger) => State::Sum(Sums::new(
                spec.bound.return_type.physical() == ArrowType::Int64,
            )),
            Some(Shortcut::UniqExact { bits }) => {
                State::Distinct(distinct::counts(bits, has_groups, grouping.thresholds))
            }
            None => State::Other((spec.bound.factory)()),
        };
        let states = grouping.aggregates.iter().map(state).collect();
        Self {
            states,
            num_groups: 0,
        }
    }

    /// Bytes that a group without rows takes: arrays for keys that index them have many such groups.
    pub(super) fn empty_group_bytes(grouping: &Grouping) -> Result<usize> {
        let groups = Groups {
            ids: Some(&[]),
            num_groups: PROBED_GROUPS,
            num_rows: 0,
        };
        let mut states = Self::new(grouping);
        let specs = grouping.aggregates.iter();
        let sizes = states.states.iter_mut().zip(specs).map(|(state, spec)| {
            let State::Other(states) = state else {
                return Ok(size_of::<u64>());
            };
            let columns = spec.bound.state_types.iter().map(new_empty_array);
            let columns: Vec<_> = columns.collect();
            states.merge(&columns, groups).map_err(into_plan_error)?;
            Ok((states.size_bytes() / PROBED_GROUPS).max(size_of::<u64>()))
        });
        sizes.sum()
    }

    /// The distinct values of so many rows come, and then results are asked for.
    pub(super) fn expect_distinct(&mut self, num_rows: usize) {
        for state in &mut self.states {
            if let State::Distinct(counts) = state {
                counts.expect(num_rows);
            }
        }
    }

    /// Adds the rows of a batch to their groups.
    pub(super) fn update(&mut self, args: &AggregateArgs, groups: Groups<'_>) -> Result<()> {
        self.num_groups = self.num_groups.max(groups.num_groups);
        for (state, args) in self.states.iter_mut().zip(args) {
            state.update(args, groups)?;
        }
        Ok(())
    }

    /// Adds rows to one group, of which each aggregate has its own number.
    pub(super) fn update_picked(&mut self, picked: &PickedArgs) -> Result<()> {
        self.num_groups = self.num_groups.max(1);
        let states = self.states.iter_mut().zip(&picked.args);
        for ((state, args), num_rows) in states.zip(&picked.num_rows) {
            let groups = Groups {
                ids: None,
                num_groups: 1,
                num_rows: *num_rows,
            };
            state.update(args, groups)?;
        }
        Ok(())
    }

    /// Adds the rows of a batch, of which row `i` belongs to group `keys[i]`. `groups` gives the
    /// same groups as numbers; it is called at most once, for aggregates that want these.
    pub(super) fn update_bytes<'a>(
        &mut self,
        args: &AggregateArgs,
        keys: &[u8],
        groups: impl FnOnce() -> Result<Groups<'a>>,
    ) -> Result<()> {
        self.num_groups = self.num_groups.max(NUM_KEYS);
        let mut as_numbers = None;
        let mut groups = Some(groups);
        for (state, args) in self.states.iter_mut().zip(args) {
            let is_done = match state {
                State::Count(counts) => {
                    counts.add_bytes(keys);
                    true
                }
                State::Sum(sums) => sums.add_bytes(args, keys),
                State::Other(states) => states.update_bytes(args, keys).map_err(into_plan_error)?,
                State::Distinct(_) => false,
            };
            if is_done {
                continue;
            }
            if let Some(groups) = groups.take() {
                as_numbers = Some(groups()?);
            }
            if let Some(groups) = as_numbers {
                state.update(args, groups)?;
            }
        }
        Ok(())
    }

    /// The states of groups that have these counts and sums, if all aggregates are such.
    pub(super) fn set_words(&mut self, words: Vec<Vec<u64>>) {
        for (state, words) in self.states.iter_mut().zip(words) {
            self.num_groups = words.len();
            match state {
                State::Count(counts) => *counts = Counts::of(words),
                State::Sum(sums) => sums.set(words),
                State::Distinct(_) | State::Other(_) => {}
            }
        }
    }

    /// Adds states of another thread: those of `rows` go to `groups`.
    pub(super) fn merge(
        &mut self,
        exported: &[Exported],
        rows: &[u32],
        groups: Groups<'_>,
    ) -> Result<()> {
        let mut row_array = None;
        self.num_groups = self.num_groups.max(groups.num_groups);
        for (state, exported) in self.states.iter_mut().zip(exported) {
            match (state, exported) {
                (State::Count(to), Exported::Counts(from)) => to.merge(from, rows, groups),
                (State::Sum(to), Exported::Sums(from)) => to.merge(from, rows, groups),
                (State::Distinct(counts), Exported::Distinct(sets)) => {
                    counts.merge(sets, rows, groups)?;
                }
                // States from a file; of those, all rows are wanted.
                (State::Distinct(counts), Exported::Columns(lists)) => {
                    let lists = lists.first();
                    let lists = lists.ok_or_else(|| internal_datafusion_err!("no lists"))?;
                    counts.merge_lists(lists, groups)?;
                }
                (State::Other(states), Exported::Columns(columns)) => {
                    let rows = row_array.get_or_insert_with(|| UInt32Array::from(rows.to_vec()));
                    let columns = columns.iter().map(|c| take(c, rows, None));
                    let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
                    states.merge(&columns, groups).map_err(into_plan_error)?;
                }
                _ => return Err(internal_datafusion_err!("states of another function")),
            }
        }
        Ok(())
    }

    /// Takes all states out, to be merged elsewhere.
    pub(super) fn export(&mut self, num_groups: usize) -> Result<Vec<Exported>> {
        let export = |state: &mut State| match state {
            State::Count(counts) => Ok(Exported::Counts(std::mem::take(counts))),
            State::Sum(sums) => Ok(Exported::Sums(sums.take(num_groups))),
            State::Distinct(counts) => counts.export(num_groups).map(Exported::Distinct),
            State::Other(states) => {
                let columns = states.states(0..num_groups).map_err(into_plan_error)?;
                Ok(Exported::Columns(columns))
            }
        };
        self.states.iter_mut().map(export).collect()
    }

    /// Whether [`States::export_range`] takes much less memory at a time than [`States::export`], and not much
    /// more time for all: states of other functions are written anew, while counts, sums and sets are handed
    /// over.
    pub(super) fn is_better_exported_in_parts(&self) -> bool {
        let is_other = |state: &State| matches!(state, State::Other(_));
        let exports_parts = |state: &State| match state {
            State::Count(_) | State::Sum(_) => true,
            State::Distinct(_) => false,
            State::Other(states) => states.exports_parts(),
        };
        self.states.iter().any(is_other) && self.states.iter().all(exports_parts)
    }

    /// The states of the groups in `range`, of which there are no sets of distinct values.
    pub(super) fn export_range(&mut self, range: Range<usize>) -> Result<Vec<Exported>> {
        let export = |state: &mut State| match state {
            State::Count(counts) => Ok(Exported::Counts(Counts::of(counts.range(range.clone())))),
            State::Sum(sums) => Ok(Exported::Sums(sums.range(range.clone()).to_vec())),
            State::Distinct(_) => Err(internal_datafusion_err!("a part of sets")),
            State::Other(states) => {
                let columns = states.states(range.clone()).map_err(into_plan_error)?;
                Ok(Exported::Columns(columns))
            }
        };
        self.states.iter_mut().map(export).collect()
    }

    /// Results of the groups in `range`.
    pub(super) fn finish(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let num_groups = self.num_groups.max(range.end);
        let finish = |state: &mut State| -> Result<ArrayRef> {
            Ok(match state {
                State::Count(counts) => Arc::new(UInt64Array::from(counts.range(range.clone()))),
                State::Sum(sums) => sums.finish(range.clone()),
                State::Distinct(counts) => {
                    let counts = &counts.finish(num_groups)?[range.clone()];
                    Arc::new(UInt64Array::from(counts.to_vec()))
                }
                State::Other(states) => states.finish(range.clone()).map_err(into_plan_error)?,
            })
        };
        self.states.iter_mut().map(finish).collect()
    }

    /// Results of one aggregate as numbers in their order; `None` if they have none.
    pub(super) fn ranks(
        &mut self,
        aggregate: usize,
        range: Range<usize>,
    ) -> Result<Option<Vec<u64>>> {
        let num_groups = self.num_groups.max(range.end);
        Ok(match self.states.get_mut(aggregate) {
            Some(State::Count(counts)) => Some(counts.range(range)),
            Some(State::Sum(sums)) => Some(sums.ranks(range)),
            Some(State::Distinct(counts)) => Some(counts.finish(num_groups)?[range].to_vec()),
            Some(State::Other(states)) if states.finishes_again() => {
                ranks_of(&states.finish(range).map_err(into_plan_error)?)
            }
            _ => None,
        })
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let size = |state: &State| match state {
            // The rest of their capacity is pages that were never touched.
            State::Sum(_) => self.num_groups * size_of::<u64>(),
            State::Count(counts) => counts.size_bytes(self.num_groups),
            State::Distinct(counts) => counts.size_bytes(),
            State::Other(states) => states.size_bytes(),
        };
        self.states.iter().map(size).sum()
    }

    /// Reserves what results or states take for a while besides [`States::size_bytes`].
    pub(super) fn reserve_ordering(
        &self,
        memory: Option<&MemoryReservation>,
    ) -> Result<Option<MemoryReservation>> {
        let Some(memory) = memory.map(MemoryReservation::new_empty) else {
            return Ok(None);
        };
        let of_one = |state: &State| match state {
            State::Other(states) => states.ordering_bytes(),
            _ => 0,
        };
        memory.try_grow(self.states.iter().map(of_one).sum())?;
        Ok(Some(memory))
    }

    /// Counts distinct values on `num_tasks` threads; without it, that is done when the first
    /// results are asked for.
    pub(super) async fn settle(
        &mut self,
        num_tasks: usize,
        memory: &MemoryReservation,
    ) -> Result<()> {
        let num_groups = self.num_groups;
        for state in &mut self.states {
            if let State::Distinct(counts) = state {
                distinct::settle(counts.as_mut(), num_groups, num_tasks, memory).await?;
            }
        }
        Ok(())
    }

    /// Moves the distinct values of all groups into files, by value, if they are most of the `held_bytes` of
    /// a table; false if they are not.
    pub(super) fn spill_sets(&mut self, held_bytes: usize, budget: &Budget) -> Result<bool> {
        let of_one = |state: &State| match state {
            State::Distinct(counts) => counts.size_bytes(),
            _ => 0,
        };
        let set_bytes: usize = self.states.iter().map(of_one).sum();
        if set_bytes < held_bytes / 4 * 3 || set_bytes == 0 {
            return Ok(false);
        }
        for state in &mut self.states {
            if let State::Distinct(counts) = state {
                counts.spill(budget)?;
            }
        }
        Ok(true)
    }

    /// Whether distinct values are in files.
    pub(super) fn has_blocks(&self) -> bool {
        self.states
            .iter()
            .any(|state| matches!(state, State::Distinct(counts) if counts.has_blocks()))
    }

    /// How the sets of each aggregate of distinct values are held.
    pub(super) fn held_distinct(&self) -> Vec<Held> {
        let held = |state: &State| match state {
            State::Distinct(counts) => Some(counts.held()),
            _ => None,
        };
        self.states.iter().filter_map(held).collect()
    }

    /// Takes distinct values of some groups out of files: these groups, with states to be merged into
    /// theirs. No file has any more if it gives none.
    pub(super) fn take_block(
        &mut self,
        grouping: &Grouping,
    ) -> Result<Option<(Vec<u32>, Vec<Exported>)>> {
        for (i, state) in self.states.iter_mut().enumerate() {
            if let State::Distinct(counts) = state
                && let Some((groups, sets)) = counts.take_block()?
            {
                let mut states = Self::new(grouping).export(groups.len())?;
                states[i] = Exported::Distinct(sets);
                return Ok(Some((groups, states)));
            }
        }
        Ok(None)
    }

    /// Moves the distinct values of all groups into files if that makes much of the memory free.
    pub(super) fn spill_distinct(&mut self, budget: &Budget) -> Result<()> {
        let is_distinct = |state: &&mut State| matches!(state, State::Distinct(_));
        let size_bytes = self.size_bytes();
        for state in self.states.iter_mut().filter(is_distinct) {
            if let State::Distinct(counts) = state
                && counts.size_bytes() * 4 > size_bytes
            {
                counts.spill(budget)?;
            }
        }
        Ok(())
    }
}
