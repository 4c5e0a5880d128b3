//! Decides where the `arrayJoin` calls of a query make rows of elements.
//!
//! A call that stands in WHERE, in keys or in arguments of aggregate functions does before GROUP BY, all
//! others as late as they can: for HAVING, for window functions, for QUALIFY or for the select list. One that
//! stands on both sides of GROUP BY happens on both.

use std::collections::HashSet;

use basalt_error::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;

use super::Analyzer;
use super::grouping::Grouping;
use super::select::{Clauses, replace};
use crate::expr::ArrayJoinCall;
use crate::expr::aggregate::{forbid_aggregates, has_aggregate};
use crate::typed::column;

/// Begins the names of the columns that calls become; no name in a query does.
pub(crate) const PREFIX: &str = "\0arrayJoin";

/// The calls that make rows before GROUP BY, in the order in which they do.
#[derive(Default)]
pub(super) struct EarlyArrayJoins {
    /// Those that WHERE reads.
    pub(super) before_where: Vec<ArrayJoinCall>,
    pub(super) after_where: Vec<ArrayJoinCall>,
}

impl EarlyArrayJoins {
    /// The lists of the calls.
    pub(super) fn arguments_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let calls = self.before_where.iter_mut().chain(&mut self.after_where);
        calls.map(|call| &mut call.argument.expr)
    }
}

impl Analyzer<'_> {
    /// Sorts the calls of a query; those behind GROUP BY go into the clauses.
    pub(super) fn array_join_stages(
        &self,
        calls: Vec<ArrayJoinCall>,
        conditions: &[Expr],
        grouping: Option<&Grouping>,
        clauses: &mut Clauses,
    ) -> Result<EarlyArrayJoins> {
        if calls.is_empty() {
            return Ok(EarlyArrayJoins::default());
        }
        let is_grouped = grouping.is_some()
            || clauses.exprs_mut().any(|e| has_aggregate(e))
            || calls.iter().any(|c| has_aggregate(&c.argument.expr));
        let in_where = used_by(conditions.iter(), &calls);
        let in_groups = if is_grouped {
            let keys = grouping.iter().flat_map(|g| &g.keys);
            let keys: Vec<Expr> = keys.map(|k| k.expr.clone()).collect();
            let aggregates = parts_of_query(clauses, &calls, is_aggregate);
            let used = used_by(keys.iter().chain(&aggregates), &calls);
            self.late_array_joins(&calls, &keys, clauses)?;
            used
        } else {
            behind_windows(clauses, &calls, &in_where)
        };
        let mut early = EarlyArrayJoins::default();
        for call in calls {
            if in_where.contains(&call.internal) || in_groups.contains(&call.internal) {
                forbid_aggregates(&call.argument.expr, "arrayJoin before GROUP BY")?;
            }
            if in_where.contains(&call.internal) {
                early.before_where.push(call);
            } else if in_groups.contains(&call.internal) {
                early.after_where.push(call);
            }
        }
        Ok(early)
    }

    /// Gives the calls outside of keys and aggregate functions columns of their own behind GROUP BY.
    fn late_array_joins(
        &self,
        calls: &[ArrayJoinCall],
        keys: &[Expr],
        clauses: &mut Clauses,
    ) -> Result<()> {
        let named = |c: &ArrayJoinCall| (c.internal.clone(), self.fresh(PREFIX));
        let renamed: Vec<(String, String)> = calls.iter().map(named).collect();
        let late = |expr: &Expr| {
            replace(expr.clone(), |e| match e {
                e if keys.contains(e) => Some(e.clone()),
                Expr::AggregateFunction(_) => Some(e.clone()),
                Expr::Column(c) => {
                    let late = renamed.iter().find(|(early, _)| *early == c.name);
                    late.map(|(_, late)| column(late))
                }
                _ => None,
            })
        };
        for expr in clauses.exprs_mut() {
            *expr = late(expr)?;
        }
        let mut behind = Vec::with_capacity(calls.len());
        for (call, (_, internal)) in calls.iter().zip(renamed.clone()) {
            let mut argument = call.argument.clone();
            argument.expr = late(&argument.expr)?;
            behind.push(ArrayJoinCall { argument, internal });
        }
        let used = used_by(clauses.exprs_mut().map(|e| &*e), &behind);
        behind.retain(|c| used.contains(&c.internal));
        clauses.late_array_joins = behind;
        Ok(())
    }
}

