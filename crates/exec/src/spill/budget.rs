//! Counts the memory that the tasks of an operator hold together.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use basalt_analyzer::into_plan_error;
use basalt_profile::room_bytes;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};

use super::SpillFile;
use crate::QueryControl;
use crate::report::figures;
use crate::temporary::TemporaryFiles;

/// The metric that counts files.
const FILES: &str = "spilled_files";

/// Budget of a merge at least, if the query has as much: with less of it runs are merged again and again.
const LEAST_MERGE_BYTES: usize = 64 << 20;

/// The part of its due that a task writes at least where others have taken the memory: of smaller ones
/// there would be too many.
const LEAST_PART: usize = 4;

/// What went to files, if something did.
pub(crate) fn spilled(metrics: &MetricsSet) -> Option<(&'static str, String)> {
    let bytes = metrics.spilled_bytes().filter(|bytes| *bytes > 0)?;
    let files = metrics
        .sum_by_name(FILES)
        .map_or(0, |files| files.as_usize());
    let files = figures::counted(files as u64, "file");
    let blocks = figures::counted(metrics.spill_count().unwrap_or(0) as u64, "block");
    let bytes = figures::bytes(bytes as u64);
    Some(("Spilled", format!("{files}, {blocks}, {bytes}")))
}

/// The memory of all tasks of an operator, and where they write what is too much.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Bytes from which on what is held goes to files; `None` if it never does.
    max_bytes: Option<usize>,
    num_tasks: usize,
    held_bytes: AtomicUsize,
    files: Arc<TemporaryFiles>,
    /// Whether the query may go on: going through files takes long.
    control: Option<Arc<QueryControl>>,
    /// Files made.
    file_count: Count,
    /// Partitions written.
    spill_count: Count,
    /// Bytes written.
    spilled_bytes: Count,
}

impl Budget {
    /// A budget of `max_bytes` for so many tasks.
    pub(crate) fn new(
        max_bytes: Option<usize>,
        num_tasks: usize,
        context: &TaskContext,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Arc<Self> {
        let files = context.session_config().get_extension::<TemporaryFiles>();
        Arc::new(Self {
            max_bytes,
            num_tasks: num_tasks.max(1),
            held_bytes: AtomicUsize::new(0),
            files: files.unwrap_or_default(),
            control: context.session_config().get_extension::<QueryControl>(),
            file_count: MetricBuilder::new(metrics).global_counter(FILES),
            spill_count: MetricBuilder::new(metrics).spill_count(0),
            spilled_bytes: MetricBuilder::new(metrics).spilled_bytes(0),
        })
    }

    /// An empty file, which counts.
    pub(crate) fn create_file(&self) -> Result<SpillFile> {
        self.file_count.add(1);
        SpillFile::create(&self.files)
    }

    /// Counts a block that was written to a file, at `place`.
    ///
    /// # Errors
    /// Why the query ends, if it does not go on.
    pub(crate) fn count_block(&self, place: &Range<u64>) -> Result<()> {
        self.spill_count.add(1);
        self.spilled_bytes.add((place.end - place.start) as usize);
        self.check()
    }

    /// Bytes that tasks may take to merge what is in files, once they hold nothing else.
    pub(crate) fn merge_bytes(&self) -> usize {
        let max_bytes = self.max_bytes.unwrap_or(usize::MAX);
        // Some of it is for batches on their way, and for what was freed and not given back.
        max_bytes.max(LEAST_MERGE_BYTES).min(room_bytes()) / 2
    }

    /// Checks whether the query may go on, which writes to files what is too much.
    ///
    /// # Errors
    /// Why it ends.
    pub(crate) fn check(&self) -> Result<()> {
        let control = self.control.as_ref();
        control.map_or(Ok(()), |c| c.check_end().map_err(into_plan_error))
    }

    /// Whether the whole query holds too much, whoever it is that does.
    fn is_short_of_memory(&self) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|c| c.is_short_of_memory())
    }

    /// The least that a task writes of a budget of `max_bytes`.
    fn least_part(&self, max_bytes: usize) -> usize {
        max_bytes / self.num_tasks / LEAST_PART
    }

    /// The part of a task that holds nothing yet.
    pub(crate) fn share(self: &Arc<Self>, memory: MemoryReservation) -> Share {
        Share {
            budget: Arc::clone(self),
            memory,
            held_bytes: 0,
        }
    }
}

/// What one task holds of a budget.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<Budget>,
    memory: MemoryReservation,
    held_bytes: usize,
}

