//! Counts the distinct values of each group: one set of (group, value) a task, not one a group.
//!
//! A set that outgrows the cache falls apart into many small ones by the hash of the *value*: rows
//! wait in a buffer for each of them, so that a small set is in the cache while it takes many. Sets
//! of one part of the hashes have nothing in common with those of others; so threads merge them
//! independently in the end, and each adds what it counts. Few groups with many values each, for
//! which to split by key would leave one thread all the work, are as fast as many that way.
//!
//! | module | owns |
//! |---|---|
//! | [`entry`] | a value, or a value with its group, as a set holds it |
//! | [`entry_set`] | open addressing over entries |
//! | [`scatter`] | sorting entries by part |
//! | [`parts`] | the sets of one task, in memory and in files |
//! | [`block`] | entries in such a file |
//! | [`by_group`] | values sorted by their groups, and counted |
//! | [`counts`] | the state of the aggregate: sets, and those of other tasks that are still to be added |
//! | [`exported`] | a task's sets on their way to others |
//! | [`settle`] | merging sets on several threads |

mod block;
mod by_group;
mod counts;
mod entry;
mod entry_set;
mod exported;
mod parts;
mod scatter;
mod settle;

#[cfg(test)]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::ArrayRef;
use basalt_functions::aggregate::Groups;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use self::counts::Counts;
use self::entry::{Alone, Paired};
pub(super) use self::exported::ExportedSets;
pub(super) use self::settle::settle;
use super::options::Thresholds;
use super::spill::Budget;

/// Numbers of distinct values of all groups of one task.
pub(super) trait DistinctCounts: Debug + Send {
    /// Adds the rows of a batch.
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()>;

    /// Adds sets of another task: those of `rows` go to `groups`. They may be added later, when
    /// it is known who else has part in them.
    fn merge(
        &mut self,
        sets: &Arc<dyn ExportedSets>,
        rows: &[u32],
        groups: Groups<'_>,
    ) -> Result<()>;

    /// Adds values from lists that [`ExportedSets::lists`] made, one a group.
    fn merge_lists(&mut self, lists: &ArrayRef, groups: Groups<'_>) -> Result<()>;

    /// About so many values come before [`DistinctCounts::finish`].
    fn expect(&mut self, num_values: usize);

    /// Takes all sets out, to be merged elsewhere.
    fn export(&mut self, num_groups: usize) -> Result<Arc<dyn ExportedSets>>;

    /// Numbers of distinct values of the groups before `num_groups`; nothing is added any more.
    fn finish(&mut self, num_groups: usize) -> Result<&[u64]>;

    /// What is left to do before [`DistinctCounts::finish`], for as many threads as like; none if
    /// that is not worth it. The sum of what they count goes to [`DistinctCounts::settled`].
    fn settle(&mut self, num_groups: usize) -> Result<Option<Arc<dyn Settle>>>;

    /// The numbers that all threads together have counted.
    fn settled(&mut self, counts: Vec<u64>);

    /// Moves all sets into a file.
    fn spill(&mut self, budget: &Budget) -> Result<()>;

    /// Whether sets are in files.
    fn has_blocks(&self) -> bool;

    /// How the sets of this task are held.
    fn held(&self) -> Held;

    /// Takes sets of some groups out of a file; no file has any more if it gives none. A group may come
    /// more than once.
    fn take_block(&mut self) -> Result<Option<SetsOfGroups>>;

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;
}

/// How sets are held.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// About how many values there are in memory.
    pub(super) num_values: usize,
    /// Parts by hash; one as long as a set is whole.
    pub(super) num_parts: usize,
}

/// Some groups, and the sets that they have, in the same order.
pub(super) type SetsOfGroups = (Vec<u32>, Arc<dyn ExportedSets>);

/// Sets to be merged by several threads.
pub(super) trait Settle: Send + Sync {
    /// Merges sets until no other thread has left any; counts the values of each group.
    fn run(&self, memory: MemoryReservation) -> Result<Vec<u64>>;
}

/// When sets fall apart, and into how many.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Entries from which on a set is in parts.
    whole_len: usize,
    /// Bits of the hash that choose the part.
    bits: u32,
    /// Least entries that wait for a part.
    min_waiting: usize,
}

impl Tuning {
    fn of(thresholds: Thresholds) -> Self {
        match thresholds {
            Thresholds::Usual | Thresholds::Given(_) => Self {
                whole_len: 32 << 10,
                bits: 8,
                min_waiting: 256,
            },
            Thresholds::Tiny => Self {
                whole_len: 2,
                bits: 2,
                min_waiting: 2,
            },
        }
    }
}

/// No values yet, of words of so many bits; `has_groups` unless all are of group 0.
pub(super) fn counts(
    bits: u32,
    has_groups: bool,
    thresholds: Thresholds,
) -> Box<dyn DistinctCounts> {
    let tuning = Tuning::of(thresholds);
    match (bits, has_groups) {
        (32, false) => Box::new(Counts::<Alone<u32>>::new(tuning)),
        (64, false) => Box::new(Counts::<Alone<u64>>::new(tuning)),
        (_, false) => Box::new(Counts::<Alone<[u64; 2]>>::new(tuning)),
        (32, true) => Box::new(Counts::<Paired<u32>>::new(tuning)),
        (64, true) => Box::new(Counts::<Paired<u64>>::new(tuning)),
        (_, true) => Box::new(Counts::<Paired<[u64; 2]>>::new(tuning)),
    }
}
