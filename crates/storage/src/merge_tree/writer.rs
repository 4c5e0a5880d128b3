//! Writes a part of an insert while the next rows come in, and while its own thread writes another.
//!
//! One thread, for as long as the insert: a thread for each part would take its memory from the system anew.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_profile::Account;

use super::insert::write_sorted;
use super::packed_order::SortMemory;
use super::table::MergeTree;
use super::write::num_threads;
use super::written::Written;

/// A place among the parts of an insert, and the columns of its rows.
type Rows = (usize, Vec<Vec<ArrayRef>>);

/// The other thread of an insert.
#[derive(Debug)]
pub(super) struct Writer {
    rows: Option<Sender<Rows>>,
    parts: Receiver<(usize, Result<Written>)>,
    is_busy: bool,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn new(table: &Arc<MergeTree>) -> Self {
        let (rows, waiting) = channel::<Rows>();
        let (done, parts) = channel();
        let (table, account) = (Arc::clone(table), Account::current());
        let write = move || {
            let _entered = account.enter();
            let mut memory = SortMemory::default();
            // The other half is for the part that comes next.
            let num_threads = num_threads().div_ceil(2);
            for (place, columns) in waiting {
                let part = write_sorted(&table, &columns, (num_threads, &mut memory));
                drop(columns);
                // Whoever does not wait for the part any more takes none: its folder goes with it.
                let _ = done.send((place, part));
            }
        };
        let thread = thread::Builder::new().name("insert".to_owned());
        // Without a thread of their own, all parts are written by those who bring the rows.
        let thread = thread.spawn(write).ok();
        Self {
            rows: thread.as_ref().map(|_| rows),
            parts,
            is_busy: false,
            thread,
        }
    }

    /// Begins a part, if none is being written.
    pub(super) fn begin(&mut self, place: usize, columns: &[Vec<ArrayRef>]) -> bool {
        let Some(rows) = self.rows.as_ref().filter(|_| !self.is_busy) else {
            return false;
        };
        self.is_busy = rows.send((place, columns.to_vec())).is_ok();
        self.is_busy
    }

    /// Whether a part is being written.
    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }

    /// The part that was begun, when it is written; waits for it if `waits`.
    pub(super) fn end(&mut self, waits: bool) -> Option<(usize, Result<Written>)> {
        if !self.is_busy {
            return None;
        }
        let part = match waits {
            true => self.parts.recv().map_err(|_| TryRecvError::Disconnected),
            false => self.parts.try_recv(),
        };
        if matches!(part, Err(TryRecvError::Disconnected)) {
            // The thread is gone without an answer.
            self.rows = None;
            if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                std::panic::resume_unwind(panic);
            }
        }
        self.is_busy = part.is_err();
        part.ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It ends when there are no more rows; nothing of the table is used behind the end of the insert.
        self.rows = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
