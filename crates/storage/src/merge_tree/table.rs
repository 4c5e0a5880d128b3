//! Holds the list of a table's parts.
//!
//! One process owns a table and changes it; others look at the list of parts anew for each query.
//! Readers keep the parts that they began with: a part's folder goes with its last reader.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use basalt_error::{Error, ErrorCode, Result};
use parking_lot::{Mutex, MutexGuard};

use super::layout::Layout;
use super::manifest::{self, Manifest, sync_folder};
use super::part::{Part, PartName};

/// How often the list is read again if parts go while they are opened.
const MAX_TRIES: usize = 10;

/// Parts that come, with the folders that they are in, and names of those that go.
type Change = (Vec<(PathBuf, PartName)>, Vec<PartName>);

/// A table on disk.
#[derive(Debug)]
pub struct MergeTree {
    folder: PathBuf,
    layout: Layout,
    state: Mutex<State>,
    merging: Mutex<()>,
    numbers: AtomicU64,
    is_owned: AtomicBool,
    removes_folder: AtomicBool,
    /// What keeps a temporary folder.
    _keeper: Option<Keeper>,
}

/// What goes with the table.
struct Keeper(#[allow(dead_code, reason = "only its end matters")] Box<dyn Any + Send + Sync>);

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keeper")
    }
}

#[derive(Debug, Default)]
struct State {
    /// Whether the rest is what the folder holds.
    is_loaded: bool,
    /// The list as it was read.
    bytes: Vec<u8>,
    manifest: Manifest,
    parts: Arc<Vec<Arc<Part>>>,
}

impl MergeTree {
    /// A table in a folder, which need not exist; nothing is read yet.
    pub fn new(folder: PathBuf, layout: Layout) -> Self {
        Self {
            folder,
            layout,
            state: Mutex::default(),
            merging: Mutex::default(),
            numbers: AtomicU64::new(0),
            is_owned: AtomicBool::new(false),
            removes_folder: AtomicBool::new(false),
            _keeper: None,
        }
    }

    /// Keeps something as long as the table: a temporary folder.
    #[must_use]
    pub fn keeping(mut self, keeper: impl Any + Send + Sync) -> Self {
        self._keeper = Some(Keeper(Box::new(keeper)));
        self
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Columns and keys.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Says that no other process changes the table from now on: its folder is looked at once more, and
    /// what others have left behind is removed.
    pub fn own(&self) {
        if !self.is_owned.swap(true, Ordering::SeqCst) {
            self.state.lock().is_loaded = false;
        }
    }

    /// Whether the folder is removed with the table: it is dropped, or was never finished.
    pub fn set_removed(&self, removes_folder: bool) {
        self.removes_folder.store(removes_folder, Ordering::SeqCst);
    }

    /// The parts as they are now.
    ///
    /// # Errors
    /// If the list or a part's metadata is damaged.
    pub fn parts(&self) -> Result<Arc<Vec<Arc<Part>>>> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        Ok(Arc::clone(&state.parts))
    }

    /// Number of rows, if it can be told.
    pub fn num_rows(&self) -> Option<usize> {
        let parts = self.parts().ok()?;
        Some(parts.iter().map(|p| p.metadata().num_rows()).sum())
    }

    /// Bytes on disk, if they can be told.
    pub fn size_bytes(&self) -> Option<u64> {
        let parts = self.parts().ok()?;
        Some(parts.iter().map(|p| p.bytes_on_disk()).sum())
    }

    /// Removes all rows.
    ///
    /// # Errors
    /// If the list of parts cannot be written.
    pub fn truncate(&self) -> Result<()> {
        if self.parts()?.is_empty() {
            return Ok(());
        }
        self.change(|manifest| Ok((Vec::new(), manifest.parts.clone())))
    }

