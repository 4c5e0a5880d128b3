//! A table of keys with the states of its groups.

use std::ops::Range;

use basalt_functions::aggregate::Groups;
use basalt_hashtable::Partitions;
use datafusion::error::Result;

use super::Grouping;
use super::grouping::AggregateArgs;
use super::key_form::{GroupTable, KeyForm, Keys};
use super::rows::Found;
use super::rows::{Rows, SplitRows, take_args};
use super::spill::Budget;
use super::states::{Exported, States};

/// Groups and their states.
#[derive(Debug)]
pub(super) struct GroupSet<F: KeyForm> {
    pub(super) table: F::Table,
    pub(super) states: States,
    /// Groups of the rows at hand; here so that its memory is used again.
    ids: Vec<u32>,
}

impl<F: KeyForm> GroupSet<F> {
    /// No groups yet, in `table`.
    pub(super) fn new(table: F::Table, grouping: &Grouping) -> Self {
        Self {
            table,
            states: States::new(grouping),
            ids: Vec::new(),
        }
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.table.size_bytes() + self.states.size_bytes() + self.ids.capacity() * size_of::<u32>()
    }

    /// Adds all rows.
    pub(super) fn push(&mut self, rows: &Rows<F>) -> Result<()> {
        self.push_keys(&rows.keys, 0..rows.len(), &rows.args)
    }

    /// Adds the rows in `range`.
    pub(super) fn push_range(&mut self, rows: &Rows<F>, range: Range<usize>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let args = rows.args_of(&range);
        self.push_keys(&rows.keys, range, &args)
    }

    /// Adds the rows in `range` of `keys`, whose arguments are `args`.
    pub(super) fn push_keys(
        &mut self,
        keys: &Keys<F>,
        range: Range<usize>,
        args: &AggregateArgs,
    ) -> Result<()> {
        self.ids.clear();
        let num_rows = range.len();
        self.table.intern(keys, range, &mut self.ids)?;
        let groups = Groups {
            ids: Some(&self.ids),
            num_groups: self.table.len(),
            num_rows,
        };
        self.states.update(args, groups)
    }

    /// Adds the rows whose groups are there; gives the others.
    pub(super) fn push_known(&mut self, rows: &Rows<F>) -> Result<Vec<u32>> {
        self.ids.clear();
        self.table.find(&rows.keys, &mut self.ids);
        let found = Found::of(&self.ids);
        if !found.hits.is_empty() {
            let args = take_args(&rows.args, &found.hits)?;
            let groups = Groups {
                ids: Some(&found.groups),
                num_groups: self.table.len(),
                num_rows: found.hits.len(),
            };
            self.states.update(&args, groups)?;
        }
        Ok(found.misses)
    }

    /// Adds groups whose states lie at `rows` of `states`.
    pub(super) fn merge_keys(
        &mut self,
        keys: &Keys<F>,
        states: &[Exported],
        rows: &[u32],
    ) -> Result<()> {
        self.merge_range((keys, 0..rows.len()), states, rows)
    }

    /// The same for some of the keys, as many as there are `rows`.
    pub(super) fn merge_range(
        &mut self,
        (keys, range): (&Keys<F>, Range<usize>),
        states: &[Exported],
        rows: &[u32],
    ) -> Result<()> {
        self.ids.clear();
        self.table.intern(keys, range, &mut self.ids)?;
        let groups = Groups {
            ids: Some(&self.ids),
            num_groups: self.table.len(),
            num_rows: rows.len(),
        };
        self.states.merge(states, rows, groups)
    }

    /// Moves the distinct values of all groups into files if these are most of what it holds; false if not.
    pub(super) fn spill_sets(&mut self, budget: &Budget) -> Result<bool> {
        let size_bytes = self.size_bytes();
        self.states.spill_sets(size_bytes, budget)
    }

    /// The groups, split by the high `bits` bits of their hashes, to be merged with others.
    pub(super) fn split(self, bits: u32) -> Result<SplitGroups<F>> {
        self.split_by(|table| table.split(bits))
    }

    /// The groups, split by `partition`, to be merged with others.
    pub(super) fn split_by(
        mut self,
        partition: impl FnOnce(&F::Table) -> Partitions,
    ) -> Result<SplitGroups<F>> {
        self.table.finish();
        Ok(SplitGroups {
            groups: partition(&self.table),
            states: self.states.export(self.table.len())?,
            table: self.table,
        })
    }
}

/// Keys of some groups, and the rows of the states that are theirs.
pub(super) type PartOfGroups<'a, F> = (Keys<F>, &'a [Exported], &'a [u32]);

/// Groups of one task in the order of their partitions, ready to be merged with those of others.
pub(super) struct SplitGroups<F: KeyForm> {
    table: F::Table,
    groups: Partitions,
    states: Vec<Exported>,
}

impl<F: KeyForm> SplitGroups<F> {
    /// Keys of the groups of `partition`, and which rows of the states are theirs.
    pub(super) fn part(&self, partition: usize) -> Result<Option<PartOfGroups<'_, F>>> {
        let rows = self.groups.rows_of(partition);
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some((self.table.keys_of(rows)?, &self.states, rows)))
    }

    /// Adds the groups of `partition` to `to`.
    pub(super) fn merge_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        match self.part(partition)? {
            Some((keys, states, rows)) => to.merge_keys(&keys, states, rows),
            None => Ok(()),
        }
    }
}

impl<F: KeyForm> SplitRows<F> {
    /// Adds the rows of `partition` to `to`.
    pub(super) fn push_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        to.push_range(&self.rows, self.range(partition))
    }
}
