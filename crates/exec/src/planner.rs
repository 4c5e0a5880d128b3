//! Plans the dialect's own nodes: [`StreamNode`] becomes [`StreamExec`].

use std::sync::Arc;

use async_trait::async_trait;
use basalt_analyzer::plan::StreamNode;
use datafusion::catalog::Session;
use datafusion::error::Result;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{ExtensionPlanner, PhysicalPlanner};

use crate::stream::StreamExec;

/// DataFusion asks it for every node that is not its own.
#[derive(Debug, Default)]
pub struct StreamPlanner;

#[async_trait]
impl ExtensionPlanner for StreamPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _session: &dyn Session,
        _planning_ctx: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let node = node.as_any().downcast_ref::<StreamNode>();
        let (Some(node), [input]) = (node, physical_inputs) else {
            return Ok(None);
        };
        Ok(Some(Arc::new(StreamExec::try_new(
            Arc::clone(input),
            node.operator.clone(),
        )?)))
    }
}
