//! Counts what a running query reads and ends it when it is cancelled or takes too long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use basalt_error::{Error, ErrorCode, Result};

/// Shared by all threads of one query.
#[derive(Debug)]
pub struct QueryControl {
    started: Instant,
    deadline: Option<Duration>,
    cancelled: AtomicBool,
    rows_read: AtomicU64,
    bytes_read: AtomicU64,
    rows_to_read: AtomicU64,
    peak_memory_bytes: AtomicU64,
    keep_order: AtomicBool,
}

impl QueryControl {
    /// Starts the clock of a query.
    pub fn new(deadline: Option<Duration>) -> Self {
        Self {
            started: Instant::now(),
            deadline,
            cancelled: AtomicBool::new(false),
            rows_read: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            rows_to_read: AtomicU64::new(0),
            peak_memory_bytes: AtomicU64::new(0),
            keep_order: AtomicBool::new(false),
        }
    }

    /// Makes the query end with `QUERY_WAS_CANCELLED` at its next batch.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether [`QueryControl::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Says that rows which no operator reorders must come out in the order of the source.
    pub fn set_keep_order(&self, keep_order: bool) {
        self.keep_order.store(keep_order, Ordering::Relaxed);
    }

    /// Whether rows that no operator reorders must come out in the order of the source.
    pub fn keeps_order(&self) -> bool {
        self.keep_order.load(Ordering::Relaxed)
    }

    /// Counts what the query's operators have reserved at some time.
    pub fn count_memory(&self, reserved_bytes: usize) {
        let reserved_bytes = reserved_bytes as u64;
        self.peak_memory_bytes
            .fetch_max(reserved_bytes, Ordering::Relaxed);
    }

    /// The most that the query's operators have reserved at once.
    pub fn peak_memory_bytes(&self) -> u64 {
        self.peak_memory_bytes.load(Ordering::Relaxed)
    }

    /// Time since the query started.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Rows read so far.
    pub fn rows_read(&self) -> u64 {
        self.rows_read.load(Ordering::Relaxed)
    }

    /// Bytes of the rows read so far, as they lie in memory.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Rows that the sources will give in all, as far as they know.
    pub fn rows_to_read(&self) -> u64 {
        self.rows_to_read.load(Ordering::Relaxed)
    }

    /// Adds what a source expects to give.
    pub fn expect_rows(&self, num_rows: u64) {
        self.rows_to_read.fetch_add(num_rows, Ordering::Relaxed);
    }

    /// Counts a batch that a source gave.
    pub fn count(&self, num_rows: usize, size_bytes: usize) {
        self.rows_read.fetch_add(num_rows as u64, Ordering::Relaxed);
        self.bytes_read
            .fetch_add(size_bytes as u64, Ordering::Relaxed);
    }

    /// Checks whether the query may go on.
    ///
    /// # Errors
    /// `QUERY_WAS_CANCELLED`, `TIMEOUT_EXCEEDED`.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(Error::new(
                ErrorCode::QUERY_WAS_CANCELLED,
                "Query was cancelled",
            ));
        }
        match self.deadline {
            Some(deadline) if self.started.elapsed() > deadline => Err(Error::new(
                ErrorCode::TIMEOUT_EXCEEDED,
                format!(
                    "Raise max_execution_time or read less: elapsed {:.3} s, maximum {:.3} s",
                    self.started.elapsed().as_secs_f64(),
                    deadline.as_secs_f64()
                ),
            )),
            _ => Ok(()),
        }
    }
}
