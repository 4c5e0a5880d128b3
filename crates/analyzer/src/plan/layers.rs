//! Computes shared parts of long expressions once, in projections of their own below.
//!
//! An alias that uses another one holds all of its expression, so that a chain of aliases makes a
//! list whose size is the square of its length, and the planner's work on it the cube. Cut into
//! layers of a few levels each, the size of the list is that of its text.

use std::collections::HashMap;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::build::plain_projection;

/// Lists of fewer parts are planned quickly as they are.
const MIN_NODES: usize = 2000;

/// Levels of an expression that one layer computes.
const LAYER_HEIGHT: usize = 16;

/// The expressions over a plan that has computed what they share.
pub(super) fn layered(
    mut plan: LogicalPlan,
    mut exprs: Vec<Expr>,
) -> Result<(LogicalPlan, Vec<Expr>)> {
    let mut next = 0;
    while exprs.iter().map(num_nodes).sum::<usize>() >= MIN_NODES {
        let mut uses = HashMap::new();
        for expr in &exprs {
            count_cuts(expr, &mut uses);
        }
        let mut shared: Vec<(usize, Expr)> = uses
            .into_iter()
            .filter(|(_, (count, _))| *count > 1)
            .map(|(expr, (_, first))| (first, expr.clone()))
            .collect();
        if shared.is_empty() {
            break;
        }
        shared.sort_unstable_by_key(|(first, _)| *first);
        let mut names = HashMap::new();
        for (_, expr) in shared {
            names.insert(expr, format!("\0shared{next}"));
            next += 1;
        }
        exprs = exprs
            .into_iter()
            .map(|e| cut(e, &names))
            .collect::<Result<_>>()?;
        plan = layer(plan, &exprs, names)?;
    }
    Ok((plan, exprs))
}

/// The step that computes what has a name in `names`, and keeps the other columns of `exprs`.
fn layer(plan: LogicalPlan, exprs: &[Expr], names: HashMap<Expr, String>) -> Result<LogicalPlan> {
    let mut kept: Vec<_> = exprs.iter().flat_map(Expr::column_refs).collect();
    kept.sort_unstable();
    kept.dedup();
    let mut computed: Vec<_> = names.into_iter().collect();
    computed.sort_unstable_by(|a, b| a.1.cmp(&b.1));
    let kept = kept
        .into_iter()
        .filter(|c| computed.binary_search_by(|(_, n)| n.cmp(&c.name)).is_err())
        .map(|c| Expr::Column(c.clone()));
    let columns: Vec<Expr> = kept.collect();
    let computed = computed.into_iter().map(|(expr, name)| expr.alias(name));
    plain_projection(plan, columns.into_iter().chain(computed).collect())
}

/// Counts the parts of that height which are computed in every row.
fn count_cuts<'e>(expr: &'e Expr, uses: &mut HashMap<&'e Expr, (usize, usize)>) -> usize {
    let height = children(expr)
        .into_iter()
        .map(|c| count_cuts(c, uses))
        .max()
        .unwrap_or(0)
        + 1;
    if height == LAYER_HEIGHT && !expr.is_volatile() {
        let first = uses.len();
        uses.entry(expr).or_insert((0, first)).0 += 1;
    }
    height
}

/// Operands that are computed whenever the expression is: not those of branches and logic.
fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::ScalarFunction(f) if !f.func.short_circuits() => f.args.iter().collect(),
        Expr::Cast(cast) => vec![&cast.expr],
        Expr::Alias(alias) => vec![&alias.expr],
        Expr::Not(e) | Expr::IsNull(e) | Expr::IsNotNull(e) => vec![e],
        Expr::BinaryExpr(b) if !b.op.is_logic_operator() => vec![&b.left, &b.right],
        _ => Vec::new(),
    }
}

/// The expression with the columns of the layer below, under the name that it had.
fn cut(expr: Expr, names: &HashMap<Expr, String>) -> Result<Expr> {
    let name = match &expr {
        Expr::Alias(_) | Expr::Column(_) => None,
        _ => Some(expr.schema_name().to_string()),
    };
    let (cut, _) = cut_part(expr, names)?;
    Ok(match name {
        Some(name) if cut.transformed => cut.data.alias(name),
        _ => cut.data,
    })
}

/// The part with its cuts, and the height that it had. No cut is inside of another one.
fn cut_part(expr: Expr, names: &HashMap<Expr, String>) -> Result<(Transformed<Expr>, usize)> {
    if children(&expr).is_empty() {
        return Ok((Transformed::no(expr), 1));
    }
    let mut height = 0;
    let mut part = expr.map_children(|child| {
        let (child, height_of_child) = cut_part(child, names)?;
        height = height.max(height_of_child);
        Ok(child)
    })?;
    height += 1;
    if height == LAYER_HEIGHT
        && let Some(name) = names.get(&part.data)
    {
        part = Transformed::yes(crate::typed::column(name));
    }
    Ok((part, height))
}

fn num_nodes(expr: &Expr) -> usize {
    let mut nodes = 0;
    // The closure never fails.
    let _ = expr.apply(|_| {
        nodes += 1;
        Ok(TreeNodeRecursion::Continue)
    });
    nodes
}
