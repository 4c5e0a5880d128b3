//! What one task has written to its file, by partition of the hash.

use std::sync::Arc;

use arrow::array::ArrayRef;
use basalt_hashtable::{Partitions, partition};
use datafusion::error::Result;

use super::block::{Block, Content, state_columns};
use super::{Budget, SpillFile};
use crate::group_by::Grouping;
use crate::group_by::group_set::GroupSet;
use crate::group_by::grouping::AggregateArgs;
use crate::group_by::key_form::{GroupTable, KeyForm};
use crate::group_by::rows::{SplitRows, joined, joined_args};
use crate::group_by::states::Exported;

/// Times that groups are split: with 2^7 partitions each, enough for any disk.
const MAX_DEPTH: u32 = 3;

/// Groups that go to a file together where their states are copied for that: enough for blocks of some size.
const SPILLED_GROUPS: usize = 64 << 10;

/// Which bits of a hash choose the partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    bits: u32,
    /// Higher bits, the same for all keys.
    used_bits: u32,
    depth: u32,
}

impl Level {
    fn first(bits: u32) -> Self {
        Self {
            bits,
            used_bits: 0,
            depth: 1,
        }
    }

    /// The level for a partition of this one; none if that is the last.
    pub(super) fn next(self) -> Option<Self> {
        (self.depth < MAX_DEPTH).then_some(Self {
            bits: self.bits,
            used_bits: self.used_bits + self.bits,
            depth: self.depth + 1,
        })
    }

    fn split(self, mut hashes: Vec<u64>) -> Partitions {
        hashes.iter_mut().for_each(|hash| *hash <<= self.used_bits);
        partition(&hashes, self.bits)
    }
}

/// Groups and rows of one task in a file.
#[derive(Debug)]
pub(in crate::group_by) struct Spiller<F: KeyForm> {
    pub(super) grouping: Arc<Grouping>,
    pub(super) form: Arc<F>,
    pub(super) level: Level,
    budget: Arc<Budget>,
    file: Option<Arc<SpillFile>>,
    partitions: Vec<Vec<Block>>,
}

impl<F: KeyForm> Spiller<F> {
    /// Nothing written yet; later, 2^`bits` partitions.
    pub(in crate::group_by) fn new(
        grouping: &Arc<Grouping>,
        form: &Arc<F>,
        budget: &Arc<Budget>,
        bits: u32,
    ) -> Self {
        Self {
            grouping: Arc::clone(grouping),
            form: Arc::clone(form),
            level: Level::first(bits),
            budget: Arc::clone(budget),
            file: None,
            partitions: Vec::new(),
        }
    }

    /// One for a partition that is to be split again.
    pub(super) fn at_level(&self, level: Level) -> Self {
        Self {
            level,
            ..Self::new(&self.grouping, &self.form, &self.budget, 0)
        }
    }

    /// Whether nothing was written.
    pub(in crate::group_by) fn is_empty(&self) -> bool {
        self.file.is_none()
    }

    /// What was written, by partition.
    pub(super) fn into_partitions(self) -> Vec<Vec<Block>> {
        self.partitions
    }

    /// Writes all groups; none are left.
    pub(in crate::group_by) fn spill_groups(&mut self, groups: &mut GroupSet<F>) -> Result<()> {
        if groups.len() == 0 {
            return Ok(());
        }
        let empty = GroupSet::new(self.form.table(), &self.grouping);
        let mut full = std::mem::replace(groups, empty);
        full.table.finish();
        while let Some((groups, states)) = full.states.take_block(&self.grouping)? {
            let columns = self.form.columns(&full.table.keys_of(&groups)?)?;
            // A table has fewer than 2^32 groups.
            let rows: Vec<u32> = (0..groups.len() as u32).collect();
            self.spill_states(&columns, &states, &rows)?;
        }
        if full.states.is_better_exported_in_parts() {
            return self.spill_in_parts(full);
        }
        let level = self.level;
        let split = full.split_by(|table| level.split(table.group_hashes()))?;
        for partition in 0..1 << level.bits {
            if let Some((keys, states, rows)) = split.part(partition)? {
                let keys = self.form.columns(&keys)?;
                let states = state_columns(states, rows)?;
                self.write(partition, Content::Groups, keys, states)?;
            }
        }
        Ok(())
    }

    /// Writes groups whose states are copied on their way, some at a time.
    fn spill_in_parts(&mut self, mut groups: GroupSet<F>) -> Result<()> {
        let num_groups = groups.len();
        for start in (0..num_groups).step_by(SPILLED_GROUPS) {
            let range = start..num_groups.min(start + SPILLED_GROUPS);
            // A table has fewer than 2^32 groups.
            let numbers: Vec<u32> = (range.start as u32..range.end as u32).collect();
            let columns = self.form.columns(&groups.table.keys_of(&numbers)?)?;
            let states = groups.states.export_range(range)?;
            let rows: Vec<u32> = (0..numbers.len() as u32).collect();
            self.spill_states(&columns, &states, &rows)?;
        }
        Ok(())
    }

    /// Writes groups with these key columns, whose states lie at `rows` of `states`.
    pub(in crate::group_by) fn spill_states(
        &mut self,
        columns: &[ArrayRef],
        states: &[Exported],
        rows: &[u32],
    ) -> Result<()> {
        let keys = self.form.encode(columns.to_vec())?;
        let split = self.level.split(F::Table::hashes(&keys));
        for partition in 0..1 << self.level.bits {
            let part = split.rows_of(partition);
            if !part.is_empty() {
                let keys = self.form.columns(&F::Table::take(&keys, part)?)?;
                let part: Vec<u32> = part.iter().map(|row| rows[*row as usize]).collect();
                let states = state_columns(states, &part)?;
                self.write(partition, Content::Groups, keys, states)?;
            }
        }
        Ok(())
    }

    /// Writes rows that are split by `bits` bits, at least as many as this one's.
    pub(in crate::group_by) fn spill_rows(
        &mut self,
        staged: &[SplitRows<F>],
        bits: u32,
    ) -> Result<()> {
        let finer = bits - self.level.bits;
        for partition in 0..1 << self.level.bits {
            let mut keys = Vec::with_capacity(staged.len());
            let mut args = Vec::with_capacity(staged.len());
            for split in staged {
                let range = split.range(partition << finer).start
                    ..split.range(((partition + 1) << finer) - 1).end;
                if range.is_empty() {
                    continue;
                }
                // A batch has fewer than 2^32 rows.
                let rows: Vec<u32> = (range.start as u32..range.end as u32).collect();
                let rows = split.rows.take(&rows)?;
                keys.push(self.form.columns(&rows.keys)?);
                args.push(rows.args);
            }
            if !keys.is_empty() {
                let args = joined_args(&args)?;
                self.write(partition, Content::Rows, joined(&keys)?, args)?;
            }
        }
        Ok(())
    }

    fn write(
        &mut self,
        partition: usize,
        content: Content,
        keys: Vec<ArrayRef>,
        aggregates: AggregateArgs,
    ) -> Result<()> {
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(self.budget.create_file()?),
        };
        let block = Block::write(&file, content, keys, aggregates)?;
        self.file = Some(file);
        self.budget.count_block(block.place())?;
        self.partitions.resize_with(1 << self.level.bits, Vec::new);
        self.partitions[partition].push(block);
        Ok(())
    }
}
