//! Runs a scan: each partition takes morsels from the source until there are none left.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::datatypes::DataType;
use basalt_analyzer::into_plan_error;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, Count, ExecutionPlanMetricsSet, Metric, MetricBuilder, MetricValue, MetricsSet,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
    SendableRecordBatchStream,
};

use super::{BatchIter, MorselSource};
use crate::QueryControl;
use crate::codes::StringNumbers;
use crate::handover::handed_over;
use crate::sort::KeyBound;

/// Rows of a batch unless a setting says otherwise.
const DEFAULT_ROWS: usize = 65_409;

/// Rows that tables on disk hold together: to cut a handful of them off would make tiny batches.
const STORED_ROWS: usize = 65_536;

/// The scan of a [`MorselSource`].
#[derive(Debug)]
pub struct ScanExec {
    source: Arc<dyn MorselSource>,
    control: Arc<QueryControl>,
    /// The next morsel that no partition has taken.
    next: Arc<AtomicUsize>,
    limit: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl ScanExec {
    /// A scan by at most `num_threads` partitions.
    pub fn new(
        source: Arc<dyn MorselSource>,
        control: Arc<QueryControl>,
        num_threads: usize,
        limit: Option<usize>,
    ) -> Self {
        let num_partitions = num_threads.min(source.num_morsels()).max(1);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(source.schema()),
            Partitioning::UnknownPartitioning(num_partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        let next = Arc::new(AtomicUsize::new(0));
        Self {
            source,
            control,
            next,
            limit,
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        }
    }

    /// The same without rows that a top-N above no longer wants; none if the source cannot tell which.
    pub(crate) fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Self> {
        let source = self
            .source
            .with_bound(bound)
            .filter(|_| self.limit.is_none())?;
        Some(self.reading(source))
    }

    /// The same where only the least and the greatest value of each column are asked for; none if the source has
    /// to read all rows for them.
    pub(crate) fn of_extremes(&self) -> Option<Self> {
        let source = self.source.of_extremes();
        let source = source.filter(|_| self.limit.is_none())?;
        Some(self.reading(source))
    }

    /// As many rows without columns as fulfil a predicate; none if the source has to read them to know.
    pub(crate) fn counting(&self, predicate: &Arc<dyn PhysicalExpr>) -> Option<Self> {
        let source = self.source.counting(predicate);
        let source = source.filter(|_| self.limit.is_none())?;
        Some(self.reading(source))
    }

    /// Number of rows, or of values of a column that are not NULL, if known without reading them.
    pub(crate) fn num_values(&self, column: Option<usize>) -> Option<usize> {
        let is_known = self.source.is_counted() && self.limit.is_none();
        match column {
            _ if !is_known => None,
            None => self.source.num_rows(),
            Some(column) => self.source.num_values(column),
        }
    }

    /// The same with just the rows that fulfil a predicate, and only these columns; none if it was not asked for that
    /// predicate.
    pub(crate) fn filtered(
        &self,
        predicate: &Arc<dyn PhysicalExpr>,
        columns: &[usize],
    ) -> Option<Self> {
        let source = self.source.filtered(predicate, columns);
        let source = source.filter(|_| self.limit.is_none())?;
        Some(self.reading(source))
    }

    /// The same with the numbers of strings in their place; none if that does not pay, or they take more than
    /// `max_bytes`.
    pub(crate) fn numbered(
        &self,
        column: usize,
        numbers: &Arc<StringNumbers>,
        max_bytes: Option<usize>,
    ) -> Option<Self> {
        // The source looks at strings.
        if self.limit.is_some() {
            return None;
        }
        let source = self.source.numbered(column, numbers, max_bytes)?;
        Some(self.reading(source))
    }

    /// A scan of another source by the same threads.
    fn reading(&self, source: Arc<dyn MorselSource>) -> Self {
        let num_threads = self.properties.partitioning.partition_count();
        Self::new(source, Arc::clone(&self.control), num_threads, None)
    }

    /// The rows that are read.
    pub fn source(&self) -> &Arc<dyn MorselSource> {
        &self.source
    }
}

impl DisplayAs for ScanExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .properties
            .eq_properties
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().as_str())
            .collect();
        write!(
            f,
            "ScanExec: {}, columns=[{}]",
            self.source.describe(),
            names.join(", ")
        )?;
        match self.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for ScanExec {
    fn name(&self) -> &str {
        "ScanExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
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
        if children.is_empty() {
            Ok(self)
        } else {
            internal_err!("a scan has no inputs")
        }
    }

    /// Recursions run their plan once a round, each time over all morsels.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let source = self.source.anew();
        Ok(Arc::new(Self {
            source: source.unwrap_or_else(|| Arc::clone(&self.source)),
            control: Arc::clone(&self.control),
            next: Arc::default(),
            limit: self.limit,
            metrics: self.metrics.clone(),
            properties: Arc::clone(&self.properties),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition == 0 {
            let known = self.source.num_rows().unwrap_or(0);
            self.control
                .expect_rows(self.limit.map_or(known, |l| l.min(known)) as u64);
        }
        let batch_rows = match context.session_config().batch_size() {
            _ if self.source.keeps_batches() => usize::MAX,
            DEFAULT_ROWS.. => STORED_ROWS,
            rows => rows.max(1),
        };
        let reader = MorselReader {
            source: Arc::clone(&self.source),
            control: Arc::clone(&self.control),
            next: Arc::clone(&self.next),
            current: None,
            batch_rows,
            uncut: None,
            remaining: self.limit.unwrap_or(usize::MAX),
            metrics: ScanMetrics::new(&self.metrics, partition),
        };
        let stream = handed_over(futures::stream::iter(reader));
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            stream,
        )))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut metrics = self.metrics.clone_inner();
        for (name, value) in self.source.counters() {
            let count = Count::new();
            count.add(usize::try_from(value).unwrap_or(usize::MAX));
            let name = name.into();
            metrics.push(Arc::new(Metric::new(
                MetricValue::Count { name, count },
                None,
            )));
        }
        Some(metrics)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema());
        if let Some(num_rows) = self.source.num_rows() {
            // The partitions take what they can get, so only all of them together are counted.
            let is_known = self.source.is_counted() && partition.is_none() && self.limit.is_none();
            statistics.num_rows = if is_known {
                Precision::Exact(num_rows)
            } else {
                Precision::Inexact(num_rows)
            };
        }
        Ok(Arc::new(statistics))
    }
}

