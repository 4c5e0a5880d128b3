//! Feeds the batches of a stream to a step.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::{Field, Schema, SchemaRef};
use basalt_analyzer::into_plan_error;
use basalt_analyzer::plan::{RowBound, StreamOperator, Window};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties,
    PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;

use super::Step;
use super::array_join::ArrayJoinStep;
use super::array_join_lists::{element_field, kept_columns, with_constant_lists};
use super::asof_join::AsofJoinStep;
use super::at_most::AtMostStep;
use super::keys_at_most::KeysAtMostStep;
use super::limit_by::LimitByStep;
use super::limit_by_end::LimitByEndStep;
use super::limit_rows::LimitRowsStep;
use super::limit_with_ties::LimitWithTiesStep;
use super::shared::SharedStep;
use super::with_fill::{Filling, WithFillStep};
use crate::QueryControl;
use crate::one_input::only_input;
use crate::window::WindowStep;

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
            StreamOperator::ArrayJoin { .. } | StreamOperator::Unordered => None,
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

    /// Whether as many rows come out as come in.
    pub fn keeps_rows(&self) -> bool {
        use StreamOperator::{Ordered, Shared, Unordered};
        matches!(self.operator, Shared(_) | Ordered | Unordered)
    }

    fn is_row_by_row(&self) -> bool {
        matches!(
            self.operator,
            StreamOperator::ArrayJoin { .. } | StreamOperator::Unordered
        )
    }

    fn step(&self, context: &TaskContext) -> basalt_error::Result<Box<dyn Step>> {
        let input = self.input.schema();
        let schema = self.schema();
        Ok(match &self.operator {
            StreamOperator::ArrayJoin {
                left,
                unaligned,
                lists,
                ..
            } => {
                let max_rows = context.session_config().batch_size();
                let missing = (*left, *unaligned);
                let step = ArrayJoinStep::try_new((&input, schema), lists, missing, max_rows)?;
                Box::new(step)
            }
            StreamOperator::AtMost {
                rows,
                setting,
                breaks,
            } => Box::new(AtMostStep::new(*rows, *setting, *breaks)),
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
            StreamOperator::Unordered | StreamOperator::Ordered => Box::new(Unchanged),
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
        Ok(match &self.operator {
            StreamOperator::KeysAtMost {
                keys,
                rows,
                setting,
                overflow,
            } => {
                let limit = (*rows, *setting, *overflow);
                Box::new(KeysAtMostStep::try_new(&input, keys, limit, memory)?)
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
                Box::new(LimitRowsStep::new(input, bounds, memory))
            }
            StreamOperator::Window(window) => {
                let window = window.clone();
                Box::new(WindowStep::new(input, self.schema(), window, memory))
            }
            StreamOperator::Shared(rows) => Box::new(SharedStep::new(input, rows.clone(), memory)),
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

/// The order that a plan was given: a sort's own, also by what is the same in all rows of a partition,
/// which is no order to DataFusion.
fn order_of(input: &Arc<dyn ExecutionPlan>) -> Option<OrderingRequirements> {
    let order = match input.downcast_ref::<SortExec>() {
        Some(sort) => Some(sort.expr()),
        None => input.output_ordering(),
    };
    order.cloned().map(OrderingRequirements::from)
}

/// Whether rows come out in the order of the input, their columns unchanged.
fn keeps_order(operator: &StreamOperator) -> bool {
    !matches!(
        operator,
        StreamOperator::AsofJoin(_) | StreamOperator::WithFill { .. } | StreamOperator::Unordered
    )
}

fn output_schema(input: &SchemaRef, operator: &StreamOperator) -> Result<SchemaRef> {
    let mut fields: Vec<_> = input.fields().iter().cloned().collect();
    match operator {
        StreamOperator::ArrayJoin { lists, outputs, .. } => {
            for (list, output) in lists.iter().zip(outputs) {
                fields.push(element_field(input, list, output)?);
            }
        }
        StreamOperator::Window(window) => {
            for column in &window.functions {
                let field = Field::new(&column.output, column.arrow.clone(), true);
                fields.push(Arc::new(field));
            }
        }
        // Inserted rows may have NULL where no row of the input has.
        StreamOperator::WithFill { .. } => {
            for field in &mut fields {
                *field = Arc::new(field.as_ref().clone().with_nullable(true));
            }
        }
        _ => return Ok(Arc::clone(input)),
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// The partitions that a window's rows may be in: all rows of a window's partition in one.
fn window_distribution(input: &SchemaRef, window: &Window) -> Distribution {
    match window_keys(input, window) {
        Some(keys) if !keys.is_empty() => Distribution::KeyPartitioned(keys),
        _ => Distribution::SinglePartition,
    }
}

fn window_keys(input: &SchemaRef, window: &Window) -> Option<Vec<Arc<dyn PhysicalExpr>>> {
    let column = |name: &String| physical_column(input, name);
    window.partition.iter().map(column).collect()
}

fn physical_column(input: &SchemaRef, name: &str) -> Option<Arc<dyn PhysicalExpr>> {
    let index = input.index_of(name).ok()?;
    Some(Arc::new(Column::new(name, index)))
}

/// The order that a window needs: partitions together, each in its order.
fn window_ordering(input: &SchemaRef, window: &Window) -> Option<OrderingRequirements> {
    let sort = |name: &String, options: SortOptions| {
        Some(PhysicalSortExpr::new(
            physical_column(input, name)?,
            options,
        ))
    };
    let together = window.partition.iter().map(|name| {
        sort(
            name,
            SortOptions {
                descending: false,
                nulls_first: false,
            },
        )
    });
    let ordered = window.order.iter().map(|order| {
        sort(
            &order.name,
            SortOptions {
                descending: order.descending,
                nulls_first: order.nulls_first,
            },
        )
    });
    let sorts: Vec<PhysicalSortExpr> = together.chain(ordered).collect::<Option<_>>()?;
    LexOrdering::new(sorts).map(OrderingRequirements::from)
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
    /// in that order above the step, too, is in the equivalence properties.
    fn maintains_input_order(&self) -> Vec<bool> {
        let asks = self.required_input_ordering().iter().any(Option::is_some);
        vec![!asks && keeps_order(&self.operator)]
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

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if let StreamOperator::Shared(rows) = &self.operator
            && let Some(batch) = rows.get()
        {
            return Ok(self.stream(State::Emitting(batch), partition, &context));
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

/// Where a stream of a step is.
enum State {
    /// The input may have more rows.
    Running(SendableRecordBatchStream, Box<dyn Step>),
    /// The input has ended, the step may have more rows.
    Draining(Box<dyn Step>),
    /// The rows that the step gave at the end.
    Emitting(RecordBatch),
    /// Nothing comes any more.
    Ended,
}

impl State {
    /// The next batch, if the query may go on: a step can make so many rows of few that its input's
    /// checks do not end it.
    async fn next_of_query(
        self,
        control: Option<Arc<QueryControl>>,
    ) -> Option<(Result<RecordBatch>, Self)> {
        if matches!(self, Self::Ended) {
            return None;
        }
        if let Some(Err(e)) = control.map(|c| c.check()) {
            return Some((Err(into_plan_error(e)), Self::Ended));
        }
        self.next().await
    }

    async fn next(self) -> Option<(Result<RecordBatch>, Self)> {
        let (mut input, mut step) = match self {
            Self::Running(input, step) => (input, step),
            Self::Draining(step) => return Self::drain(step),
            Self::Emitting(batch) => return Self::slice(&batch),
            Self::Ended => return None,
        };
        while !step.is_done() {
            let ready = match step.ready() {
                Ok(Some(batch)) => Ok(batch),
                Ok(None) => match input.next().await {
                    Some(Ok(batch)) => step.push(batch).map_err(into_plan_error),
                    Some(Err(e)) => Err(e),
                    None => {
                        return match step.finish().map_err(into_plan_error) {
                            Ok(Some(batch)) => Self::slice(&batch),
                            Ok(None) => Self::drain(step),
                            Err(e) => Some((Err(e), Self::Ended)),
                        };
                    }
                },
                Err(e) => Err(into_plan_error(e)),
            };
            match ready {
                Ok(batch) if batch.num_rows() == 0 => {}
                Ok(batch) => return Some((Ok(batch), Self::Running(input, step))),
                Err(e) => return Some((Err(e), Self::Ended)),
            }
        }
        None
    }

    fn drain(mut step: Box<dyn Step>) -> Option<(Result<RecordBatch>, Self)> {
        match step.ready().map_err(into_plan_error) {
            Ok(Some(batch)) => Some((Ok(batch), Self::Draining(step))),
            Ok(None) => None,
            Err(e) => Some((Err(e), Self::Ended)),
        }
    }

    /// The first rows of a batch that may be long.
    fn slice(batch: &RecordBatch) -> Option<(Result<RecordBatch>, Self)> {
        let len = batch.num_rows().min(MAX_BATCH_ROWS);
        let rest = batch.slice(len, batch.num_rows() - len);
        let next = if rest.num_rows() == 0 {
            Self::Ended
        } else {
            Self::Emitting(rest)
        };
        Some((Ok(batch.slice(0, len)), next))
    }
}
