//! Sorting in a plan: all inputs into one output, or each into its own.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::internal_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, SendableRecordBatchStream,
};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use super::Strategy;
use super::account::{Clocks, Notes};
use super::emit::Emitter;
use super::float_key::key_column;
use super::layout::Layout;
use super::ordinal::Kind;
use super::parts::{Cut, parts};
use super::rows::{Rows, joined_one};
use super::word::Word;
use crate::report::clock::Consumed;
use crate::report::memory::OperatorPool;

/// Which rows of the result are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Rows to leave out at the beginning.
    pub skip: usize,
    /// Most rows to give; none for all.
    pub fetch: Option<usize>,
}

/// Sorts the rows of `input`.
#[derive(Clone, Debug)]
pub struct SortRowsExec {
    input: Arc<dyn ExecutionPlan>,
    ordering: LexOrdering,
    limit: Limit,
    /// Each partition of the input is sorted for itself.
    is_partitioned: bool,
    pub(super) strategy: Strategy,
    metrics: ExecutionPlanMetricsSet,
    pub(super) notes: Notes,
    properties: Arc<PlanProperties>,
}

impl SortRowsExec {
    /// Whether rows of `input` can be sorted by these keys.
    pub fn supports(input: &Arc<dyn ExecutionPlan>, ordering: &LexOrdering) -> bool {
        let schema = input.schema();
        let is_key = |sort: &PhysicalSortExpr| {
            let data_type = sort.expr.data_type(&schema);
            data_type.is_ok_and(|t| Kind::of(&t).is_some())
        };
        !input.boundedness().is_unbounded() && ordering.iter().all(is_key)
    }

    /// A sort of all rows of `input` into one partition, or of each partition for itself.
    ///
    /// # Errors
    /// If the order cannot be one of the input's rows.
    pub fn try_new(
        input: Arc<dyn ExecutionPlan>,
        ordering: LexOrdering,
        is_partitioned: bool,
    ) -> Result<Self> {
        let mut equivalence = input.equivalence_properties().clone();
        equivalence.reorder(ordering.clone())?;
        let partitioning = if is_partitioned {
            input.output_partitioning().clone()
        } else {
            Partitioning::UnknownPartitioning(1)
        };
        let properties = PlanProperties::new(
            equivalence,
            partitioning,
            EmissionType::Final,
            input.boundedness(),
        );
        Ok(Self {
            input,
            ordering,
            limit: Limit::default(),
            is_partitioned,
            strategy: Strategy::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            notes: Notes::default(),
            properties: Arc::new(properties),
        })
    }

    /// The same with a way of working that is forced.
    pub fn with_strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The same for some of the rows.
    pub fn with_limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }

    /// The order of the result.
    pub fn ordering(&self) -> &LexOrdering {
        &self.ordering
    }

    /// Which rows it gives.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The same over other rows or into other partitions.
    ///
    /// # Errors
    /// If the order cannot be one of the input's rows.
    pub fn over(&self, input: Arc<dyn ExecutionPlan>, is_partitioned: bool) -> Result<Self> {
        let new = Self::try_new(input, self.ordering.clone(), is_partitioned)?;
        Ok(new.with_strategy(self.strategy).with_limit(self.limit))
    }

    fn job(&self, partition: usize, context: &Arc<TaskContext>) -> Job {
        let sorts: Arc<[PhysicalSortExpr]> = self.ordering.iter().cloned().collect();
        let key_of = |column: usize| {
            sorts.iter().position(|sort| {
                let key = key_column(sort.expr.as_ref());
                key.is_some_and(|key| key.index() == column)
            })
        };
        let schema = self.input.schema();
        let num_tasks = if self.is_partitioned {
            1
        } else {
            context.session_config().target_partitions()
        };
        Job {
            key_columns: (0..schema.fields().len()).map(key_of).collect(),
            schema,
            limit: self.limit,
            cut: Cut {
                strategy: self.strategy,
                num_tasks,
            },
            max_batch_rows: context.session_config().batch_size().max(1),
            metrics: BaselineMetrics::new(&self.metrics, partition),
            clocks: Clocks::new(&self.metrics, partition),
            notes: self.notes.clone(),
            sorts,
        }
    }
}

