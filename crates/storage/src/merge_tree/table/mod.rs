//! Holds the list of a table's parts.
//!
//! One process owns a table and changes it; others look at the list of parts anew for each query.
//! Readers keep the parts that they began with: a part's folder goes with its last reader.
//!
//! | module | owns |
//! |---|---|
//! | `change` | parts that come and go |
//! | `merging` | who merges, and when |

mod change;
mod merging;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use basalt_error::{Error, ErrorCode, Result};
use parking_lot::{Mutex, RwLock};

use super::attaching;
use super::background::BackgroundMerges;
use super::block_cache::BlockCache;
use super::decoders::{Decoders, FormUse};
use super::layout::Layout;
use super::learned::LearnedChains;
use super::manifest::{self, Manifest};
use super::merge::Merges;
use super::old_parts::OldParts;
use super::options::Options;
use super::part::{Part, PartName, is_part_name};
use crate::disk::{Disk, SystemDisk};

/// How often the list is read again if parts go while they are opened.
const MAX_TRIES: usize = 10;

/// Begins the names of folders of parts that are not complete.
const TEMPORARY: &str = "tmp_";

/// The folder of parts that were taken out of the table.
pub(super) const DETACHED: &str = "detached";

/// A table on disk.
#[derive(Debug)]
pub struct MergeTree {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    layout: Layout,
    decoders: Decoders,
    cache: Arc<BlockCache>,
    learned: LearnedChains,
    options: RwLock<Options>,
    state: Mutex<State>,
    merging: Mutex<()>,
    merges: Merges,
    /// Who merges in the background, and the table itself as that knows it.
    background: OnceLock<(Weak<BackgroundMerges>, Weak<MergeTree>)>,
    merge_error: Mutex<Option<Error>>,
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
    /// Parts that the list does not name any more.
    old: OldParts,
    /// Whether another table has taken the rows: nothing may be added.
    is_sealed: bool,
}

impl MergeTree {
    /// What each of [`basalt_codec::lz4::FORMS`] did for the blocks of a column since the process began.
    pub fn lz4_forms(&self, column: usize) -> Vec<FormUse> {
        self.decoders.lz4_forms(column)
    }

