//! Decides how joins of a query run.

use basalt_exec::rule::Joins;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{ExprSchemable, Join, LogicalPlan};

use crate::settings::Settings;

/// How settings want rows of two tables to find each other.
pub(crate) fn algorithm(settings: &Settings) -> Joins {
    let known = |name: &str| match name {
        "hash" | "parallel_hash" | "auto" | "default" => Some(Joins::Hash),
        "grace_hash" => Some(Joins::Merge),
        name if name.contains("merge") => Some(Joins::Merge),
        _ => None,
    };
    let names = settings.get("join_algorithm").split(',');
    names.filter_map(known).next().unwrap_or_default()
}

/// Whether the keys of all joins have bounds that the other side may be filtered by. Arrays, tuples and floats have not:
/// their least and greatest values are those of another order, or tell values apart that a join does not.
pub(crate) fn have_bounds(plan: &LogicalPlan) -> bool {
    let has_none = |data_type: &DataType| data_type.is_nested() || data_type.is_floating();
    let lacks_bounds = |join: &Join| {
        let schema = join.left.schema();
        let types = join.on.iter().map(|(key, _)| key.get_type(schema));
        types.flatten().any(|data_type| has_none(&data_type))
    };
    let mut all_have = true;
    let visited = plan.apply_with_subqueries(|node| {
        all_have &= !matches!(node, LogicalPlan::Join(join) if lacks_bounds(join));
        Ok(match all_have {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        })
    });
    all_have && visited.is_ok()
}