    fn load(&self, state: &mut State) -> Result<()> {
        let is_owned = self.is_owned.load(Ordering::SeqCst);
        if state.is_loaded && is_owned {
            return Ok(());
        }
        for tries in 1.. {
            let bytes = manifest::read(&self.folder)?;
            if state.is_loaded && bytes == state.bytes {
                return Ok(());
            }
            match self.open_parts(&bytes, &state.parts) {
                Ok((manifest, parts)) => {
                    *state = State {
                        is_loaded: true,
                        bytes,
                        manifest,
                        parts: Arc::new(parts),
                    };
                    break;
                }
                // Its owner may have merged a part away in the meantime.
                Err(e) if e.code() == ErrorCode::CANNOT_OPEN_FILE && tries < MAX_TRIES => {
                    std::thread::yield_now();
                }
                Err(e) => return Err(e),
            }
        }
        if is_owned {
            self.remove_leftovers(&state.manifest);
        }
        Ok(())
    }

    fn open_parts(&self, bytes: &[u8], known: &[Arc<Part>]) -> Result<(Manifest, Vec<Arc<Part>>)> {
        let manifest = Manifest::parse(bytes, &self.folder)?;
        let open = |name: &PartName| {
            if let Some(known) = known.iter().find(|p| p.name_parts() == name) {
                return Ok(Arc::clone(known));
            }
            Part::open(&self.folder, name.clone(), &self.layout).map(Arc::new)
        };
        let parts = manifest.parts.iter().map(open).collect::<Result<_>>()?;
        Ok((manifest, parts))
    }

    /// Removes folders that the list does not name: of a process that ended while it wrote.
    fn remove_leftovers(&self, manifest: &Manifest) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let listed = manifest
                .parts
                .iter()
                .any(|p| name.to_str() == Some(&p.to_string()));
            if !listed && entry.file_type().is_ok_and(|t| t.is_dir()) {
                // What cannot be removed is not read either.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// A number that no other call gives.
    pub(super) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets one merge run at a time.
    pub(super) fn merging(&self) -> MutexGuard<'_, ()> {
        self.merging.lock()
    }

    /// Changes the list of parts: all at once, or not at all.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut Manifest) -> Result<Change>,
    ) -> Result<()> {
        if !self.is_owned.load(Ordering::SeqCst) {
            return Err(Error::bug("a change of a table that another process owns"));
        }
        let mut state = self.state.lock();
        self.load(&mut state)?;
        let mut manifest = state.manifest.clone();
        let (added, removed) = change(&mut manifest)?;
        let mut opened = Vec::new();
        let prepared = added
            .iter()
            .try_for_each(|(folder, name)| -> Result<()> {
                let place = self.folder.join(name.to_string());
                let renamed = fs::rename(folder, &place);
                renamed.map_err(|e| Error::from(e).within(place.display()))?;
                opened.push(Arc::new(Part::open(
                    &self.folder,
                    name.clone(),
                    &self.layout,
                )?));
                Ok(())
            })
            .and_then(|()| {
                sync_folder(&self.folder).map_err(|e| Error::from(e).within(self.folder.display()))
            });
        manifest.parts.retain(|name| !removed.contains(name));
        manifest
            .parts
            .extend(added.iter().map(|(_, name)| name.clone()));
        let saved = prepared.and_then(|()| manifest.save(&self.folder));
        let bytes = match saved {
            Ok(bytes) => bytes,
            // The list may be in its place although the system could not tell so.
            Err(e) if manifest::read(&self.folder)? == manifest.to_bytes() => return Err(e),
            Err(e) => {
                for (folder, name) in &added {
                    let _ = fs::remove_dir_all(folder);
                    let _ = fs::remove_dir_all(self.folder.join(name.to_string()));
                }
                return Err(e);
            }
        };
        let mut parts: Vec<Arc<Part>> = Vec::new();
        for part in state.parts.iter() {
            if removed.contains(part.name_parts()) {
                part.set_obsolete();
            } else {
                parts.push(Arc::clone(part));
            }
        }
        parts.extend(opened);
        *state = State {
            is_loaded: true,
            bytes,
            manifest,
            parts: Arc::new(parts),
        };
        Ok(())
    }
}

impl Drop for MergeTree {
    fn drop(&mut self) {
        if *self.removes_folder.get_mut() {
            // What is left is removed when the definitions are next claimed.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
