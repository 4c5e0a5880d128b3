//! Writes parts of an insert while the next rows come in, and while the insert's own thread writes another.
//!
//! One thread, for as long as the insert: a thread for each part would take its memory from the system anew. One part
//! waits for it, so that it has the next when it is done while the other thread is in the middle of one; at the end the
//! other thread takes that back if it has not been begun.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_profile::Account;
use parking_lot::{Condvar, Mutex};

use super::insert::write_sorted;
use super::packed_order::SortMemory;
use super::table::MergeTree;
use super::write::num_threads;
use super::written::Written;

/// A place among the parts of an insert, and the columns of its rows.
pub(super) type Rows = (usize, Vec<Vec<ArrayRef>>);

/// A part that was written, or why it was not.
type Part = (usize, Result<Written>);

/// The other thread of an insert.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Arc<Queue>,
    parts: Receiver<Part>,
    /// Parts that it was given and that have not come back.
    num_open: usize,
    /// None if there could be none: all parts are written by those who bring the rows.
    thread: Option<JoinHandle<()>>,
}

/// Parts that wait.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Rows>,
    is_closed: bool,
}

impl Queue {
    /// The next part; waits for one. None when there will be no more.
    fn next(&self) -> Option<Rows> {
        let mut state = self.state.lock();
        while state.waiting.is_empty() && !state.is_closed {
            self.changed.wait(&mut state);
        }
        state.waiting.pop_front()
    }
}

impl Writer {
    pub(super) fn new(table: &Arc<MergeTree>) -> Self {
        let queue = Arc::<Queue>::default();
        let (done, parts) = channel();
        let (table, account, waiting) = (Arc::clone(table), Account::current(), Arc::clone(&queue));
        let write = move || {
            let _entered = account.enter();
            write_all(&table, &waiting, &done);
        };
        let thread = thread::Builder::new().name("insert".to_owned());
        Self {
            queue,
            parts,
            num_open: 0,
            thread: thread.spawn(write).ok(),
        }
    }

    /// Has a part be written, unless another one waits.
    pub(super) fn begin(&mut self, place: usize, columns: &[Vec<ArrayRef>]) -> bool {
        let mut state = self.queue.state.lock();
        let has_room = self.thread.is_some() && state.waiting.is_empty();
        if has_room {
            state.waiting.push_back((place, columns.to_vec()));
            self.num_open += 1;
            self.queue.changed.notify_one();
        }
        has_room
    }

    /// A part that it was given and has not begun.
    pub(super) fn take_back(&mut self) -> Option<Rows> {
        let rows = self.queue.state.lock().waiting.pop_front();
        self.num_open -= usize::from(rows.is_some());
        rows
    }

    /// Whether it has a part.
    pub(super) fn is_busy(&self) -> bool {
        self.num_open > 0
    }

    /// The next part that is written; waits for it if `waits`. None if there is none.
    pub(super) fn end(&mut self, waits: bool) -> Option<Part> {
        if !self.is_busy() {
            return None;
        }
        let part = match waits {
            true => self.parts.recv().map_err(|_| TryRecvError::Disconnected),
            false => self.parts.try_recv(),
        };
        if matches!(part, Err(TryRecvError::Disconnected)) {
            // The thread is gone without an answer.
            if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                std::panic::resume_unwind(panic);
            }
        }
        self.num_open -= usize::from(part.is_ok());
        part.ok()
    }
}

/// Writes the parts of a queue.
fn write_all(table: &MergeTree, queue: &Queue, done: &Sender<Part>) {
    let mut memory = SortMemory::default();
    // The other half is for the part that comes next.
    let num_threads = num_threads().div_ceil(2);
    while let Some((place, columns)) = queue.next() {
        let part = write_sorted(table, &columns, (num_threads, &mut memory));
        drop(columns);
        // Whoever does not wait for the part any more takes none: its folder goes with it.
        let _ = done.send((place, part));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // What waits is for nobody; nothing of the table is used behind the end of the insert.
        let mut state = self.queue.state.lock();
        state.waiting.clear();
        state.is_closed = true;
        drop(state);
        self.queue.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
