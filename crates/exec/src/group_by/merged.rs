//! Merges the groups of all tasks and hands the result out in batches.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::common::DataFusionError;
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use futures::StreamExt;

use super::Grouping;
use super::dense::{self, Dense};
use super::group_set::GroupSet;
use super::key_form::{GroupTable, KeyForm};
use super::local::Local;
use super::observed::{Observed, in_tables};
use super::options::Tuning;
use super::part::Part;
use super::spill::{Share, Spilled, Spiller};
use super::top::columns_of;
use crate::report::figures::{counted, quantity};

/// What any number of threads take the result from.
pub(super) trait Merged: Send + Sync {
    /// The next groups that no thread has taken.
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>>;
}

/// Groups that one thread emits.
pub(super) trait Emit: Send {
    /// The next rows of the result, at most `max_rows`.
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<RecordBatch>>;
}

/// Runs `consume` over every input, each in a task, and gives what comes out in their order.
pub(super) async fn consume_all<T: Send + 'static>(
    inputs: Vec<SendableRecordBatchStream>,
    consumers: Vec<T>,
    push: fn(&mut T, &RecordBatch) -> Result<()>,
) -> Result<Vec<T>> {
    let mut tasks = JoinSet::new();
    let num_tasks = consumers.len();
    for (i, (mut input, mut consumer)) in inputs.into_iter().zip(consumers).enumerate() {
        tasks.spawn(async move {
            while let Some(batch) = input.next().await {
                push(&mut consumer, &batch?)?;
            }
            Ok((i, consumer))
        });
    }
    join_in_order(tasks, num_tasks).await
}

pub(super) async fn join_in_order<T: Send + 'static>(
    mut tasks: JoinSet<Result<(usize, T)>>,
    num_tasks: usize,
) -> Result<Vec<T>> {
    let mut done: Vec<Option<T>> = (0..num_tasks).map(|_| None).collect();
    while let Some(joined) = tasks.join_next().await {
        match joined {
            Ok(result) => {
                let (i, consumer) = result?;
                done[i] = Some(consumer);
            }
            Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
            Err(e) => return Err(DataFusionError::ExecutionJoin(Box::new(e))),
        }
    }
    Ok(done.into_iter().flatten().collect())
}

/// Merges what all tasks have grouped: now if there is little, else when it is asked for.
pub(super) async fn merge<F: KeyForm>(
    (grouping, form): (Arc<Grouping>, Arc<F>),
    tuning: Tuning,
    locals: Vec<Local<F>>,
    observed: &Observed,
) -> Result<Arc<dyn Merged>> {
    let mut locals: Vec<Local<F>> = locals.into_iter().filter(|l| !l.is_empty()).collect();
    // Rows that are staged would want their groups' values from the files one by one.
    let has_sets_in_files = locals.iter().any(Local::has_sets_in_files);
    let has_staged = locals.iter().any(Local::has_staged);
    if locals.iter().any(Local::has_spilled) || (has_sets_in_files && has_staged) {
        return merge_spilled(observed, locals, Local::into_spilled).await;
    }
    if let Some(merged) = merge_dense(&mut locals, tuning, observed)? {
        return Ok(merged);
    }
    let num_groups: usize = locals.iter().map(Local::num_groups).sum();
    let size_bytes = locals.iter().map(Local::tables_size_bytes).sum();
    let found = in_tables(num_groups, locals.len(), size_bytes);
    let is_little = locals.len() <= 1 || num_groups <= tuning.partitioned_groups;
    if has_sets_in_files || (!has_staged && is_little) {
        observed.merges("table", found);
        let whole = merge_whole(&grouping, &form, &mut locals).await?;
        return Ok(Arc::new(Whole::new(whole)));
    }
    let bits = if has_staged {
        tuning.staging_bits
    } else {
        bits_for(num_groups)
    };
    let staged = if has_staged { ", and staged rows" } else { "" };
    observed.merges(
        "partitions",
        format!("{found}{staged}: {} partitions", 1 << bits),
    );
    let mut tasks = JoinSet::new();
    let num_locals = locals.len();
    for (i, local) in locals.into_iter().enumerate() {
        tasks.spawn(observed.timed(async move { Ok((i, local.split(bits)?)) }));
    }
    let parts = join_in_order(tasks, num_locals).await?;
    Ok(Arc::new(Partitioned::new(grouping, form, parts, 1 << bits)))
}

/// Merges the groups of tasks of which some have files: all is in files then.
pub(super) async fn merge_spilled<F: KeyForm, T: Send + 'static>(
    observed: &Observed,
    tasks: Vec<T>,
    into_spilled: fn(T) -> Result<(Spiller<F>, Share)>,
) -> Result<Arc<dyn Merged>> {
    observed.merges_files();
    let mut spilling = JoinSet::new();
    let num_tasks = tasks.len();
    for (i, task) in tasks.into_iter().enumerate() {
        spilling.spawn(async move { Ok((i, into_spilled(task)?)) });
    }
    let (spillers, shares): (Vec<_>, Vec<_>) = join_in_order(spilling, num_tasks)
        .await?
        .into_iter()
        .unzip();
    let share = shares.into_iter().next();
    let spilled = share.and_then(|share| Spilled::new(spillers, share));
    Ok(match spilled {
        Some(spilled) => Arc::new(spilled),
        None => Arc::new(Whole::new(None)),
    })
}

