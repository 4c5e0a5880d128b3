//! Plans one SELECT: resolves its clauses against FROM, then stacks the steps in their order.
//!
//! FROM → arrayJoin → PREWHERE, WHERE → GROUP BY → HAVING → windows → QUALIFY → DISTINCT →
//! ORDER BY → LIMIT BY → LIMIT.

use std::cell::RefCell;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, LogicalPlan, SortExpr};

use super::array_join_calls::EarlyArrayJoins;
use super::correlated::{CorrelatedSubquery, with_subqueries};
use super::draws::Stage;
use super::grouping::Grouping;
use super::items::Item;
use super::join::all_columns;
use super::late_items::{follows_rows_before, projected};
use super::limit::RowBounds;
use super::with_fill::FillConstants;
use super::{Analyzer, Outer, Planned};
use crate::expr::aggregate::has_aggregate;
use crate::expr::aliases::Aliases;
use crate::expr::{ArrayJoinCall, Mentions, Resolver};
use crate::plan::{filter, is_of_rows_before};
use crate::typed::column;
use crate::{plan_error, udf};

/// The resolved clauses that are computed after GROUP BY.
#[derive(Default)]
pub(crate) struct Clauses {
    pub(crate) items: Vec<Item>,
    pub(crate) having: Option<Expr>,
    pub(crate) qualify: Option<Expr>,
    pub(crate) order_by: Vec<SortExpr>,
    pub(crate) limit_by: Vec<Expr>,
    /// The numbers in LIMIT, OFFSET and LIMIT BY.
    pub(crate) bounds: RowBounds,
    /// Whether DISTINCT leaves out rows.
    pub(crate) is_distinct: bool,
    /// The constants of WITH FILL of each item of ORDER BY.
    pub(crate) fills: Vec<FillConstants>,
    pub(crate) late_array_joins: Vec<ArrayJoinCall>,
    pub(crate) late_subqueries: Vec<CorrelatedSubquery>,
    /// Columns of the query around that this one is computed for.
    pub(crate) domain: Vec<Expr>,
    /// Where the clauses have their columns.
    pub(crate) mentions: Mentions,
}

impl Clauses {
    /// Whether the select list is over columns of `rows` alone, not over those that steps add to them.
    fn are_over(&self, rows: &LogicalPlan) -> bool {
        let mut columns = self.items.iter().flat_map(|i| i.typed.expr.column_refs());
        columns.all(|column| rows.schema().has_column(column))
    }

    /// Whether what follows the rows before it waits until they are sorted.
    pub(super) fn waits_for_sort(&self) -> bool {
        !self.order_by.is_empty() && !self.is_distinct
    }

    /// All expressions, for a change that must reach every one of them.
    pub(crate) fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let items = self.items.iter_mut().map(|i| &mut i.typed.expr);
        items
            .chain(&mut self.having)
            .chain(&mut self.qualify)
            .chain(self.order_by.iter_mut().map(|s| &mut s.expr))
            .chain(&mut self.limit_by)
            .chain(&mut self.domain)
            .chain(
                self.late_subqueries
                    .iter_mut()
                    .flat_map(|s| &mut s.outer_keys),
            )
            .chain(
                self.late_array_joins
                    .iter_mut()
                    .map(|a| &mut a.argument.expr),
            )
    }
}

