//! Groups with tables that no two tasks share: `trivial`, `trivial_parallel`, `two_level`.

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::runtime::JoinSet;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use super::{Job, Work};
use crate::group_by::group_set::GroupSet;
use crate::group_by::key_form::KeyForm;
use crate::group_by::merged::{
    GroupsOf, Merged, Partitioned, Whole, consume_all, join_in_order, merge_sets, merge_spilled,
};
use crate::group_by::observed::in_tables;
use crate::group_by::part::Part;
use crate::group_by::spill::{Share, Spiller};

/// Bits of the hash that choose a small table: 256 of them, as ClickHouse has.
const TWO_LEVEL_BITS: u32 = 8;

/// A task with a table of its own.
struct Own<F: KeyForm> {
    work: Work<F>,
    groups: GroupSet<F>,
    spiller: Spiller<F>,
    share: Share,
}

impl<F: KeyForm> Own<F> {
    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.groups.push(&self.work.rows(batch)?)?;
        if self.share.hold(self.groups.size_bytes())? {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        self.spiller.spill_groups(&mut self.groups)?;
        self.share.keep(self.groups.size_bytes())
    }

    fn has_spilled(&self) -> bool {
        !self.spiller.is_empty()
    }

    fn into_spilled(mut self) -> Result<(Spiller<F>, Share)> {
        self.spill()?;
        Ok((self.spiller, self.share))
    }

    fn into_groups(self) -> (GroupSet<F>, MemoryReservation) {
        (self.groups, self.share.into_memory())
    }
}

/// Groups all rows in one task.
pub(super) async fn trivial<F: KeyForm>(mut job: Job<F>) -> Result<Arc<dyn Merged>> {
    let inputs = std::mem::take(&mut job.inputs);
    job.memory.truncate(1);
    if let Some(first) = inputs.first() {
        let schema = first.schema();
        let all = futures::stream::iter(inputs).flatten();
        job.inputs
            .push(Box::pin(RecordBatchStreamAdapter::new(schema, all)));
    }
    trivial_parallel(job).await
}

/// Groups in each task, then merges all tables in one.
pub(super) async fn trivial_parallel<F: KeyForm>(job: Job<F>) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let own = consume(job, |form| form.table()).await?;
    if own.iter().any(Own::has_spilled) {
        return merge_spilled(&observed, own, Own::into_spilled).await;
    }
    observed.merges("table", tables(&own));
    let (sets, memory): (_, Vec<_>) = own.into_iter().map(Own::into_groups).unzip();
    let merged = merge_sets::<F>(sets, &memory).await?;
    let groups = merged.map(|groups| GroupsOf::new(work.grouping, work.form, groups).hold(memory));
    Ok(Arc::new(Whole::new(
        groups.map(|groups| Box::new(groups) as _),
    )))
}

/// Groups in each task by small tables, then merges those of one range of hashes.
pub(super) async fn two_level<F: KeyForm>(job: Job<F>) -> Result<Arc<dyn Merged>> {
    let (work, observed) = (job.work(), Arc::clone(&job.observed));
    let own = consume(job, |form| form.two_level_table(TWO_LEVEL_BITS)).await?;
    if own.iter().any(Own::has_spilled) {
        return merge_spilled(&observed, own, Own::into_spilled).await;
    }
    let (num_tasks, found) = (own.len(), tables(&own));
    let num_partitions = 1 << TWO_LEVEL_BITS;
    observed.merges(
        "partitions",
        format!("{found}: {num_partitions} partitions"),
    );
    let mut tasks = JoinSet::new();
    for (i, own) in own.into_iter().enumerate() {
        tasks.spawn(observed.timed(async move {
            let part = Part {
                groups: own.groups.split(TWO_LEVEL_BITS)?,
                grouped: Vec::new(),
                flushed: Vec::new(),
                staged: Vec::new(),
                memory: own.share.into_memory(),
            };
            Ok((i, part))
        }));
    }
    let parts = join_in_order(tasks, num_tasks).await?;
    let merged = Partitioned::new(work.grouping, work.form, parts, num_partitions);
    Ok(Arc::new(merged))
}

/// What the tasks have in their tables, as a text.
fn tables<F: KeyForm>(own: &[Own<F>]) -> String {
    let num_groups = own.iter().map(|own| own.groups.len()).sum();
    let size_bytes = own.iter().map(|own| own.groups.size_bytes()).sum();
    in_tables(num_groups, own.len(), size_bytes)
}

async fn consume<F: KeyForm>(job: Job<F>, table: fn(&F) -> F::Table) -> Result<Vec<Own<F>>> {
    let work = job.work();
    let (budget, spill_bits) = (&job.budget, job.tuning.spill_bits);
    let own = |memory| Own {
        work: work.clone(),
        groups: GroupSet::new(table(&work.form), &work.grouping),
        spiller: Spiller::new(&work.grouping, &work.form, budget, spill_bits),
        share: budget.share(memory),
    };
    let own: Vec<Own<F>> = job.memory.into_iter().map(own).collect();
    consume_all(job.inputs, own, Own::push).await
}
