//! Knows the merges of a table that are running, and whether there may be any.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::merge_tree::part::Part;

/// A merge that is running.
#[derive(Debug)]
pub struct Progress {
    started: Instant,
    /// The parts that are merged.
    pub sources: Vec<Arc<Part>>,
    /// What the part will be called that they become.
    pub result: String,
    /// The folder that it will have.
    pub folder: PathBuf,
    /// Whether it is a change of rows instead of a merge.
    pub is_mutation: bool,
    rows_read: AtomicU64,
    rows_written: AtomicU64,
}

impl Progress {
    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Rows that it has read, and those that it has written.
    pub fn rows(&self) -> (u64, u64) {
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        (load(&self.rows_read), load(&self.rows_written))
    }

    /// Rows that it has to read.
    pub fn total_rows(&self) -> u64 {
        let rows = self.sources.iter().map(|p| p.metadata().num_rows() as u64);
        rows.sum()
    }

    pub(in crate::merge_tree) fn count(&self, read: u64, written: u64) {
        self.rows_read.store(read, Ordering::Relaxed);
        self.rows_written.store(written, Ordering::Relaxed);
    }
}

/// The merges of a table.
#[derive(Debug, Default)]
pub(in crate::merge_tree) struct Merges {
    running: Mutex<Vec<Arc<Progress>>>,
    is_stopped: AtomicBool,
    /// Set when the process ends: it does not wait for merges.
    ends: AtomicBool,
}

/// A merge as long as it is running.
pub(in crate::merge_tree) struct Running<'a> {
    merges: &'a Merges,
    progress: Arc<Progress>,
}

impl std::ops::Deref for Running<'_> {
    type Target = Progress;

    fn deref(&self) -> &Progress {
        &self.progress
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut running = self.merges.running.lock();
        running.retain(|p| !Arc::ptr_eq(p, &self.progress));
    }
}

impl Merges {
    pub(in crate::merge_tree) fn start(
        &self,
        parts: &[Arc<Part>],
        result: &str,
        table: &Path,
    ) -> Running<'_> {
        self.listed(parts, result, table, false)
    }

    pub(in crate::merge_tree) fn listed(
        &self,
        parts: &[Arc<Part>],
        result: &str,
        table: &Path,
        is_mutation: bool,
    ) -> Running<'_> {
        let progress = Arc::new(Progress {
            started: Instant::now(),
            sources: parts.to_vec(),
            result: result.to_owned(),
            folder: table.join(result),
            is_mutation,
            rows_read: AtomicU64::new(0),
            rows_written: AtomicU64::new(0),
        });
        self.running.lock().push(Arc::clone(&progress));
        Running {
            merges: self,
            progress,
        }
    }

    pub(in crate::merge_tree) fn running(&self) -> Vec<Arc<Progress>> {
        self.running.lock().clone()
    }

    pub(in crate::merge_tree) fn stop(&self, is_stopped: bool) {
        self.is_stopped.store(is_stopped, Ordering::SeqCst);
    }

    /// Ends what is running, for good.
    pub(in crate::merge_tree) fn end(&self) {
        self.ends.store(true, Ordering::SeqCst);
    }

    pub(in crate::merge_tree) fn are_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst) || self.ends.load(Ordering::SeqCst)
    }
}
