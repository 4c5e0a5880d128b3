//! Groups frequent keys in small tables of each task, and all others in one shared by all tasks.
//!
//! The shared table is many small ones, each with a lock that is only ever tried: whoever finds it
//! taken keeps the rows. `local_shared` puts them into the own table; `local_buffered_shared` lets
//! them wait until the lock is free, so that whoever gets it adds many rows at once, which is the
//! idea of flat combining.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use arrow::array::RecordBatch;
use basalt_hashtable::partition;
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::{Job, Work};
use crate::group_by::group_set::{GroupSet, SplitGroups};
use crate::group_by::key_form::KeyForm;
use crate::group_by::merged::{Emit, GroupsOf, Merged, consume_all, join_in_order, merge_spilled};
use crate::group_by::observed::in_tables;
use crate::group_by::rows::SplitRows;
use crate::group_by::spill::{Share, Spiller};

/// Rows for one part of the shared table that are worth trying its lock.
const MIN_BUFFERED_ROWS: usize = 64;

/// Batches that may wait before all of their rows must find a place.
const MAX_BUFFERED_BATCHES: usize = 16;

/// Most memory of a shared table without groups.
const MAX_EMPTY_BYTES: usize = 4 << 20;

/// The table that all tasks share.
struct Shared<F: KeyForm> {
    /// Bits of the hash that choose a part.
    bits: u32,
    parts: Vec<Mutex<GroupSet<F>>>,
    size_bytes: AtomicUsize,
    num_tasks: usize,
}

impl<F: KeyForm> Shared<F> {
    fn new(work: &Work<F>, bits: u32, num_tasks: usize) -> Self {
        let part = || Mutex::new(GroupSet::new(work.form.table(), &work.grouping));
        Self {
            bits,
            parts: std::iter::repeat_with(part).take(1 << bits).collect(),
            size_bytes: AtomicUsize::new(0),
            num_tasks: num_tasks.max(1),
        }
    }

    /// Calls `add` with a part unless another task has it; whether it did.
    fn try_add(
        &self,
        part: usize,
        add: impl FnOnce(&mut GroupSet<F>) -> Result<()>,
    ) -> Result<bool> {
        let mut groups = match self.parts[part].try_lock() {
            Ok(groups) => groups,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        let before = groups.size_bytes();
        let added = add(&mut groups);
        self.size_bytes
            .fetch_add(groups.size_bytes(), Ordering::Relaxed);
        self.size_bytes.fetch_sub(before, Ordering::Relaxed);
        added.map(|()| true)
    }

    /// The part of its memory that one task answers for.
    fn size_bytes_each(&self) -> usize {
        self.size_bytes.load(Ordering::Relaxed) / self.num_tasks
    }
}

/// Rows that wait for their part of the shared table.
struct Buffer<F: KeyForm> {
    batches: Vec<SplitRows<F>>,
    /// The first batch whose rows of a part still wait.
    first: Vec<usize>,
    /// Rows of a part that wait.
    num_rows: Vec<usize>,
}

impl<F: KeyForm> Buffer<F> {
    /// No rows yet, for so many parts.
    fn new(num_parts: usize) -> Self {
        Self {
            batches: Vec::new(),
            first: vec![0; num_parts],
            num_rows: vec![0; num_parts],
        }
    }

    fn push(&mut self, rows: SplitRows<F>) {
        for (part, num_rows) in self.num_rows.iter_mut().enumerate() {
            *num_rows += rows.range(part).len();
        }
        self.batches.push(rows);
    }

    /// Adds all rows of a part that wait.
    fn drain_into(&self, part: usize, groups: &mut GroupSet<F>) -> Result<()> {
        self.batches[self.first[part]..]
            .iter()
            .try_for_each(|batch| batch.push_into(part, groups))
    }

    /// Adds the rows of parts of which at least `min_rows` wait and whose lock is free.
    fn flush(&mut self, shared: &Shared<F>, min_rows: usize) -> Result<()> {
        for part in 0..self.first.len() {
            if self.num_rows[part] >= min_rows
                && shared.try_add(part, |groups| self.drain_into(part, groups))?
            {
                self.first[part] = self.batches.len();
                self.num_rows[part] = 0;
            }
        }
        Ok(())
    }

    /// Adds all rows that still wait to `local`.
    fn empty_into(&mut self, local: &mut GroupSet<F>) -> Result<()> {
        for part in 0..self.first.len() {
            self.drain_into(part, local)?;
        }
        *self = Self::new(self.first.len());
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        self.batches.iter().map(|b| b.rows.size_bytes()).sum()
    }
}

/// One task.
struct Task<F: KeyForm> {
    work: Work<F>,
    local: GroupSet<F>,
    max_local_groups: usize,
    shared: Arc<Shared<F>>,
    buffer: Option<Buffer<F>>,
    spiller: Spiller<F>,
    share: Share,
}

impl<F: KeyForm> Task<F> {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = self.work.rows(batch)?;
        if self.local.len() < self.max_local_groups {
            self.local.push(&rows)?;
        } else {
            let misses = self.local.push_known(&rows)?;
            if !misses.is_empty() {
                let rows = rows.take(&misses)?;
                let hashes = rows.hashes();
                self.share(rows.split(partition(&hashes, self.shared.bits))?)?;
            }
        }
        if self.share.hold(self.size_bytes())? {
            self.spill()?;
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        let buffered = self.buffer.as_ref().map_or(0, Buffer::size_bytes);
        self.local.size_bytes() + buffered + self.shared.size_bytes_each()
    }

