//! Groups the rows of one input partition; stops where grouping early does not pay.
//!
//! | module | owns |
//! |---|---|
//! | [`in_arrays`] | groups whose keys index arrays |

use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, RecordBatch};
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::dense::Dense;
use super::group_set::GroupSet;
use super::grouping::{AggregateArgs, PlannedKeys};
use super::key_form::KeyForm;
use super::observed::{Seen, TaskNotes, Way};
use super::options::Tuning;
use super::part::Part;
use super::rows::{Rows, SplitRows};
use super::spill::{Share, Spiller};
use super::staging::Staging;
use super::states::States;

mod in_arrays;

/// Ordinals whose groups go to a file together: enough for blocks of some size.
const SPILLED_ORDINALS: usize = 256 << 10;

/// Staged rows that are grouped before it is looked at how much memory that took.
const GROUPED_ROWS: usize = 64 << 10;

/// Memory of a group in a table for small keys, in bytes, as it comes out of arrays.
const GROUP_BYTES: usize = 64;

/// What becomes of a table.
enum Verdict {
    /// More rows may come.
    Go,
    /// It no longer fits the fastest caches, and keys come again soon or never: it is emptied.
    Flush,
    /// It no longer fits the cache, and few of the last rows found their group: others are staged.
    Stage,
}

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
    staging: Staging<F>,
    is_staging: bool,
    num_rows: usize,
    /// Rows up to the end of the batch at hand.
    num_rows_ahead: usize,
    /// Whether no state of a group is more than some numbers: others are costly to merge.
    has_small_states: bool,
    /// Rows before the first of the table.
    num_rows_before: usize,
    /// Rows and groups when the table was last asked whether it pays.
    last_asked: (usize, usize),
    spiller: Spiller<F>,
    share: Share,
    notes: Option<TaskNotes>,
    /// Memory of an ordinal without rows, where it matters.
    ordinal_bytes: Option<usize>,
}

impl<F: KeyForm> Local<F> {
    /// No groups yet.
    ///
    /// # Errors
    /// What an aggregate reports.
    pub(super) fn try_new(
        grouping: Arc<Grouping>,
        form: Arc<F>,
        tuning: Tuning,
        share: Share,
    ) -> Result<Self> {
        let bits = tuning.spill_bits.min(tuning.staging_bits);
        let is_limited = share.due_bytes() < usize::MAX;
        let ordinal_bytes = is_limited.then(|| States::empty_group_bytes(&grouping));
        let ordinal_bytes = ordinal_bytes.transpose()?.map(|bytes| 1 + bytes);
        Ok(Self {
            dense: None,
            may_be_dense: !grouping.keys.is_empty(),
            groups: GroupSet::new(form.table(), &grouping),
            staging: Staging::new(&form, tuning),
            is_staging: false,
            num_rows: 0,
            num_rows_ahead: 0,
            has_small_states: grouping.has_small_states(),
            num_rows_before: 0,
            last_asked: (0, 0),
            spiller: Spiller::new(&grouping, &form, share.budget(), bits),
            grouping,
            form,
            tuning,
            share,
            notes: None,
            ordinal_bytes,
        })
    }

    /// The same with arrays for keys of which something is known.
    pub(super) fn with_planned_keys(mut self, keys: Option<&PlannedKeys>) -> Self {
        let dense = keys.and_then(|keys| Dense::planned(&self.grouping, keys));
        self.dense = dense.filter(|dense| dense.len() <= self.max_dense_len(dense.len()));
        self
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
        self.num_rows_ahead = self.num_rows + batch.num_rows();
        if self.dense.is_none() {
            return self.push_piece(batch);
        }
        let grouping = Arc::clone(&self.grouping);
        grouping.for_each_piece(batch, |piece| self.push_piece(piece))
    }

    fn push_piece(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.table_may_grow(batch.num_rows()) && self.share.is_too_much_to_grow() {
            self.spill_most()?;
        }
        let columns = self.grouping.key_columns(batch)?;
        let args = self.grouping.args(batch)?;
        self.num_rows += batch.num_rows();
        let (way, num_groups) = (self.way(), self.num_groups_made());
        if !self.may_be_dense || !self.push_dense(&columns, &args)? {
            self.push_rows(columns, args)?;
        }
        self.note(way, num_groups);
        if self.share.hold(self.size_bytes())? {
            self.spill_most()?;
        }
        Ok(())
    }

    /// Whether arrays of the table double if all of so many rows have new keys.
    fn table_may_grow(&self, num_rows: usize) -> bool {
        let is_filled = self.dense.is_none() && !self.is_staging;
        let num_groups = self.groups.len();
        let most_groups = num_groups + num_rows;
        is_filled && most_groups.next_power_of_two() > num_groups.next_power_of_two()
    }

