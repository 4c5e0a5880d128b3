//! Groups that a full table has given away, split by hash like staged rows.
//!
//! Where keys come again soon or never, such as addresses of pages in a log, a table of recent keys makes
//! few groups of many rows while it fits the cache; one of all keys would miss it at every row.

use std::ops::Range;

use basalt_hashtable::Partitions;
use datafusion::error::Result;

use super::Grouping;
use super::group_set::GroupSet;
use super::key_form::{GroupTable, KeyForm, Keys};
use super::spill::Spiller;
use super::states::{Exported, States};

/// Groups of one task, to be merged with others of the same keys.
pub(super) struct Flushed<F: KeyForm> {
    /// In the order of partitions.
    keys: Keys<F>,
    /// Where the state of each key lies in `states`, and where partitions start.
    partitions: Partitions,
    states: Vec<Exported>,
    size_bytes: usize,
}

impl<F: KeyForm> Flushed<F> {
    /// Takes all groups out of a table, which can be filled anew, and splits them by 2^`bits`.
    pub(super) fn take_from(
        groups: &mut GroupSet<F>,
        bits: u32,
        (grouping, form): (&Grouping, &F),
    ) -> Result<Self> {
        let num_groups = groups.len();
        let states_bytes = groups.states.size_bytes();
        groups.table.finish();
        let partitions = groups.table.split(bits);
        let keys = groups.table.keys_of(&partitions.rows)?;
        let states = groups.states.export(num_groups)?;
        groups.states = States::new(grouping);
        let full = std::mem::replace(&mut groups.table, form.table());
        if let Some(empty) = full.recycle() {
            groups.table = empty;
        }
        let rows_bytes = num_groups * size_of::<u32>();
        Ok(Self {
            size_bytes: F::Table::keys_size_bytes(&keys) + states_bytes + rows_bytes,
            keys,
            partitions,
            states,
        })
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.partitions.rows.len()
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn range(&self, partition: usize) -> Range<usize> {
        let offsets = &self.partitions.offsets;
        offsets[partition] as usize..offsets[partition + 1] as usize
    }

    /// Hashes of the keys of `partition`.
    pub(super) fn hashes_of(&self, partition: usize) -> Result<Vec<u64>> {
        let range = self.range(partition);
        // A table has fewer than 2^32 groups.
        let rows: Vec<u32> = (range.start as u32..range.end as u32).collect();
        Ok(F::Table::hashes(&F::Table::take(&self.keys, &rows)?))
    }

    /// Adds the groups of `partition` to `to`.
    pub(super) fn merge_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        let range = self.range(partition);
        if range.is_empty() {
            return Ok(());
        }
        let rows = &self.partitions.rows[range.clone()];
        to.merge_range((&self.keys, range), &self.states, rows)
    }

    /// Writes all groups to a file.
    pub(super) fn spill(&self, form: &F, spiller: &mut Spiller<F>) -> Result<()> {
        let columns = form.columns(&self.keys)?;
        spiller.spill_states(&columns, &self.states, &self.partitions.rows)
    }
}
