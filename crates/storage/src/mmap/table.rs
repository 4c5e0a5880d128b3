//! Holds what a table's log says: which rows there are.
//!
//! One process owns a table and changes it; others look at the log anew for each query. Nothing that the log names
//! is ever changed: inserts write behind it, TRUNCATE begins a new log and new files.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use parking_lot::{Mutex, MutexGuard};

use super::extent::LazyExtent;
use super::files::{self, Files};
use super::log::{self, Extent, Header};
use super::snapshot::Snapshot;
use crate::disk::{Disk, SystemDisk};

/// How often a log is read that another process changes meanwhile.
const MAX_TRIES: usize = 3;

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
    /// Whether the log may have more on the disk than is known, or get it back there after a crash.
    is_doubtful: bool,
    /// None if there is no log yet.
    log: Option<OpenLog>,
    extents: Arc<Vec<Arc<LazyExtent>>>,
}

#[derive(Clone, Debug)]
struct OpenLog {
    start: log::Start,
    /// Where the last whole record ends.
    end: u64,
    files: Arc<Files>,
}

/// Where an insert writes.
pub(super) struct Target {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) files: Arc<Files>,
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
    /// If the log is damaged, or is that of another table.
    pub fn snapshot(self: &Arc<Self>) -> Result<Snapshot> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        let files = state.log.as_ref().map(|log| Arc::clone(&log.files));
        Ok(Snapshot::new(self, files, Arc::clone(&state.extents)))
    }

    /// Number of rows, if it can be told.
    pub fn num_rows(&self) -> Option<usize> {
        let mut state = self.state.lock();
        self.load(&mut state).ok()?;
        Some(state.extents.iter().map(|extent| extent.num_rows()).sum())
    }

    /// Bytes on disk, if they can be told.
    pub fn size_bytes(&self) -> Option<u64> {
        let mut state = self.state.lock();
        self.load(&mut state).ok()?;
        let Some(log) = &state.log else {
            return Some(0);
        };
        let columns = (0..self.columns.len()).map(|column| log.files.end(column));
        Some(log.end + columns.sum::<u64>())
    }

    /// Removes all rows; queries that have begun keep them.
    ///
    /// # Errors
    /// If a new log cannot be written.
    pub fn truncate(&self) -> Result<()> {
        let _writing = self.writing()?;
        let mut state = self.state.lock();
        self.load(&mut state)?;
        match &state.log {
            Some(log) if !state.extents.is_empty() => {
                let generation = log.files.generation() + 1;
                self.begin(&mut state, generation)
            }
            _ => Ok(()),
        }
    }

    /// Lets nobody else write.
    pub(super) fn writing(&self) -> Result<MutexGuard<'_, ()>> {
        if !self.is_owned.load(Ordering::SeqCst) {
            return Err(Error::bug("a change of a table that another process owns"));
        }
        Ok(self.writing.lock())
    }

    /// The files to write behind, which are made if there are none. What a crash has left of a record goes first: it
    /// must not come back when the bytes that it names are others.
    pub(super) fn target(&self, _writing: &MutexGuard<'_, ()>) -> Result<Target> {
        let mut state = self.state.lock();
        self.load(&mut state)?;
        if state.log.is_none() {
            self.begin(&mut state, 1)?;
        }
        let is_doubtful = state.is_doubtful;
        let log = state.log.clone();
        let log = log.ok_or_else(|| Error::bug("a table without a log"))?;
        let path = log::path(&self.folder);
        let cut = || -> std::io::Result<()> {
            match is_doubtful || self.disk.len(&path)? != log.end {
                true => self.disk.append(&path, log.end)?.sync(),
                false => Ok(()),
            }
        };
        cut().map_err(|e| Error::from(e).within(path.display()))?;
        state.is_doubtful = false;
        Ok(Target {
            disk: Arc::clone(&self.disk),
            files: log.files,
        })
    }

    /// Makes the rows of an insert visible, whose bytes the system keeps. The flag tells after an error whether these
    /// may be written over: the log certainly does not name them.
    pub(super) fn commit(&self, extents: Vec<Extent>) -> std::result::Result<(), (Error, bool)> {
        let mut state = self.state.lock();
        let Some(log) = &mut state.log else {
            return Err((Error::bug("an insert into no files"), true));
        };
        let record = log::record(log.files.generation(), &extents).map_err(|e| (e, true))?;
        let path = log::path(&self.folder);
        let write = || -> std::io::Result<()> {
            let mut file = self.disk.append(&path, log.end)?;
            file.write_all(&record)?;
            file.sync()
        };
        if let Err(e) = write() {
            let cut = self.disk.append(&path, log.end);
            let is_cut = cut.and_then(|mut file| file.sync()).is_ok();
            // Else the log is read again before anything else happens.
            (state.is_loaded, state.is_doubtful) = (is_cut, !is_cut);
            return Err((Error::from(e).within(path.display()), is_cut));
        }
        log.end += record.len() as u64;
        add(&mut state, extents);
        Ok(())
    }

    /// Begins new files; those before go with their last reader.
    fn begin(&self, state: &mut State, generation: u64) -> Result<()> {
        let files = Files::new(&self.disk, &self.folder, generation, self.columns.len());
        let created = self.disk.create_folder(files.folder());
        created.map_err(|e| Error::from(e).within(files.folder().display()))?;
        // The folder is kept before the log names it; at first that of the table, too.
        let depth = if state.log.is_none() { 3 } else { 1 };
        for folder in self.folder.ancestors().take(depth) {
            let synced = self.disk.sync_folder(folder);
            synced.map_err(|e| Error::from(e).within(folder.display()))?;
        }
        // The new log may be in its place although the system could not tell so.
        state.is_loaded = false;
        let header = log::save(self.disk.as_ref(), &self.folder, generation, &self.columns)?;
        self.replace(state, &header, Arc::new(files));
        state.is_loaded = true;
        Ok(())
    }

    /// Takes another log without rows.
    fn replace(&self, state: &mut State, header: &Header, files: Arc<Files>) {
        if let Some(old) = &state.log
            && self.is_owned.load(Ordering::SeqCst)
        {
            old.files.set_obsolete();
        }
        state.log = Some(OpenLog {
            start: header.start,
            end: header.num_bytes as u64,
            files,
        });
        state.extents = Arc::default();
    }

    fn load(&self, state: &mut State) -> Result<()> {
        let is_owned = self.is_owned.load(Ordering::SeqCst);
        if state.is_loaded && is_owned {
            return Ok(());
        }
        let mut tries = 1;
        while let Err(e) = self.read_log(state) {
            // Its owner may have begun another one, or cut off what a crash has left, in the meantime.
            let may_pass = [ErrorCode::CORRUPTED_DATA, ErrorCode::CANNOT_READ_ALL_DATA];
            if is_owned || !may_pass.contains(&e.code()) || tries == MAX_TRIES {
                return Err(e);
            }
            tries += 1;
            std::thread::yield_now();
        }
        if is_owned {
            self.remove_leftovers(state);
        }
        state.is_loaded = true;
        Ok(())
    }

    /// Takes over what the log has that is not known yet.
    fn read_log(&self, state: &mut State) -> Result<()> {
        let disk = self.disk.as_ref();
        let Some(start) = log::read_start(disk, &self.folder)? else {
            return match state.log {
                None => Ok(()),
                Some(_) => Err(Error::new(
                    ErrorCode::TABLE_IS_DROPPED,
                    "Open the folder again: another process has dropped the table",
                )),
            };
        };
        let path = log::path(&self.folder);
        let failed = |e: std::io::Error| Error::from(e).within(path.display());
        let damaged = |(offset, what)| log::damaged(&self.folder, offset, what);
        let known = state.log.as_ref().filter(|log| log.start == start);
        let (bytes, from) = match known {
            Some(log) => {
                let len = disk.len(&path).map_err(failed)?;
                let rest = len.checked_sub(log.end);
                let rest = rest.ok_or_else(|| damaged((len, "records are missing")))?;
                let mut bytes = vec![0; usize::try_from(rest).unwrap_or_default()];
                if !bytes.is_empty() {
                    let read = disk.read_range(&path, log.end, &mut bytes);
                    read.map_err(failed)?;
                }
                (bytes, log.end)
            }
            None => {
                let bytes = disk.read(&path).map_err(failed)?;
                let header = Header::parse(&bytes, &self.columns).map_err(damaged)?;
                let num_columns = self.columns.len();
                let files = Files::new(&self.disk, &self.folder, header.generation, num_columns);
                self.replace(state, &header, Arc::new(files));
                (bytes[header.num_bytes..].to_vec(), header.num_bytes as u64)
            }
        };
        let Some(log) = &mut state.log else {
            return Ok(());
        };
        let records = log::records(&bytes, log.files.generation(), &self.schema);
        let (extents, len) =
            records.map_err(|(offset, what)| damaged((from.saturating_add(offset), what)))?;
        log.end = from + len as u64;
        add(state, extents);
        Ok(())
    }

    /// Removes the files of other generations: of a process that ended while it truncated the table.
    fn remove_leftovers(&self, state: &State) {
        let current = state.log.as_ref().map(|log| log.files.generation());
        let current = current.map(files::folder_name);
        let entries = self.disk.list(&self.folder).unwrap_or_default();
        for entry in entries.into_iter().filter(|entry| entry.is_folder) {
            if current.as_ref() != Some(&entry.name) {
                // What cannot be removed is in nobody's way.
                let _ = self.disk.remove_folder(&self.folder.join(&entry.name));
            }
        }
    }
}

/// Takes rows whose record is in the log.
fn add(state: &mut State, extents: Vec<Extent>) {
    let Some(log) = &state.log else {
        return;
    };
    let known = Arc::make_mut(&mut state.extents);
    for extent in extents.into_iter().map(LazyExtent::new) {
        let ends = (0..extent.num_columns()).map(|column| extent.end(column));
        for (column, end) in ends.enumerate() {
            log.files.set_end(column, end.unwrap_or(u64::MAX));
        }
        known.push(Arc::new(extent));
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