    /// How rows are worked on whose keys index no arrays.
    fn way(&self) -> Way {
        if self.is_staging {
            Way::Staging
        } else if self.staging.num_flushed() > 0 {
            Way::Flushing
        } else {
            Way::Table
        }
    }

    /// Groups in the table, and those that it has given away.
    fn num_groups_made(&self) -> usize {
        self.groups.len() + self.staging.num_flushed()
    }

    /// Notes how the batch at hand was worked on, before which there were so many groups.
    fn note(&self, way: Way, num_groups: usize) {
        let (way, num_groups) = match (&self.dense, way) {
            (Some(_), _) => (Way::Dense, 0),
            (None, Way::Table) => (way, self.num_groups_made()),
            (None, _) => (way, num_groups),
        };
        let seen = Seen {
            num_rows: self.num_rows,
            num_groups,
            has_spilled: self.has_spilled(),
        };
        if let Some(notes) = &self.notes {
            notes.works(way, seen);
        }
    }

    /// Moves the distinct values of few groups into files, by value: by key, one file might have them all.
    /// False if there are many groups, or if what they hold is something else.
    fn spill_sets(&mut self) -> Result<bool> {
        let num_groups = self.dense.as_ref().map_or(self.groups.len(), Dense::len);
        if num_groups > self.tuning.partitioned_groups || !self.staging.is_empty() {
            return Ok(false);
        }
        let budget = self.share.budget();
        let is_done = match &mut self.dense {
            Some(dense) => dense.spill_sets(budget)?,
            None => self.groups.spill_sets(budget)?,
        };
        if is_done {
            self.share.keep(self.size_bytes())?;
        }
        Ok(is_done)
    }

    /// Moves into files what takes most of the memory.
    fn spill_most(&mut self) -> Result<()> {
        if !self.spill_sets()? {
            self.spill()?;
        }
        Ok(())
    }

    /// Moves all groups and rows into a file.
    pub(super) fn spill(&mut self) -> Result<()> {
        if self.has_sets_in_files() {
            self.leave_dense()?;
        }
        if let Some(mut dense) = self.dense.take() {
            self.may_be_dense = false;
            dense.take_groups(SPILLED_ORDINALS, |columns, exported, rows| {
                self.spiller.spill_states(columns, exported, rows)
            })?;
        }
        self.flush_rest()?;
        self.spiller.spill_groups(&mut self.groups)?;
        self.starts_table();
        let staged = self.staging.take()?;
        let bits = self.tuning.staging_bits;
        // In the order in which rows came, which is that of arrays of values.
        for mut groups in staged.groups {
            self.spiller.spill_groups(&mut groups)?;
        }
        for flushed in staged.flushed {
            flushed.spill(&self.form, &mut self.spiller)?;
        }
        self.spiller.spill_rows(&staged.rows, bits)?;
        drop(staged.rows);
        self.share.keep(self.size_bytes())
    }

    fn push_rows(&mut self, columns: Vec<ArrayRef>, args: AggregateArgs) -> Result<()> {
        if self.is_staging {
            self.staging.push(columns, args)?;
            self.leave_staging()?;
            let most_bytes = self.share.room_bytes().min(self.share.due_bytes());
            return self.staging.group_if_worth_it(&self.grouping, most_bytes);
        }
        let keys = self.form.encode(columns)?;
        self.groups.push(&Rows { keys, args })?;
        match self.verdict() {
            Verdict::Go => Ok(()),
            Verdict::Flush => self.flush(),
            Verdict::Stage => {
                self.is_staging = true;
                self.flush_rest()
            }
        }
    }

    /// What the table's size and the last rows say.
    fn verdict(&mut self) -> Verdict {
        let (num_rows, num_groups) = (self.num_rows, self.groups.len());
        let new_rows = num_rows - self.last_asked.0;
        if new_rows < self.tuning.asked_rows {
            return Verdict::Go;
        }
        let new_groups = num_groups.saturating_sub(self.last_asked.1);
        self.last_asked = (num_rows, num_groups);
        let is_vain = |rows_per_group| new_rows < new_groups.saturating_mul(rows_per_group);
        if num_groups > self.tuning.cached_groups && is_vain(2) && self.are_many_to_come() {
            return Verdict::Stage;
        }
        if !is_vain(self.tuning.rows_per_group) {
            Verdict::Go
        } else if num_groups > self.tuning.flushed_groups && self.is_worth_flushing() {
            Verdict::Flush
        } else if num_groups > self.tuning.staging_groups {
            Verdict::Stage
        } else {
            Verdict::Go
        }
    }

