//! Temporary files of queries: in a folder of this process, each gone with its last user.
//!
//! The folder is there only while files are. A process that was killed leaves it behind; it holds
//! a lock on a file in it as long as it lives, so the next one to start can tell and removes it.
//! Whoever ends the process while queries run calls [`remove_all`].

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};

use crate::quota::Quota;

/// Start of the names of folders.
const PREFIX: &str = "basalt-";

/// Setting of the bytes that a query may have in files.
const OF_QUERY: &str = "max_temporary_data_on_disk_size_for_query";

/// Setting of those of all queries.
const OF_ALL: &str = "max_temporary_data_on_disk_size_for_user";

/// The locked file in a folder.
const LOCK: &str = "lock";

/// The lock's name until it is locked: nobody takes the folder for a dead one before.
const NEW_LOCK: &str = "lock.new";

/// A folder has its lock by then: making both takes less than a millisecond.
const TIME_TO_MAKE: Duration = Duration::from_secs(60);

/// Numbers folders and files of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// The folders of this process that are there; none once no more may be made.
static FOLDERS: Mutex<Option<BTreeSet<PathBuf>>> = Mutex::new(Some(BTreeSet::new()));

/// How often a folder is removed: a task may be making a file in it.
const NUM_TRIES: usize = 3;

/// Removes the files of all queries, and lets no more be made: for the end of a process that does not wait
/// for its tasks.
pub fn remove_all() {
    let folders = FOLDERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    for path in folders.into_iter().flatten() {
        remove_folder(&path);
    }
}

/// Removes a folder with what is in it. What cannot be removed is for the next start.
fn remove_folder(path: &Path) {
    for _ in 0..NUM_TRIES {
        if fs::remove_dir_all(path).is_ok() {
            return;
        }
    }
}

/// Makes temporary files below one folder.
#[derive(Debug)]
pub struct TemporaryFiles {
    parent: PathBuf,
    folder: Arc<Mutex<Weak<Folder>>>,
    /// Bytes of all files.
    used: Arc<AtomicU64>,
    quota: Quota,
}

impl Default for TemporaryFiles {
    /// Files in the system's folder for them.
    fn default() -> Self {
        Self::new(std::env::temp_dir())
    }
}

impl TemporaryFiles {
    /// Files below `parent`, which need not exist yet.
    pub fn new(parent: PathBuf) -> Self {
        Self {
            parent,
            folder: Arc::default(),
            used: Arc::default(),
            quota: Quota::default(),
        }
    }

    /// The same files for one query, that may have `max_bytes` of them and all queries together
    /// `max_bytes_of_all`; 0 is no limit.
    #[must_use]
    pub fn limited(&self, max_bytes: u64, max_bytes_of_all: u64) -> Self {
        let max = |max_bytes| if max_bytes == 0 { u64::MAX } else { max_bytes };
        let quota = Quota::default()
            .with(OF_QUERY, Arc::default(), max(max_bytes))
            .with(OF_ALL, Arc::clone(&self.used), max(max_bytes_of_all));
        Self {
            parent: self.parent.clone(),
            folder: Arc::clone(&self.folder),
            used: Arc::clone(&self.used),
            quota,
        }
    }

    /// Removes what processes that are dead have left behind, as far as that is possible.
    pub fn remove_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.parent) else {
            return;
        };
        for entry in entries.flatten() {
            let is_folder = entry.file_type().is_ok_and(|t| t.is_dir());
            if is_folder && entry.file_name().to_str().is_some_and(is_folder_name) {
                remove_if_dead(&entry.path());
            }
        }
    }

    /// An empty file.
    ///
    /// # Errors
    /// `CANNOT_WRITE_TO_FILE_DESCRIPTOR` if there cannot be one.
    pub fn create(&self) -> Result<TemporaryFile> {
        self.try_create().map_err(|e| write_error(&self.parent, &e))
    }

    /// A place for a folder: one that does not exist yet.
    ///
    /// # Errors
    /// `CANNOT_WRITE_TO_FILE_DESCRIPTOR` if there cannot be one.
    pub fn create_folder(&self) -> Result<TemporaryFolder> {
        let folder = self.folder().map_err(|e| write_error(&self.parent, &e))?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.path.join(number.to_string());
        Ok(TemporaryFolder {
            path,
            _folder: folder,
        })
    }

    /// Removes all files, also those that still have users.
    pub fn remove(&self) {
        let folder = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = folder.upgrade() {
            remove_folder(&folder.path);
        }
    }

    /// The folder of this process.
    fn folder(&self) -> io::Result<Arc<Folder>> {
        let mut current = self.folder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = current.upgrade() {
            return Ok(folder);
        }
        let folder = Arc::new(Folder::create(&self.parent)?);
        *current = Arc::downgrade(&folder);
        Ok(folder)
    }

    fn try_create(&self) -> io::Result<TemporaryFile> {
        let folder = self.folder()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.path.join(number.to_string());
        let mut options = OpenOptions::new();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(TemporaryFile {
            file,
            path,
            quota: self.quota.clone(),
            num_bytes: AtomicU64::new(0),
            _folder: folder,
        })
    }
}

