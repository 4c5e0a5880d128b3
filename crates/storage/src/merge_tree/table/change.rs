//! Changes the list of a table's parts: all at once, or not at all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use basalt_error::{Error, ErrorCode, Result};

use super::{MergeTree, sealed};
use crate::merge_tree::attaching;
use crate::merge_tree::manifest::{self, Manifest};
use crate::merge_tree::part::{Part, PartName};

/// Parts that come, with the folders that they are in, and names of those that go.
type Change = (Vec<(PathBuf, PartName)>, Vec<PartName>);

impl MergeTree {
    /// Changes the list of parts: all at once, or not at all.
    pub(in crate::merge_tree) fn change(
        &self,
        change: impl FnOnce(&mut Manifest) -> Result<Change>,
    ) -> Result<()> {
        if !self.is_owned.load(Ordering::SeqCst) {
            return Err(Error::bug("a change of a table that another process owns"));
        }
        let mut state = self.state.lock();
        self.load(&mut state)?;
        if state.is_sealed {
            return Err(sealed());
        }
        if state.bytes.is_empty() {
            state.bytes = self.begin()?;
        }
        let mut manifest = state.manifest.clone();
        attaching::forget(self.disk(), &self.folder, &mut manifest);
        let (added, removed) = change(&mut manifest)?;
        if let Some(gone) = removed.iter().find(|name| !manifest.parts.contains(name)) {
            return Err(self.not_there(gone, &added));
        }
        let mut opened = Vec::new();
        let prepared = added
            .iter()
            .try_for_each(|(folder, name)| {
                opened.push(self.placed(folder, name, &state.manifest)?);
                Ok(())
            })
            .and_then(|()| self.sync_names(false));
        manifest.parts.retain(|name| !removed.contains(name));
        manifest
            .parts
            .extend(added.iter().map(|(_, name)| name.clone()));
        manifest
            .parts
            .sort_by_key(|name| (name.min_block, name.max_block));
        let saved = prepared.and_then(|()| manifest.save(self.disk(), &self.folder));
        let bytes = match saved {
            Ok(bytes) => bytes,
            Err(e) => {
                let there = manifest::read(self.disk(), &self.folder);
                if there.is_ok_and(|there| there == state.bytes) {
                    for (folder, name) in &added {
                        let _ = self.disk.remove_folder(folder);
                        let _ = self.disk.remove_folder(&self.folder.join(name.to_string()));
                    }
                } else {
                    // The new list is in its place, although the system cannot tell so: it is read before anything
                    // else happens.
                    state.is_loaded = false;
                }
                return Err(e);
            }
        };
        let mut parts: Vec<Arc<Part>> = opened;
        let before = Arc::clone(&state.parts);
        for part in before.iter() {
            if removed.contains(part.name_parts()) {
                state.old.add(Arc::clone(part), &self.options());
            } else {
                parts.push(Arc::clone(part));
            }
        }
        parts.sort_by_key(|part| part.block_numbers());
        state.is_loaded = true;
        state.bytes = bytes;
        state.manifest = manifest;
        state.parts = Arc::new(parts);
        state.old.remove_expired();
        Ok(())
    }

    /// The error for a part that was dropped while it was merged: its rows must not come back.
    fn not_there(&self, gone: &PartName, added: &[(PathBuf, PartName)]) -> Error {
        for (folder, _) in added {
            let _ = self.disk.remove_folder(folder);
        }
        Error::new(
            ErrorCode::ABORTED,
            format!("Try again: part {gone} was removed meanwhile"),
        )
    }

    /// Makes the folder, and a list without parts: so parts without a list are damage.
    fn begin(&self) -> Result<Vec<u8>> {
        let created = self.disk.create_folder(&self.folder);
        created.map_err(|e| Error::from(e).within(self.folder.display()))?;
        let bytes = Manifest::default().save(self.disk(), &self.folder)?;
        self.sync_names(true)?;
        Ok(bytes)
    }

    /// Has the system keep the names of parts, and at first that of the table's folder.
    fn sync_names(&self, is_first: bool) -> Result<()> {
        let depth = if is_first { 3 } else { 1 };
        for folder in self.folder.ancestors().take(depth) {
            let synced = self.disk.sync_folder(folder);
            synced.map_err(|e| Error::from(e).within(folder.display()))?;
        }
        Ok(())
    }

    /// Gives a complete part its name.
    fn placed(&self, folder: &Path, name: &PartName, manifest: &Manifest) -> Result<Arc<Part>> {
        let place = self.folder.join(name.to_string());
        if !manifest.parts.contains(name) {
            // What a change that failed has left there.
            let _ = self.disk.remove_folder(&place);
        }
        let renamed = self.disk.rename(folder, &place);
        renamed.map_err(|e| Error::from(e).within(place.display()))?;
        self.open_part(&self.folder, name).map(Arc::new)
    }
}
