//! Sorting in a plan: all inputs into one output, or each into its own.

use std::fmt;
use std::sync::Arc;

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
use futures::TryStreamExt;
use futures::stream;

use super::Options;
use super::account::{Clocks, Notes};
use super::external::{RowKeys, Runs};
use super::float_key::key_column;
use super::job::{Job, Top};
use super::key_bound::KeyBound;
use super::nested_key;
use super::parts::Cut;
use super::rows::{Collected, Rows};
use crate::memory;
use crate::one_input::only_input;
use crate::report::clock::Consumed;
use crate::spill::Budget;

/// Which rows of the result are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Rows to leave out at the beginning.
    pub skip: usize,
    /// Most rows to give; none for all.
    pub fetch: Option<usize>,
    /// Whether rows after the last of these may be given, of which those with the same keys must be.
    pub with_ties: bool,
}

/// Sorts the rows of `input`.
#[derive(Clone, Debug)]
pub struct SortRowsExec {
    input: Arc<dyn ExecutionPlan>,
    ordering: LexOrdering,
    limit: Limit,
    /// Each partition of the input is sorted for itself.
    is_partitioned: bool,
    /// What the scan below may leave out of a top-N.
    key_bound: Option<Arc<KeyBound>>,
    pub(super) options: Options,
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
            data_type.is_ok_and(|t| nested_key::supports(&t))
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
            key_bound: None,
            options: Options::default(),
            metrics: ExecutionPlanMetricsSet::new(),
            notes: Notes::default(),
            properties: Arc::new(properties),
        })
    }

    /// The same with what is forced about it.
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
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

    /// Whether each partition of the input is sorted for itself.
    pub(crate) fn is_partitioned(&self) -> bool {
        self.is_partitioned
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
        Ok(Self {
            options: self.options,
            limit: self.limit,
            key_bound: self.key_bound.clone(),
            ..new
        })
    }

    /// The same over `input`, which leaves out rows by `key_bound`.
    ///
    /// # Errors
    /// If the order cannot be one of the input's rows.
    pub(crate) fn over_bounded(
        &self,
        input: Arc<dyn ExecutionPlan>,
        key_bound: Arc<KeyBound>,
    ) -> Result<Self> {
        let mut new = self.over(input, self.is_partitioned)?;
        new.key_bound = Some(key_bound);
        Ok(new)
    }

    /// How many rows are kept, if others than the best are not.
    pub(crate) fn num_top_rows(&self) -> Option<usize> {
        let num_rows = self.limit.skip.saturating_add(self.limit.fetch?);
        self.options
            .strategy
            .keeps_best(num_rows)
            .then_some(num_rows)
    }

    /// Whether rows whose keys are those of the last wanted row are wanted, too.
    pub(crate) fn with_ties(&self) -> bool {
        self.limit.with_ties
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
        Job {
            key_columns: (0..schema.fields().len()).map(key_of).collect(),
            schema,
            limit: self.limit,
            key_bound: self.key_bound.clone(),
            cut: Cut {
                strategy: self.options.strategy,
                // Of a partition, too: one may have most of the rows.
                num_tasks: context.session_config().target_partitions(),
            },
            max_batch_rows: context.session_config().batch_size().max(1),
            metrics: BaselineMetrics::new(&self.metrics, partition),
            clocks: Clocks::new(&self.metrics, partition),
            notes: self.notes.clone(),
            is_run: false,
            sorts,
        }
    }
}

impl DisplayAs for SortRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SortRowsExec: expr=[{}]", self.ordering)?;
        write!(f, ", strategy={}", self.options.strategy.name())?;
        if self.is_partitioned {
            write!(f, ", each partition")?;
        }
        if self.limit.skip > 0 {
            write!(f, ", skip={}", self.limit.skip)?;
        }
        if let Some(fetch) = self.limit.fetch {
            write!(f, ", fetch={fetch}")?;
        }
        if self.limit.with_ties {
            write!(f, " with ties")?;
        }
        Ok(())
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
        self.limit.fetch.filter(|_| !self.limit.with_ties)
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
        let input = only_input(children)?;
        Ok(Arc::new(self.over(input, self.is_partitioned)?))
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
        let pool = memory::of_operator(context.memory_pool(), &self.metrics);
        // All partitions may be sorted at once.
        let num_at_once = match self.is_partitioned {
            true => self.input.output_partitioning().partition_count(),
            false => 1,
        };
        let part = |bytes: usize| (bytes / num_at_once.max(1)).max(1);
        let max_bytes = self.options.external_bytes.map(part);
        let budget = Budget::new(max_bytes, partitions.len(), &context, &self.metrics);
        let row_keys = Arc::new(RowKeys::try_new(&job.sorts, &job.schema)?);
        let input = |i: usize| {
            let memory = MemoryConsumer::new("ORDER BY");
            let input = self.input.execute(i, Arc::clone(&context))?;
            let share = budget.share(memory.register(&pool));
            Ok((Consumed::stream(input, &clocks), share))
        };
        let inputs = partitions.map(input).collect::<Result<Vec<_>>>()?;
        let num_top_rows = self.num_top_rows();
        let run = async move {
            let inputs = match num_top_rows {
                None => inputs,
                Some(num_rows) => match job.run_top(inputs, num_rows).await? {
                    Top::Rows(batches) => return Ok(batches),
                    Top::TooMuch(inputs) => inputs,
                },
            };
            let runs = Runs {
                job,
                row_keys,
                budget,
            };
            match Rows::collect(inputs, &runs).await? {
                Collected::Rows(rows) => runs.job.run(rows).await,
                Collected::Spilled(spilled, memory) => runs.merge(spilled, memory).await,
            }
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
