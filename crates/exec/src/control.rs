//! Counts what a running query reads and ends it when it is cancelled or takes too long.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::Account;

use crate::speed_limits::{Read, SpeedLimits};

/// What a query may read from tables on disk, and from sources that know beforehand how much they give: `numbers` and
/// the like.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadLimits {
    /// `max_rows_to_read`; 0 is no limit.
    pub max_rows: u64,
    /// `max_bytes_to_read`; 0 is no limit.
    pub max_bytes: u64,
    /// Whether reading ends at these limits, instead of in an error.
    pub breaks: bool,
    /// `max_rows_to_read_leaf`; 0 is no limit.
    pub max_leaf_rows: u64,
    /// `max_bytes_to_read_leaf`, likewise.
    pub max_leaf_bytes: u64,
    /// Whether reading ends at the limits of a leaf.
    pub leaf_breaks: bool,
    /// Rows of a block: reading ends only between blocks.
    pub block_rows: u64,
}

impl ReadLimits {
    /// The rows of `num_rows`, of `row_bytes` each, that may be read.
    ///
    /// # Errors
    /// `TOO_MANY_ROWS`, `TOO_MANY_BYTES`.
    pub fn allowed(&self, num_rows: u64, row_bytes: u64) -> Result<u64> {
        self.check(num_rows, num_rows.saturating_mul(row_bytes))?;
        let of_query = self.whole_blocks(self.max_rows, self.max_bytes, row_bytes);
        let of_leaf = self.whole_blocks(self.max_leaf_rows, self.max_leaf_bytes, row_bytes);
        Ok(num_rows.min(of_query).min(of_leaf))
    }

    fn check(&self, num_rows: u64, num_bytes: u64) -> Result<()> {
        if !self.breaks {
            check_rows("max_rows_to_read", num_rows, self.max_rows)?;
            check_bytes("max_bytes_to_read", num_bytes, self.max_bytes)?;
        }
        if !self.leaf_breaks {
            check_rows("max_rows_to_read_leaf", num_rows, self.max_leaf_rows)?;
            check_bytes("max_bytes_to_read_leaf", num_bytes, self.max_leaf_bytes)?;
        }
        Ok(())
    }

    /// Whether reading goes on, at so many rows and bytes.
    fn goes_on(&self, num_rows: u64, num_bytes: u64) -> bool {
        let is_below = |breaks: bool, max: u64, num: u64| !breaks || max == 0 || num < max;
        is_below(self.breaks, self.max_rows, num_rows)
            && is_below(self.breaks, self.max_bytes, num_bytes)
            && is_below(self.leaf_breaks, self.max_leaf_rows, num_rows)
            && is_below(self.leaf_breaks, self.max_leaf_bytes, num_bytes)
    }

    /// The rows of the blocks up to the one that reaches a limit.
    fn whole_blocks(&self, max_rows: u64, max_bytes: u64, row_bytes: u64) -> u64 {
        let block = self.block_rows.max(1);
        let of_bytes = max_bytes.div_ceil(row_bytes.max(1));
        let limits = [max_rows, of_bytes].into_iter().filter(|rows| *rows > 0);
        let least = limits.min().unwrap_or(u64::MAX);
        least.div_ceil(block).saturating_mul(block)
    }
}

fn check_rows(setting: &str, wanted: u64, limit: u64) -> Result<()> {
    check_read(ErrorCode::TOO_MANY_ROWS, setting, wanted, limit)
}

fn check_bytes(setting: &str, wanted: u64, limit: u64) -> Result<()> {
    check_read(ErrorCode::TOO_MANY_BYTES, setting, wanted, limit)
}

fn check_read(code: ErrorCode, setting: &str, wanted: u64, limit: u64) -> Result<()> {
    if limit == 0 || wanted <= limit {
        return Ok(());
    }
    let text =
        format!("Raise {setting} or read fewer rows: {wanted} are to be read, allowed are {limit}");
    Err(Error::new(code, text))
}

/// How long a query that reads too fast does not look whether it ends.
const WAITING_INTERVAL: Duration = Duration::from_millis(20);

/// Shared by all threads of one query.
#[derive(Debug)]
pub struct QueryControl {
    started: Instant,
    deadline: Option<Duration>,
    /// Whether the query ends at the deadline with what it has, instead of in an error.
    breaks_at_deadline: bool,
    cancelled: AtomicBool,
    rows_read: AtomicU64,
    bytes_read: AtomicU64,
    rows_to_read: AtomicU64,
    limited_rows: AtomicU64,
    limited_bytes: AtomicU64,
    peak_memory_bytes: AtomicU64,
    keep_order: AtomicBool,
    read_limits: ReadLimits,
    speed_limits: Option<SpeedLimits>,
    account: Account,
}

