//! What plans may know of a step's rows: their columns, their order, and what it asks of its input's.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{Field, Schema, SchemaRef};
use basalt_analyzer::plan::{StreamOperator, Window};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    LexOrdering, OrderingRequirements, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{Distribution, ExecutionPlan, ExecutionPlanProperties};

use super::array_join_lists::element_field;

/// The order that a plan was given: a sort's own, also by what is the same in all rows of a partition,
/// which is no order to DataFusion.
pub(super) fn order_of(input: &Arc<dyn ExecutionPlan>) -> Option<OrderingRequirements> {
    let order = match input.downcast_ref::<SortExec>() {
        Some(sort) => Some(sort.expr()),
        None => input.output_ordering(),
    };
    order.cloned().map(OrderingRequirements::from)
}

/// Whether rows come out in the order of the input, their columns unchanged.
pub(super) fn keeps_order(operator: &StreamOperator) -> bool {
    !matches!(
        operator,
        StreamOperator::AsofJoin(_) | StreamOperator::WithFill { .. } | StreamOperator::Unordered
    )
}

/// Whether the step only counts what a setting limits.
pub(super) fn is_limit(operator: &StreamOperator) -> bool {
    matches!(
        operator,
        StreamOperator::AtMost(_) | StreamOperator::KeysAtMost { .. }
    )
}

pub(super) fn output_schema(input: &SchemaRef, operator: &StreamOperator) -> Result<SchemaRef> {
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
pub(super) fn window_distribution(input: &SchemaRef, window: &Window) -> Distribution {
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
pub(super) fn window_ordering(input: &SchemaRef, window: &Window) -> Option<OrderingRequirements> {
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
