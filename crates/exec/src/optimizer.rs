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

/// How often the rules go over a plan: what one moves or joins may be where another looks for it.
const MAX_PASSES: usize = 3;

/// Rules that have something to do behind the others also in the plan of one SELECT: a sort takes over a limit.
const AGAIN: &[&str] = &[
    "eliminate_filter",
    "eliminate_limit",
    "propagate_empty_relation",
    "push_down_limit",
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
    let mut rules: Vec<_> = rules.iter().filter(|r| helps(r.name())).cloned().collect();
    let is_one_select = is_one_select(&plan);
    if is_one_select {
        let again = rules.iter().filter(|r| AGAIN.contains(&r.name()));
        rules.extend(again.cloned().collect::<Vec<_>>());
    }
    let optimizer = Optimizer::with_rules(rules);
    let pass = |plan| optimizer.optimize(plan, state, |_, _| {});
    if is_one_select {
        let plan = pass(plan)?;
        return if has_nested_projections(&plan) {
            pass(plan)
        } else {
            Ok(plan)
        };
    }
    let mut plan = plan;
    for _ in 0..MAX_PASSES {
        let before = plan.clone();
        plan = pass(plan)?;
        if plan == before {
            break;
        }
    }
    Ok(plan)
}

/// Whether the plan is that of one SELECT from one table, or of one around it that has no ORDER BY and GROUP BY of
/// its own: there is a projection that names the columns of the table, and one each of the SELECT and behind its
/// ORDER BY. One pass of the rules leaves nothing to the next then, but for projections of projections where it
/// found an expression twice.
fn is_one_select(plan: &LogicalPlan) -> bool {
    let (mut is_chain, mut num_projections, mut num_aggregations) = (true, 0, 0);
    // The closure never fails.
    let _ = plan.apply(|node| {
        is_chain &= node.inputs().len() <= 1;
        num_projections += usize::from(matches!(node, LogicalPlan::Projection(_)));
        num_aggregations += usize::from(matches!(node, LogicalPlan::Aggregate(_)));
        node.apply_expressions(|expr| {
            is_chain &= !expr.exists(|e| Ok(is_subquery(e)))?;
            Ok(TreeNodeRecursion::Continue)
        })
    });
    is_chain && num_projections <= 3 && num_aggregations <= 1
}

/// Whether a projection reads another.
fn has_nested_projections(plan: &LogicalPlan) -> bool {
    let is_projection = |plan: &LogicalPlan| matches!(plan, LogicalPlan::Projection(_));
    let is_nested =
        plan.exists(|node| Ok(is_projection(node) && node.inputs().into_iter().any(is_projection)));
    // The closure never fails.
    is_nested.unwrap_or(false)
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
