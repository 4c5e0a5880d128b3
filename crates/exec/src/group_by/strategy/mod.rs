//! Ways to group in parallel: all of the thesis that compared them, and our own that adapts.
//!
//! Source: M. Serebryakov, "Optimising parallel GROUP BY with flat combining", HSE 2020; names of
//! strategies follow its sections.
//!
//! Past its budget of memory, a task of any of them moves its groups and rows into a temporary file.
//!
//! | module | strategies |
//! |---|---|
//! | [`own_tables`] | a table for all, or for each task: `trivial`, `trivial_parallel`, `two_level` |
//! | [`splitting`] | all rows first, then a range of hashes for each task |
//! | [`local_shared`] | small own tables and one shared by all, with or without buffers |
//! | [`local_splitting_queues`] | small own tables, and rows handed to the task that owns them |

mod local_shared;
mod local_splitting_queues;
mod own_tables;
mod splitting;

use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::compiling::Compiling;
use super::grouping::PlannedKeys;
use super::key_form::KeyForm;
use super::keyed::Keyed;
use super::local::Local;
use super::merged::{Merged, consume_all, merge};
use super::observed::Observed;
use super::options::Tuning;
use super::rows::Rows;
use super::spill::Budget;
use crate::compile::CompiledGroups;
use crate::predicate::Predicate;

/// How tasks share the work of grouping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Decides while it runs, from what it sees.
    #[default]
    Auto,
    /// Integer keys index arrays however long these get; other keys as `Auto`.
    Dense,
    /// One task, one table.
    Trivial,
    /// A table for each task; one task merges them.
    TrivialParallel,
    /// 256 small tables for each task; small tables are merged in parallel.
    TwoLevel,
    /// All rows are read first; each task groups a range between the least and the greatest hash.
    Splitting,
    /// As `Splitting`, with ranges of equal width, found by a multiplication.
    SplittingFastRange,
    /// Frequent keys in small own tables, others in a shared table; rows whose part of it is
    /// taken go to the own table.
    LocalShared,
    /// Frequent keys in small own tables, others are handed to the task that owns their hash.
    LocalSplittingQueues,
    /// As `LocalShared`, but rows wait in buffers until enough of them go to one part.
    LocalBufferedShared,
}

impl Strategy {
    /// All strategies by name.
    pub const ALL: [(&'static str, Strategy); 10] = [
        ("auto", Strategy::Auto),
        ("dense", Strategy::Dense),
        ("trivial", Strategy::Trivial),
        ("trivial_parallel", Strategy::TrivialParallel),
        ("two_level", Strategy::TwoLevel),
        ("splitting", Strategy::Splitting),
        ("splitting_fast_range", Strategy::SplittingFastRange),
        ("local_shared", Strategy::LocalShared),
        ("local_splitting_queues", Strategy::LocalSplittingQueues),
        ("local_buffered_shared", Strategy::LocalBufferedShared),
    ];

    /// The strategy of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(n, _)| *n == name).map(|(_, strategy)| *strategy)
    }

    /// Whether each task has groups of its own from its first row on, and adapts.
    pub(super) fn is_adaptive(self) -> bool {
        matches!(self, Self::Auto | Self::Dense)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, s)| *s == self)
            .map_or("auto", |(name, _)| name)
    }
}

/// A grouping that is to run: what to compute, and its inputs.
pub(super) struct Job<F: KeyForm> {
    pub(super) grouping: Arc<Grouping>,
    pub(super) form: Arc<F>,
    pub(super) tuning: Tuning,
    pub(super) budget: Arc<Budget>,
    pub(super) inputs: Vec<SendableRecordBatchStream>,
    /// One for each input.
    pub(super) memory: Vec<MemoryReservation>,
    pub(super) observed: Arc<Observed>,
    /// What is known of the keys.
    pub(super) planned: Option<PlannedKeys>,
    /// Which rows count, where tasks have their own tables; all if there is none.
    pub(super) predicate: Option<Predicate>,
    /// What may be compiled of such tasks.
    pub(super) compiling: Option<Compiling<CompiledGroups>>,
}

impl<F: KeyForm> Job<F> {
    /// What every task needs.
    fn work(&self) -> Work<F> {
        Work {
            grouping: Arc::clone(&self.grouping),
            form: Arc::clone(&self.form),
        }
    }
}

/// What a task needs to make rows of batches.
struct Work<F: KeyForm> {
    grouping: Arc<Grouping>,
    form: Arc<F>,
}

impl<F: KeyForm> Clone for Work<F> {
    fn clone(&self) -> Self {
        Self {
            grouping: Arc::clone(&self.grouping),
            form: Arc::clone(&self.form),
        }
    }
}

impl<F: KeyForm> Work<F> {
    fn rows(&self, batch: &RecordBatch) -> Result<Rows<F>> {
        Rows::of(&self.grouping, &self.form, batch)
    }
}

/// Groups all rows of the inputs.
pub(super) async fn run<F: KeyForm>(strategy: Strategy, job: Job<F>) -> Result<Arc<dyn Merged>> {
    match strategy {
        Strategy::Auto => adaptive(job).await,
        Strategy::Dense => {
            let tuning = Tuning {
                dense_len: MAX_DENSE_LEN,
                ..job.tuning
            };
            adaptive(Job { tuning, ..job }).await
        }
        Strategy::Trivial => own_tables::trivial(job).await,
        Strategy::TrivialParallel => own_tables::trivial_parallel(job).await,
        Strategy::TwoLevel => own_tables::two_level(job).await,
        Strategy::Splitting => splitting::run(job, splitting::Ranges::BetweenExtremes).await,
        Strategy::SplittingFastRange => splitting::run(job, splitting::Ranges::Fast).await,
        Strategy::LocalShared => local_shared::run(job, false).await,
        Strategy::LocalBufferedShared => local_shared::run(job, true).await,
        Strategy::LocalSplittingQueues => local_splitting_queues::run(job).await,
    }
}

/// Ordinals that keys may have if `dense` is forced: arrays of 128 MiB for a count.
const MAX_DENSE_LEN: usize = 1 << 24;

async fn adaptive<F: KeyForm>(job: Job<F>) -> Result<Arc<dyn Merged>> {
    let Job {
        grouping,
        form,
        tuning,
        budget,
        inputs,
        memory,
        observed,
        planned,
        predicate,
        compiling,
    } = job;
    let local = |(i, memory)| {
        let share = budget.share(memory);
        let local = Local::try_new(Arc::clone(&grouping), Arc::clone(&form), tuning, share)?;
        let local = local.with_planned_keys(planned.as_ref());
        let local = local.with_notes(observed.task(i));
        Ok(Keyed::new(local, predicate.clone(), compiling.clone()))
    };
    let tasks = memory.into_iter().enumerate().map(local);
    let tasks = tasks.collect::<Result<Vec<Keyed<F>>>>()?;
    let tasks = consume_all(inputs, tasks, Keyed::push).await?;
    let locals = tasks.into_iter().map(Keyed::into_local).collect();
    merge((grouping, form), tuning, locals, &observed).await
}
