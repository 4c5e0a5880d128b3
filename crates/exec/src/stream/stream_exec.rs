//! Feeds the batches of a stream to a step.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_analyzer::into_plan_error;
use basalt_analyzer::plan::{RowBound, SharedRows, StreamOperator};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::{EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties,
    PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;

use super::Step;
use super::array_join::ArrayJoinStep;
use super::array_join_lists::{kept_columns, with_constant_lists};
use super::asof_join::AsofJoinStep;
use super::at_most::AtMostStep;
use super::kept::Kept;
use super::keys_at_most::KeysAtMostStep;
use super::limit_by::LimitByStep;
use super::limit_by_end::LimitByEndStep;
use super::limit_rows::LimitRowsStep;
use super::limit_with_ties::LimitWithTiesStep;
use super::rows_of_operator::{
    is_limit, keeps_order, order_of, output_schema, window_distribution, window_ordering,
};
use super::shared::{KeptStep, SharedStep};
use super::state::State;
use super::with_fill::{Filling, WithFillStep};
use crate::one_input::only_input;
use crate::report::Account;
use crate::spill::{Budget, spilled};
use crate::window::WindowStep;
use crate::{QueryControl, group_by, sort};

/// Most rows of a batch that leaves a step.
pub(super) const MAX_BATCH_ROWS: usize = 65_505;

/// A step of the dialect over the rows of `input`.
#[derive(Debug)]
pub struct StreamExec {
    input: Arc<dyn ExecutionPlan>,
    operator: StreamOperator,
    /// The order that the rows had when the step was planned: it may be what the step is about.
    order: Option<OrderingRequirements>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl StreamExec {
    /// A step over `input`.
    ///
    /// # Errors
    /// If the input lacks a column of the step.
    pub fn try_new(input: Arc<dyn ExecutionPlan>, operator: StreamOperator) -> Result<Self> {
        let (input, operator) = with_constant_lists(input, operator)?;
        let order = match &operator {
            StreamOperator::ArrayJoin { .. }
            | StreamOperator::Unordered
            | StreamOperator::Whole => None,
            _ => order_of(&input),
        };
        Self::with_order(input, operator, order)
    }

    fn with_order(
        input: Arc<dyn ExecutionPlan>,
        operator: StreamOperator,
        order: Option<OrderingRequirements>,
    ) -> Result<Self> {
        let schema = output_schema(&input.schema(), &operator)?;
        let known = input.equivalence_properties();
        let partitioning = input.output_partitioning();
        let (equivalence, partitioning) = match &operator {
            StreamOperator::ArrayJoin { lists, .. } => {
                let kept = kept_columns(&input.schema(), lists);
                let partitioning = partitioning.project(&kept, known);
                (known.project(&kept, schema), partitioning)
            }
            operator if keeps_order(operator) => {
                // The input's columns stand where they stood.
                let orders = known.oeq_class().clone();
                let mut properties = EquivalenceProperties::new_with_orderings(schema, orders);
                properties.add_equivalence_group(known.eq_group().clone())?;
                (properties, partitioning.clone())
            }
            _ => (EquivalenceProperties::new(schema), partitioning.clone()),
        };
        let properties = PlanProperties::new(
            equivalence,
            partitioning,
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Ok(Self {
            input,
            operator,
            order,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// How many rows the step takes besides those with the same keys as the last, if it is
    /// LIMIT … WITH TIES.
    pub(crate) fn rows_before_ties(&self) -> Option<usize> {
        match &self.operator {
            StreamOperator::LimitWithTies { offset, limit, .. } => {
                usize::try_from(offset.saturating_add(*limit)).ok()
            }
            _ => None,
        }
    }

    pub(crate) fn operator(&self) -> &StreamOperator {
        &self.operator
    }

    /// What a step tells that may go on in files.
    pub(crate) fn account(&self) -> Option<Account> {
        use StreamOperator::{LimitRows, Shared};
        let has_files = matches!(self.operator, Shared(_) | LimitRows { .. });
        has_files.then(|| Account {
            name: self.operator.name().to_owned(),
            facts: spilled(&self.metrics.clone_inner()).into_iter().collect(),
            ..Account::default()
        })
    }

    /// Whether as many rows come out as come in.
    pub fn keeps_rows(&self) -> bool {
        use StreamOperator::{Ordered, Shared, Unordered, Whole};
        matches!(self.operator, Shared(_) | Ordered | Unordered | Whole)
    }

    fn is_row_by_row(&self) -> bool {
        matches!(
            self.operator,
            StreamOperator::ArrayJoin { .. } | StreamOperator::Unordered | StreamOperator::Whole
        )
    }

    fn step(&self, context: &TaskContext) -> basalt_error::Result<Box<dyn Step>> {
        let input = self.input.schema();
        let schema = self.schema();
        Ok(match &self.operator {
            StreamOperator::ArrayJoin {
                place,
                left,
                unaligned,
                lists,
                ..
            } => {
                let max_rows = context.session_config().batch_size();
                let missing = (*left, *unaligned);
                let step = ArrayJoinStep::try_new((&input, schema), lists, missing, max_rows)?;
                Box::new(step.at(*place))
            }
            StreamOperator::AtMost(limit) => Box::new(AtMostStep::new(*limit)),
            StreamOperator::AsofJoin(columns) => Box::new(AsofJoinStep::try_new(&input, columns)?),
            StreamOperator::LimitWithTies {
                keys,
                offset,
                limit,
            } => Box::new(LimitWithTiesStep::try_new(&input, keys, *offset, *limit)?),
            StreamOperator::WithFill {
                columns,
                prefix,
                interpolated,
                defaults,
            } => Box::new(WithFillStep::try_new(
                &input,
                schema,
                &Filling {
                    columns,
                    prefix,
                    interpolated,
                    defaults,
                },
            )?),
            StreamOperator::Unordered | StreamOperator::Ordered | StreamOperator::Whole => {
                Box::new(Unchanged)
            }
            StreamOperator::KeysAtMost { .. }
            | StreamOperator::LimitBy { .. }
            | StreamOperator::LimitRows { .. }
            | StreamOperator::Window(_)
            | StreamOperator::Shared(_) => self.keeping_step(context)?,
        })
    }

    /// A step that keeps what grows with its input.
    fn keeping_step(&self, context: &TaskContext) -> basalt_error::Result<Box<dyn Step>> {
        let input = self.input.schema();
        let memory = MemoryConsumer::new(self.operator.name()).register(context.memory_pool());
        let config = context.session_config();
        let budget = |max_bytes| Budget::new(max_bytes, 1, context, &self.metrics);
        Ok(match &self.operator {
            StreamOperator::KeysAtMost { keys, limit } => {
                Box::new(KeysAtMostStep::try_new(&input, keys, *limit, memory)?)
            }
            StreamOperator::LimitBy {
                keys,
                offset,
                limit,
            } => match (offset, limit) {
                (RowBound::Rows(offset), RowBound::Rows(limit)) => {
                    let bounds = (*offset, *limit);
                    Box::new(LimitByStep::try_new(&input, keys, bounds, memory)?)
                }
                bounds => Box::new(LimitByEndStep::try_new(&input, keys, bounds, memory)?),
            },
            StreamOperator::LimitRows { offset, limit } => {
                let bounds = (offset.clone(), limit.clone());
                let sorting = config.get_extension::<sort::Options>();
                let share = budget(sorting.and_then(|o| o.external_bytes)).share(memory);
                Box::new(LimitRowsStep::new(input, bounds, share))
            }
            StreamOperator::Window(window) => {
                let window = window.clone();
                Box::new(WindowStep::new(input, self.schema(), window, memory))
            }
            StreamOperator::Shared(rows) => {
                let grouping = config.get_extension::<group_by::Options>();
                let share = budget(grouping.and_then(|o| o.external_bytes)).share(memory);
                Box::new(SharedStep::new(input, rows.clone(), share))
            }
            _ => Box::new(Unchanged),
        })
    }
}

/// The step that gives every batch as it is.
struct Unchanged;

impl Step for Unchanged {
    fn push(&mut self, batch: RecordBatch) -> basalt_error::Result<RecordBatch> {
        Ok(batch)
    }
}

impl DisplayAs for StreamExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamExec: {}", self.operator)
    }
}

impl ExecutionPlan for StreamExec {
    fn name(&self) -> &str {
        "StreamExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![match &self.operator {
            StreamOperator::Window(window) => window_distribution(&self.input.schema(), window),
            _ if self.is_row_by_row() => Distribution::UnspecifiedDistribution,
            _ => Distribution::SinglePartition,
        }]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![match &self.operator {
            StreamOperator::Window(window) => window_ordering(&self.input.schema(), window),
            _ => self.order.clone(),
        }]
    }

    /// A step that asks for an order says that it keeps none: DataFusion would push a sort from above
    /// below it as soon as one of the sort's keys agrees with the order asked for. That the rows are
    /// in that order above the step, too, is in the equivalence properties. So does a limit of a setting,
    /// which counts what a sort above it takes, not the rows of the sort that its LIMIT asks for, and a window over
    /// all rows without an order, whose functions follow the order in which the rows come.
    fn maintains_input_order(&self) -> Vec<bool> {
        if matches!(&self.operator, StreamOperator::Window(w) if w.takes_rows_as_they_come()) {
            return vec![false];
        }
        let asks = self.required_input_ordering().iter().any(Option::is_some);
        // A sort below may have keys that are no columns here any more.
        let by_place = matches!(
            &self.operator,
            StreamOperator::LimitBy { .. } | StreamOperator::LimitRows { .. }
        );
        vec![!asks && !by_place && keeps_order(&self.operator) && !is_limit(&self.operator)]
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
        let input = only_input(children)?;
        let step = Self::with_order(input, self.operator.clone(), self.order.clone())?;
        Ok(Arc::new(step))
    }

    /// The rows of one round of a recursion are not those of the next.
    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let operator = match &self.operator {
            StreamOperator::Shared(_) => StreamOperator::Shared(SharedRows::default()),
            other => other.clone(),
        };
        let input = Arc::clone(&self.input);
        let step = Self::with_order(input, operator, self.order.clone())?;
        Ok(Arc::new(step))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if let StreamOperator::Shared(rows) = &self.operator
            && let Some(kept) = rows.get::<Kept>()
        {
            let state = State::Draining(Box::new(KeptStep::new(kept)));
            return Ok(self.stream(state, partition, &context));
        }
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let step = self.step(&context).map_err(into_plan_error)?;
        Ok(self.stream(State::Running(input, step), partition, &context))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

impl StreamExec {
    fn stream(
        &self,
        state: State,
        partition: usize,
        context: &TaskContext,
    ) -> SendableRecordBatchStream {
        let num_rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        let control = context.session_config().get_extension::<QueryControl>();
        let next = move |state: State| state.next_of_query(control.clone());
        let stream = futures::stream::unfold(state, next);
        let stream = stream.inspect(move |batch: &Result<RecordBatch>| {
            num_rows.add(batch.as_ref().map_or(0, RecordBatch::num_rows));
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream))
    }
}
