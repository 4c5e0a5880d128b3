//! Groups the rows of one input partition; stops where grouping early does not pay.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use basalt_hashtable::partition;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::dense::{Dense, UNIT};
use super::group_set::{GroupSet, SplitGroups};
use super::grouping::AggregateArgs;
use super::key_form::KeyForm;
use super::layout::bounds;
use super::observed::{Seen, TaskNotes, Way};
use super::options::Tuning;
use super::rows::{Rows, SplitRows};
use super::spill::{Share, Spiller};

/// Ordinals whose groups go to a file together: enough for blocks of some size.
const SPILLED_ORDINALS: usize = 256 << 10;

/// Groups of the rows of one input partition.
pub(super) struct Local<F: KeyForm> {
    grouping: Arc<Grouping>,
    form: Arc<F>,
    tuning: Tuning,
    /// Groups as long as keys index arrays; the table has none then.
    pub(super) dense: Option<Dense>,
    may_be_dense: bool,
    groups: GroupSet<F>,
    /// Rows that are only split by the hash of their keys.
    staged: Vec<SplitRows<F>>,
    is_staging: bool,
    num_rows: usize,
    staged_bytes: usize,
    spiller: Spiller<F>,
    share: Share,
    notes: Option<TaskNotes>,
}

impl<F: KeyForm> Local<F> {
    /// No groups yet.
    pub(super) fn new(grouping: Arc<Grouping>, form: Arc<F>, tuning: Tuning, share: Share) -> Self {
        let bits = tuning.spill_bits.min(tuning.staging_bits);
        Self {
            dense: None,
            may_be_dense: !grouping.keys.is_empty(),
            groups: GroupSet::new(form.table(), &grouping),
            staged: Vec::new(),
            is_staging: false,
            num_rows: 0,
            staged_bytes: 0,
            spiller: Spiller::new(&grouping, &form, share.budget(), bits),
            grouping,
            form,
            tuning,
            share,
            notes: None,
        }
    }

    /// The same with notes of how it works.
    pub(super) fn with_notes(mut self, notes: TaskNotes) -> Self {
        self.notes = Some(notes);
        self
    }

    /// Adds the rows of a batch.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let columns = self.grouping.key_columns(batch)?;
        let args = self.grouping.args(batch)?;
        self.num_rows += batch.num_rows();
        let was_staging = self.is_staging;
        if !self.may_be_dense || !self.push_dense(&columns, &args)? {
            let keys = self.form.encode(columns)?;
            self.push_rows(&Rows { keys, args })?;
        }
        self.note(was_staging);
        if self.share.hold(self.size_bytes())? {
            self.spill()?;
        }
        Ok(())
    }

    /// Notes how the batch at hand was worked on.
    fn note(&self, was_staging: bool) {
        let way = match &self.dense {
            Some(_) => Way::Dense,
            None if was_staging => Way::Staging,
            None => Way::Table,
        };
        let seen = Seen {
            num_rows: self.num_rows,
            num_groups: self.groups.len(),
            has_spilled: self.has_spilled(),
        };
        if let Some(notes) = &self.notes {
            notes.works(way, seen);
        }
    }

    /// Moves all groups and rows into a file.
    pub(super) fn spill(&mut self) -> Result<()> {
        if let Some(mut dense) = self.dense.take() {
            self.may_be_dense = false;
            dense.take_groups(SPILLED_ORDINALS, |columns, exported, rows| {
                self.spiller.spill_states(columns, exported, rows)
            })?;
        }
        self.spiller.spill_groups(&mut self.groups)?;
        let staged = std::mem::take(&mut self.staged);
        self.staged_bytes = 0;
        self.spiller.spill_rows(&staged, self.tuning.staging_bits)?;
        drop(staged);
        self.share.keep(self.size_bytes())
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
        dense.take_groups(UNIT, |columns, exported, rows| {
            let keys = self.form.encode(columns.to_vec())?;
            self.groups.merge_keys(&keys, exported, rows)
        })
    }

    fn push_rows(&mut self, rows: &Rows<F>) -> Result<()> {
        if self.is_staging {
            let split = rows.split(partition(&rows.hashes(), self.tuning.staging_bits))?;
            self.staged_bytes += split.rows.size_bytes();
            self.staged.push(split);
            return Ok(());
        }
        self.groups.push(rows)?;
        let num_groups = self.groups.len();
        self.is_staging = num_groups > self.tuning.staging_groups
            && self.num_rows / self.tuning.rows_per_group < num_groups;
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, Dense::size_bytes);
        dense + self.groups.size_bytes() + self.staged_bytes
    }

    /// Whether there are no groups at all.
    pub(super) fn is_empty(&self) -> bool {
        let has_groups = self.dense.is_some() || self.groups.len() > 0;
        !has_groups && self.staged.is_empty() && !self.has_spilled()
    }

    /// Whether groups or rows are in a file.
    pub(super) fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    /// Moves the rest into the file too.
    pub(super) fn into_spilled(mut self) -> Result<(Spiller<F>, Share)> {
        self.spill()?;
        Ok((self.spiller, self.share))
    }

    /// Whether one of the aggregates counts distinct values.
    pub(super) fn counts_distinct(&self) -> bool {
        self.groups.states.has_distinct()
    }

    /// Rows so far.
    pub(super) fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Groups in the table.
    pub(super) fn num_groups(&self) -> usize {
        self.groups.len()
    }

    /// Whether rows are staged.
    pub(super) fn has_staged(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Splits the groups into 2^`bits` partitions, to be merged with those of others.
    pub(super) fn split(self, bits: u32) -> Result<Part<F>> {
        Ok(Part {
            groups: self.groups.split(bits)?,
            staged: self.staged,
            _memory: self.share.into_memory(),
        })
    }

    /// Gives the table's groups; no rows are staged.
    pub(super) fn into_groups(self) -> (GroupSet<F>, MemoryReservation) {
        (self.groups, self.share.into_memory())
    }
}

/// What one task has, in the order of partitions.
pub(super) struct Part<F: KeyForm> {
    pub(super) groups: SplitGroups<F>,
    /// Rows that are in no group yet.
    pub(super) staged: Vec<SplitRows<F>>,
    pub(super) _memory: MemoryReservation,
}

impl<F: KeyForm> Part<F> {
    /// Adds all that belongs to `partition` to `to`.
    pub(super) fn merge_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        self.groups.merge_into(partition, to)?;
        self.staged
            .iter()
            .try_for_each(|staged| staged.push_into(partition, to))
    }
}
