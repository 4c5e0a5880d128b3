//! Holds which rows a table has.
//!
//! One process owns a table and changes it; others look anew for each query. Nothing that counts is ever changed:
//! inserts write behind it, TRUNCATE begins another folder.

use std::any::Any;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrow::datatypes::{Schema, SchemaRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::Account;
use basalt_types::DataType;
use parking_lot::{Mutex, MutexGuard};

use super::committed::Committed;
use super::extent::LazyExtent;
use super::files::{self, Files};
use super::log::{self, Extent};
use super::snapshot::Snapshot;
use crate::disk::{Disk, SystemDisk};

/// How often who waits to write asks whether to wait on.
const CHECK_INTERVAL: Duration = Duration::from_millis(20);

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
    /// Whether what counts may be what counted before after a crash: another process wrote it, or the system could not
    /// tell that it is kept.
    is_doubtful: bool,
    /// None if nobody has looked.
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
    /// What counts before.
    pub(super) committed: Committed,
}

impl MmapTable {
    /// A table in a folder, of which nothing is read yet.
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

    /// Makes the folder of a new table.
    ///
    /// # Errors
    /// If the system does not keep it.
    pub fn create(&self) -> Result<()> {
        self.create_folder(&self.folder, 3)?;
        Committed::new().save(self.disk.as_ref(), &self.folder)
    }

    /// Says that no other process changes the table from now on.
    pub fn own(&self) {
        let mut state = self.state.lock();
        if !self.is_owned.swap(true, Ordering::SeqCst) {
            (state.is_loaded, state.is_doubtful) = (false, true);
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
        let Rows { files, extents, .. } = self.rows()?;
        Ok(Snapshot::new(self, files, extents))
    }

    /// Number of rows, if it can be told.
    pub fn num_rows(&self) -> Option<usize> {
        let extents = self.rows().ok()?.extents;
        Some(extents.iter().map(|extent| extent.num_rows()).sum())
    }

    /// Bytes on disk, if they can be told.
    pub fn size_bytes(&self) -> Option<u64> {
        let rows = self.rows().ok()?;
        let columns = (0..self.columns.len()).map(|column| rows.files.end(column));
        Some(rows.committed.log_bytes + columns.sum::<u64>())
    }

    fn rows(&self) -> Result<Rows> {
        let mut state = self.state.lock();
        self.load(&mut state).cloned()
    }

    /// Removes all rows; queries that have begun keep them. `check` says while another one writes whether to wait on.
    ///
    /// # Errors
    /// If the system does not keep that they are gone.
    pub fn truncate(&self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let writing = self.writing(check)?;
        let Rows {
            committed, extents, ..
        } = self.settled(&writing)?;
        if extents.is_empty() {
            return Ok(());
        }
        let new = Committed {
            generation: committed.generation + 1,
            log_bytes: 0,
            ..committed
        };
        self.save(committed, new).map_err(|(e, _)| e)?;
        self.begin(&mut self.state.lock(), new);
        Ok(())
    }

    /// Lets nobody else write.
    pub(super) fn writing(&self, check: &dyn Fn() -> Result<()>) -> Result<MutexGuard<'_, ()>> {
        if !self.is_owned.load(Ordering::SeqCst) {
            return Err(Error::bug("a change of a table that another process owns"));
        }
        loop {
            if let Some(writing) = self.writing.try_lock_for(CHECK_INTERVAL) {
                return Ok(writing);
            }
            check()?;
        }
    }

    /// The rows, which count after a crash, too: what comes next may be written over what does not count.
    fn settled(&self, _writing: &MutexGuard<'_, ()>) -> Result<Rows> {
        let mut state = self.state.lock();
        let rows = self.load(&mut state)?.clone();
        if state.is_doubtful {
            rows.committed.save(self.disk.as_ref(), &self.folder)?;
            state.is_doubtful = false;
            self.remove_leftovers(rows.committed);
        }
        Ok(rows)
    }

    /// The files to write behind, whose folder is made if there is none.
    pub(super) fn target(&self, writing: &MutexGuard<'_, ()>) -> Result<Target> {
        let Rows {
            committed, files, ..
        } = self.settled(writing)?;
        if committed.log_bytes == 0 {
            self.create_folder(files.folder(), 2)?;
        }
        Ok(Target {
            disk: Arc::clone(&self.disk),
            files,
            committed,
        })
    }

