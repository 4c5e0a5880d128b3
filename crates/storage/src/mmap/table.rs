//! Holds which rows a table has.
//!
//! One process owns a table and changes it; others look anew for each query. Nothing that counts is ever changed:
//! inserts write behind it, TRUNCATE begins another folder.

use std::any::Any;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use parking_lot::{Mutex, MutexGuard};

use super::committed::Committed;
use super::extent::LazyExtent;
use super::files::{self, Files};
use super::log::{self, Extent};
use super::snapshot::Snapshot;
use crate::disk::{Disk, SystemDisk};

/// A table of mapped files.
#[derive(Debug)]
pub struct MmapTable {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    schema: SchemaRef,
    /// Names and types.
    columns: Vec<(String, String)>,
    state: Mutex<State>,
    /// Held by who writes files; taken before the state.
    writing: Mutex<()>,
    is_owned: AtomicBool,
    removes_folder: AtomicBool,
    /// What keeps a temporary folder.
    _keeper: Option<Box<dyn Any + Send + Sync>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the rest is what the folder holds.
    is_loaded: bool,
    /// Whether what counts may be something else after a crash.
    is_doubtful: bool,
    /// None if there never were rows.
    rows: Option<Rows>,
}

#[derive(Clone, Debug)]
struct Rows {
    committed: Committed,
    files: Arc<Files>,
    extents: Arc<Vec<Arc<LazyExtent>>>,
}

/// Where an insert writes.
pub(super) struct Target {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) files: Arc<Files>,
    /// Where the log ends.
    pub(super) log_bytes: u64,
}

impl MmapTable {
    /// A table in a folder, which need not exist; nothing is read yet.
    pub fn new(folder: PathBuf, columns: &[(String, DataType)]) -> Self {
        let fields = columns
            .iter()
            .map(|(name, data_type)| data_type.field(name));
        let described = columns.iter();
        let described = described.map(|(name, data_type)| (name.clone(), data_type.to_string()));
        Self {
            disk: Arc::new(SystemDisk),
            folder,
            schema: Arc::new(Schema::new(fields.collect::<Vec<_>>())),
            columns: described.collect(),
            state: Mutex::default(),
            writing: Mutex::default(),
            is_owned: AtomicBool::new(false),
            removes_folder: AtomicBool::new(false),
            _keeper: None,
        }
    }

    /// Keeps something as long as the table: a temporary folder.
    #[must_use]
    pub fn keeping(mut self, keeper: impl Any + Send + Sync) -> Self {
        self._keeper = Some(Box::new(keeper));
        self
    }

    /// Uses other files than those of the system.
    #[must_use]
    pub fn on_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Fields of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Says that no other process changes the table from now on.
    pub fn own(&self) {
        if !self.is_owned.swap(true, Ordering::SeqCst) {
            self.state.lock().is_loaded = false;
        }
    }

    /// Whether the folder is removed with the table: it is dropped, or was never finished.
    pub fn set_removed(&self, removes_folder: bool) {
        self.removes_folder.store(removes_folder, Ordering::SeqCst);
    }

    /// The rows as they are now.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if it cannot be told which these are.
    pub fn snapshot(self: &Arc<Self>) -> Result<Snapshot> {
        let rows = self.rows()?;
        let (files, extents) = rows.map(|rows| (rows.files, rows.extents)).unzip();
        Ok(Snapshot::new(self, files, extents.unwrap_or_default()))
    }

    /// Number of rows, if it can be told.
    pub fn num_rows(&self) -> Option<usize> {
        let rows = self.rows().ok()?;
        let extents = rows.map(|rows| rows.extents).unwrap_or_default();
        Some(extents.iter().map(|extent| extent.num_rows()).sum())
    }

    /// Bytes on disk, if they can be told.
    pub fn size_bytes(&self) -> Option<u64> {
        let Some(rows) = self.rows().ok()? else {
            return Some(0);
        };
        let columns = (0..self.columns.len()).map(|column| rows.files.end(column));
        Some(rows.committed.log_bytes + columns.sum::<u64>())
    }

