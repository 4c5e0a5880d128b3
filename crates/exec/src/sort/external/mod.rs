//! Sorts more rows than memory holds: sorted runs go to temporary files and are merged.
//!
//! ```text
//! task 1: rows ── sort ──▶ run │ run │ run ─┐          ┌─ keys up to a ─── merge ─┐
//! task 2: rows ── sort ──▶ run │ run │ run ─┴── cuts ──┼─ keys up to b ─── merge ─┼─▶ batches in order
//!                                                      └─ the others ───── merge ─┘
//!         a task for each input                          tasks, a few ranges ahead
//! ```
//!
//! | module | owns |
//! |---|---|
//! | [`run`] | runs in files, the keys that their blocks begin with |
//! | [`cuts`] | ranges of keys, and what each run has of them |
//! | [`plan`] | how many ranges at once, how large, by the memory there is |
//! | [`batches`] | the result, which tasks merge |
//! | [`merge`] | the merge of one range |
//! | [`losers`] | which run is first |
//! | [`gather`] | batches made of rows of several blocks |
//!
//! A task whose rows fill its part of the memory sorts them as if there were no others and appends the
//! result to its file. A limited number of runs is merged at a time: more of them are merged into longer
//! runs first, neighbours with neighbours, so that equal rows keep their order.

mod batches;
mod cuts;
mod gather;
mod losers;
mod merge;
mod plan;
mod run;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use futures::StreamExt;

use super::job::{Batches, Job};
use super::layout::Layout;
use super::rows::Rows;
use crate::spill::{Budget, SpillFile, compacted};
use batches::Merging;
use merge::Source;
use plan::Means;
use run::Run;
pub(super) use run::{KeyRanges, RowKeys};

/// Bytes of a block, about.
const BLOCK_BYTES: usize = 256 << 10;

/// Most rows of a block.
const MAX_BLOCK_ROWS: usize = 16 << 10;

/// What tasks have written.
#[derive(Debug, Default)]
pub(super) struct Spilled {
    file: Option<Arc<SpillFile>>,
    pub(super) runs: Vec<Run>,
    pub(super) keys: KeyRanges,
}

impl Spilled {
    /// Appends what another task has written.
    pub(super) fn append(&mut self, other: Self) {
        self.runs.extend(other.runs);
        self.keys.merge(other.keys);
    }
}

/// Writes and merges runs of a sort.
#[derive(Clone)]
pub(super) struct Runs {
    /// How a run is sorted.
    pub(super) job: Job,
    pub(super) row_keys: Arc<RowKeys>,
    pub(super) budget: Arc<Budget>,
}

impl Runs {
    /// Sorts `rows` and writes them to the file of a task.
    pub(super) async fn spill(&self, rows: Rows, spilled: &mut Spilled) -> Result<()> {
        let num_rows = rows.num_rows();
        if num_rows == 0 {
            return Ok(());
        }
        let row_bytes = rows.size_bytes() / num_rows;
        let most_rows = MAX_BLOCK_ROWS.min(self.job.max_batch_rows);
        let block_rows = (BLOCK_BYTES / row_bytes.max(1)).clamp(1, most_rows);
        spilled.keys.merge(rows.key_ranges());
        let sorted = self.job.of_run(block_rows).run(rows).await?;
        let run = self.write(sorted, &mut spilled.file).await?;
        spilled.runs.push(run);
        Ok(())
    }

    /// Appends batches to a file, which is made if there is none.
    async fn write(&self, mut batches: Batches, file: &mut Option<Arc<SpillFile>>) -> Result<Run> {
        let file = match file {
            Some(file) => Arc::clone(file),
            None => {
                let new = Arc::new(self.budget.create_file()?);
                Arc::clone(file.insert(new))
            }
        };
        let mut run = Run::new(file);
        while let Some(batch) = batches.next().await {
            let block = compacted(&batch?)?;
            let place = run.append(&block, &self.row_keys)?;
            self.budget.count_block(&place)?;
        }
        Ok(run)
    }

    /// All rows of some runs in order; of equal ones, those of earlier runs first.
    pub(super) async fn merge(
        &self,
        Spilled { mut runs, keys, .. }: Spilled,
        memory: MemoryReservation,
    ) -> Result<Batches> {
        let means = Means {
            free_bytes: self.budget.merge_bytes(),
            num_tasks: self.job.cut.num_tasks,
            is_tiny: self.job.cut.strategy.is_tiny(),
        };
        let layout = Arc::new(keys.layout());
        while runs.len() > means.most_runs(&runs) {
            let most_runs = means.most_runs(&runs);
            let mut longer = Vec::new();
            let mut file = None;
            while !runs.is_empty() {
                let rest = runs.split_off(runs.len().min(most_runs));
                let group = std::mem::replace(&mut runs, rest);
                let num_rows: usize = group.iter().map(|run| run.num_rows).sum();
                let num_blocks: usize = group.iter().map(|run| run.blocks.len()).sum();
                let block_rows = num_rows.div_ceil(num_blocks.max(1));
                let Job { limit, metrics, .. } = self.job.of_run(block_rows);
                let source = self.source(group, &layout, block_rows);
                let merging = Merging::try_new(source, means, memory.new_empty())?;
                let merged = merging.batches(limit, metrics)?;
                longer.push(self.write(merged, &mut file).await?);
            }
            runs = longer;
        }
        let num_rows = runs.iter().map(|run| run.num_rows).sum();
        let num_runs = runs.len();
        let source = self.source(runs, &layout, self.job.max_batch_rows);
        let merging = Merging::try_new(source, means, memory)?;
        self.job
            .note_merge(num_rows, num_runs, merging.num_ranges());
        merging.batches(self.job.limit, self.job.metrics.clone())
    }

    fn source(&self, runs: Vec<Run>, layout: &Arc<Layout>, max_rows: usize) -> Source {
        Source {
            runs,
            schema: Arc::clone(&self.job.schema),
            sorts: Arc::clone(&self.job.sorts),
            row_keys: Arc::clone(&self.row_keys),
            layout: Arc::clone(layout),
            budget: Arc::clone(&self.budget),
            max_rows,
        }
    }
}
