//! Measures every operator of a plan, whoever made it: time of its own, rows and bytes that it gives.
//!
//! DataFusion's own times do not do for this: some operators have none, and a hash join's contains what
//! is below it. Here an operator's time is that of reading its streams, less the time of streams that
//! are read meanwhile on the same thread. Work in tasks of an operator is not in it.

use std::cell::Cell;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, Time,
};
use futures::{Stream, StreamExt};

use crate::one_input::{ReadExec, Reading};
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
    let measure = Measure(ExecutionPlanMetricsSet::new());
    Ok(Arc::new(ReadExec::new(operator, measure)))
}

/// The operator that a node of [`measure`]'s plan stands for, and what was measured of it so far.
pub fn measured(node: &dyn ExecutionPlan) -> Option<(&Arc<dyn ExecutionPlan>, Figures)> {
    let node = node.downcast_ref::<ReadExec<Measure>>()?;
    let metrics = node.reading().0.clone_inner();
    let sum = |name: &str| {
        let sum = metrics.sum(|metric| metric.value().name() == name);
        sum.map_or(0, |value| value.as_usize() as u64)
    };
    let figures = Figures {
        elapsed: Duration::from_nanos(sum("own_time")),
        num_rows: sum("output_rows"),
        size_bytes: sum("output_bytes"),
        num_batches: sum("output_batches"),
    };
    Some((node.input(), figures))
}

/// Measures the reading of an operator.
#[derive(Debug)]
struct Measure(ExecutionPlanMetricsSet);

impl Reading for Measure {
    const NAME: &'static str = "MeasuredExec";

    fn anew(&self) -> Self {
        Self(ExecutionPlanMetricsSet::new())
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        partition: usize,
    ) -> SendableRecordBatchStream {
        let metric = || MetricBuilder::new(&self.0);
        Box::pin(MeasuredStream {
            inner: batches,
            own_time: metric().subset_time("own_time", partition),
            num_rows: metric().output_rows(partition),
            size_bytes: metric().output_bytes(partition),
            num_batches: metric().output_batches(partition),
        })
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.0.clone_inner())
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
