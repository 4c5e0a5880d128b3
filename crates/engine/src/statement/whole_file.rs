//! Writes files that are there whole or not at all.
//!
//! Bytes go into a file beside the target, which takes its place when all of them are there. Whoever
//! ends the process meanwhile calls [`remove_unfinished`].

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// What happens to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// There must be none.
    Create,
    /// It is replaced.
    Replace,
    /// The bytes go behind those that are there.
    Append,
}

/// A file on its way; dropped before [`WholeFile::commit`] it leaves nothing.
#[derive(Debug)]
pub(crate) struct WholeFile {
    target: PathBuf,
    /// `None` where bytes go straight to the target: into a device or a pipe.
    unfinished: Option<PathBuf>,
    mode: Mode,
}

/// The files of this process that are not finished.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Removes what statements have not finished: for the end of a process that does not wait for them.
pub(crate) fn remove_unfinished() {
    for path in std::mem::take(&mut *UNFINISHED.lock()) {
        let _ = fs::remove_file(path);
    }
}

impl WholeFile {
    /// Starts a file, and opens what its bytes go to.
    pub(crate) fn create(path: &Path, mode: Mode) -> io::Result<(Self, File)> {
        // A link stays one: its target is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.is_some() && mode == Mode::Create {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        // `/dev/stdout` may well be a file, but one that others hold open, too.
        let is_device = path.starts_with("/dev") || path.starts_with("/proc");
        if existing.as_ref().is_some_and(|m| is_device || !m.is_file()) {
            let file = OpenOptions::new().write(true).open(path)?;
            let unfinished = None;
            return Ok((
                Self {
                    target,
                    unfinished,
                    mode,
                },
                file,
            ));
        }
        if existing.is_some() {
            // Who may not write the file may not replace it either.
            OpenOptions::new().append(true).open(&target)?;
        }
        let unfinished = beside(&target);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&unfinished)?;
        UNFINISHED.lock().insert(unfinished.clone());
        let whole = Self {
            target,
            unfinished: Some(unfinished),
            mode,
        };
        if let Some(existing) = existing {
            file.set_permissions(existing.permissions())?;
        }
        Ok((whole, file))
    }

    /// A writer that holds no file open, for statements that write more files than a process may have
    /// open; none into a device or a pipe, which would end there.
    pub(super) fn reopened(&self) -> Option<Reopened> {
        self.unfinished.clone().map(Reopened)
    }

    /// Puts the bytes, all of which are written, in their place.
    pub(crate) fn commit(self) -> io::Result<()> {
        let Some(unfinished) = &self.unfinished else {
            return Ok(());
        };
        match self.mode {
            Mode::Append => append(unfinished, &self.target),
            Mode::Replace => fs::rename(unfinished, &self.target),
            Mode::Create => match fs::hard_link(unfinished, &self.target) {
                // A file system without links: what came up meanwhile is replaced.
                Err(e) if e.kind() != io::ErrorKind::AlreadyExists => {
                    fs::rename(unfinished, &self.target)
                }
                // Dropping removes the other name.
                linked => linked,
            },
        }
    }
}

impl Drop for WholeFile {
    /// After a commit there is no such file, or it is a second name.
    fn drop(&mut self) {
        if let Some(path) = &self.unfinished {
            let _ = fs::remove_file(path);
            UNFINISHED.lock().remove(path);
        }
    }
}

/// A file that is open only while it is written to.
pub(super) struct Reopened(PathBuf);

impl Write for Reopened {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut file = OpenOptions::new().append(true).open(&self.0)?;
        file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A name beside the target that no other file of any process has.
fn beside(target: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}-{number}.unfinished", std::process::id()));
    PathBuf::from(name)
}

/// Copies behind what is there; what cannot be written whole is taken back.
fn append(from: &Path, target: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(target)?;
    let len = file.metadata()?.len();
    let copied = io::copy(&mut File::open(from)?, &mut file);
    copied.map(|_| ()).inspect_err(|_| {
        let _ = file.set_len(len);
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;

    use super::{Mode, WholeFile};

    #[test]
    fn files_are_there_whole_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("whole-file-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x");
        let write = |mode, text: &str, is_whole: bool| {
            let (whole, mut file) = WholeFile::create(&path, mode)?;
            file.write_all(text.as_bytes())?;
            if is_whole { whole.commit() } else { Ok(()) }
        };
        let files = || fs::read_dir(&folder).unwrap().count();
        write(Mode::Create, "a", false).unwrap();
        assert_eq!(files(), 0);
        write(Mode::Create, "a", true).unwrap();
        assert!(write(Mode::Create, "b", true).is_err());
        write(Mode::Append, "b", true).unwrap();
        write(Mode::Append, "c", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab");
        write(Mode::Replace, "d", false).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"ab");
        write(Mode::Replace, "d", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"d");
        assert_eq!(files(), 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
