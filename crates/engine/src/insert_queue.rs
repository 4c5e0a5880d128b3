//! Joins small inserts into one table (`async_insert`): rows that come while others are written wait, and are written
//! together, as one part.
//!
//! An insert into a table that nobody writes is written at once. After several together, the next ones wait until as
//! much time has passed as these would have taken one by one, so that nobody waits longer than without the queue, and
//! a hundred clients do not make a hundred parts.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use arrow::array::RecordBatch;
use basalt_error::{Error, ErrorCode, Result};
use basalt_exec::QueryControl;
use basalt_profile::Account;
use parking_lot::{Condvar, Mutex};

use crate::catalog::Table;
use crate::execution::{CHECK_INTERVAL, panic_error};
use crate::on_disk::TableWriter;

/// Bytes of rows that wait for a table, at most; who brings more waits before.
const MAX_WAITING_BYTES: usize = 1 << 28;

/// The inserts that wait for a table.
#[derive(Debug, Default)]
pub(crate) struct InsertQueue {
    state: Mutex<State>,
    /// Whenever the state is another one.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Entry>,
    /// Bytes of those that wait.
    num_bytes: usize,
    /// Inserts that came, and those that are done.
    num_pushed: u64,
    num_done: u64,
    /// Whether a thread writes them, or is about to.
    is_writing: bool,
    /// Those who wait for the queue to be empty.
    num_flushing: usize,
    last: Option<Written>,
}

/// What was written last.
#[derive(Clone, Copy, Debug)]
struct Written {
    started: Instant,
    took: Duration,
    num_inserts: u32,
}

/// How long rows wait for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// At most, from the first of them.
    pub(crate) longest: Duration,
    /// Whether they wait only while there are several inserts at a time.
    pub(crate) is_adaptive: bool,
    /// So many bytes wait no longer.
    pub(crate) enough_bytes: usize,
}

/// The rows of an insert, as the table stores them.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) table: Arc<Table>,
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) num_bytes: usize,
    /// As of [`TableWriter::new`].
    pub(crate) max_partitions: usize,
    pub(crate) query_id: String,
    /// The statement without its data.
    pub(crate) text: String,
    pub(crate) format: String,
}

#[derive(Debug)]
struct Entry {
    insert: Waiting,
    pace: Pace,
    came: Instant,
    since: SystemTime,
    outcome: Arc<Mutex<Option<Result<()>>>>,
}

/// An insert that waits, as others see it.
pub(crate) struct Listed {
    pub(crate) query_id: String,
    pub(crate) text: String,
    pub(crate) format: String,
    pub(crate) num_bytes: usize,
    pub(crate) since: SystemTime,
}

/// What becomes of an insert.
pub(crate) struct Ticket {
    queue: Arc<InsertQueue>,
    outcome: Arc<Mutex<Option<Result<()>>>>,
}

impl InsertQueue {
    /// Has rows be written soon, maybe by this thread if it waits for them anyway.
    pub(crate) fn push(
        self: &Arc<Self>,
        insert: Waiting,
        (pace, waits): (Pace, bool),
        control: &QueryControl,
    ) -> Result<Ticket> {
        let outcome = Arc::default();
        let mut state = self.state.lock();
        while state.num_bytes >= MAX_WAITING_BYTES {
            self.changed.wait_for(&mut state, CHECK_INTERVAL);
            control.check()?;
        }
        state.num_bytes += insert.num_bytes;
        state.num_pushed += 1;
        state.waiting.push_back(Entry {
            insert,
            pace,
            came: Instant::now(),
            since: SystemTime::now(),
            outcome: Arc::clone(&outcome),
        });
        let is_first = !std::mem::replace(&mut state.is_writing, true);
        drop(state);
        match is_first {
            true => self.begin(waits),
            false => drop(self.changed.notify_all()),
        }
        let queue = Arc::clone(self);
        Ok(Ticket { queue, outcome })
    }

    /// Waits until all that waits now is written; `check` says again and again whether to wait on.
    pub(crate) fn flush(&self, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let mut state = self.state.lock();
        state.num_flushing += 1;
        self.changed.notify_all();
        let last = state.num_pushed;
        let mut checked = Ok(());
        while state.num_done < last && checked.is_ok() {
            self.changed.wait_for(&mut state, CHECK_INTERVAL);
            checked = check();
        }
        state.num_flushing -= 1;
        checked
    }