    /// Moves all groups into a file, but for the parts of the shared table that others have.
    fn spill(&mut self) -> Result<()> {
        if let Some(buffer) = &mut self.buffer {
            buffer.empty_into(&mut self.local)?;
        }
        let spiller = &mut self.spiller;
        spiller.spill_groups(&mut self.local)?;
        for part in 0..self.shared.parts.len() {
            self.shared
                .try_add(part, |groups| spiller.spill_groups(groups))?;
        }
        self.share.keep(self.size_bytes())
    }

    fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    /// Moves the rest into the file too; whoever has a part of the shared table does the same.
    fn into_spilled(mut self) -> Result<(Spiller<F>, Share)> {
        self.spill()?;
        Ok((self.spiller, self.share))
    }

    fn share(&mut self, rows: SplitRows<F>) -> Result<()> {
        let Some(buffer) = &mut self.buffer else {
            for part in 0..self.shared.parts.len() {
                let add = |groups: &mut GroupSet<F>| rows.push_into(part, groups);
                if !rows.range(part).is_empty() && !self.shared.try_add(part, add)? {
                    rows.push_into(part, &mut self.local)?;
                }
            }
            return Ok(());
        };
        buffer.push(rows);
        buffer.flush(&self.shared, MIN_BUFFERED_ROWS)?;
        if buffer.batches.len() >= MAX_BUFFERED_BATCHES {
            buffer.flush(&self.shared, 1)?;
            buffer.empty_into(&mut self.local)?;
        }
        Ok(())
    }

    /// Puts rows that wait into the own table, and splits it as the shared one is; with the memory that
    /// both hold.
    fn finish(mut self) -> Result<(SplitGroups<F>, MemoryReservation)> {
        if let Some(mut buffer) = self.buffer.take() {
            buffer.flush(&self.shared, 1)?;
            buffer.empty_into(&mut self.local)?;
        }
        self.share.keep(self.size_bytes())?;
        let groups = self.local.split(self.shared.bits)?;
        Ok((groups, self.share.into_memory()))
    }
}

/// Bits that choose among parts which take little memory as long as they are empty: a table of keys of 16 bits
/// has room for all of these from the start.
fn most_bits<F: KeyForm>(work: &Work<F>) -> u32 {
    let part_bytes = GroupSet::<F>::new(work.form.table(), &work.grouping).size_bytes();
    (MAX_EMPTY_BYTES / part_bytes.max(1)).max(1).ilog2()
}

/// Groups all rows.
pub(super) async fn run<F: KeyForm>(job: Job<F>, buffered: bool) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let num_tasks = job.inputs.len();
    let bits = job.tuning.shared_bits.min(most_bits(&work));
    let shared = Arc::new(Shared::new(&work, bits, num_tasks));
    let (budget, spill_bits) = (&job.budget, job.tuning.spill_bits);
    let task = |memory| Task {
        local: GroupSet::new(work.form.table(), &work.grouping),
        max_local_groups: job.tuning.local_groups,
        shared: Arc::clone(&shared),
        buffer: buffered.then(|| Buffer::new(shared.parts.len())),
        work: work.clone(),
        spiller: Spiller::new(&work.grouping, &work.form, budget, spill_bits),
        share: budget.share(memory),
    };
    let tasks: Vec<Task<F>> = job.memory.into_iter().map(task).collect();
    let tasks = consume_all(job.inputs, tasks, Task::push).await?;
    if tasks.iter().any(Task::has_spilled) {
        return merge_spilled(&observed, tasks, Task::into_spilled).await;
    }
    let num_local = tasks.iter().map(|task| task.local.len()).sum();
    let size_bytes = tasks.iter().map(Task::size_bytes).sum();
    let (found, num_parts) = (
        in_tables(num_local, num_tasks, size_bytes),
        shared.parts.len(),
    );
    let reason = format!("{found} with that of the shared one: {num_parts} partitions");
    observed.merges("partitions", reason);
    let mut finishing = JoinSet::new();
    for (i, task) in tasks.into_iter().enumerate() {
        finishing.spawn(observed.timed(async move { Ok((i, task.finish()?)) }));
    }
    let finished = join_in_order(finishing, num_tasks).await?;
    let (locals, memory) = finished.into_iter().unzip();
    Ok(Arc::new(SharedMerged {
        work,
        shared,
        locals,
        _memory: memory,
        next: AtomicUsize::new(0),
    }))
}

/// The shared table, to each part of which the tasks' own groups are still to be added.
struct SharedMerged<F: KeyForm> {
    work: Work<F>,
    shared: Arc<Shared<F>>,
    locals: Vec<SplitGroups<F>>,
    _memory: Vec<MemoryReservation>,
    /// The next part that no thread has taken.
    next: AtomicUsize,
}

impl<F: KeyForm> Merged for SharedMerged<F> {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        let Some(groups) = self.shared.parts.get(part) else {
            return Ok(None);
        };
        let Work { grouping, form } = self.work.clone();
        let empty = GroupSet::new(form.table(), &grouping);
        let mut groups = groups.lock().unwrap_or_else(PoisonError::into_inner);
        let mut groups = std::mem::replace(&mut *groups, empty);
        for local in &self.locals {
            local.merge_into(part, &mut groups)?;
        }
        Ok(Some(Box::new(GroupsOf::new(grouping, form, groups))))
    }
}
