//! Joins rows in the order of their keys instead of looking them up in a hash table, where settings ask for it.
//!
//! A hash table must fit into memory; sorted rows may lie in temporary files.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{JoinSide, JoinType, internal_err};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};

use super::swapped;

/// How rows of two tables find each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joins {
    /// One side fills a hash table, in which rows of the other are looked up.
    #[default]
    Hash,
    /// Both sides are sorted and merged, where keys allow it.
    Merge,
}

/// Swaps hash joins before the order that the others need is arranged.
#[derive(Debug)]
pub struct MergeJoins;

/// The merge join for a hash join whose keys are compared alike by both.
fn merge_join(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(join) = node.downcast_ref::<HashJoinExec>() else {
        return Ok(None);
    };
    let left = join.left().schema();
    let is_mergeable = |data_type: Result<DataType>| data_type.is_ok_and(|t| is_mergeable(&t));
    let on = join.on().iter();
    let are_mergeable = on.map(|(key, _)| key.data_type(&left)).all(is_mergeable);
    if join.on().is_empty() || !are_mergeable || join.null_aware || join.contains_projection() {
        return Ok(None);
    }
    // DataFusion's merge join loses track of the columns of a condition when these move. One of an inner join may as
    // well come after it; others stay as they are.
    if join.filter().is_some() && *join.join_type() != JoinType::Inner {
        return Ok(None);
    }
    let on = join.on().to_vec();
    let options = vec![SortOptions::default(); on.len()];
    let merge: Arc<dyn ExecutionPlan> = Arc::new(SortMergeJoinExec::try_new(
        Arc::clone(join.left()),
        Arc::clone(join.right()),
        on,
        None,
        *join.join_type(),
        options,
        join.null_equality(),
    )?);
    Ok(Some(match join.filter() {
        Some(filter) => Arc::new(FilterExec::try_new(condition_above(join, filter)?, merge)?),
        None => merge,
    }))
}

/// The condition beside the keys, over the columns of both sides together.
fn condition_above(join: &HashJoinExec, filter: &JoinFilter) -> Result<Arc<dyn PhysicalExpr>> {
    let num_left = join.left().schema().fields().len();
    let moved = Arc::clone(filter.expression()).transform_up(|expr| {
        let Some(column) = expr.downcast_ref::<Column>() else {
            return Ok(Transformed::no(expr));
        };
        let Some(place) = filter.column_indices().get(column.index()) else {
            return internal_err!("a join's condition without column {}", column.index());
        };
        let index = match place.side {
            JoinSide::Right => num_left + place.index,
            _ => place.index,
        };
        Ok(Transformed::yes(
            Arc::new(Column::new(column.name(), index)) as _,
        ))
    });
    moved.data()
}

/// Whether values are equal where neither is before the other: of floats, zeros of both signs and NaN are not.
fn is_mergeable(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Decimal128(..)
                | DataType::Binary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        )
}

impl PhysicalOptimizerRule for MergeJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, merge_join)
    }

    fn name(&self) -> &str {
        "MergeJoins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
