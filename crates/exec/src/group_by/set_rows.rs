//! Gives every row once for each grouping set, so that one grouping makes the groups of all sets.
//!
//! A row of a set has NULL for the keys that the set leaves out, and the set's number as a key of its own:
//! a NULL of the data is in another group than one of a set.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::{PhysicalGroupBy, evaluate_group_by};
use datafusion::physical_plan::execution_plan::EmissionType;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning,
    PlanProperties, SendableRecordBatchStream,
};
use futures::StreamExt;

use crate::one_input::only_input;

/// The rows of `input`, once for each set of `sets`: the keys, the set's number, then `args`.
#[derive(Debug)]
pub struct SetRowsExec {
    input: Arc<dyn ExecutionPlan>,
    sets: Arc<PhysicalGroupBy>,
    /// What aggregates read of a row, computed once for all sets.
    args: Arc<[Arc<dyn PhysicalExpr>]>,
    metrics: ExecutionPlanMetricsSet,
    properties: Arc<PlanProperties>,
}

impl SetRowsExec {
    /// The rows of `input` for each set.
    ///
    /// # Errors
    /// If an expression is not over the input's columns.
    pub fn try_new(
        input: Arc<dyn ExecutionPlan>,
        sets: Arc<PhysicalGroupBy>,
        args: Arc<[Arc<dyn PhysicalExpr>]>,
    ) -> Result<Self> {
        let schema = output_schema(&input.schema(), &sets, &args)?;
        let num_partitions = input.output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(num_partitions),
            EmissionType::Incremental,
            input.boundedness(),
        );
        Ok(Self {
            input,
            sets,
            args,
            metrics: ExecutionPlanMetricsSet::new(),
            properties: Arc::new(properties),
        })
    }
}

/// Columns of the keys, of the set's number, and of what aggregates read.
fn output_schema(
    input: &SchemaRef,
    sets: &PhysicalGroupBy,
    args: &[Arc<dyn PhysicalExpr>],
) -> Result<SchemaRef> {
    let keys = sets.group_schema(input)?;
    let mut fields: Vec<_> = keys.fields().iter().cloned().collect();
    for (i, arg) in args.iter().enumerate() {
        let nullable = arg.nullable(input)?;
        let field = Field::new(format!("arg{i}"), arg.data_type(input)?, nullable);
        fields.push(Arc::new(field));
    }
    Ok(Arc::new(Schema::new(fields)))
}

/// A batch for each set.
fn rows_of_sets(
    batch: &RecordBatch,
    (sets, args): (&PhysicalGroupBy, &[Arc<dyn PhysicalExpr>]),
    schema: &SchemaRef,
) -> Result<Vec<RecordBatch>> {
    let num_rows = batch.num_rows();
    let args = args
        .iter()
        .map(|arg| arg.evaluate(batch)?.into_array(num_rows));
    let args: Vec<ArrayRef> = args.collect::<Result<_>>()?;
    let keys = evaluate_group_by(sets, batch)?;
    let of_set = |mut columns: Vec<ArrayRef>| {
        columns.extend(args.iter().map(Arc::clone));
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    };
    keys.into_iter().map(of_set).collect()
}

impl DisplayAs for SetRowsExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.sets.expr().iter().map(|(key, _)| key.to_string());
        let keys = keys.collect::<Vec<_>>().join(", ");
        write!(
            f,
            "SetRowsExec: keys=[{keys}], sets={}",
            self.sets.groups().len()
        )
    }
}

impl ExecutionPlan for SetRowsExec {
    fn name(&self) -> &str {
        "SetRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let keys = self.sets.expr().iter().map(|(key, _)| key);
        for expr in keys.chain(self.args.iter()) {
            if f(expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (sets, args) = (Arc::clone(&self.sets), Arc::clone(&self.args));
        Ok(Arc::new(Self::try_new(only_input(children)?, sets, args)?))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let (sets, args) = (Arc::clone(&self.sets), Arc::clone(&self.args));
        let (schema, output) = (self.schema(), self.schema());
        let metrics = BaselineMetrics::new(&self.metrics, partition);
        let rows = input.flat_map(move |batch| {
            let _timer = metrics.elapsed_compute().timer();
            let batches = batch.and_then(|batch| rows_of_sets(&batch, (&sets, &args), &schema));
            let batches: Vec<Result<RecordBatch>> = match batches {
                Ok(batches) => batches.into_iter().map(Ok).collect(),
                Err(e) => vec![Err(e)],
            };
            for batch in batches.iter().flatten() {
                metrics.record_output(batch.num_rows());
            }
            futures::stream::iter(batches)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(output, rows)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
