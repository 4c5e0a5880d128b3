//! The groups of a task whose keys are integers of a small range, as long as arrays can have them.

use arrow::array::ArrayRef;
use datafusion::error::Result;

use super::{GROUP_BYTES, Local};
use crate::compile::FoundGroups;
use crate::group_by::bounds::bounds;
use crate::group_by::dense::{Dense, UNIT};
use crate::group_by::grouping::AggregateArgs;
use crate::group_by::key_form::KeyForm;

impl<F: KeyForm> Local<F> {
    /// Adds groups of `num_rows` rows.
    pub(in crate::group_by) fn push_groups(
        &mut self,
        found: &FoundGroups,
        num_rows: usize,
    ) -> Result<()> {
        self.num_rows_ahead = self.num_rows + num_rows;
        self.num_rows += num_rows;
        let FoundGroups {
            keys,
            states,
            places,
        } = found;
        if places.is_empty() {
            return Ok(());
        }
        let (way, num_groups) = (self.way(), self.num_groups_made());
        if !self.may_be_dense || !self.push_to_dense(keys, |dense| dense.push_groups(found))? {
            let keys = self.form.encode(keys.clone())?;
            self.groups.merge_keys(&keys, states, places)?;
        }
        self.note(way, num_groups);
        if self.share.hold(self.size_bytes())? {
            self.spill_most()?;
        }
        Ok(())
    }

    /// Adds rows whose keys index arrays; false if they cannot.
    pub(super) fn push_dense(
        &mut self,
        columns: &[ArrayRef],
        args: &AggregateArgs,
    ) -> Result<bool> {
        let max_len = self.tuning.max_dense_len(self.num_rows_ahead);
        let max_len = self.max_dense_len(max_len);
        if let Some(dense) = &mut self.dense
            && dense.push_if_fits(columns, args, max_len)?
        {
            return Ok(true);
        }
        self.push_to_dense(columns, |dense| dense.push(columns, args))
    }

    /// Calls `push` if keys index arrays; false if they cannot.
    fn push_to_dense(
        &mut self,
        columns: &[ArrayRef],
        push: impl FnOnce(&mut Dense) -> Result<()>,
    ) -> Result<bool> {
        let max_len = self.tuning.max_dense_len(self.num_rows_ahead);
        let max_len = self.max_dense_len(max_len);
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
        let most_groups = self.most_groups_to_move();
        match &mut self.dense {
            Some(dense) if fits => push(dense)?,
            Some(dense) if dense.len() > most_groups => self.spill()?,
            _ => self.leave_dense()?,
        }
        Ok(fits)
    }

    /// Most groups for which a table has memory besides the arrays that they are in.
    fn most_groups_to_move(&self) -> usize {
        (self.share.room_bytes() / GROUP_BYTES).max(UNIT)
    }

    /// Most ordinals for which there are arrays or memory, up to `max_len`.
    pub(super) fn max_dense_len(&self, max_len: usize) -> usize {
        let Some(ordinal_bytes) = self.ordinal_bytes else {
            return max_len;
        };
        // Arrays are as long as the next power of two, and while they grow there are the old ones as well.
        let most_bytes = self.share.room_bytes().min(self.share.due_bytes());
        let most = (most_bytes / ordinal_bytes).max(UNIT);
        let there_are = self.dense.as_ref().map_or(0, Dense::len);
        max_len.min((1 << most.ilog2()).max(there_are.next_power_of_two()))
    }

    /// Moves all groups into the table.
    pub(in crate::group_by) fn leave_dense(&mut self) -> Result<()> {
        self.may_be_dense = false;
        let Some(mut dense) = self.dense.take() else {
            return Ok(());
        };
        dense.take_groups(UNIT, |columns, exported, rows| {
            let keys = self.form.encode(columns.to_vec())?;
            self.groups.merge_keys(&keys, exported, rows)
        })
    }
}
