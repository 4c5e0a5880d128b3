//! Measures every operator of a plan, whoever made it: time of its own, rows and bytes that it gives.
//!
//! DataFusion's own times do not do for this: some operators have none, and a hash join's contains what
//! is below it. Here an operator's time is that of reading its streams, less the time of streams that
//! are read meanwhile on the same thread. Work in tasks of an operator is not in it.

use std::cell::Cell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, Time,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{Stream, StreamExt};

use crate::scan::scan_exec::size_bytes;

thread_local! {
    /// Time that measured streams took on this thread within the one that is being read.
    static BELOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// What was measured of an operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// Time of its own, summed over threads.
    pub elapsed: Duration,
    /// Rows that it gave.
    pub num_rows: u64,
    /// Bytes of these rows' values.
    pub size_bytes: u64,
    /// Batches of these rows.
    pub num_batches: u64,
}

/// The plan with a measure around each operator.
///
/// # Errors
/// If an operator does not take its inputs again.
pub fn measure(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let inputs = plan.children().into_iter().map(|c| measure(Arc::clone(c)));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let operator = replace_children_if_necessary(plan, inputs)?;
    Ok(Arc::new(MeasuredExec {
        operator,
        metrics: ExecutionPlanMetricsSet::new(),
    }))
}

/// An operator that is measured.
#[derive(Debug)]
pub struct MeasuredExec {
    operator: Arc<dyn ExecutionPlan>,
    metrics: ExecutionPlanMetricsSet,
}

impl MeasuredExec {
    /// The operator; its inputs are measured, too.
    pub fn operator(&self) -> &Arc<dyn ExecutionPlan> {
        &self.operator
    }

    /// What was measured so far.
    pub fn figures(&self) -> Figures {
        let metrics = self.metrics.clone_inner();
        let sum = |name: &str| {
            let sum = metrics.sum(|metric| metric.value().name() == name);
            sum.map_or(0, |value| value.as_usize() as u64)
        };
        Figures {
            elapsed: Duration::from_nanos(sum("own_time")),
            num_rows: sum("output_rows"),
            size_bytes: sum("output_bytes"),
            num_batches: sum("output_batches"),
        }
    }
}

impl DisplayAs for MeasuredExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MeasuredExec")
    }
}

impl ExecutionPlan for MeasuredExec {
    fn name(&self) -> &str {
        "MeasuredExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.operator.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.operator]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
            Ok([operator]) => Ok(Arc::new(Self {
                operator,
                metrics: ExecutionPlanMetricsSet::new(),
            })),
            Err(_) => internal_err!("one operator is measured at a time"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        Ok(Box::pin(MeasuredStream {
            inner: self.operator.execute(partition, context)?,
            own_time: MetricBuilder::new(&self.metrics).subset_time("own_time", partition),
            num_rows: MetricBuilder::new(&self.metrics).output_rows(partition),
            size_bytes: MetricBuilder::new(&self.metrics).output_bytes(partition),
            num_batches: MetricBuilder::new(&self.metrics).output_batches(partition),
        }))
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match inputs {
            [operator] => Ok(Arc::clone(operator)),
            _ => internal_err!("a measure is of one operator"),
        }
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// A stream whose reading is measured.
struct MeasuredStream {
    inner: SendableRecordBatchStream,
    own_time: Time,
    num_rows: Count,
    size_bytes: Count,
    num_batches: Count,
}

impl Stream for MeasuredStream {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let beside = BELOW.replace(Duration::ZERO);
        let started = Instant::now();
        let polled = self.inner.poll_next_unpin(cx);
        let elapsed = started.elapsed();
        let below = BELOW.replace(beside + elapsed);
        self.own_time.add_duration(elapsed.saturating_sub(below));
        if let Poll::Ready(Some(Ok(batch))) = &polled {
            self.num_rows.add(batch.num_rows());
            self.size_bytes.add(size_bytes(batch));
            self.num_batches.add(1);
        }
        polled
    }
}

impl RecordBatchStream for MeasuredStream {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }
}