    /// The inserts that wait.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let state = self.state.lock();
        let listed = state.waiting.iter().map(|entry| Listed {
            query_id: entry.insert.query_id.clone(),
            text: entry.insert.text.clone(),
            format: entry.insert.format.clone(),
            num_bytes: entry.insert.num_bytes,
            since: entry.since,
        });
        listed.collect()
    }

    /// Writes the first rows that wait, or has another thread do it.
    fn begin(self: &Arc<Self>, waits: bool) {
        let mut state = self.state.lock();
        let is_due = state.due().is_some_and(|due| due <= Instant::now());
        if waits && is_due {
            let entries = state.take();
            drop(state);
            self.write(&entries);
            let mut state = self.state.lock();
            state.is_writing = !state.waiting.is_empty();
            if !state.is_writing {
                return;
            }
        } else {
            drop(state);
        }
        let queue = Arc::clone(self);
        let writer = thread::Builder::new().name("async insert".to_owned());
        if writer.spawn(move || queue.write_all()).is_err() {
            // The system has no threads left.
            self.write_all();
        }
    }

    /// Writes until nothing waits.
    fn write_all(&self) {
        while let Some(entries) = self.next() {
            self.write(&entries);
        }
    }

    fn write(&self, entries: &[Entry]) {
        // Rows of several queries are no one's.
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        let started = Instant::now();
        write(entries);
        let mut state = self.state.lock();
        state.num_done += entries.len() as u64;
        state.last = Some(Written {
            started,
            took: started.elapsed(),
            num_inserts: u32::try_from(entries.len()).unwrap_or(u32::MAX),
        });
        drop(state);
        self.changed.notify_all();
    }

    /// The inserts to write next, when it is time; none if none waits.
    fn next(&self) -> Option<Vec<Entry>> {
        let mut state = self.state.lock();
        while let Some(due) = state.due() {
            if due <= Instant::now() {
                return Some(state.take());
            }
            self.changed.wait_until(&mut state, due);
        }
        state.is_writing = false;
        self.changed.notify_all();
        None
    }
}

impl State {
    /// When those that wait are to be written; none if none does.
    fn due(&self) -> Option<Instant> {
        let first = self.waiting.front()?;
        let due = |entry: &Entry| {
            let latest = entry.came + entry.pace.longest;
            let is_enough = self.num_bytes >= entry.pace.enough_bytes.min(MAX_WAITING_BYTES);
            match self.last {
                _ if self.num_flushing > 0 || is_enough => first.came,
                _ if !entry.pace.is_adaptive => latest,
                None => entry.came,
                Some(last) => latest.min(last.started + last.took * last.num_inserts.min(1 << 16)),
            }
        };
        self.waiting.iter().map(due).min()
    }

    /// Takes those of the first one's table out, as it is defined now.
    fn take(&mut self) -> Vec<Entry> {
        let first = self.waiting.front().map(|e| Arc::clone(&e.insert.table));
        let is_same = |entry: &&Entry| {
            first
                .as_ref()
                .is_some_and(|t| Arc::ptr_eq(t, &entry.insert.table))
        };
        let num = self.waiting.iter().take_while(is_same).count();
        let taken: Vec<Entry> = self.waiting.drain(..num).collect();
        self.num_bytes -= taken.iter().map(|e| e.insert.num_bytes).sum::<usize>();
        taken
    }
}

/// Writes inserts together. If rows of one cannot be written whatever the disk does, each is written alone, for it may
/// not take the others with it; behind any other error nobody knows what is there.
fn write(entries: &[Entry]) {
    let together = insert(entries);
    let is_of_rows = |e: &Error| OF_ROWS.contains(&e.code());
    if entries.len() > 1 && together.as_ref().is_err_and(is_of_rows) {
        for entry in entries {
            entry.end(insert(std::slice::from_ref(entry)));
        }
        return;
    }
    entries.iter().for_each(|entry| entry.end(together.clone()));
}

/// Errors that come before anything is kept.
const OF_ROWS: [ErrorCode; 3] = [
    ErrorCode::TOO_MANY_PARTS,
    ErrorCode::INVALID_PARTITION_VALUE,
    ErrorCode::TOO_LARGE_STRING_SIZE,
];

fn insert(entries: &[Entry]) -> Result<()> {
    let Some(first) = entries.first() else {
        return Ok(());
    };
    let write = AssertUnwindSafe(|| {
        let table = first.insert.table.on_disk();
        let table = table.ok_or_else(|| Error::bug("rows wait for a table without files"))?;
        let limits = entries.iter().map(|entry| entry.insert.max_partitions);
        // The strictest: who has another one is written alone if that is too few.
        let max_partitions = limits.filter(|limit| *limit > 0).min().unwrap_or(0);
        let mut writer = TableWriter::new(table, max_partitions, &|| Ok(()))?;
        let batches = entries.iter().flat_map(|entry| &entry.insert.batches);
        batches.cloned().try_for_each(|batch| writer.push(batch))?;
        writer.finish()
    });
    catch_unwind(write).unwrap_or_else(|panic| Err(panic_error(panic.as_ref())))
}

impl Entry {
    fn end(&self, result: Result<()>) {
        *self.outcome.lock() = Some(result);
    }
}

impl Ticket {
    /// Waits until the rows are written.
    ///
    /// # Errors
    /// Why they were not; `TIMEOUT_EXCEEDED`, and what ends the query: then they may be written all the same.
    pub(crate) fn wait(self, timeout: Duration, control: &QueryControl) -> Result<()> {
        let started = Instant::now();
        let mut state = self.queue.state.lock();
        loop {
            if let Some(result) = self.outcome.lock().take() {
                return result;
            }
            control.check_end()?;
            if started.elapsed() > timeout {
                let milliseconds = timeout.as_millis();
                return Err(Error::new(
                    ErrorCode::TIMEOUT_EXCEEDED,
                    format!("Wait for async insert timeout ({milliseconds} ms) exceeded"),
                ));
            }
            self.queue.changed.wait_for(&mut state, CHECK_INTERVAL);
        }
    }
}
