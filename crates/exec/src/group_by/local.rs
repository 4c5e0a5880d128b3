//! Groups the rows of one input partition; stops where grouping early does not pay.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::take;
use basalt_functions::aggregate::Groups;
use basalt_hashtable::{Partitions, partition};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::dense::Dense;
use super::grouping::AggregateArgs;
use super::key_form::{GroupTable, KeyForm, Keys};
use super::layout::bounds;
use super::states::{Exported, States};

/// When to change the way of working. Tests set these so low that little data does it all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    /// Groups of one table from which on it no longer fits the cache.
    pub(super) staging_groups: usize,
    /// Rows that a group must have found on average for the table to be worth its misses.
    pub(super) rows_per_group: usize,
    /// Bits of the hash that split staged rows.
    pub(super) staging_bits: u32,
    /// Groups in all tables from which on they are merged in partitions.
    pub(super) partitioned_groups: usize,
    /// Ordinals that integer keys may always have to index arrays instead of a table.
    pub(super) dense_len: usize,
    /// Ordinals that they may have for each row so far.
    pub(super) dense_len_per_row: usize,
}

impl Tuning {
    /// Most ordinals of keys that `num_rows` rows have.
    pub(super) fn max_dense_len(&self, num_rows: usize) -> usize {
        num_rows
            .saturating_mul(self.dense_len_per_row)
            .max(self.dense_len)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            staging_groups: 128 << 10,
            rows_per_group: 8,
            staging_bits: 9,
            partitioned_groups: 128 << 10,
            dense_len: 64 << 10,
            dense_len_per_row: 8,
        }
    }
}

/// Rows that are only split by the hash of their keys, in the order of their partitions.
pub(super) struct Staged<F: KeyForm> {
    keys: Keys<F>,
    args: AggregateArgs,
    /// Where each partition starts, and the end.
    offsets: Vec<u32>,
}

/// Groups of the rows of one input partition.
pub(super) struct Local<F: KeyForm> {
    grouping: Arc<Grouping>,
    form: Arc<F>,
    tuning: Tuning,
    /// Groups as long as keys index arrays; the table has none then.
    pub(super) dense: Option<Dense>,
    may_be_dense: bool,
    pub(super) table: F::Table,
    pub(super) states: States,
    pub(super) staged: Vec<Staged<F>>,
    is_staging: bool,
    num_rows: usize,
    staged_bytes: usize,
    groups: Vec<usize>,
    memory: MemoryReservation,
}

impl<F: KeyForm> Local<F> {
    /// No groups yet.
    pub(super) fn new(
        grouping: Arc<Grouping>,
        form: Arc<F>,
        tuning: Tuning,
        memory: MemoryReservation,
    ) -> Self {
        Self {
            dense: None,
            may_be_dense: !grouping.keys.is_empty(),
            table: form.table(),
            states: States::new(&grouping.aggregates),
            staged: Vec::new(),
            is_staging: false,
            num_rows: 0,
            staged_bytes: 0,
            groups: Vec::new(),
            grouping,
            form,
            tuning,
            memory,
        }
    }