/// Merges groups that index arrays in all tasks; else there are none of that kind afterwards.
fn merge_dense<F: KeyForm>(
    locals: &mut Vec<Local<F>>,
    tuning: Tuning,
    observed: &Observed,
) -> Result<Option<Arc<dyn Merged>>> {
    let is_dense = !locals.is_empty() && locals.iter().all(|l| l.dense.is_some());
    // Few groups may have many values each: those are merged by value, from tables.
    let len = locals.iter().flat_map(|l| &l.dense).map(Dense::len).max();
    let is_by_value = locals.iter().any(Local::has_sets_in_files)
        || locals.iter().any(Local::counts_distinct)
            && len.is_some_and(|len| len <= tuning.partitioned_groups);
    if is_dense && !is_by_value {
        let max_len = tuning.max_dense_len(locals.iter().map(Local::num_rows).sum());
        let mut parts: Vec<Dense> = locals.iter_mut().filter_map(|l| l.dense.take()).collect();
        if let Some(merged) = dense::merge(&mut parts, max_len)? {
            let values = quantity(merged.len() as u64);
            let tasks = counted(locals.len() as u64, "task");
            observed.merges("dense", format!("arrays of {values} values in {tasks}"));
            let memory = locals.drain(..).map(|l| l.into_groups().1).collect();
            return Ok(Some(Arc::new(merged.hold(memory))));
        }
        locals
            .iter_mut()
            .zip(parts)
            .for_each(|(local, part)| local.dense = Some(part));
    }
    locals.iter_mut().try_for_each(Local::leave_dense)?;
    Ok(None)
}

/// Partitions of some 32 Ki groups each: their tables fit the cache.
fn bits_for(num_groups: usize) -> u32 {
    (num_groups >> 15)
        .next_power_of_two()
        .trailing_zeros()
        .clamp(4, 10)
}

/// Merges into the largest table.
async fn merge_whole<F: KeyForm>(
    grouping: &Arc<Grouping>,
    form: &Arc<F>,
    locals: &mut Vec<Local<F>>,
) -> Result<Option<Box<dyn Emit>>> {
    let (sets, memory): (_, Vec<_>) = locals.drain(..).map(Local::into_groups).unzip();
    let merged = merge_sets(sets, &memory).await?;
    Ok(merged.map(|groups| -> Box<dyn Emit> {
        let groups = GroupsOf::new(Arc::clone(grouping), Arc::clone(form), groups);
        Box::new(groups.hold(memory))
    }))
}

/// Merges groups into the largest table; none if there are none. `memory` is what they hold.
pub(super) async fn merge_sets<F: KeyForm>(
    mut sets: Vec<GroupSet<F>>,
    memory: &[MemoryReservation],
) -> Result<Option<GroupSet<F>>> {
    let num_tasks = sets.len();
    let Some(largest) = (0..sets.len()).max_by_key(|i| sets[*i].len()) else {
        return Ok(None);
    };
    let mut groups = sets.swap_remove(largest);
    for other in sets {
        let _ordering = other.states.reserve_ordering(memory.first())?;
        other.split(0)?.merge_into(0, &mut groups)?;
    }
    if let Some(memory) = memory.first() {
        groups.states.settle(num_tasks, memory).await?;
    }
    Ok(Some(groups))
}

/// Groups that any thread may take as they are.
pub(super) struct Whole(Mutex<Vec<Box<dyn Emit>>>);

impl Whole {
    /// Hands out `groups`, no key of which is twice in them.
    pub(super) fn new(groups: impl IntoIterator<Item = Box<dyn Emit>>) -> Self {
        Self(Mutex::new(groups.into_iter().collect()))
    }
}

impl Merged for Whole {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).pop())
    }
}

/// Groups that are still to be merged, split by hash: nothing of one partition is in another.
pub(super) struct Partitioned<F: KeyForm> {
    grouping: Arc<Grouping>,
    form: Arc<F>,
    parts: Vec<Part<F>>,
    num_partitions: usize,
    /// The next partition that no thread has taken.
    next: AtomicUsize,
    spare: Spare<F::Table>,
}

impl<F: KeyForm> Partitioned<F> {
    /// Merges `parts` of so many partitions when they are asked for.
    pub(super) fn new(
        grouping: Arc<Grouping>,
        form: Arc<F>,
        parts: Vec<Part<F>>,
        num_partitions: usize,
    ) -> Self {
        Self {
            grouping,
            form,
            parts,
            num_partitions,
            next: AtomicUsize::new(0),
            spare: Spare::default(),
        }
    }
}

impl<F: KeyForm> Partitioned<F> {
    /// No groups, in a table that is no longer needed if there is one.
    fn empty(&self) -> GroupSet<F> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let table = spare.pop().unwrap_or_else(|| self.form.merged_table());
        GroupSet::new(table, &self.grouping)
    }
}

