//! Merges parts in the background: one thread for all tables of a process, when there is something to do.

use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use basalt_error::ErrorCode;
use parking_lot::{Condvar, Mutex};

use super::table::MergeTree;

/// How often the thread looks at the tables again: parts grow old, and files of merged ones go.
const INTERVAL: Duration = Duration::from_secs(10);

/// The thread and its tables.
#[derive(Debug, Default)]
pub struct BackgroundMerges {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    tables: Vec<Weak<MergeTree>>,
    /// Whether something was inserted since the thread looked.
    is_woken: bool,
    ends: bool,
}

impl BackgroundMerges {
    /// Has the thread look at a table, now and then from now on.
    pub fn wake(&self, table: &Arc<MergeTree>) {
        let mut state = self.shared.state.lock();
        let known = Arc::downgrade(table);
        if !state.tables.iter().any(|t| t.ptr_eq(&known)) {
            state.tables.push(known);
        }
        state.is_woken = true;
        self.shared.changed.notify_one();
        drop(state);
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let spawned = thread::Builder::new().name("merges".to_owned());
            // Without a thread inserts merge when there are many parts.
            *thread = spawned.spawn(move || shared.run()).ok();
        }
    }
}

impl Drop for BackgroundMerges {
    fn drop(&mut self) {
        let tables = {
            let mut state = self.shared.state.lock();
            state.ends = true;
            self.shared.changed.notify_one();
            state.tables.clone()
        };
        for table in tables.iter().filter_map(Weak::upgrade) {
            table.end_merges();
        }
        if let Some(thread) = self.thread.get_mut().take()
            && thread.thread().id() != thread::current().id()
        {
            // A panic of the thread has been told on standard error.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let tables = {
                let mut state = self.state.lock();
                if !state.is_woken && !state.ends {
                    self.changed.wait_for(&mut state, INTERVAL);
                }
                if state.ends {
                    return;
                }
                state.is_woken = false;
                state.tables.retain(|table| table.strong_count() > 0);
                state.tables.clone()
            };
            for table in tables {
                self.merge(&table);
            }
        }
    }

    /// Merges a table's parts as long as it is worth it.
    fn merge(&self, table: &Weak<MergeTree>) {
        loop {
            let Some(table) = table.upgrade() else {
                return;
            };
            if self.state.lock().ends || table.merges_are_stopped() {
                return;
            }
            table.remove_old_parts();
            match table.merge_some() {
                Ok(true) => {}
                Ok(false) => return,
                Err(e) => {
                    if e.code() != ErrorCode::ABORTED {
                        table.keep_merge_error(e);
                    }
                    return;
                }
            }
        }
    }
}
