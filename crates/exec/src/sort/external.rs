//! Sorts more rows than memory holds: sorted runs go to temporary files and are merged.
//!
//! ```text
//! task 1: rows ── sort ──▶ run │ run │ run ─┐
//! task 2: rows ── sort ──▶ run │ run │ run ─┴── merge ──▶ batches in order
//! ```
//!
//! A task whose rows fill its part of the memory sorts them as if there were no others and appends the
//! result to its file. Runs are merged by DataFusion's tree of losers, a limited number at a time: more
//! of them are merged into longer runs first, neighbours with neighbours, so that equal rows keep their
//! order.

use std::ops::Range;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::sorts::streaming_merge::StreamingMergeBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

use super::job::{Batches, Job};
use super::rows::{Rows, joined_one};
use crate::spill::{Budget, SpillFile, compacted};

/// Runs that are merged at a time: each holds two blocks.
const MAX_MERGED_RUNS: usize = 64;

/// Bytes of a block, about.
const BLOCK_BYTES: usize = 256 << 10;

/// Fewest and most rows of a block.
const BLOCK_ROWS: (usize, usize) = (64, 16 << 10);

/// Sorted rows in a file.
#[derive(Debug)]
pub(super) struct Run {
    file: Arc<SpillFile>,
    blocks: Vec<Range<u64>>,
    num_rows: usize,
}

/// What one task has written.
#[derive(Debug, Default)]
pub(super) struct TaskRuns {
    file: Option<Arc<SpillFile>>,
    pub(super) runs: Vec<Run>,
}

/// Writes and merges runs of a sort.
#[derive(Clone)]
pub(super) struct Runs {
    /// How a run is sorted.
    pub(super) job: Job,
    pub(super) ordering: LexOrdering,
    pub(super) budget: Arc<Budget>,
}

impl Runs {
    /// Sorts `rows` and writes them to the file of `task`.
    pub(super) async fn spill(&self, rows: Rows, task: &mut TaskRuns) -> Result<()> {
        let num_rows = rows.num_rows();
        if num_rows == 0 {
            return Ok(());
        }
        let row_bytes = rows.size_bytes() / num_rows;
        let (fewest, most) = BLOCK_ROWS;
        let block_rows = (BLOCK_BYTES / row_bytes.max(1)).clamp(fewest, most);
        let sorted = self.job.of_run(block_rows).run(rows).await?;
        let run = self.write(sorted, &mut task.file).await?;
        task.runs.push(run);
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
        let mut run = Run {
            file,
            blocks: Vec::new(),
            num_rows: 0,
        };
        while let Some(batch) = batches.next().await {
            let block = compacted(&batch?)?;
            let place = run.file.append(&block)?;
            self.budget.count_block(&place)?;
            run.blocks.push(place);
            run.num_rows += block.num_rows();
        }
        Ok(run)
    }

    /// All rows of some runs in order; of equal ones, those of earlier runs first.
    pub(super) async fn merge(
        &self,
        mut runs: Vec<Run>,
        memory: MemoryReservation,
    ) -> Result<Batches> {
        let all = runs.iter().map(|run| run.num_rows).sum();
        while runs.len() > MAX_MERGED_RUNS {
            let mut longer = Vec::new();
            let mut file = None;
            while !runs.is_empty() {
                let rest = runs.split_off(runs.len().min(MAX_MERGED_RUNS));
                let metrics = BaselineMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
                let group = std::mem::replace(&mut runs, rest);
                let num_rows: usize = group.iter().map(|run| run.num_rows).sum();
                let blocks: usize = group.iter().map(|run| run.blocks.len()).sum();
                let block_rows = num_rows.div_ceil(blocks.max(1));
                let merged = self.merged(group, block_rows, (memory.new_empty(), metrics))?;
                longer.push(self.write(merged.boxed(), &mut file).await?);
            }
            runs = longer;
        }
        self.job.note_merge(all, runs.len());
        let max_rows = self.job.max_batch_rows;
        let metrics = self.job.metrics.clone();
        let merged = self.merged(runs, max_rows, (memory, metrics))?;
        let mut skipped = self.job.limit.skip;
        let wanted = merged.try_filter_map(move |batch| {
            let start = skipped.min(batch.num_rows());
            skipped -= start;
            let num_rows = batch.num_rows() - start;
            let rest = (num_rows > 0).then(|| batch.slice(start, num_rows));
            std::future::ready(Ok(rest))
        });
        Ok(wanted.boxed())
    }

    fn merged(
        &self,
        runs: Vec<Run>,
        max_rows: usize,
        (memory, metrics): (MemoryReservation, BaselineMetrics),
    ) -> Result<SendableRecordBatchStream> {
        let schema = &self.job.schema;
        let runs = runs.into_iter().map(|run| run.stream(schema)).collect();
        StreamingMergeBuilder::new()
            .with_streams(runs)
            .with_schema(Arc::clone(schema))
            .with_expressions(&self.ordering)
            .with_metrics(metrics)
            .with_batch_size(max_rows.max(1))
            .with_fetch(self.job.limit.num_first_rows())
            .with_reservation(memory)
            .with_round_robin_tie_breaker(false)
            .build()
    }
}

impl Run {
    /// Its rows, the next block read ahead.
    fn stream(self, schema: &SchemaRef) -> SendableRecordBatchStream {
        let file = self.file;
        let blocks = stream::iter(self.blocks).map(move |place| {
            let file = Arc::clone(&file);
            // A pool of many threads would keep as many heaps of blocks that others have freed.
            joined_one(SpawnedTask::spawn(async move { file.read(&place) }))
        });
        let schema = Arc::clone(schema);
        Box::pin(RecordBatchStreamAdapter::new(schema, blocks.buffered(2)))
    }
}