impl DisplayAs for SortRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SortRowsExec: expr=[{}]", self.ordering)?;
        write!(f, ", strategy={}", self.strategy.name())?;
        if self.is_partitioned {
            write!(f, ", each partition")?;
        }
        if self.limit.skip > 0 {
            write!(f, ", skip={}", self.limit.skip)?;
        }
        match self.limit.fetch {
            Some(fetch) => write!(f, ", fetch={fetch}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for SortRowsExec {
    fn name(&self) -> &str {
        "SortRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn fetch(&self) -> Option<usize> {
        self.limit.fetch
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for sort in self.ordering.iter() {
            if f(&sort.expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(self.over(input, self.is_partitioned)?)),
            Err(_) => internal_err!("a sort has one input"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let partitions = if self.is_partitioned {
            partition..partition + 1
        } else {
            0..self.input.output_partitioning().partition_count()
        };
        let job = self.job(partition, &context);
        let clocks = Arc::new(job.clocks.clone());
        let pool = OperatorPool::over(context.memory_pool(), &self.metrics);
        let input = |i: usize| {
            let memory = MemoryConsumer::new(format!("SortRowsExec[{i}]"));
            let input = self.input.execute(i, Arc::clone(&context))?;
            Ok((Consumed::stream(input, &clocks), memory.register(&pool)))
        };
        let inputs = partitions.map(input).collect::<Result<Vec<_>>>()?;
        let run = async move {
            let rows = Rows::collect(inputs, &job.sorts, job.cut.strategy).await?;
            job.run(rows).await
        };
        let batches = stream::once(run).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            batches,
        )))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// One run of the operator.
struct Job {
    sorts: Arc<[PhysicalSortExpr]>,
    schema: SchemaRef,
    /// For each column of the result, which key it is, if it is one.
    key_columns: Vec<Option<usize>>,
    limit: Limit,
    cut: Cut,
    max_batch_rows: usize,
    metrics: BaselineMetrics,
    clocks: Clocks,
    notes: Notes,
}

impl Job {
    async fn run(self, rows: Rows) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let is_readable = |layout: &Layout| {
            let keys = self.key_columns.iter();
            keys.map(|key| layout.readable((*key)?))
                .all(|place| place.is_some())
        };
        let layout = rows.layout(is_readable);
        if layout.key_bits() + layout.place_bits() <= u64::BITS {
            self.run_words::<u64>(rows, layout).await
        } else {
            self.run_words::<u128>(rows, layout).await
        }
    }

    async fn run_words<W: Word>(
        self,
        mut rows: Rows,
        layout: Layout,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        // Words as they are packed, and as they are split.
        rows.reserve(2 * size_of::<W>() * rows.num_rows())?;
        let (rows, layout) = (Arc::new(rows), Arc::new(layout));
        let clock = &self.clocks.splitting;
        let parts = parts::<W>(Arc::clone(&rows), Arc::clone(&layout), self.cut, clock).await?;
        self.notes
            .split(self.cut.strategy, (&rows, &layout), &parts);
        let mut wanted = Vec::new();
        let mut first = 0;
        for part in parts {
            let num_rows = part.num_rows(&rows);
            let range = self.limit.wanted(first..first + num_rows);
            first += num_rows;
            if !range.is_empty() {
                wanted.push((part, range));
            }
        }
        let emitter = Arc::new(Emitter {
            rows,
            layout,
            sorts: self.sorts,
            schema: self.schema,
            key_columns: self.key_columns,
            strategy: self.cut.strategy,
            max_batch_rows: self.max_batch_rows,
        });
        // Parts that are prepared while the first of them is read.
        let num_ahead = 2 * self.cut.num_tasks.max(1);
        let metrics = self.metrics;
        let tasks = stream::iter(wanted).map(move |(part, range)| {
            let emitter = Arc::clone(&emitter);
            let metrics = metrics.clone();
            joined_one(SpawnedTask::spawn(async move {
                let _timer = metrics.elapsed_compute().timer();
                let batches = emitter.emit(&part, range)?;
                let num_rows = batches.iter().map(RecordBatch::num_rows).sum();
                metrics.record_output(num_rows);
                Ok(stream::iter(batches.into_iter().map(Ok)))
            }))
        });
        Ok(tasks.buffered(num_ahead).try_flatten().boxed())
    }
}

impl Limit {
    /// Which rows of those at `rows` are wanted, counted from the first of them.
    fn wanted(&self, rows: Range<usize>) -> Range<usize> {
        let end = match self.fetch {
            Some(fetch) => self.skip.saturating_add(fetch),
            None => usize::MAX,
        };
        let within = |row: usize| row.clamp(rows.start, rows.end) - rows.start;
        within(self.skip)..within(end)
    }
}