/// What one partition counts.
struct ScanMetrics {
    baseline: BaselineMetrics,
    num_bytes: Count,
    num_morsels: Count,
    num_stored_bytes: Count,
}

/// Names of metrics: bytes of the values, morsels, and bytes that these had in files.
pub(super) const SCANNED_BYTES: &str = "bytes_scanned";
pub(super) const MORSELS: &str = "morsels";
pub(super) const STORED_BYTES: &str = "stored_bytes";

impl ScanMetrics {
    fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
        Self {
            baseline: BaselineMetrics::new(metrics, partition),
            num_bytes: counter(SCANNED_BYTES),
            num_morsels: counter(MORSELS),
            num_stored_bytes: counter(STORED_BYTES),
        }
    }
}

/// One partition's way through the morsels.
struct MorselReader {
    source: Arc<dyn MorselSource>,
    control: Arc<QueryControl>,
    next: Arc<AtomicUsize>,
    current: Option<BatchIter>,
    /// Rows of a batch at most.
    batch_rows: usize,
    /// The rest of a batch that was longer.
    uncut: Option<RecordBatch>,
    remaining: usize,
    metrics: ScanMetrics,
}

impl MorselReader {
    fn next_batch(&mut self) -> basalt_error::Result<Option<RecordBatch>> {
        loop {
            self.control.check()?;
            if self.remaining == 0 || self.control.is_over() {
                return Ok(None);
            }
            if let Some(batch) = self.uncut.take() {
                return Ok(Some(self.cut(batch)));
            }
            if let Some(batches) = &mut self.current {
                if let Some(batch) = batches.next() {
                    return batch.map(|b| Some(self.cut(b)));
                }
                self.current = None;
            }
            let morsel = self.next.fetch_add(1, Ordering::Relaxed);
            if morsel >= self.source.num_morsels() {
                return Ok(None);
            }
            self.current = Some(self.source.open(morsel)?);
            let stored_bytes = self.source.stored_bytes(morsel);
            self.metrics.num_morsels.add(1);
            self.metrics
                .num_stored_bytes
                .add(usize::try_from(stored_bytes).unwrap_or(usize::MAX));
        }
    }

