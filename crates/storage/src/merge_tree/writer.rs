//! Writes parts of an insert while the next rows come in, and while the insert's own thread writes another.
//!
//! One thread, for as long as the insert: a thread for each part would take its memory from the system anew. Two parts
//! wait for it at most, so that it has the next when it is done while the other thread is in the middle of one, however
//! much longer that takes; at the end the other thread takes back what has not been begun.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_profile::Account;
use parking_lot::{Condvar, Mutex};

use super::encode::memory_bytes;
use super::insert::write_sorted;
use super::packed_order::SortMemory;
use super::table::MergeTree;
use super::write::num_threads;
use super::written::Written;

/// Rows that become a part.
#[derive(Debug)]
pub(super) struct Rows {
    /// The part's place among those of the insert.
    pub(super) place: usize,
    pub(super) columns: Vec<Vec<ArrayRef>>,
    /// About the memory that they take.
    pub(super) bytes: usize,
}

impl Rows {
    pub(super) fn new(place: usize, columns: Vec<Vec<ArrayRef>>) -> Self {
        Self {
            place,
            bytes: columns.iter().flatten().map(memory_bytes).sum(),
            columns,
        }
    }

    pub(super) fn num_rows(&self) -> usize {
        let first = self.columns.first().into_iter().flatten();
        first.map(|piece| piece.len()).sum()
    }
}

/// A part that was written, or why it was not.
type Part = (usize, Result<Written>);

/// Parts of more memory are written by all threads together, one after the other; two wait if they have no more.
pub(super) const MAX_WAITING_BYTES: usize = 1 << 28;

/// Parts that wait at most.
const MAX_WAITING: usize = 2;

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

impl State {
    /// Whether rows of so much memory may wait behind those that do.
    fn has_room(&self, bytes: usize) -> bool {
        let waiting = self.waiting.iter().map(|rows| rows.bytes);
        let is_little = waiting.sum::<usize>() + bytes <= MAX_WAITING_BYTES;
        self.waiting.is_empty() || is_little && self.waiting.len() < MAX_WAITING
    }
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

    /// Has a part be written; gives it back if others wait already.
    pub(super) fn begin(&mut self, rows: Rows) -> Option<Rows> {
        let mut state = self.queue.state.lock();
        if self.thread.is_none() || !state.has_room(rows.bytes) {
            return Some(rows);
        }
        state.waiting.push_back(rows);
        self.num_open += 1;
        self.queue.changed.notify_one();
        None
    }

    /// The parts that it was given and has not begun.
    pub(super) fn take_back(&mut self) -> Vec<Rows> {
        let waiting = std::mem::take(&mut self.queue.state.lock().waiting);
        self.num_open -= waiting.len();
        waiting.into()
    }

    /// Has parts be written by whoever takes the next one first: it, or the insert's own thread.
    pub(super) fn share(&mut self, parts: Vec<Rows>) {
        self.num_open += parts.len();
        self.queue.state.lock().waiting.extend(parts);
        self.queue.changed.notify_one();
    }

    /// The next part that it was given and has not begun.
    pub(super) fn take_next(&mut self) -> Option<Rows> {
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
    while let Some(rows) = queue.next() {
        let part = write_sorted(table, &rows.columns, (num_threads, &mut memory));
        drop(rows.columns);
        // Whoever does not wait for the part any more takes none: its folder goes with it.
        let _ = done.send((rows.place, part));
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