    /// A table in a folder, which need not exist; nothing is read yet.
    pub fn new(folder: PathBuf, layout: Layout) -> Self {
        Self {
            disk: Arc::new(SystemDisk),
            folder,
            decoders: Decoders::new(layout.columns.len()),
            cache: Arc::default(),
            learned: LearnedChains::default(),
            layout,
            options: RwLock::default(),
            state: Mutex::default(),
            merging: Mutex::default(),
            merges: Merges::default(),
            background: OnceLock::new(),
            merge_error: Mutex::default(),
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

    /// Sets other limits and times.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        *self.options.get_mut() = options;
        self
    }

    /// Keeps decoded blocks in a cache.
    #[must_use]
    pub fn with_cache(mut self, cache: &Arc<BlockCache>) -> Self {
        self.cache = Arc::clone(cache);
        self
    }

    /// Uses other files than those of the system.
    #[must_use]
    pub fn on_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// What parts have found out about the codecs of the columns.
    pub(super) fn learned(&self) -> &LearnedChains {
        &self.learned
    }

    pub(super) fn disk(&self) -> &dyn Disk {
        self.disk.as_ref()
    }

    pub(super) fn shared_disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// A part of the table that lies in `folder`.
    pub(super) fn open_part(&self, folder: &Path, name: &PartName) -> Result<Part> {
        let reading = (&self.decoders, &self.cache);
        Part::open(&self.disk, folder, name.clone(), &self.layout, reading)
    }

    /// Limits and times.
    pub fn options(&self) -> Options {
        *self.options.read()
    }

    /// Changes limits and times.
    pub fn set_options(&self, options: Options) {
        *self.options.write() = options;
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
            let bytes = manifest::read(self.disk(), &self.folder)?;
            if state.is_loaded && bytes == state.bytes {
                return Ok(());
            }
            if bytes.is_empty() && !state.bytes.is_empty() {
                return Err(Error::new(
                    ErrorCode::TABLE_IS_DROPPED,
                    "Open the folder again: another process has dropped the table, or changed its \
                     columns",
                ));
            }
            if bytes.is_empty() && self.has_part_folders() {
                return Err(manifest::missing(&self.folder));
            }
            match self.open_parts(&bytes, &state.parts) {
                Ok((manifest, parts)) => {
                    state.is_loaded = true;
                    state.bytes = bytes;
                    state.manifest = manifest;
                    state.parts = Arc::new(parts);
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
            self.remove_leftovers(state);
        }
        Ok(())
    }

    /// Whether there are folders that a list has named: it is written before the first of them gets its name.
    fn has_part_folders(&self) -> bool {
        let entries = self.disk.list(&self.folder).unwrap_or_default();
        entries
            .iter()
            .any(|entry| entry.is_folder && is_part_name(&entry.name))
    }

    fn open_parts(&self, bytes: &[u8], known: &[Arc<Part>]) -> Result<(Manifest, Vec<Arc<Part>>)> {
        let manifest = Manifest::parse(bytes, &self.folder)?;
        let open = |name: &PartName| {
            if let Some(known) = known.iter().find(|p| p.name_parts() == name) {
                return Ok(Arc::clone(known));
            }
            self.open_part(&self.folder, name).map(Arc::new)
        };
        let parts = manifest.parts.iter().map(open).collect::<Result<_>>()?;
        Ok((manifest, parts))
    }

    /// Removes folders that the list does not name: of a process that ended while it wrote. Those of
    /// parts that were merged stay a while.
    fn remove_leftovers(&self, state: &mut State) {
        let Ok(entries) = self.disk.list(&self.folder) else {
            return;
        };
        let parts = &state.manifest.parts;
        for entry in entries.into_iter().filter(|e| e.is_folder) {
            let is_listed = parts.iter().any(|p| entry.name == p.to_string());
            if !is_listed && entry.name != DETACHED {
                let folder = self.folder.join(&entry.name);
                state.old.find(&self.disk, folder, &self.options());
            }
        }
        self.remove_copies_of(parts.iter());
        attaching::end(self.disk(), &self.folder, &state.manifest);
    }

    /// Removes the files of parts that were merged a while ago.
    pub(super) fn remove_old_parts(&self) {
        self.state.lock().old.remove_expired();
    }

    /// A new folder for a part that is not complete.
    pub(super) fn new_folder(&self) -> PathBuf {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        self.folder.join(format!("{TEMPORARY}{number}"))
    }

    /// Lets nothing be added any more, and gives the parts as they are then.
    ///
    /// # Errors
    /// If the list of parts is damaged, or the table is sealed already.
    pub(super) fn seal(&self) -> Result<Arc<Vec<Arc<Part>>>> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        if state.is_sealed {
            return Err(sealed());
        }
        state.is_sealed = true;
        Ok(Arc::clone(&state.parts))
    }

    /// The number of the last insert or change.
    pub(super) fn last_block(&self) -> Result<u64> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        Ok(state.manifest.last_block)
    }

    /// Cleans up behind parts that were to be attached; whether they were is told by the list, even behind an error.
    pub(super) fn end_attaching(&self) {
        let mut state = self.state.lock();
        if self.load(&mut state).is_ok() {
            attaching::end(self.disk(), &self.folder, &state.manifest);
        }
    }

    /// Lets rows be added again.
    pub(super) fn unseal(&self) {
        self.state.lock().is_sealed = false;
    }
}

fn sealed() -> Error {
    Error::new(
        ErrorCode::TABLE_IS_DROPPED,
        "Try again: the table has been changed by ALTER meanwhile",
    )
}

impl Drop for MergeTree {
    fn drop(&mut self) {
        if *self.removes_folder.get_mut() {
            // What is left goes later, by the mark that the folder has.
            let _ = self.disk.remove_folder(&self.folder);
        }
    }
}