impl Clauses {
    /// Whether HAVING reads a call.
    pub(super) fn having_reads_array_joins(&self) -> bool {
        let used = used_by(self.having.iter(), &self.late_array_joins);
        self.late_array_joins
            .iter()
            .any(|c| used.contains(&c.internal))
    }

    /// Takes the calls behind GROUP BY that HAVING reads.
    pub(super) fn take_array_joins_of_having(&mut self) -> Vec<ArrayJoinCall> {
        let used = used_by(self.having.iter(), &self.late_array_joins);
        self.take_array_joins(&used)
    }

    /// Takes the calls that window functions read.
    pub(super) fn take_array_joins_of_windows(&mut self) -> Vec<ArrayJoinCall> {
        let used = used_by(self.windows().iter(), &self.late_array_joins);
        self.take_array_joins(&used)
    }

    /// Takes the calls that QUALIFY reads.
    pub(super) fn take_array_joins_of_qualify(&mut self) -> Vec<ArrayJoinCall> {
        let used = used_by(self.qualify.iter(), &self.late_array_joins);
        self.take_array_joins(&used)
    }

    fn take_array_joins(&mut self, used: &HashSet<String>) -> Vec<ArrayJoinCall> {
        let late = std::mem::take(&mut self.late_array_joins);
        let (taken, others) = late.into_iter().partition(|c| used.contains(&c.internal));
        self.late_array_joins = others;
        taken
    }

    fn windows(&mut self) -> Vec<Expr> {
        let exprs = self.exprs_mut();
        exprs.flat_map(|e| parts(e, is_window)).collect()
    }
}

/// Of a query without groups: gives the calls that need not come before window functions to the clauses,
/// and the names of the others.
fn behind_windows(
    clauses: &mut Clauses,
    calls: &[ArrayJoinCall],
    in_where: &HashSet<String>,
) -> HashSet<String> {
    let windows = parts_of_query(clauses, calls, is_window);
    if windows.is_empty() {
        return calls.iter().map(|c| c.internal.clone()).collect();
    }
    let used = used_by(windows.iter(), calls);
    let is_early = |name: &String| used.contains(name) || in_where.contains(name);
    let late = calls.iter().filter(|c| !is_early(&c.internal));
    clauses.late_array_joins = late.cloned().collect();
    used
}

/// The parts of the clauses and of the calls' arguments that are such as `is_part` says.
fn parts_of_query(
    clauses: &mut Clauses,
    calls: &[ArrayJoinCall],
    is_part: fn(&Expr) -> bool,
) -> Vec<Expr> {
    let arguments = calls.iter().map(|c| &c.argument.expr);
    let exprs = clauses.exprs_mut().map(|e| &*e).chain(arguments);
    exprs.flat_map(|e| parts(e, is_part)).collect()
}

/// Whether the lists of one of the calls that an expression reads are made of aggregates.
pub(super) fn reads_aggregate(expr: &Expr, calls: &[ArrayJoinCall]) -> bool {
    let used = used_by(std::iter::once(expr), calls);
    let mut used = calls.iter().filter(|c| used.contains(&c.internal));
    has_aggregate(expr) || used.any(|c| has_aggregate(&c.argument.expr))
}

/// Names of the calls that the expressions read, and of those in these calls' arguments.
fn used_by<'e>(exprs: impl Iterator<Item = &'e Expr>, calls: &[ArrayJoinCall]) -> HashSet<String> {
    let names = |expr: &Expr| -> Vec<String> {
        let columns = expr.column_refs().into_iter();
        columns.map(|c| c.name.clone()).collect()
    };
    let mut used: HashSet<String> = exprs.flat_map(names).collect();
    // A call stands behind those in its argument.
    for call in calls.iter().rev() {
        if used.contains(&call.internal) {
            used.extend(names(&call.argument.expr));
        }
    }
    used
}

fn is_window(expr: &Expr) -> bool {
    matches!(expr, Expr::WindowFunction(_))
}

fn is_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::AggregateFunction(_))
}

/// The outermost parts of an expression that are such as `is_part` says.
fn parts(expr: &Expr, is_part: impl Fn(&Expr) -> bool) -> Vec<Expr> {
    let mut found = Vec::new();
    // The closure never fails, and so neither does the walk.
    let _ = expr.apply(|e| {
        if is_part(e) {
            found.push(e.clone());
            return Ok(TreeNodeRecursion::Jump);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    found
}