    fn rows(&self) -> Result<Option<Rows>> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        Ok(state.rows.clone())
    }

    /// Removes all rows; queries that have begun keep them.
    ///
    /// # Errors
    /// If the system does not keep that they are gone.
    pub fn truncate(&self) -> Result<()> {
        let _writing = self.writing()?;
        let mut state = self.state.lock();
        self.load(&mut state)?;
        let generation = match &state.rows {
            Some(rows) if !rows.extents.is_empty() => rows.committed.generation + 1,
            _ => return Ok(()),
        };
        self.begin(&mut state, generation)
    }

    /// Lets nobody else write.
    pub(super) fn writing(&self) -> Result<MutexGuard<'_, ()>> {
        if !self.is_owned.load(Ordering::SeqCst) {
            return Err(Error::bug("a change of a table that another process owns"));
        }
        Ok(self.writing.lock())
    }

    /// The files to write behind, whose folder is made if there is none.
    pub(super) fn target(&self, _writing: &MutexGuard<'_, ()>) -> Result<Target> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        if state.rows.is_none() {
            self.create_folder(&self.folder, 3)?;
            self.begin(&mut state, 1)?;
        }
        let rows = state.rows.clone();
        let Rows {
            committed, files, ..
        } = rows.ok_or_else(|| Error::bug("a table without files"))?;
        if state.is_doubtful {
            // What would be written over must not count after a crash.
            committed.save(self.disk.as_ref(), &self.folder)?;
            state.is_doubtful = false;
        }
        if committed.log_bytes == 0 {
            self.create_folder(files.folder(), 2)?;
        }
        Ok(Target {
            disk: Arc::clone(&self.disk),
            files,
            log_bytes: committed.log_bytes,
        })
    }

    /// What the log has to say of an insert: a record, behind the header if it is the first.
    pub(super) fn log_of(&self, target: &Target, extents: &[Extent]) -> Result<Vec<u8>> {
        let generation = target.files.generation();
        let mut bytes = match target.log_bytes {
            0 => log::header(generation, &self.columns)?,
            _ => Vec::new(),
        };
        bytes.extend(log::record(generation, extents)?);
        Ok(bytes)
    }

    /// Makes the rows of an insert visible, whose bytes and those of the log the system keeps. The flag tells after an
    /// error whether these may be written over: they certainly do not count.
    pub(super) fn commit(
        &self,
        extents: Vec<Extent>,
        log_bytes: u64,
    ) -> std::result::Result<(), (Error, bool)> {
        let mut state = self.state.lock();
        let Some(rows) = &state.rows else {
            return Err((Error::bug("an insert into no files"), true));
        };
        let new = Committed {
            log_bytes,
            ..rows.committed
        };
        self.save(&mut state, new)?;
        if let Some(rows) = &mut state.rows {
            rows.add(new, extents);
        }
        Ok(())
    }

    /// Makes a folder, and has the system keep its name and those of the folders around it.
    fn create_folder(&self, path: &Path, depth: usize) -> Result<()> {
        let create = || -> std::io::Result<()> {
            self.disk.create_folder(path)?;
            let mut folders = path.ancestors().take(depth);
            folders.try_for_each(|folder| self.disk.sync_folder(folder))
        };
        create().map_err(|e| Error::from(e).within(path.display()))
    }

    /// Begins new files; those before go with their last reader.
    fn begin(&self, state: &mut State, generation: u64) -> Result<()> {
        let new = Committed {
            generation,
            log_bytes: 0,
        };
        self.save(state, new).map_err(|(e, _)| e)?;
        self.replace(state, new);
        Ok(())
    }

    /// Lets something else count. The flag tells after an error whether what counted before certainly still does.
    fn save(&self, state: &mut State, new: Committed) -> std::result::Result<(), (Error, bool)> {
        let disk = self.disk.as_ref();
        let Err(e) = new.save(disk, &self.folder) else {
            state.is_doubtful = false;
            return Ok(());
        };
        let old = state.rows.as_ref().map(|rows| rows.committed);
        let there = Committed::read(disk, &self.folder);
        let is_old = there.is_ok_and(|there| there == old)
            || old.is_some_and(|old| old.save(disk, &self.folder).is_ok());
        if !is_old {
            (state.is_loaded, state.is_doubtful) = (false, true);
        }
        Err((e, is_old))
    }

    /// Takes files without rows.
    fn replace(&self, state: &mut State, committed: Committed) {
        if let Some(old) = &state.rows
            && self.is_owned.load(Ordering::SeqCst)
            && !state.is_doubtful
        {
            old.files.set_obsolete();
        }
        let num_columns = self.columns.len();
        let files = Files::new(&self.disk, &self.folder, committed.generation, num_columns);
        state.rows = Some(Rows {
            committed: Committed {
                log_bytes: 0,
                ..committed
            },
            files: Arc::new(files),
            extents: Arc::default(),
        });
    }

    fn load(&self, state: &mut State) -> Result<()> {
        let is_owned = self.is_owned.load(Ordering::SeqCst);
        if state.is_loaded && is_owned {
            return Ok(());
        }
        let mut there = self.committed(state)?;
        while let Err(e) = self.read_log(state, there) {
            // Its owner may have truncated the table meanwhile.
            let now = self.committed(state)?;
            if now == there {
                return Err(e);
            }
            there = now;
        }
        if is_owned && !state.is_doubtful {
            self.remove_leftovers(state)?;
        }
        state.is_loaded = true;
        Ok(())
    }

    fn committed(&self, state: &State) -> Result<Option<Committed>> {
        let there = Committed::read(self.disk.as_ref(), &self.folder)?;
        if there.is_none() && state.rows.is_some() {
            let message = "Open the folder again: another process has dropped the table";
            return Err(Error::new(ErrorCode::TABLE_IS_DROPPED, message));
        }
        Ok(there)
    }

    /// Takes over what the log has that is not known yet.
    fn read_log(&self, state: &mut State, there: Option<Committed>) -> Result<()> {
        let Some(there) = there else {
            return Ok(());
        };
        let generation = state.rows.as_ref().map(|rows| rows.committed.generation);
        if generation != Some(there.generation) {
            self.replace(state, there);
        }
        let Some(rows) = &mut state.rows else {
            return Ok(());
        };
        let path = rows.files.log_path();
        let from = rows.committed.log_bytes;
        let damaged =
            |(offset, what): log::Damage| log::damaged(&path, (from.saturating_add(offset), what));
        let num_bytes = there.log_bytes.checked_sub(from);
        let num_bytes = num_bytes.ok_or_else(|| damaged((0, "fewer bytes count than before")))?;
        let bytes = rows.files.read_range(&path, from..from + num_bytes);
        let bytes = bytes.map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::NotFound => damaged((0, "records are missing")),
            _ => Error::from(e).within(path.display()),
        })?;
        let start = match from {
            0 if !bytes.is_empty() => {
                log::check_header(&bytes, there.generation, &self.columns).map_err(damaged)?
            }
            _ => 0,
        };
        let extents = log::extents(&bytes[start..], there.generation, &self.schema);
        let extents = extents.map_err(|(at, what)| damaged((start as u64 + at, what)))?;
        rows.add(there, extents);
        Ok(())
    }

    /// Removes the files of other generations: of a process that ended while it truncated the table.
    fn remove_leftovers(&self, state: &State) -> Result<()> {
        let Some(rows) = &state.rows else {
            return Ok(());
        };
        let current = files::folder_name(rows.committed.generation);
        let entries = self.disk.list(&self.folder).unwrap_or_default();
        let old = entries.iter().filter(|e| e.is_folder && e.name != current);
        for (i, old) in old.enumerate() {
            if i == 0 {
                // What counts now must do so after a crash, too.
                let synced = self.disk.sync_folder(&self.folder);
                synced.map_err(|e| Error::from(e).within(self.folder.display()))?;
            }
            // What cannot be removed is in nobody's way.
            let _ = self.disk.remove_folder(&self.folder.join(&old.name));
        }
        Ok(())
    }
}

impl Rows {
    /// Takes rows of which the log tells.
    fn add(&mut self, committed: Committed, extents: Vec<Extent>) {
        let known = Arc::make_mut(&mut self.extents);
        for extent in extents.into_iter().map(LazyExtent::new) {
            let ends = (0..extent.num_columns()).map(|column| extent.end(column));
            for (column, end) in ends.enumerate() {
                self.files.set_end(column, end.unwrap_or(u64::MAX));
            }
            known.push(Arc::new(extent));
        }
        self.committed = committed;
    }
}

impl Drop for MmapTable {
    fn drop(&mut self) {
        if *self.removes_folder.get_mut() {
            // What is left is removed when the definitions are next claimed.
            let _ = self.disk.remove_folder(&self.folder);
        }
    }
}
