//! Decides which expressions of a select list are computed behind its ORDER BY.
//!
//! Those that follow the rows before them mean the sorted rows. If only the first rows are kept, all that
//! no key needs can wait: it costs nothing for the rows that are left out, and a division may fail for them.

use std::collections::{HashMap, HashSet};

use basalt_error::Result;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::Analyzer;
use super::draws::{Draws, put};
use super::select::replace;
use crate::plan::{StreamOperator, is_of_rows_before, project, stream_node};
use crate::typed::column;
use crate::{plan_error, udf};

/// The expressions of a SELECT that are computed before or behind sorting, each once, with their names.
pub(super) struct Computed<'a> {
    analyzer: &'a Analyzer<'a>,
    exprs: Vec<(Expr, String)>,
    known: HashMap<Expr, usize>,
}

/// What waits until the rows are sorted: all columns of the step behind, in order.
pub(super) struct LateItems(Vec<Expr>);

impl<'a> Computed<'a> {
    pub(super) fn new(analyzer: &'a Analyzer<'a>) -> Self {
        Self {
            analyzer,
            exprs: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Has `expr` computed, and says under which name: `hint` is what it begins with.
    pub(super) fn name(&mut self, expr: &Expr, hint: &str) -> String {
        if let Some((_, name)) = self.known.get(expr).and_then(|i| self.exprs.get(*i)) {
            return name.clone();
        }
        let name = match expr {
            Expr::Column(c) => c.name.clone(),
            _ => self.analyzer.fresh(hint),
        };
        self.known.insert(expr.clone(), self.exprs.len());
        self.exprs.push((expr.clone(), name.clone()));
        name
    }

    /// Whether nothing but the columns of these names is computed.
    pub(super) fn are_all_in(&self, names: &[String]) -> bool {
        let names: HashSet<&String> = names.iter().collect();
        self.exprs.iter().all(|(_, name)| names.contains(name))
    }

    /// Takes out what can wait: all that does not stand in `keys` if only the first rows are kept, otherwise what
    /// follows the rows before it. `None` if nothing waits.
    ///
    /// # Errors
    /// If an expression is damaged.
    pub(super) fn split_late(
        &mut self,
        keys: &HashSet<&String>,
        keeps_first: bool,
    ) -> Result<Option<LateItems>> {
        let waits = |(expr, name): &(Expr, String)| {
            let is_computed = !matches!(expr, Expr::Column(_)) && !keys.contains(name);
            is_computed && (keeps_first || follows_rows_before(expr))
        };
        if !self.exprs.iter().any(waits) {
            return Ok(None);
        }
        let all = std::mem::take(&mut self.exprs);
        let (late, early): (Vec<_>, Vec<_>) = all.iter().cloned().partition(waits);
        self.exprs = early;
        self.known = (self.exprs.iter().enumerate())
            .map(|(i, (expr, _))| (expr.clone(), i))
            .collect();
        let given: HashSet<String> = self.exprs.iter().map(|(_, name)| name.clone()).collect();
        let mut outputs: HashMap<String, Expr> = HashMap::with_capacity(late.len());
        for (expr, name) in late {
            let expr = replace(expr, |e| {
                let (_, name) = self.exprs.get(*self.known.get(e)?)?;
                Some(column(name))
            })?;
            for read in columns_of(&expr)? {
                if !given.contains(&read.name) {
                    self.name(&Expr::Column(read), "");
                }
            }
            outputs.insert(name.clone(), expr.alias(name));
        }
        let output = |(_, name): (Expr, String)| {
            let late = outputs.get(&name).cloned();
            late.unwrap_or_else(|| column(&name))
        };
        Ok(Some(LateItems(all.into_iter().map(output).collect())))
    }

    /// The step that computes what does not wait.
    ///
    /// # Errors
    /// If an expression is damaged.
    pub(super) fn project(self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let exprs = self.exprs.into_iter().map(|(expr, name)| match expr {
            Expr::Column(_) => expr,
            other => other.alias(name),
        });
        projected(plan, exprs.collect())
    }
}

impl LateItems {
    /// The step that computes them over sorted rows, if there are any.
    ///
    /// # Errors
    /// If an expression is damaged.
    pub(super) fn project(
        late: Option<Self>,
        analyzer: &Analyzer<'_>,
        plan: LogicalPlan,
    ) -> Result<LogicalPlan> {
        let Some(Self(mut exprs)) = late else {
            return Ok(plan);
        };
        let mut calls = Draws::default();
        for expr in &exprs {
            calls.count(expr, false)?;
        }
        let (plan, columns) = calls.shared(analyzer, plan, None)?;
        for expr in &mut exprs {
            put(expr, &columns, false)?;
        }
        projected(plan, exprs)
    }
}

/// `SELECT exprs` over a plan; if one of them follows the rows before, no condition gets below.
pub(super) fn projected(plan: LogicalPlan, exprs: Vec<Expr>) -> Result<LogicalPlan> {
    let follows = exprs.iter().any(follows_rows_before);
    let plan = project(plan, exprs)?;
    match follows {
        true => stream_node(plan, StreamOperator::Whole).map_err(plan_error),
        false => Ok(plan),
    }
}

/// Whether the value of a row depends on the rows before it.
pub(super) fn follows_rows_before(expr: &Expr) -> bool {
    let exists = expr.exists(|e| Ok(udf::function_name(e).is_some_and(is_of_rows_before)));
    exists.unwrap_or(false)
}

/// The columns that an expression reads, each as often as it does.
fn columns_of(expr: &Expr) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    expr.apply(|e| {
        if let Expr::Column(read) = e {
            columns.push(read.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .map_err(plan_error)?;
    Ok(columns)
}