impl Share {
    /// Holds `num_bytes` from now on; true if they should go to a file first.
    pub(crate) fn hold(&mut self, num_bytes: usize) -> Result<bool> {
        self.budget.check()?;
        let all = self.set(num_bytes);
        let Some(max_bytes) = self.budget.max_bytes else {
            self.memory.try_resize(num_bytes)?;
            return Ok(false);
        };
        // Of tasks that hold too much together, one at least holds this much.
        let is_worth_it = num_bytes > max_bytes / self.budget.num_tasks;
        // Batches on their way and rows that are being sorted are in no budget.
        let is_much = num_bytes > self.budget.least_part(max_bytes);
        let is_too_much = (all > max_bytes && is_worth_it)
            || (is_much && self.budget.is_short_of_memory())
            || self.memory.try_resize(num_bytes).is_err();
        Ok(is_too_much)
    }

    /// Bytes that this task may take besides what it holds, if all others take as many; without end if nothing
    /// ever goes to files.
    pub(crate) fn room_bytes(&self) -> usize {
        match self.budget.max_bytes {
            None => usize::MAX,
            Some(_) => room_bytes() / self.budget.num_tasks,
        }
    }

    /// Bytes of the budget that are this task's if all hold as many; without end if nothing ever goes to files.
    pub(crate) fn due_bytes(&self) -> usize {
        let max_bytes = self.budget.max_bytes;
        max_bytes.map_or(usize::MAX, |max_bytes| max_bytes / self.budget.num_tasks)
    }

    /// Whether what is held should go to a file before its arrays double: for a while there are the old ones
    /// besides the new.
    pub(crate) fn is_too_much_to_grow(&self) -> bool {
        self.lacks_room_for_times(2)
    }

    /// Whether what is held is much, and there is no room for so many times as much besides it.
    pub(crate) fn lacks_room_for_times(&self, times: usize) -> bool {
        let Some(max_bytes) = self.budget.max_bytes else {
            return false;
        };
        let is_much = self.held_bytes > self.budget.least_part(max_bytes);
        is_much && times * self.held_bytes > self.room_bytes()
    }

    /// Holds `num_bytes` more from now on; true if all should go to a file first.
    pub(crate) fn grow(&mut self, num_bytes: usize) -> Result<bool> {
        self.hold(self.held_bytes + num_bytes)
    }

    /// Holds `num_bytes` more from now on, whatever the budget.
    pub(crate) fn keep_more(&mut self, num_bytes: usize) -> Result<()> {
        self.keep(self.held_bytes + num_bytes)
    }

    /// Holds `num_bytes` more from now on if the pool has as much; true if so.
    pub(crate) fn try_keep_more(&mut self, num_bytes: usize) -> bool {
        let before = self.held_bytes;
        let is_held = self.keep_more(num_bytes).is_ok();
        if !is_held {
            self.set(before);
        }
        is_held
    }

    /// Holds `num_bytes` from now on, whatever the budget.
    pub(crate) fn keep(&mut self, num_bytes: usize) -> Result<()> {
        self.budget.check()?;
        self.set(num_bytes);
        self.memory.try_resize(num_bytes)
    }

    /// Whether there is a limit beyond which what is held goes to files.
    pub(crate) fn may_be_full(&self) -> bool {
        self.budget.max_bytes.is_some()
    }

    /// Holds `num_bytes` less from now on.
    pub(crate) fn let_go(&mut self, num_bytes: usize) -> Result<()> {
        self.keep(self.held_bytes.saturating_sub(num_bytes))
    }

    /// Tells the budget; gives what all tasks hold.
    fn set(&mut self, num_bytes: usize) -> usize {
        let all = &self.budget.held_bytes;
        all.fetch_add(num_bytes, Ordering::Relaxed);
        let before = all.fetch_sub(self.held_bytes, Ordering::Relaxed);
        let now = before - self.held_bytes;
        self.held_bytes = num_bytes;
        now
    }

    /// A share of the same budget that holds nothing.
    pub(crate) fn new_empty(&self) -> Self {
        self.budget.share(self.memory.new_empty())
    }

    /// Memory of the same consumer, outside of the budget.
    pub(crate) fn new_memory(&self) -> MemoryReservation {
        self.memory.new_empty()
    }

    /// The memory alone; the budget no longer counts it.
    pub(crate) fn into_memory(mut self) -> MemoryReservation {
        self.memory.take()
    }

    /// The budget.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.set(0);
    }
}
