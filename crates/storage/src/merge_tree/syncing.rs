//! Has the system keep the files of new parts while the next part is being written.
//!
//! The system answers when a file is on the disk, a millisecond or more for each; an insert has work to do
//! meanwhile. Nobody sees its parts before all of them are kept.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use basalt_error::{Error, Result};
use basalt_profile::Account;

use crate::disk::{Disk, NewFile};

/// Files that are synced at the same time: the system often writes them to the disk together.
const NUM_SYNCS: usize = 8;

/// A file that is written, and its path.
pub(crate) type Unsynced = (PathBuf, Box<dyn NewFile>);

/// A part whose files are written, and lost with the system's memory until it is synced.
#[must_use = "a crash loses it until it is synced"]
pub(crate) struct UnsyncedPart {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) folder: PathBuf,
    pub(crate) files: Vec<Unsynced>,
}

impl UnsyncedPart {
    /// Waits until the system keeps all of it.
    pub(crate) fn sync(self) -> Result<()> {
        self.sync_unless(&AtomicBool::new(false))
    }

    /// As [`Self::sync`], or an error as soon as nobody waits any more.
    fn sync_unless(mut self, is_abandoned: &AtomicBool) -> Result<()> {
        let sync_some = |files: &mut [Unsynced]| -> Result<()> {
            files.iter_mut().try_for_each(|(path, file)| {
                let synced = match is_abandoned.load(Ordering::Relaxed) {
                    true => Err(io::ErrorKind::Interrupted.into()),
                    false => file.sync(),
                };
                synced.map_err(|e| Error::from(e).within(path.display()))
            })
        };
        let share = self.files.len().div_ceil(NUM_SYNCS).max(1);
        thread::scope(|scope| {
            let mut shares = self.files.chunks_mut(share);
            let own = shares.next();
            let others: Vec<_> = shares
                .map(|files| scope.spawn(move || sync_some(files)))
                .collect();
            let own = own.map_or(Ok(()), sync_some);
            let joined = others.into_iter().map(|other| match other.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.fold(own, Result::and)
        })?;
        let synced = self.disk.sync_folder(&self.folder);
        synced.map_err(|e| Error::from(e).within(self.folder.display()))
    }
}

/// A thread that syncs parts one after the other.
#[derive(Debug)]
pub(super) struct Syncer {
    parts: SyncSender<UnsyncedPart>,
    is_abandoned: Arc<AtomicBool>,
    thread: JoinHandle<Result<()>>,
}

impl Syncer {
    /// Starts one; none if the system has no threads left.
    pub(super) fn start() -> Option<Self> {
        // Parts that wait have their files open, of which a process may have few: none waits.
        let (parts, waiting) = sync_channel::<UnsyncedPart>(0);
        let is_abandoned = Arc::new(AtomicBool::new(false));
        let (account, abandoned) = (Account::current(), Arc::clone(&is_abandoned));
        let sync = move || {
            let _entered = account.enter();
            let mut parts = waiting.into_iter();
            parts.try_for_each(|part| part.sync_unless(&abandoned))
        };
        let thread = thread::Builder::new().name("sync".to_owned()).spawn(sync);
        let thread = thread.ok()?;
        Some(Self {
            parts,
            is_abandoned,
            thread,
        })
    }

    /// Syncs a part some time before [`Self::finish`] returns; waits for the part before.
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

    /// Ends it soon; nobody needs the parts any more.
    pub(super) fn abandon(self) {
        self.is_abandoned.store(true, Ordering::Relaxed);
        drop(self.parts);
        let _ = self.thread.join();
    }
}
