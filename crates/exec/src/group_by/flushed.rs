//! Groups that a full table has given away, split by hash like staged rows.
//!
//! Where keys come again soon or never, such as addresses of pages in a log, a table of recent keys makes
//! few groups of many rows while it fits the cache; one of all keys would miss it at every row.

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
    /// Hashes of the keys of partition 0.
    sample: Vec<u64>,
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
        let hashes = groups.table.group_hashes();
        let sampled = partitions.rows_of(0).iter();
        let sample = sampled.map(|group| hashes[*group as usize]).collect();
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
            sample,
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

    /// Hashes of the keys of partition 0.
    pub(super) fn sample(&self) -> impl Iterator<Item = u64> {
        self.sample.iter().copied()
    }

    /// Adds the groups of `partition` to `to`.
    pub(super) fn merge_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        let rows = self.partitions.rows_of(partition);
        if rows.is_empty() {
            return Ok(());
        }
        let range = self.partitions.range(partition);
        to.merge_range((&self.keys, range), &self.states, rows)
    }

    /// Writes all groups to a file.
    pub(super) fn spill(&self, form: &F, spiller: &mut Spiller<F>) -> Result<()> {
        let columns = form.columns(&self.keys)?;
        spiller.spill_states(&columns, &self.states, &self.partitions.rows)
    }
}
