//! Says who merges a table's parts, and when: one at a time, and nobody while merges are stopped.

use std::sync::Arc;

use basalt_error::Error;
use parking_lot::MutexGuard;

use super::MergeTree;
use crate::merge_tree::background::BackgroundMerges;
use crate::merge_tree::merge::{Merges, Progress};

impl MergeTree {
    /// Has its parts be merged in the background.
    pub fn merged_by(self: &Arc<Self>, merges: &Arc<BackgroundMerges>) {
        // Set once: there is one for all tables.
        let _ = self
            .background
            .set((Arc::downgrade(merges), Arc::downgrade(self)));
    }

    /// Lets one merge run at a time; call it before the parts are looked at.
    pub(in crate::merge_tree) fn merging(&self) -> MutexGuard<'_, ()> {
        self.merging.lock()
    }

    pub(in crate::merge_tree) fn try_merging(&self) -> Option<MutexGuard<'_, ()>> {
        self.merging.try_lock()
    }

    pub(in crate::merge_tree) fn merges(&self) -> &Merges {
        &self.merges
    }

    /// The merges that are running.
    pub fn running_merges(&self) -> Vec<Arc<Progress>> {
        self.merges.running()
    }

    /// Ends merges and starts none, or starts them again.
    pub fn stop_merges(&self, are_stopped: bool) {
        self.merges.stop(are_stopped);
        if !are_stopped {
            self.wake_merges();
        }
    }

    /// Whether merges are stopped.
    pub fn merges_are_stopped(&self) -> bool {
        self.merges.are_stopped()
    }

    pub(in crate::merge_tree) fn end_merges(&self) {
        self.merges.end();
    }

    /// Has the parts be looked at by those who merge.
    pub(in crate::merge_tree) fn wake_merges(&self) {
        if let Some((background, table)) = self.background.get()
            && let (Some(background), Some(table)) = (background.upgrade(), table.upgrade())
        {
            background.wake(&table);
        }
    }

    /// Keeps why a background merge failed, for who waits for it.
    pub(in crate::merge_tree) fn keep_merge_error(&self, error: Error) {
        *self.merge_error.lock() = Some(error);
    }

    /// Why the last background merge failed, if it did.
    pub(in crate::merge_tree) fn merge_error(&self) -> Option<String> {
        self.merge_error
            .lock()
            .as_ref()
            .map(|e| e.message().to_owned())
    }
}