    /// What the log has to say of an insert: a record, behind the header if it is the first.
    pub(super) fn log_of(&self, target: &Target, extents: &[Extent]) -> Result<Vec<u8>> {
        let mut bytes = match target.committed.log_bytes {
            0 => log::header(target.committed, &self.columns)?,
            _ => Vec::new(),
        };
        bytes.extend(log::record(target.committed.seed(), extents)?);
        Ok(bytes)
    }

    /// Makes the rows of an insert visible, whose bytes and those of the log the system keeps. The flag tells after an
    /// error whether these may be written over: they certainly do not count.
    pub(super) fn commit(
        &self,
        extents: Vec<Extent>,
        (old, log_bytes): (Committed, u64),
    ) -> std::result::Result<(), (Error, bool)> {
        let new = Committed { log_bytes, ..old };
        self.save(old, new)?;
        let mut state = self.state.lock();
        // Somebody may have read them meanwhile.
        if let Some(rows) = state.rows.as_mut().filter(|rows| rows.committed == old) {
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

    /// Lets something else count. The flag tells after an error whether what counted before certainly still does: what
    /// other processes may have seen is not taken back.
    fn save(&self, old: Committed, new: Committed) -> std::result::Result<(), (Error, bool)> {
        let disk = self.disk.as_ref();
        let Err(e) = new.save(disk, &self.folder) else {
            return Ok(());
        };
        if Committed::read(disk, &self.folder).is_ok_and(|there| there == old) {
            return Err((e, true));
        }
        let mut state = self.state.lock();
        (state.is_loaded, state.is_doubtful) = (false, true);
        let hint = "Look whether the change is there: the system can't tell that it is kept";
        Err((e.hinted(hint), false))
    }

    /// Takes files without rows; those before go with their last reader.
    fn begin(&self, state: &mut State, committed: Committed) {
        let is_owned = self.is_owned.load(Ordering::SeqCst);
        if let Some(old) = state
            .rows
            .as_ref()
            .filter(|_| is_owned && !state.is_doubtful)
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

    fn load<'s>(&self, state: &'s mut State) -> Result<&'s Rows> {
        let is_owned = self.is_owned.load(Ordering::SeqCst);
        if !state.is_loaded || !is_owned {
            // It stays when the query is over.
            let nobody = Account::nobody();
            let _entered = nobody.enter();
            let mut there = self.committed(is_owned)?;
            while let Err(e) = self.read_log(state, there) {
                // Its owner may have truncated the table meanwhile.
                let now = self.committed(is_owned)?;
                if now == there {
                    return Err(e);
                }
                there = now;
            }
            state.is_loaded = true;
        }
        let rows = state.rows.as_ref();
        rows.ok_or_else(|| Error::bug("a table that was read has no rows"))
    }

    fn committed(&self, is_owned: bool) -> Result<Committed> {
        let read = Committed::read(self.disk.as_ref(), &self.folder);
        read.map_err(|e| match self.disk.list(&self.folder) {
            Err(missing) if missing.kind() == ErrorKind::NotFound && !is_owned => {
                let folder = self.folder.display();
                let message = format!("Another process has dropped the table: {folder} is missing");
                Error::new(ErrorCode::TABLE_IS_DROPPED, message)
            }
            _ => e,
        })
    }

    /// Takes over what the log has that is not known yet.
    fn read_log(&self, state: &mut State, there: Committed) -> Result<()> {
        let is_same = |rows: &&mut Rows| {
            let known = rows.committed;
            (known.identity, known.generation) == (there.identity, there.generation)
        };
        if state.rows.as_mut().filter(is_same).is_none() {
            self.begin(state, there);
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
                log::check_header(&bytes, there, &self.columns).map_err(damaged)?
            }
            _ => 0,
        };
        let extents = log::extents(&bytes[start..], there.seed(), &self.schema);
        let extents = extents.map_err(|(at, what)| damaged((start as u64 + at, what)))?;
        rows.add(there, extents);
        Ok(())
    }

    /// Removes the files of other generations: of a process that ended while it truncated the table.
    fn remove_leftovers(&self, committed: Committed) {
        let current = files::folder_name(committed.generation);
        let entries = self.disk.list(&self.folder).unwrap_or_default();
        for old in entries.iter().filter(|e| e.is_folder && e.name != current) {
            // What cannot be removed is in nobody's way.
            let _ = self.disk.remove_folder(&self.folder.join(&old.name));
        }
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
            // What is left goes later, by the mark that the folder has.
            let _ = self.disk.remove_folder(&self.folder);
        }
    }
}
