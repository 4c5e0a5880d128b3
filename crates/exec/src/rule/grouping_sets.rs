//! Hides the order of rows from aggregations by several grouping sets.
//!
//! DataFusion gives groups out as soon as a key that the rows are ordered by changes, a constant among them.
//! A row of an aggregation by several sets has NULL for the keys that its set leaves out: such a key
//! changes from row to row, and groups would come out in pieces.

use std::fmt;
use std::sync::Arc;

use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, SendableRecordBatchStream,
};

/// The aggregation over rows in no order, if it has several grouping sets and reads an input.
pub(super) fn over_no_order(
    node: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = node.downcast_ref::<AggregateExec>() else {
        return Ok(None);
    };
    let input = aggregate.input();
    if aggregate.group_expr().is_single() || input.is::<NoOrderExec>() || is_aggregate(input) {
        return Ok(None);
    }
    let hidden: Arc<dyn ExecutionPlan> = Arc::new(NoOrderExec::new(Arc::clone(input)));
    replace_children_if_necessary(Arc::clone(node), vec![hidden]).map(Some)
}

fn is_aggregate(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<AggregateExec>()
}

/// Rows as they come, of which nothing is known.
#[derive(Debug)]
pub(super) struct NoOrderExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl NoOrderExec {
    fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        let known = input.properties();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            known.partitioning.clone(),
            known.emission_type,
            known.boundedness,
        );
        Self {
            properties: Arc::new(properties),
            input,
        }
    }
}

impl DisplayAs for NoOrderExec {
    fn fmt_as(&self, _t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoOrderExec")
    }
}

impl ExecutionPlan for NoOrderExec {
    fn name(&self) -> &str {
        "NoOrderExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
            Ok([input]) => Ok(Arc::new(Self::new(input))),
            Err(_) => internal_err!("rows in no order come from one input"),
        }
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}
