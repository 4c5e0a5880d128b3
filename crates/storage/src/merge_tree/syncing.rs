//! Has the system keep the files of new parts while the next part is being written.
//!
//! The system answers when the files are on the disk, a millisecond or more for each; an insert has work to do
//! meanwhile. Nobody sees its parts before all of them are kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use basalt_error::{Error, Result};

use super::disk::{Disk, NewFile};

/// A part whose files are written, and lost with the system's memory until it is synced.
pub(super) struct UnsyncedPart {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) folder: PathBuf,
    pub(super) files: Vec<(PathBuf, Box<dyn NewFile>)>,
}

impl UnsyncedPart {
    /// Waits until the system keeps all of it.
    pub(super) fn sync(self) -> Result<()> {
        for (path, mut file) in self.files {
            let synced = file.sync();
            synced.map_err(|e| Error::from(e).within(path.display()))?;
        }
        let synced = self.disk.sync_folder(&self.folder);
        synced.map_err(|e| Error::from(e).within(self.folder.display()))
    }
}

/// A thread that syncs parts one after the other.
#[derive(Debug)]
pub(super) struct Syncer {
    parts: SyncSender<UnsyncedPart>,
    thread: JoinHandle<Result<()>>,
}

impl Syncer {
    /// Starts one; none if the system has no threads left.
    pub(super) fn start() -> Option<Self> {
        // Parts that wait have their files open, of which a process has not too many.
        let (parts, waiting) = sync_channel::<UnsyncedPart>(1);
        let sync = move || waiting.into_iter().try_for_each(UnsyncedPart::sync);
        let thread = thread::Builder::new().name("sync".to_owned()).spawn(sync);
        let thread = thread.ok()?;
        Some(Self { parts, thread })
    }

    /// Syncs a part some time before [`Self::finish`] returns; waits if others wait.
    pub(super) fn begin(&self, part: UnsyncedPart) {
        // The thread is gone only behind an error, which `finish` returns.
        let _ = self.parts.send(part);
    }

    /// Waits for all parts; the first error, behind which none was synced.
    pub(super) fn finish(self) -> Result<()> {
        drop(self.parts);
        match self.thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}
