//! Groups frequent keys in small tables of each task, and hands all other rows to the task that
//! owns their hash.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use basalt_hashtable::{fast_range, partition, partition_by};
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;

use super::{Job, Work};
use crate::group_by::group_set::{GroupSet, SplitGroups};
use crate::group_by::key_form::{GroupTable, KeyForm};
use crate::group_by::merged::{GroupsOf, Merged, Whole, consume_all, join_in_order, merge_spilled};
use crate::group_by::observed::in_tables;
use crate::group_by::rows::SplitRows;
use crate::group_by::spill::{Share, Spiller};

/// Rows that other tasks have handed to one task; each batch is shared by all owners of its rows.
type Queue<F> = Mutex<Vec<Arc<SplitRows<F>>>>;

/// The queues of all tasks.
struct Queues<F: KeyForm> {
    queues: Vec<Queue<F>>,
    size_bytes: AtomicUsize,
}

impl<F: KeyForm> Queues<F> {
    fn new(num_parts: usize) -> Self {
        Self {
            queues: std::iter::repeat_with(Queue::default)
                .take(num_parts)
                .collect(),
            size_bytes: AtomicUsize::new(0),
        }
    }

    fn len(&self) -> usize {
        self.queues.len()
    }

    /// Hands the rows of `part` to the task that owns it.
    fn push(&self, part: usize, rows: Arc<SplitRows<F>>) {
        self.size_bytes
            .fetch_add(rows.size_bytes_of(part), Ordering::Relaxed);
        let mut queue = self.queues[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        queue.push(rows);
    }

    /// Takes over what was handed to the owner of `part`.
    fn take(&self, part: usize) -> Vec<Arc<SplitRows<F>>> {
        let mut queue = self.queues[part]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let batches = std::mem::take(&mut *queue);
        drop(queue);
        let taken = batches.iter().map(|rows| rows.size_bytes_of(part)).sum();
        self.size_bytes.fetch_sub(taken, Ordering::Relaxed);
        batches
    }

    /// The part of their memory that one task answers for.
    fn size_bytes_each(&self) -> usize {
        self.size_bytes.load(Ordering::Relaxed) / self.queues.len().max(1)
    }
}

/// One task: it owns one part of all hashes.
struct Task<F: KeyForm> {
    work: Work<F>,
    part: usize,
    local: GroupSet<F>,
    max_local_groups: usize,
    /// All groups of its own part, but for those in local tables.
    owned: GroupSet<F>,
    queues: Arc<Queues<F>>,
    spiller: Spiller<F>,
    spill_bits: u32,
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
                let parts = self.queues.len();
                let hashes = rows.hashes();
                let split = partition_by(&hashes, parts, |hash| fast_range(hash, parts));
                self.hand_out(Arc::new(rows.split(split)?))?;
            }
        }
        self.drain()?;
        if self.share.hold(self.size_bytes())? {
            self.spill()?;
        }
        Ok(())
    }

    fn size_bytes(&self) -> usize {
        self.local.size_bytes() + self.owned.size_bytes() + self.queues.size_bytes_each()
    }

    /// Moves all groups into a file, and the rows in all queues: their owners may have nothing
    /// more to read, and so would not take them.
    fn spill(&mut self) -> Result<()> {
        self.spiller.spill_groups(&mut self.local)?;
        self.spiller.spill_groups(&mut self.owned)?;
        let bits = self.spill_bits;
        for part in 0..self.queues.len() {
            let batches = self.queues.take(part).into_iter();
            let split = batches.map(|batch| {
                let rows = batch.rows_of(part)?;
                rows.split(partition(&rows.hashes(), bits))
            });
            let split = split.collect::<Result<Vec<_>>>()?;
            self.spiller.spill_rows(&split, bits)?;
        }
        self.share.keep(self.size_bytes())
    }

    fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    /// Moves the rest into the file too.
    fn into_spilled(mut self) -> Result<(Spiller<F>, Share)> {
        self.spill()?;
        Ok((self.spiller, self.share))
    }

    fn hand_out(&mut self, rows: Arc<SplitRows<F>>) -> Result<()> {
        for part in 0..self.queues.len() {
            if part != self.part && !rows.range(part).is_empty() {
                self.queues.push(part, Arc::clone(&rows));
            }
        }
        rows.push_into(self.part, &mut self.owned)
    }

    /// Takes over what others have handed to this task.
    fn drain(&mut self) -> Result<()> {
        self.queues
            .take(self.part)
            .iter()
            .try_for_each(|rows| rows.push_into(self.part, &mut self.owned))
    }
}

/// Groups all rows.
pub(super) async fn run<F: KeyForm>(job: Job<F>) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let num_parts = job.inputs.len();
    let queues = Arc::new(Queues::new(num_parts));
    let (budget, spill_bits) = (&job.budget, job.tuning.spill_bits);
    let set = || GroupSet::new(work.form.table(), &work.grouping);
    let task = |(part, memory)| Task {
        work: work.clone(),
        part,
        local: set(),
        max_local_groups: job.tuning.local_groups,
        owned: set(),
        queues: Arc::clone(&queues),
        spiller: Spiller::new(&work.grouping, &work.form, budget, spill_bits),
        spill_bits,
        share: budget.share(memory),
    };
    let tasks: Vec<Task<F>> = job.memory.into_iter().enumerate().map(task).collect();
    let tasks = consume_all(job.inputs, tasks, Task::push).await?;
    if tasks.iter().any(Task::has_spilled) {
        return merge_spilled(&observed, tasks, Task::into_spilled).await;
    }
    let of_task = |task: &Task<F>| task.local.len() + task.owned.len();
    let num_groups = tasks.iter().map(of_task).sum();
    let size_bytes = tasks.iter().map(Task::size_bytes).sum();
    let found = in_tables(num_groups, 2 * num_parts, size_bytes);
    observed.merges(
        "partitions",
        format!("{found}: {num_parts} ranges of hashes"),
    );
    let mut locals: Vec<SplitGroups<F>> = Vec::with_capacity(num_parts);
    let mut owned = Vec::with_capacity(num_parts);
    for mut task in tasks {
        task.drain()?;
        let split = |table: &F::Table| {
            partition_by(&table.group_hashes(), num_parts, |h| {
                fast_range(h, num_parts)
            })
        };
        locals.push(task.local.split_by(split)?);
        owned.push((task.owned, task.share.into_memory()));
    }
    let locals = Arc::new(locals);
    let mut merging = JoinSet::new();
    for (part, (mut groups, memory)) in owned.into_iter().enumerate() {
        let (locals, work) = (Arc::clone(&locals), work.clone());
        merging.spawn(observed.timed(async move {
            for local in locals.iter() {
                local.merge_into(part, &mut groups)?;
            }
            let groups = GroupsOf::new(work.grouping, work.form, groups);
            Ok((part, groups.hold(vec![memory])))
        }));
    }
    let groups = join_in_order(merging, num_parts).await?;
    Ok(Arc::new(Whole::new(
        groups.into_iter().map(|groups| Box::new(groups) as _),
    )))
}
