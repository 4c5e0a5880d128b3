//! What one task has when its input has ended, ready to be merged with what others have.

use std::sync::{Mutex, PoisonError};

use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::flushed::Flushed;
use super::group_set::{GroupSet, SplitGroups};
use super::key_form::KeyForm;
use super::rows::SplitRows;

/// What one task has, in the order of partitions.
pub(super) struct Part<F: KeyForm> {
    /// Groups of the first rows.
    pub(super) groups: SplitGroups<F>,
    /// Groups of rows after these, one set a partition, to be taken once; or none at all.
    pub(super) grouped: Vec<Mutex<Option<GroupSet<F>>>>,
    /// Groups of rows after these.
    pub(super) flushed: Vec<Flushed<F>>,
    /// Rows after these, which are in no group yet.
    pub(super) staged: Vec<SplitRows<F>>,
    pub(super) memory: MemoryReservation,
}

impl<F: KeyForm> Part<F> {
    /// Rows of `partition` that are in no group yet.
    pub(super) fn num_staged(&self, partition: usize) -> usize {
        let staged = self.staged.iter();
        staged.map(|rows| rows.range(partition).len()).sum()
    }

    /// Takes the groups of the staged rows of `partition`, if nobody has.
    fn take_grouped(&self, partition: usize) -> Option<GroupSet<F>> {
        let grouped = self.grouped.get(partition)?;
        grouped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Adds all that belongs to `partition` to `to`, in the order in which rows came.
    pub(super) fn merge_into(&self, partition: usize, to: &mut GroupSet<F>) -> Result<()> {
        self.groups.merge_into(partition, to)?;
        if let Some(grouped) = self.take_grouped(partition) {
            grouped.split(0)?.merge_into(0, to)?;
        }
        for flushed in &self.flushed {
            flushed.merge_into(partition, to)?;
        }
        self.staged
            .iter()
            .try_for_each(|staged| staged.push_into(partition, to))
    }
}