impl Analyzer<'_> {
    pub(crate) fn select(&self, select: &ast::Select, outer: &Outer) -> Result<Planned> {
        let checked = self.check_prewhere(select);
        let steps = || self.steps(select, outer);
        let planned = checked.and_then(|()| self.under(&select.settings, steps));
        planned.map_err(|e| self.placed(e, select.span))
    }

    fn steps(&self, select: &ast::Select, outer: &Outer) -> Result<Planned> {
        let mut outer = outer.clone();
        let domain = outer.take_domain();
        let outer = outer.with_items(select)?;
        let aliases = Aliases::of_select(select).map_err(|e| self.placed_conflict(e))?;
        let mut source = self.from(select, (&outer, domain.as_deref()), &aliases)?;
        if let Some(domain) = &domain {
            source = domain.crossed(source, select)?;
        }
        let resolver = Resolver::new(self, &outer, &source.scope, &aliases);
        let mut resolver = resolver.of_select(select, &source.plan);
        let with_domain = |mut items: Vec<Item>| {
            items.extend(domain.iter().flat_map(|d| d.items()));
            items
        };
        let mut items = with_domain(resolver.items(&select.columns)?);
        let mentions = resolver.mentions.take();
        let mut conditions = Vec::new();
        for (clause, name) in [(&select.prewhere, "PREWHERE"), (&select.where_, "WHERE")] {
            if let Some(expr) = clause {
                conditions.push(resolver.condition_on_rows(expr, name)?);
            }
        }
        let mut grouping = self.grouping(&resolver, select, &items)?;
        if let Some(grouping) = &grouping
            && !grouping.sets.is_empty()
            && self.flag("group_by_use_nulls")
        {
            resolver.make_nullable(grouping.keys.clone());
            items = with_domain(resolver.items(&select.columns)?);
        }
        // What the clauses before say stands for nothing in those behind GROUP BY.
        resolver.mentions.take();
        let condition =
            |e: &Option<ast::Expr>| e.as_ref().map(|e| resolver.condition(e)).transpose();
        let mut clauses = Clauses {
            having: condition(&select.having)?,
            qualify: condition(&select.qualify)?,
            order_by: self.order_by(&resolver, select, &items)?,
            limit_by: self.limit_by_keys(&resolver, select, &items)?,
            bounds: RowBounds::of_select(&resolver, select)?,
            fills: FillConstants::of_select(&resolver, select)?,
            items,
            late_array_joins: Vec::new(),
            late_subqueries: Vec::new(),
            is_distinct: select.distinct != ast::Distinct::None,
            domain: domain.iter().flat_map(|d| d.exprs()).collect(),
            mentions: mentions.with(resolver.mentions.take()),
        };
        let array_joins = resolver.array_joins.take();
        // Rows that are left out or repeated would make other totals.
        let of_source = source
            .totals
            .filter(|_| conditions.is_empty() && array_joins.is_empty());
        let subqueries = resolver.correlated.take();
        let grouped = grouping.as_ref().map(|g| g.keys.as_slice());
        let plan = with_subqueries(
            source.plan,
            subqueries,
            (&conditions, grouped),
            &mut clauses,
        )?;
        let mut array_joins =
            self.array_join_stages(array_joins, &conditions, grouping.as_ref(), &mut clauses)?;
        let early = conditions.iter_mut().chain(array_joins.arguments_mut());
        let mut stage = Stage::new(early.collect(), &mut grouping, &mut clauses);
        let plan = stage.with_draws(self, plan, true)?;
        let plan = self.filtered(plan, conditions, array_joins)?;
        let mut stage = Stage::new(Vec::new(), &mut grouping, &mut clauses);
        let plan = stage.with_draws(self, plan, false)?;
        self.after_where((plan, of_source), (select, &outer), grouping, clauses)
    }

    /// WHERE and the `arrayJoin` calls before GROUP BY.
    fn filtered(
        &self,
        mut plan: LogicalPlan,
        conditions: Vec<Expr>,
        array_joins: EarlyArrayJoins,
    ) -> Result<LogicalPlan> {
        plan = self.apply_array_join_calls(plan, array_joins.before_where)?;
        for condition in conditions {
            plan = self.filtered_by(plan, condition)?;
        }
        self.apply_array_join_calls(plan, array_joins.after_where)
    }

    /// The rows for which a condition holds. What follows the rows before in it sees all of them, also those that another
    /// part of it drops.
    fn filtered_by(&self, plan: LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
        if !follows_rows_before(&condition) {
            return filter(plan, condition);
        }
        let calls = RefCell::new(Vec::new());
        let condition = replace(condition, |e| {
            if !udf::function_name(e).is_some_and(is_of_rows_before) {
                return None;
            }
            let name = self.fresh("followed");
            calls.borrow_mut().push(e.clone().alias(&name));
            Some(column(&name))
        })?;
        let exprs = all_columns(&plan).into_iter().chain(calls.take());
        filter(projected(plan, exprs.collect())?, condition)
    }

    /// The steps behind WHERE over the rows, and the totals of the subquery that gives them.
    fn after_where(
        &self,
        (mut plan, of_source): (LogicalPlan, Option<LogicalPlan>),
        (select, outer): (&ast::Select, &Outer),
        grouping: Option<Grouping>,
        mut clauses: Clauses,
    ) -> Result<Planned> {
        let aggregates = clauses.exprs_mut().any(|e| has_aggregate(e));
        let mut totals = None;
        if let Some(of_source) = of_source
            && grouping.is_none()
            && !aggregates
            && clauses.having.is_none()
            && clauses.are_over(&of_source)
        {
            totals = Some(self.totals_of_subquery(of_source, &clauses)?);
        }
        if grouping.is_some() || aggregates {
            if select.with_totals && clauses.having_reads_array_joins() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_COLUMN,
                    "Filter the elements in a query around: HAVING cannot contain arrayJoin with totals",
                ));
            }
            let mut grouping = grouping.unwrap_or_default();
            let is_domain = |i: &&Item| clauses.domain.contains(&i.typed.expr);
            let domain = clauses.items.iter().filter(is_domain);
            grouping.add_to_all_sets(domain.map(|i| i.typed.clone()).collect());
            (plan, totals) = self.aggregated(plan, grouping, select.with_totals, &mut clauses)?;
            let mut behind = None;
            let mut stage = Stage::new(Vec::new(), &mut behind, &mut clauses);
            plan = stage.with_draws(self, plan, false)?;
        } else if select.with_totals {
            return Err(Error::not_implemented("WITH TOTALS without GROUP BY"));
        }
        for subquery in std::mem::take(&mut clauses.late_subqueries) {
            plan = subquery.joined_to(plan)?;
        }
        plan = self.apply_array_join_calls(plan, clauses.take_array_joins_of_having())?;
        if let Some(having) = clauses.having.take() {
            plan = filter(plan, having)?;
        }
        plan = self.apply_array_join_calls(plan, clauses.take_array_joins_of_windows())?;
        plan = self.windows(plan, &mut clauses)?;
        plan = self.apply_array_join_calls(plan, clauses.take_array_joins_of_qualify())?;
        if let Some(qualify) = clauses.qualify.take() {
            plan = filter(plan, qualify)?;
        }
        let others = std::mem::take(&mut clauses.late_array_joins);
        plan = self.apply_array_join_calls(plan, others)?;
        let (plan, columns) = self.ordered(plan, (select, outer), clauses)?;
        let totals = totals.map(|t| self.named_as(t, &columns)).transpose()?;
        Ok(Planned {
            plan,
            columns,
            totals,
        })
    }
}

/// `expr` with every outermost part that `f` has something else for replaced by it.
pub(crate) fn replace(expr: Expr, f: impl Fn(&Expr) -> Option<Expr>) -> Result<Expr> {
    let transformed = expr.transform_down(|e| {
        Ok(match f(&e) {
            Some(other) => Transformed::new(other, true, TreeNodeRecursion::Jump),
            None => Transformed::no(e),
        })
    });
    transformed.map(|t| t.data).map_err(plan_error)
}