/// The error for a temporary file that cannot be written.
pub(crate) fn write_error(path: &Path, e: &io::Error) -> Error {
    let path = path.display();
    Error::new(
        ErrorCode::CANNOT_WRITE_TO_FILE_DESCRIPTOR,
        format!("Make room for temporary files in {path}: {e}"),
    )
}

/// A file that is removed when it is dropped.
#[derive(Debug)]
pub struct TemporaryFile {
    /// The file, open to read and write.
    pub file: File,
    path: PathBuf,
    quota: Quota,
    /// Bytes that the quota has counted.
    num_bytes: AtomicU64,
    _folder: Arc<Folder>,
}

impl TemporaryFile {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// To be called before bytes are written.
    ///
    /// # Errors
    /// `TOO_MANY_ROWS_OR_BYTES` if the query may not have so many.
    pub(crate) fn count(&self, num_bytes: usize) -> Result<()> {
        self.quota.take(num_bytes as u64)?;
        self.num_bytes
            .fetch_add(num_bytes as u64, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        self.quota.give_back(self.num_bytes.load(Ordering::Relaxed));
        // If it cannot be removed now, the folder's end or the next start tries again.
        let _ = fs::remove_file(&self.path);
    }
}

/// A folder that is removed with all that is in it when it is dropped.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    _folder: Arc<Folder>,
}

impl TemporaryFolder {
    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // As for files.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// A folder of this process, gone with its last file.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(folders) = folders.as_mut() else {
            return Err(io::Error::other("the process ends"));
        };
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match private_folder(&path) {
                Ok(()) => {}
                // Left behind by a dead process of the same number.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(e) => return Err(e),
            }
            let lock = File::create(path.join(NEW_LOCK))?;
            lock.lock()?;
            fs::rename(path.join(NEW_LOCK), path.join(LOCK))?;
            folders.insert(path.clone());
            return Ok(Self { path, _lock: lock });
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folders) = folders.as_mut() {
            folders.remove(&self.path);
        }
        remove_folder(&self.path);
    }
}

/// Makes a folder that only this user can look into: the files hold the data of queries.
fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether a folder without a lock is too old for one that is being made: its process died before.
fn was_never_made(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|folder| folder.modified());
    let age = changed.map(|time| time.elapsed().unwrap_or_default());
    age.is_ok_and(|age| age > TIME_TO_MAKE)
}

fn is_folder_name(name: &str) -> bool {
    let numbers = name.strip_prefix(PREFIX).and_then(|n| n.split_once('-'));
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

fn remove_if_dead(path: &Path) {
    let is_dead = match File::open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(e) => e.kind() == io::ErrorKind::NotFound && was_never_made(path),
    };
    if is_dead {
        // Somebody else's folder may not be ours to remove.
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::time::{Duration, SystemTime};

    use super::{LOCK, NEW_LOCK, TemporaryFiles};

    #[test]
    fn files_and_their_folder_are_gone_with_their_users() {
        let parent = std::env::temp_dir().join(format!("test-files-{}", std::process::id()));
        let files = TemporaryFiles::new(parent.join("tmp"));
        let mut one = files.create().unwrap();
        let two = files.create().unwrap();
        one.file.write_all(b"text").unwrap();
        let (path, folder) = (one.path().to_owned(), one.path().parent().unwrap());
        let folder = folder.to_owned();
        assert!(path.is_file());
        files.remove_leftovers();
        assert!(path.is_file(), "its process lives");
        drop(one);
        assert!(!path.exists() && folder.is_dir());
        drop(two);
        assert!(!folder.exists());
        let three = files.create().unwrap();
        assert!(three.path().is_file());
        files.remove();
        assert!(!three.path().exists(), "whoever uses it");
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_nothing_else() {
        let parent = std::env::temp_dir().join(format!("test-leftovers-{}", std::process::id()));
        for name in ["basalt-1-0", "basalt-1-x", "other-1-0"] {
            fs::create_dir_all(parent.join(name)).unwrap();
            fs::write(parent.join(name).join(LOCK), "").unwrap();
        }
        // Being made, and made by a process that died before the lock had its name.
        for name in ["basalt-2-0", "basalt-2-1"] {
            fs::create_dir(parent.join(name)).unwrap();
            fs::write(parent.join(name).join(NEW_LOCK), "").unwrap();
        }
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        let old = File::open(parent.join("basalt-2-1")).unwrap();
        old.set_modified(hour_ago).unwrap();
        TemporaryFiles::new(parent.clone()).remove_leftovers();
        let exists = |name: &str| parent.join(name).exists();
        assert!(!exists("basalt-1-0") && !exists("basalt-2-1"));
        assert!(exists("basalt-1-x") && exists("other-1-0") && exists("basalt-2-0"));
        fs::remove_dir_all(parent).unwrap();
    }
}
