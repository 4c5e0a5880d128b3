//! Plans WITH TOTALS: one more row over all rows whose groups pass HAVING.

use basalt_error::Result;
use basalt_parser::ast;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};

use super::group_by::{Grouping, collect_aggregates};
use super::select::{Clauses, filter, replace};
use super::{Analyzer, default_array};
use crate::typed::column;
use crate::{Typed, plan_error};

impl Analyzer<'_> {
    /// The plan of the totals' row, over the rows before GROUP BY: keys show their defaults.
    ///
    /// With HAVING, rows are those of the groups that pass it: the groups are computed once more
    /// and joined to the rows by their keys.
    pub(crate) fn totals(
        &self,
        plan: LogicalPlan,
        select: &ast::Select,
        grouping: &Grouping,
        clauses: &Clauses,
    ) -> Result<LogicalPlan> {
        let mut clauses = Clauses {
            items: clauses.items.clone(),
            having: clauses.having.clone(),
            qualify: None,
            order_by: Vec::new(),
            limit_by: Vec::new(),
            late_array_joins: Vec::new(),
            late_subqueries: Vec::new(),
            domain: Vec::new(),
        };
        let plan = match clauses.having.take() {
            Some(having) if select.having.is_some() && !self.totals_before_having() => {
                self.passing(plan, grouping, having)?
            }
            _ => plan,
        };
        let mut defaults = Vec::with_capacity(grouping.keys.len());
        for key in &grouping.keys {
            let default = Typed::constant(default_array(&key.data_type)?, key.data_type.clone())?;
            defaults.push((key.expr.clone(), default.expr));
        }
        let aggregates = collect_aggregates(&mut clauses)?;
        let named: Vec<_> = aggregates
            .into_iter()
            .map(|a| (a, self.fresh("total")))
            .collect();
        let aggr: Vec<_> = named
            .iter()
            .map(|(a, name)| a.clone().alias(name))
            .collect();
        let no_keys: Vec<datafusion::logical_expr::Expr> = Vec::new();
        let plan = if aggr.is_empty() {
            LogicalPlanBuilder::empty(true).build()
        } else {
            LogicalPlanBuilder::from(plan)
                .aggregate(no_keys, aggr)
                .and_then(|b| b.build())
        };
        let mut exprs = Vec::with_capacity(clauses.items.len());
        for item in clauses.items {
            let expr = replace(item.typed.expr, |e| {
                let key = defaults
                    .iter()
                    .find(|(k, _)| k == e)
                    .map(|(_, d)| d.clone());
                key.or_else(|| {
                    named
                        .iter()
                        .find(|(a, _)| a == e)
                        .map(|(_, name)| column(name))
                })
            })?;
            exprs.push(expr.alias(self.fresh(&item.name)));
        }
        let plan = LogicalPlanBuilder::from(plan.map_err(plan_error)?).project(exprs);
        plan.and_then(|b| b.build()).map_err(plan_error)
    }

    fn totals_before_having(&self) -> bool {
        let mode = self.environment.settings().get("totals_mode");
        mode.is_some_and(|m| m == "before_having")
    }

    /// The rows whose groups pass HAVING.
    fn passing(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        having: datafusion::logical_expr::Expr,
    ) -> Result<LogicalPlan> {
        let mut only_having = Clauses {
            items: Vec::new(),
            having: Some(having),
            qualify: None,
            order_by: Vec::new(),
            limit_by: Vec::new(),
            late_array_joins: Vec::new(),
            late_subqueries: Vec::new(),
            domain: Vec::new(),
        };
        let keys: Vec<String> = grouping
            .keys
            .iter()
            .map(|_| self.fresh("passing_key"))
            .collect();
        only_having.limit_by = grouping.keys.iter().map(|k| k.expr.clone()).collect();
        let groups = self.aggregated(plan.clone(), grouping.clone(), &mut only_having)?;
        let groups = match only_having.having.take() {
            Some(condition) => filter(groups, condition)?,
            None => groups,
        };
        let shown = only_having
            .limit_by
            .into_iter()
            .zip(&keys)
            .map(|(e, name)| e.alias(name));
        let groups = LogicalPlanBuilder::from(groups)
            .project(shown.collect::<Vec<_>>())
            .and_then(|b| b.build())
            .map_err(plan_error)?;
        // NULL is a key like any other, so equality that treats NULLs as equal is needed.
        let on = grouping.keys.iter().zip(&keys).map(|(key, name)| {
            datafusion::logical_expr::binary_expr(
                key.expr.clone(),
                datafusion::logical_expr::Operator::IsNotDistinctFrom,
                column(name),
            )
        });
        LogicalPlanBuilder::from(plan)
            .join_on(
                groups,
                datafusion::common::JoinType::LeftSemi,
                on.collect::<Vec<_>>(),
            )
            .and_then(|b| b.build())
            .map_err(plan_error)
    }
}
