//! Optimizes logical plans: unread columns first, then those of DataFusion's rules that can help.
//!
//! Each rule walks the plan several times. What it costs grows with the square of the number of columns
//! where it looks them up by name, so a rule that finds nothing in the plans that our analyzer builds, or
//! in this one, is left out.

use basalt_analyzer::plan::{is_wide, pruned};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::optimizer::Optimizer;

/// Rules for expressions that our analyzer never makes.
const NEVER: &[&str] = &[
    "rewrite_set_comparison",
    "decorrelate_lateral_join",
    "extract_leaf_expressions",
    "push_down_leaf_projections",
];

/// Rules about joins alone.
const OF_JOINS: &[&str] = &[
    "eliminate_join",
    "eliminate_outer_join",
    "eliminate_cross_join",
    "extract_equijoin_predicate",
    "filter_null_join_keys",
];

/// Rules whose work on wide rows is done: unread columns are gone, and our analyzer sorts and groups by
/// each expression once.
const OF_NARROW_ROWS: &[&str] = &["optimize_projections", "eliminate_duplicated_expr"];

/// The plan as the rules of `state` rewrite it; without rules it stays as it is.
///
/// # Errors
/// What a rule finds wrong with the plan.
pub fn optimized(plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
    let rules = &state.optimizer().rules;
    if rules.is_empty() {
        return state.optimize(&plan);
    }
    let plan = pruned(plan)?;
    let (wide, joins) = (is_wide(&plan), may_have_joins(&plan));
    let helps = |name: &str| {
        let is_vain = NEVER.contains(&name)
            || (!joins && OF_JOINS.contains(&name))
            || (wide && OF_NARROW_ROWS.contains(&name));
        !is_vain
    };
    let rules = rules.iter().filter(|r| helps(r.name())).cloned();
    Optimizer::with_rules(rules.collect()).optimize(plan, state, |_, _| {})
}

/// Whether there are joins, or subqueries that rules make joins of.
fn may_have_joins(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let _ = plan.apply(|node| {
        found |= matches!(node, LogicalPlan::Join(_));
        node.apply_expressions(|expr| {
            found |= expr.exists(|e| Ok(is_subquery(e)))?;
            Ok(TreeNodeRecursion::Continue)
        })
    });
    found
}

fn is_subquery(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_)
    )
}

#[cfg(test)]
mod tests;