    /// Adds the rows of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let columns = self.grouping.key_columns(batch)?;
        let args = self.grouping.args(batch)?;
        self.num_rows += batch.num_rows();
        if !self.may_be_dense || !self.push_dense(&columns, &args)? {
            self.push_keys(columns, &args, batch.num_rows())?;
        }
        self.memory.try_resize(self.size_bytes())
    }

    /// Adds rows whose keys index arrays; false if they cannot.
    fn push_dense(&mut self, columns: &[ArrayRef], args: &AggregateArgs) -> Result<bool> {
        let max_len = self.tuning.max_dense_len(self.num_rows);
        let fits = match bounds(columns) {
            None => false,
            Some(bounds) => {
                if self.dense.is_none() {
                    self.dense = Dense::try_new(&self.grouping, columns, &bounds, max_len);
                }
                match &mut self.dense {
                    Some(dense) => dense.fit(&bounds, max_len)?,
                    None => false,
                }
            }
        };
        match &mut self.dense {
            Some(dense) if fits => dense.push(columns, args)?,
            _ => self.leave_dense()?,
        }
        Ok(fits)
    }

    /// Moves all groups into the table.
    pub(super) fn leave_dense(&mut self) -> Result<()> {
        self.may_be_dense = false;
        let Some(mut dense) = self.dense.take() else {
            return Ok(());
        };
        dense.take_groups(|columns, exported, rows| {
            let keys = self.form.encode(columns.to_vec())?;
            self.groups.clear();
            let all = 0..F::Table::num_rows(&keys);
            self.table.intern(&keys, all, &mut self.groups)?;
            let groups = Groups {
                ids: Some(&self.groups),
                num_groups: self.table.len(),
                num_rows: rows.len(),
            };
            self.states.merge(exported, rows, groups)
        })
    }

    fn push_keys(
        &mut self,
        columns: Vec<ArrayRef>,
        args: &AggregateArgs,
        num_rows: usize,
    ) -> Result<()> {
        let keys = self.form.encode(columns)?;
        if self.is_staging {
            return self.stage(&keys, args);
        }
        self.groups.clear();
        self.table.intern(&keys, 0..num_rows, &mut self.groups)?;
        let num_groups = self.table.len();
        self.states.update(
            args,
            Groups {
                ids: Some(&self.groups),
                num_groups,
                num_rows,
            },
        )?;
        self.is_staging = num_groups > self.tuning.staging_groups
            && self.num_rows / self.tuning.rows_per_group < num_groups;
        Ok(())
    }

    fn stage(&mut self, keys: &Keys<F>, args: &AggregateArgs) -> Result<()> {
        let split = partition(&F::Table::hashes(keys), self.tuning.staging_bits);
        let keys = F::Table::take(keys, &split.rows)?;
        self.staged_bytes += F::Table::keys_size_bytes(&keys);
        let Partitions { rows, offsets } = split;
        let rows = UInt32Array::from(rows);
        let mut taken = Vec::with_capacity(args.len());
        for of_one in args {
            let columns = of_one.iter().map(|c| take(c, &rows, None));
            let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
            let sizes = columns.iter().map(|c| c.to_data().get_slice_memory_size());
            self.staged_bytes += sizes.map(|s| s.unwrap_or(0)).sum::<usize>();
            taken.push(columns);
        }
        self.staged.push(Staged {
            keys,
            args: taken,
            offsets,
        });
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, Dense::size_bytes);
        dense + self.table.size_bytes() + self.states.size_bytes() + self.staged_bytes
    }

    /// Whether there are no groups at all.
    pub(super) fn is_empty(&self) -> bool {
        self.dense.is_none() && self.table.len() == 0 && self.staged.is_empty()
    }

    /// Rows so far.
    pub(super) fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Whether rows are staged.
    pub(super) fn has_staged(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Splits the groups into 2^`bits` partitions, to be merged with those of others.
    pub(super) fn split(mut self, bits: u32) -> Result<Split<F>> {
        self.table.finish();
        Ok(Split {
            groups: partition(&self.table.group_hashes(), bits),
            states: self.states.export(self.table.len())?,
            table: self.table,
            staged: self.staged,
            _memory: self.memory,
        })
    }

    /// Gives the table's groups; no rows are staged.
    pub(super) fn into_parts(self) -> (F::Table, States, MemoryReservation) {
        (self.table, self.states, self.memory)
    }
}

/// The groups of one input partition, ready to be merged with those of others.
pub(super) struct Split<F: KeyForm> {
    table: F::Table,
    groups: Partitions,
    states: Vec<Exported>,
    staged: Vec<Staged<F>>,
    _memory: MemoryReservation,
}

impl<F: KeyForm> Split<F> {
    /// Adds all that belongs to `partition` to `table` and `states`.
    pub(super) fn merge_into(
        &self,
        partition: usize,
        table: &mut F::Table,
        states: &mut States,
    ) -> Result<()> {
        let mut ids = Vec::new();
        let rows = self.groups.rows_of(partition);
        if !rows.is_empty() {
            table.intern(&self.table.keys_of(rows)?, 0..rows.len(), &mut ids)?;
            let groups = Groups {
                ids: Some(&ids),
                num_groups: table.len(),
                num_rows: rows.len(),
            };
            states.merge(&self.states, rows, groups)?;
        }
        for staged in &self.staged {
            let range = staged.offsets[partition] as usize..staged.offsets[partition + 1] as usize;
            if range.is_empty() {
                continue;
            }
            ids.clear();
            table.intern(&staged.keys, range.clone(), &mut ids)?;
            let slice = |c: &ArrayRef| c.slice(range.start, range.len());
            let args: AggregateArgs = staged
                .args
                .iter()
                .map(|of_one| of_one.iter().map(slice).collect())
                .collect();
            let groups = Groups {
                ids: Some(&ids),
                num_groups: table.len(),
                num_rows: range.len(),
            };
            states.update(&args, groups)?;
        }
        Ok(())
    }
}
