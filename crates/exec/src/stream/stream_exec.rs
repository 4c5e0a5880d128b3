//! Feeds the batches of a stream to a step.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use basalt_analyzer::into_plan_error;
use basalt_analyzer::plan::StreamOperator;
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, ExecutionPlanProperties,
    PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;

use super::Step;
use super::array_join::ArrayJoinStep;
use super::asof_join::AsofJoinStep;
use super::limit_by::LimitByStep;
use super::limit_rows::LimitRowsStep;
use super::limit_with_ties::LimitWithTiesStep;
use super::with_fill::WithFillStep;

/// A step of the dialect over the rows of `input`.
#[derive(Debug)]
pub struct StreamExec {
    input: Arc<dyn ExecutionPlan>,
    operator: StreamOperator,
    /// The order that the rows had when the step was planned: it may be what the step is about.
    order: Option<OrderingRequirements>,
    properties: Arc<PlanProperties>,
}

impl StreamExec {
    /// A step over `input`.
    ///
    /// # Errors
    /// If the input lacks a column of the step.
    pub fn try_new(input: Arc<dyn ExecutionPlan>, operator: StreamOperator) -> Result<Self> {
        let order = match &operator {
            StreamOperator::ArrayJoin { .. } => None,
            _ => input
                .output_ordering()
                .cloned()
                .map(OrderingRequirements::from),
        };
        Self::with_order(input, operator, order)
    }

    fn with_order(
        input: Arc<dyn ExecutionPlan>,
        operator: StreamOperator,
        order: Option<OrderingRequirements>,
    ) -> Result<Self> {
        let schema = output_schema(&input.schema(), &operator)?;
        let equivalence = if keeps_order(&operator) {
            // The input's columns stand where they stood.
            let known = input.equivalence_properties();
            let orders = known.oeq_class().clone();
            let mut properties = EquivalenceProperties::new_with_orderings(schema, orders);
            properties.add_equivalence_group(known.eq_group().clone())?;
            properties
        } else {
            EquivalenceProperties::new(schema)
        };
        let properties = PlanProperties::new(
            equivalence,
            input.output_partitioning().clone(),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        Ok(Self {
            input,
            operator,
            order,
            properties: Arc::new(properties),
        })
    }

    fn is_row_by_row(&self) -> bool {
        matches!(self.operator, StreamOperator::ArrayJoin { .. })
    }

    fn step(&self) -> basalt_error::Result<Box<dyn Step>> {
        let input = self.input.schema();
        let schema = self.schema();
        Ok(match &self.operator {
            StreamOperator::ArrayJoin { left, columns, .. } => {
                Box::new(ArrayJoinStep::try_new(&input, schema, columns, *left)?)
            }
            StreamOperator::AsofJoin(columns) => Box::new(AsofJoinStep::try_new(&input, columns)?),
            StreamOperator::LimitBy {
                keys,
                offset,
                limit,
            } => Box::new(LimitByStep::try_new(&input, keys, *offset, *limit)?),
            StreamOperator::LimitRows { offset, limit } => {
                Box::new(LimitRowsStep::new(schema, offset.clone(), limit.clone()))
            }
            StreamOperator::LimitWithTies {
                keys,
                offset,
                limit,
            } => Box::new(LimitWithTiesStep::try_new(&input, keys, *offset, *limit)?),
            StreamOperator::WithFill {
                columns,
                prefix,
                interpolated,
            } => Box::new(WithFillStep::try_new(
                &input,
                columns,
                prefix,
                interpolated,
            )?),
        })
    }
}

/// Whether rows come out in the order of the input, their columns unchanged.
fn keeps_order(operator: &StreamOperator) -> bool {
    !matches!(
        operator,
        StreamOperator::AsofJoin(_) | StreamOperator::WithFill { .. }
    )
}

fn output_schema(input: &SchemaRef, operator: &StreamOperator) -> Result<SchemaRef> {
    let StreamOperator::ArrayJoin {
        columns, outputs, ..
    } = operator
    else {
        return Ok(Arc::clone(input));
    };
    let mut fields: Vec<_> = input.fields().iter().cloned().collect();
    for (name, output) in columns.iter().zip(outputs) {
        let DataType::List(item) = input.field_with_name(name)?.data_type() else {
            return internal_err!("{name} is no list");
        };
        fields.push(Arc::new(Field::new(output, item.data_type().clone(), true)));
    }
    Ok(Arc::new(Schema::new(fields)))
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
        vec![if self.is_row_by_row() {
            Distribution::UnspecifiedDistribution
        } else {
            Distribution::SinglePartition
        }]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone()]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![keeps_order(&self.operator)]
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
            Ok([input]) => {
                let order = self.order.clone();
                let step = Self::with_order(input, self.operator.clone(), order)?;
                Ok(Arc::new(step))
            }
            Err(_) => internal_err!("a step has one input"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let step = self.step().map_err(into_plan_error)?;
        let state = Some((input, step));
        let stream = futures::stream::unfold(state, |state| async move {
            let (mut input, mut step) = state?;
            loop {
                if step.is_done() {
                    return None;
                }
                let pushed = match input.next().await {
                    Some(Ok(batch)) => step.push(batch).map_err(into_plan_error),
                    Some(Err(e)) => Err(e),
                    None => {
                        let last = step.finish().map_err(into_plan_error).transpose()?;
                        return Some((last, None));
                    }
                };
                match pushed {
                    Ok(batch) if batch.num_rows() == 0 => {}
                    Ok(batch) => return Some((Ok(batch), Some((input, step)))),
                    Err(e) => return Some((Err(e), None)),
                }
            }
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema(),
            stream,
        )))
    }
}

/// Positions of columns by name.
pub(super) fn positions(schema: &SchemaRef, names: &[String]) -> basalt_error::Result<Vec<usize>> {
    let position = |name: &String| {
        let found = schema.index_of(name);
        found.map_err(|e| basalt_error::Error::bug(e.to_string()))
    };
    names.iter().map(position).collect()
}