/// Tables of partitions that are done: the next ones need no new memory, which would cost more
/// than filling it.
type Spare<T> = Arc<Mutex<Vec<T>>>;

impl<F: KeyForm> Merged for Partitioned<F> {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        let partition = self.next.fetch_add(1, Ordering::Relaxed);
        if partition >= self.num_partitions {
            return Ok(None);
        }
        let mut groups = self.empty();
        let num_staged = self.parts.iter().map(|part| part.num_staged(partition));
        groups.states.expect_distinct(num_staged.sum());
        for part in &self.parts {
            part.merge_into(partition, &mut groups)?;
        }
        let memory = self.parts.first().map(|part| part.memory.new_empty());
        if let Some(memory) = &memory {
            memory.try_resize(groups.size_bytes())?;
        }
        let (grouping, form) = (Arc::clone(&self.grouping), Arc::clone(&self.form));
        let groups = GroupsOf::new(grouping, form, groups).hold(memory.into_iter().collect());
        let spare = Some(Arc::clone(&self.spare));
        Ok(Some(Box::new(GroupsOf { spare, ..groups })))
    }
}

/// Groups that only need to be written out.
pub(super) struct GroupsOf<F: KeyForm> {
    grouping: Arc<Grouping>,
    form: Arc<F>,
    groups: GroupSet<F>,
    /// Groups that are out.
    num_emitted: usize,
    /// Groups that are still to come out, once it is known that these are not all.
    wanted: Option<VecDeque<Range<usize>>>,
    /// Where the table goes when all groups are out.
    spare: Option<Spare<F::Table>>,
    memory: Vec<MemoryReservation>,
}

impl<F: KeyForm> GroupsOf<F> {
    /// Writes out all groups of a set.
    pub(super) fn new(grouping: Arc<Grouping>, form: Arc<F>, mut groups: GroupSet<F>) -> Self {
        groups.table.finish();
        Self {
            grouping,
            form,
            groups,
            num_emitted: 0,
            wanted: None,
            spare: None,
            memory: Vec::new(),
        }
    }

    /// Keeps the memory reserved until all is handed out.
    pub(super) fn hold(mut self, memory: Vec<MemoryReservation>) -> Self {
        self.memory = memory;
        self
    }

    /// The next of the groups that are wanted.
    fn next_wanted(&mut self, max_rows: usize) -> Result<Option<RecordBatch>> {
        self.num_emitted = self.groups.len();
        let mut ranges = Vec::new();
        let mut num_rows = 0;
        while let Some(mut range) = self.wanted.as_mut().and_then(VecDeque::pop_front) {
            let room = max_rows - num_rows;
            if range.len() > room {
                let rest = range.start + room..range.end;
                range.end = rest.start;
                self.wanted.get_or_insert_default().push_front(rest);
            }
            num_rows += range.len();
            ranges.push(range);
            if num_rows == max_rows {
                break;
            }
        }
        if num_rows == 0 {
            self.give_table_back();
            return Ok(None);
        }
        let columns = columns_of(&ranges, |range| self.columns(range))?;
        result_batch(&self.grouping, columns, num_rows).map(Some)
    }

    /// Columns of the result for some groups.
    fn columns(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        let _ordering = self.groups.states.reserve_ordering(self.memory.first())?;
        let copied = self.memory.first().map(MemoryReservation::new_empty);
        if let Some(copied) = &copied {
            copied.try_grow(self.groups.table.copied_bytes(range.clone()))?;
        }
        let mut columns = self.form.decode(&self.groups.table, range.clone())?;
        columns.extend(self.groups.states.finish(range)?);
        Ok(columns)
    }

    fn give_table_back(&mut self) {
        let Some(spare) = self.spare.take() else {
            return;
        };
        self.num_emitted = 0;
        self.wanted = None;
        let table = std::mem::replace(&mut self.groups.table, self.form.table());
        if let Some(table) = table.recycle() {
            spare
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(table);
        }
    }
}

impl<F: KeyForm> Emit for GroupsOf<F> {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<RecordBatch>> {
        let start = self.num_emitted;
        if let (0, Some(top)) = (start, &self.grouping.top) {
            let num_groups = self.groups.len();
            if let Some(wanted) = top.wanted(&mut self.groups.states, num_groups)? {
                self.wanted = Some(wanted.into());
            }
        }
        if self.wanted.is_some() {
            return self.next_wanted(max_rows);
        }
        let end = self.groups.len().min(start.saturating_add(max_rows));
        if start == end {
            self.give_table_back();
            return Ok(None);
        }
        self.num_emitted = end;
        let columns = self.columns(start..end)?;
        result_batch(&self.grouping, columns, end - start).map(Some)
    }
}

/// The columns as a batch of the result.
pub(super) fn result_batch(
    grouping: &Grouping,
    columns: Vec<ArrayRef>,
    num_rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    let schema = Arc::clone(&grouping.schema);
    Ok(RecordBatch::try_new_with_options(
        schema, columns, &options,
    )?)
}
