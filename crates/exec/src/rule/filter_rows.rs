//! Drops rows by our operator, which computes what is computed of the others, too.
//!
//! Below an aggregation that rounds sums batch by batch these are not put together, so that it does not depend on which
//! thread gets which batches.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;

use super::swapped;
use crate::filter_project::FilterRowsExec;
use crate::group_by::GroupByExec;

/// Swaps filters in a plan in which all conditions have got their last form.
#[derive(Debug)]
pub struct SwapFilterRows;

/// Whether sums are rounded batch by batch: all that have no keys, and those of `Float32` by keys of eight bits.
fn rounds_by_batch(group_by: &GroupByExec) -> bool {
    let grouping = group_by.grouping();
    let is_one_of = |expr: &Arc<dyn PhysicalExpr>, types: &[DataType]| {
        let mut inputs = group_by.children().into_iter();
        inputs.any(|input| {
            let data_type = expr.data_type(&input.schema());
            data_type.is_ok_and(|data_type| types.contains(&data_type))
        })
    };
    match grouping.keys.as_slice() {
        [] => true,
        [key] => {
            let mut args = grouping.aggregates.iter().flat_map(|spec| &spec.args);
            is_one_of(key, &[DataType::UInt8, DataType::Int8, DataType::Boolean])
                && args.any(|arg| is_one_of(arg, &[DataType::Float32]))
        }
        _ => false,
    }
}

/// The rows of `input` batch by batch, if they are those of a filter.
fn by_batch(input: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(filter) = input.downcast_ref::<FilterRowsExec>() {
        return Ok(Some(Arc::new(filter.by_batch())));
    }
    let Some(projection) = input.downcast_ref::<ProjectionExec>() else {
        return Ok(None);
    };
    let with = |below| replace_children_if_necessary(Arc::clone(input), vec![below]);
    by_batch(projection.input())?.map(with).transpose()
}

impl PhysicalOptimizerRule for SwapFilterRows {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            if let Some(filter) = node.downcast_ref::<FilterExec>() {
                return Ok(Some(Arc::new(FilterRowsExec::of(filter))));
            }
            if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
                let filter = projection.input().downcast_ref::<FilterRowsExec>();
                let both = filter.and_then(|filter| filter.with_projection(projection));
                return Ok(both.map(|both| Arc::new(both) as _));
            }
            let group_by = node.downcast_ref::<GroupByExec>();
            let input = group_by.filter(|group_by| rounds_by_batch(group_by));
            let input = input.and_then(|_| by_batch(node.children().first()?).transpose());
            let input = input.transpose()?;
            let with = |input| replace_children_if_necessary(Arc::clone(node), vec![input]);
            input.map(with).transpose()
        })
    }

    fn name(&self) -> &str {
        "SwapFilterRows"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