    /// Whether there are more groups than should have been found if all were to fit a table, were their keys
    /// drawn at random: n rows of D keys have D * (1 - e^(-n / D)) on average.
    fn are_many_to_come(&self) -> bool {
        let num_rows = (self.num_rows - self.num_rows_before) as f64;
        let most_keys = self.tuning.staging_groups as f64;
        self.groups.len() as f64 > most_keys * (1.0 - (-num_rows / most_keys).exp())
    }

    /// Whether keys of the table's groups are likely to have come soon or never again.
    fn is_worth_flushing(&self) -> bool {
        let num_rows = self.num_rows - self.num_rows_before;
        // Where a group has fewer rows, staging them takes as long.
        let are_found = num_rows.saturating_mul(2) >= self.groups.len().saturating_mul(5);
        F::ARE_FAR && are_found && self.has_small_states && !self.staging.flushed_again()
    }

    /// Gives all groups of the table away; it starts anew.
    fn flush(&mut self) -> Result<()> {
        self.starts_table();
        self.staging.push_groups(&mut self.groups, &self.grouping)
    }

    /// Gives the table and its groups away if older ones have been: these come before them, and before rows
    /// that are staged afterwards. If none have been, the table is older than all that is staged.
    fn flush_rest(&mut self) -> Result<()> {
        if self.staging.num_flushed() == 0 {
            return Ok(());
        }
        if self.groups.len() > 0 {
            self.flush()?;
        }
        self.groups = GroupSet::new(self.form.table(), &self.grouping);
        Ok(())
    }

    /// Notes that the table will have no groups.
    fn starts_table(&mut self) {
        self.num_rows_before = self.num_rows;
        self.last_asked = (self.num_rows, 0);
    }

    /// Goes back to the table if the staged rows turn out to have few groups.
    fn leave_staging(&mut self) -> Result<()> {
        let (num_groups, num_rows) = self.staging.estimate();
        let is_few = num_groups <= self.tuning.staging_groups;
        if is_few
            && !self.staging.has_groups()
            && num_rows / self.tuning.rows_per_group / 2 > num_groups
        {
            self.is_staging = false;
            self.group_staged()?;
            self.last_asked = (self.num_rows, self.groups.len());
        }
        Ok(())
    }

    /// Adds all staged rows to the table, which goes to a file where their states take more than there is.
    fn group_staged(&mut self) -> Result<()> {
        let staged = self.staging.take()?.rows;
        let mut rest_bytes: usize = staged.iter().map(|split| split.rows.size_bytes()).sum();
        for SplitRows { rows, .. } in staged {
            for start in (0..rows.len()).step_by(GROUPED_ROWS) {
                let range = start..rows.len().min(start + GROUPED_ROWS);
                self.groups.push_range(&rows, range)?;
                let is_too_much = self.share.hold(self.size_bytes() + rest_bytes)?;
                // A file for a table that is little beside the rows would not help.
                if is_too_much && self.groups.size_bytes() > rest_bytes / 2 {
                    self.spill_most()?;
                }
            }
            rest_bytes -= rows.size_bytes();
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let dense = self.dense.as_ref().map_or(0, Dense::size_bytes);
        dense + self.groups.size_bytes() + self.staging.size_bytes()
    }

    /// Whether there are no groups at all.
    pub(super) fn is_empty(&self) -> bool {
        // There may be arrays before there are rows.
        let has_dense = self.dense.is_some() && self.num_rows > 0;
        let has_groups = has_dense || self.groups.len() > 0;
        !has_groups && self.staging.is_empty() && !self.has_spilled()
    }

    /// Whether groups or rows are in a file.
    pub(super) fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    /// Whether distinct values are in files.
    pub(super) fn has_sets_in_files(&self) -> bool {
        self.dense.as_ref().is_some_and(Dense::has_sets_in_files) || self.groups.states.has_blocks()
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

    /// Memory of the table and of its groups' states, in bytes.
    pub(super) fn tables_size_bytes(&self) -> usize {
        self.groups.size_bytes()
    }

    /// Whether rows are staged.
    pub(super) fn has_staged(&self) -> bool {
        !self.staging.is_empty()
    }

    /// Splits the groups into 2^`bits` partitions, to be merged with those of others.
    pub(super) fn split(mut self, bits: u32) -> Result<Part<F>> {
        self.flush_rest()?;
        let staged = self.staging.take()?;
        Ok(Part {
            groups: self.groups.split(bits)?,
            staged: staged.rows,
            flushed: staged.flushed,
            grouped: staged
                .groups
                .into_iter()
                .map(|groups| Mutex::new(Some(groups)))
                .collect(),
            memory: self.share.into_memory(),
        })
    }

    /// Gives the table's groups; no rows are staged.
    pub(super) fn into_groups(self) -> (GroupSet<F>, MemoryReservation) {
        (self.groups, self.share.into_memory())
    }
}
