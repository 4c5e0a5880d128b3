//! Makes equal calls of functions that depend on chance give one value for each row.
//!
//! `rand() = rand()` is 1: the calls of one stage of a query (up to GROUP BY, or behind it) that are written
//! alike are one call. Those that stand more than once become a column of a step of their own.

use basalt_error::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::Analyzer;
use super::grouping::Grouping;
use super::join::all_columns;
use super::late_items::{follows_rows_before, projected};
use super::select::{Clauses, replace};
use crate::Typed;
use crate::expr::aggregate::has_aggregate;
use crate::plan_error;
use crate::typed::column;
use crate::udf::{is_volatile, is_volatile_function};

/// The calls in some expressions, each once, with the number of its places.
#[derive(Default)]
pub(super) struct Draws {
    calls: Vec<(Expr, usize)>,
    /// Whether calls that follow the rows before them are left out.
    without_followers: bool,
}

/// Calls that became columns.
pub(super) type Columns = Vec<(Expr, Expr)>;

impl Draws {
    /// Counts the calls in `expr`; those in aggregate functions alone if `only_aggregated`.
    pub(super) fn count(&mut self, expr: &Expr, only_aggregated: bool) -> Result<()> {
        let counted = expr.apply(|e| {
            if let Expr::AggregateFunction(f) = e
                && only_aggregated
            {
                for arg in &f.params.args {
                    self.count(arg, false).map_err(crate::into_plan_error)?;
                }
            }
            let is_left_out = self.without_followers && follows_rows_before(e);
            if !only_aggregated && is_draw(e) && !is_left_out {
                match self.calls.iter_mut().find(|(call, _)| call == e) {
                    Some((_, count)) => *count += 1,
                    None => self.calls.push((e.clone(), 1)),
                }
            }
            Ok(TreeNodeRecursion::Continue)
        });
        counted.map_err(plan_error)?;
        Ok(())
    }

    /// Whether `call` is one of those counted.
    fn has(&self, call: &Expr) -> bool {
        self.calls.iter().any(|(c, _)| c == call)
    }

    /// Adds the columns of the calls that are there more than once, if `needed` has them as well.
    pub(super) fn shared(
        self,
        analyzer: &Analyzer<'_>,
        plan: LogicalPlan,
        needed: Option<&Draws>,
    ) -> Result<(LogicalPlan, Columns)> {
        let is_known = |call: &Expr| {
            let schema = plan.schema();
            let columns = call.column_refs();
            let mut names = columns.iter().map(|c| &c.name);
            names.all(|n| schema.field_with_unqualified_name(n).is_ok())
        };
        let several = self.calls.into_iter().filter(|(call, count)| {
            *count > 1 && is_known(call) && needed.is_none_or(|n| n.has(call))
        });
        let columns: Columns = several
            .map(|(call, _)| (call, column(&analyzer.fresh("draw"))))
            .collect();
        if columns.is_empty() {
            return Ok((plan, columns));
        }
        let mut exprs = all_columns(&plan);
        for (call, column) in &columns {
            if let Expr::Column(c) = column {
                exprs.push(call.clone().alias(&c.name));
            }
        }
        Ok((projected(plan, exprs)?, columns))
    }
}

/// Puts the columns in the places of their calls.
pub(super) fn put(expr: &mut Expr, columns: &Columns, only_aggregated: bool) -> Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let known = |e: &Expr| columns.iter().find(|(c, _)| c == e).map(|(_, c)| c.clone());
    let taken = std::mem::take(expr);
    *expr = if only_aggregated {
        replace(taken, |e| match e {
            Expr::AggregateFunction(_) => replace(e.clone(), known).ok(),
            _ => None,
        })?
    } else {
        replace(taken, known)?
    };
    Ok(())
}

/// The expressions of a query up to GROUP BY, or behind it.
pub(super) struct Stage<'s> {
    /// Those that rows are filtered and repeated by.
    early: Vec<&'s mut Expr>,
    keys: Option<&'s mut [Typed]>,
    clauses: &'s mut Clauses,
}

impl<'s> Stage<'s> {
    pub(super) fn new(
        early: Vec<&'s mut Expr>,
        grouping: &'s mut Option<Grouping>,
        clauses: &'s mut Clauses,
    ) -> Self {
        Self {
            early,
            keys: grouping.as_mut().map(|g| g.keys.as_mut_slice()),
            clauses,
        }
    }

    /// The plan with the calls that several places share, those of `early` alone if `is_early`.
    pub(super) fn with_draws(
        &mut self,
        analyzer: &Analyzer<'_>,
        plan: LogicalPlan,
        is_early: bool,
    ) -> Result<LogicalPlan> {
        let only_aggregated =
            self.keys.is_some() || self.clauses.exprs_mut().any(|e| has_aggregate(e));
        let (mut all, mut early) = (Draws::default(), Draws::default());
        for expr in &self.early {
            all.count(expr, false)?;
            early.count(expr, false)?;
        }
        let mut of_keys = Draws::default();
        for key in self.keys.iter().flat_map(|k| k.iter()) {
            all.count(&key.expr, false)?;
            of_keys.count(&key.expr, false)?;
        }
        all.without_followers = self.clauses.waits_for_sort() && !only_aggregated;
        for expr in self.clauses.exprs_mut() {
            all.count(expr, only_aggregated)?;
        }
        let (plan, columns) = all.shared(analyzer, plan, is_early.then_some(&early))?;
        if columns.is_empty() {
            return Ok(plan);
        }
        for expr in &mut self.early {
            put(expr, &columns, false)?;
        }
        for key in self.keys.iter_mut().flat_map(|k| k.iter_mut()) {
            put(&mut key.expr, &columns, false)?;
        }
        let (everywhere, aggregated): (Columns, Columns) = columns
            .into_iter()
            .partition(|(call, _)| !only_aggregated || of_keys.has(call));
        for expr in self.clauses.exprs_mut() {
            put(expr, &everywhere, false)?;
            put(expr, &aggregated, true)?;
        }
        // Calls of these calls can be shared now.
        self.with_draws(analyzer, plan, is_early)
    }
}

/// Whether it is a call that gives something else each time, of arguments that do not.
fn is_draw(expr: &Expr) -> bool {
    match expr {
        Expr::ScalarFunction(f) => is_volatile_function(f) && !f.args.iter().any(is_volatile),
        _ => false,
    }
}
