//! Groups frequent keys in small tables of each task, and hands all other rows to the task that
//! owns their hash.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use basalt_hashtable::{fast_range, partition_by};
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::{Job, Work};
use crate::group_by::group_set::{GroupSet, SplitGroups};
use crate::group_by::key_form::{GroupTable, KeyForm};
use crate::group_by::merged::{GroupsOf, Merged, Whole, consume_all, join_in_order};
use crate::group_by::rows::SplitRows;

/// Rows that other tasks have handed to one task; each batch is shared by all owners of its rows.
type Queue<F> = Mutex<Vec<Arc<SplitRows<F>>>>;

/// One task: it owns one part of all hashes.
struct Task<F: KeyForm> {
    work: Work<F>,
    part: usize,
    local: GroupSet<F>,
    max_local_groups: usize,
    /// All groups of its own part, but for those in local tables.
    owned: GroupSet<F>,
    queues: Arc<Vec<Queue<F>>>,
    memory: MemoryReservation,
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
        self.memory
            .try_resize(self.local.size_bytes() + self.owned.size_bytes())
    }

    fn hand_out(&mut self, rows: Arc<SplitRows<F>>) -> Result<()> {
        for (part, queue) in self.queues.iter().enumerate() {
            if part != self.part && !rows.range(part).is_empty() {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                queue.push(Arc::clone(&rows));
            }
        }
        rows.push_into(self.part, &mut self.owned)
    }

    /// Takes over what others have handed to this task.
    fn drain(&mut self) -> Result<()> {
        let queue = &self.queues[self.part];
        let batches = std::mem::take(&mut *queue.lock().unwrap_or_else(PoisonError::into_inner));
        batches
            .iter()
            .try_for_each(|rows| rows.push_into(self.part, &mut self.owned))
    }
}

/// Groups all rows.
pub(super) async fn run<F: KeyForm>(job: Job<F>) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let num_parts = job.inputs.len();
    let queues: Arc<Vec<Queue<F>>> = Arc::new((0..num_parts).map(|_| Queue::default()).collect());
    let set = || GroupSet::new(work.form.table(), &work.grouping);
    let task = |(part, memory)| Task {
        work: work.clone(),
        part,
        local: set(),
        max_local_groups: job.tuning.local_groups,
        owned: set(),
        queues: Arc::clone(&queues),
        memory,
    };
    let tasks: Vec<Task<F>> = job.memory.into_iter().enumerate().map(task).collect();
    let tasks = consume_all(job.inputs, tasks, Task::push).await?;
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
        owned.push((task.owned, task.memory));
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