impl QueryControl {
    /// Starts the clock of a query.
    pub fn new(deadline: Option<Duration>) -> Self {
        Self {
            started: Instant::now(),
            deadline,
            breaks_at_deadline: false,
            cancelled: AtomicBool::new(false),
            rows_read: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            rows_to_read: AtomicU64::new(0),
            limited_rows: AtomicU64::new(0),
            limited_bytes: AtomicU64::new(0),
            peak_memory_bytes: AtomicU64::new(0),
            keep_order: AtomicBool::new(false),
            read_limits: ReadLimits::default(),
            speed_limits: None,
            account: Account::nobody(),
        }
    }

    /// The same, which ends at its deadline with what it has.
    pub fn breaking_at_deadline(self, breaks_at_deadline: bool) -> Self {
        Self {
            breaks_at_deadline,
            ..self
        }
    }

    /// Whether the query is to end now with what it has.
    pub fn is_over(&self) -> bool {
        self.breaks_at_deadline && self.is_late()
    }

    fn is_late(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| self.started.elapsed() > deadline)
    }

    /// The same with limits of what may be read.
    pub fn with_read_limits(self, read_limits: ReadLimits) -> Self {
        Self {
            read_limits,
            ..self
        }
    }

    /// The same with limits of how slowly and how fast it may read.
    pub fn with_speed_limits(self, speed_limits: Option<SpeedLimits>) -> Self {
        Self {
            speed_limits,
            ..self
        }
    }

    /// The same with a limit of the memory that it may hold in all; 0 is none.
    ///
    /// Operators reserve what they keep up to the limit itself, and go on in files where they can. This is
    /// for what none of them knows of.
    pub fn with_memory_limit(self, max_bytes: u64) -> Self {
        if max_bytes == 0 {
            return self;
        }
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        Self {
            account: Account::limited(max_bytes),
            ..self
        }
    }

    /// Where the memory counts that threads take for the query.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// What the query may read.
    pub fn read_limits(&self) -> &ReadLimits {
        &self.read_limits
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

    /// Counts rows of a table on disk that are about to be read; whether they may be.
    ///
    /// # Errors
    /// `TOO_MANY_ROWS`, `TOO_MANY_BYTES`.
    pub(crate) fn may_read(&self, num_rows: u64) -> Result<bool> {
        let before = self.limited_rows.fetch_add(num_rows, Ordering::Relaxed);
        let num_bytes = self.limited_bytes.load(Ordering::Relaxed);
        self.read_limits.check(before + num_rows, num_bytes)?;
        Ok(self.read_limits.goes_on(before, num_bytes))
    }

    /// Counts bytes that were read from a table on disk.
    ///
    /// # Errors
    /// `TOO_MANY_BYTES`.
    pub(crate) fn count_limited(&self, num_bytes: u64) -> Result<()> {
        let before = self.limited_bytes.fetch_add(num_bytes, Ordering::Relaxed);
        self.read_limits.check(0, before + num_bytes)
    }

    /// Waits if the query reads faster than it may.
    pub(crate) fn slow_down(&self) {
        if let Some(limits) = &self.speed_limits {
            self.wait(limits.pause(self.read()));
        }
    }

    /// Waits, unless the query ends.
    fn wait(&self, duration: Duration) {
        let started = Instant::now();
        loop {
            let left = duration.saturating_sub(started.elapsed());
            if left.is_zero() || self.is_cancelled() || self.is_late() {
                return;
            }
            std::thread::sleep(left.min(WAITING_INTERVAL));
        }
    }

    /// What was read so far.
    fn read(&self) -> Read {
        Read {
            elapsed: self.elapsed(),
            num_rows: self.rows_read(),
            num_bytes: self.bytes_read(),
            rows_to_read: self.rows_to_read(),
        }
    }

    /// Whether the query holds so much that operators should go on in files.
    pub fn is_short_of_memory(&self) -> bool {
        self.account.is_short()
    }

    /// Checks whether the query may go on.
    ///
    /// # Errors
    /// `QUERY_WAS_CANCELLED`, `TIMEOUT_EXCEEDED`, `TOO_SLOW`, `MEMORY_LIMIT_EXCEEDED`.
    pub fn check(&self) -> Result<()> {
        self.check_end()?;
        self.account.check_limit()
    }

    /// Checks whether the query may go on, however much it holds: for those who are about to write it to
    /// files.
    ///
    /// # Errors
    /// `QUERY_WAS_CANCELLED`, `TIMEOUT_EXCEEDED`, `TOO_SLOW`.
    pub fn check_end(&self) -> Result<()> {
        if let Some(limits) = &self.speed_limits
            && !self.is_over()
        {
            limits.check(self.read())?;
        }
        if self.is_cancelled() {
            return Err(Error::new(
                ErrorCode::QUERY_WAS_CANCELLED,
                "Query was cancelled",
            ));
        }
        match self.deadline {
            Some(deadline) if self.is_late() && !self.breaks_at_deadline => Err(Error::new(
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