    /// The first rows of a batch; the others wait.
    fn cut(&mut self, batch: RecordBatch) -> RecordBatch {
        let len = batch.num_rows().min(self.batch_rows);
        if len == batch.num_rows() {
            // A slice of all rows would count the NULLs anew.
            return self.counted(batch);
        }
        self.uncut = Some(batch.slice(len, batch.num_rows() - len));
        self.counted(batch.slice(0, len))
    }

    fn counted(&mut self, batch: RecordBatch) -> RecordBatch {
        let batch = if batch.num_rows() > self.remaining {
            batch.slice(0, self.remaining)
        } else {
            batch
        };
        self.remaining -= batch.num_rows();
        let num_bytes = size_bytes(&batch);
        self.control.count(batch.num_rows(), num_bytes);
        self.control.slow_down();
        self.metrics.num_bytes.add(num_bytes);
        self.metrics.baseline.record_output(batch.num_rows());
        batch
    }
}

impl Iterator for MorselReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let elapsed = self.metrics.baseline.elapsed_compute().clone();
        let _timer = elapsed.timer();
        match self.next_batch() {
            Ok(batch) => batch.map(Ok),
            Err(e) => {
                self.remaining = 0;
                Some(Err(into_plan_error(e)))
            }
        }
    }
}

/// Bytes of the batch's values, without the rest of buffers that it shares with others.
pub(crate) fn size_bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(column_bytes).sum()
}

/// Bytes of an array's values, likewise.
pub(crate) fn column_bytes(column: &ArrayRef) -> usize {
    let width = match column.data_type() {
        DataType::BinaryView | DataType::Utf8View => Some(size_of::<u128>()),
        other => other.primitive_width(),
    };
    let Some(width) = width else {
        return column.to_data().get_slice_memory_size().unwrap_or(0);
    };
    // The same without a list of all buffers.
    let validity = column.nulls().map_or(0, |_| column.len().div_ceil(8));
    column.len() * width + validity
}

#[cfg(test)]
mod tests {
    use arrow::array::{BinaryViewArray, BooleanArray, Int32Array, UInt64Array};

    use super::*;

    #[test]
    fn columns_have_the_bytes_that_arrow_counts() {
        let long: &[u8] = b"longer than what lies in a view";
        let columns: [ArrayRef; 5] = [
            Arc::new(UInt64Array::from_iter_values(0..100)),
            Arc::new(Int32Array::from_iter(
                (0..100).map(|i| (i % 3 > 0).then_some(i)),
            )),
            Arc::new(BinaryViewArray::from_iter_values([long; 100])),
            Arc::new(BinaryViewArray::from_iter(
                (0..100).map(|i| (i % 5 > 0).then_some(long)),
            )),
            Arc::new(BooleanArray::from(vec![true; 100])),
        ];
        for column in columns {
            for column in [column.slice(0, 100), column.slice(7, 13)] {
                let expected = column.to_data().get_slice_memory_size().unwrap();
                assert_eq!(column_bytes(&column), expected, "{}", column.data_type());
            }
        }
    }
}
