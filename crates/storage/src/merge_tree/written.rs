//! Keeps parts that are written and that nobody sees yet.

use std::path::PathBuf;
use std::sync::Arc;

use basalt_error::Result;

use super::order::Partition;
use super::syncing::{Syncer, UnsyncedPart};
use super::table::MergeTree;
use crate::disk::Disk;

/// Parts that are written and not yet the table's; gone with it unless they are taken.
#[derive(Debug)]
pub(super) struct Written {
    disk: Arc<dyn Disk>,
    folders: Vec<(PathBuf, Partition)>,
    /// Has the system keep those that it does not keep yet.
    syncer: Option<Syncer>,
}

impl Written {
    pub(super) fn new(table: &MergeTree) -> Self {
        Self {
            disk: Arc::clone(table.shared_disk()),
            folders: Vec::new(),
            syncer: None,
        }
    }

    pub(super) fn add(&mut self, folder: PathBuf, partition: Partition) {
        self.folders.push((folder, partition));
    }

    /// Adds all parts of another, when the system keeps them.
    pub(super) fn append(&mut self, other: &mut Self) -> Result<()> {
        other.synced()?;
        self.folders.append(&mut other.folders);
        Ok(())
    }

    /// Whether there are no parts.
    pub(super) fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The partitions of the parts.
    pub(super) fn partitions(&self) -> impl Iterator<Item = &Partition> {
        self.folders.iter().map(|(_, partition)| partition)
    }

    /// Removes the part that was added last.
    pub(super) fn discard_last(&mut self) {
        if let Some((folder, _)) = self.folders.pop() {
            let _ = self.disk.remove_folder(&folder);
        }
    }

    /// Syncs a part that was added, at the latest in [`Self::synced`].
    pub(super) fn sync_later(&mut self, part: UnsyncedPart) -> Result<()> {
        self.syncer = self.syncer.take().or_else(Syncer::start);
        match &self.syncer {
            Some(syncer) => {
                syncer.begin(part);
                Ok(())
            }
            None => part.sync(),
        }
    }

    /// Waits until the system keeps all parts.
    pub(super) fn synced(&mut self) -> Result<()> {
        self.syncer.take().map_or(Ok(()), Syncer::finish)
    }

    pub(super) fn take(&mut self) -> Vec<(PathBuf, Partition)> {
        std::mem::take(&mut self.folders)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // Nothing of the folders is used when they go.
        if let Some(syncer) = self.syncer.take() {
            syncer.abandon();
        }
        for (folder, _) in &self.folders {
            // What is left is removed when the table is opened to write.
            let _ = self.disk.remove_folder(folder);
        }
    }
}
