//! Plans WITH TOTALS: one more row over all rows whose groups pass HAVING.
//!
//! The groups are computed once, with the states of their aggregates: the result finalizes each
//! state, the totals merge those of the groups that pass.

use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_functions::aggregate::{BoundAggregate, in_two_steps, of_each_row};
use basalt_functions::{BoundFunction, Column};
use basalt_types::DataType;
use datafusion::logical_expr::expr::{AggregateFunction, ScalarFunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

use super::group_by::collect_aggregates;
use super::grouping::Grouping;
use super::grouping_id::grouping_of_totals;
use super::select::{Clauses, replace};
use super::{Analyzer, OutputColumn, default_array};
use crate::plan::{
    SharedRows, StreamOperator, aggregate, filter, limited_rows, project, stream_node,
};
use crate::typed::column;
use crate::udaf::AggregateUdf;
use crate::{Typed, plan_error, udaf, udf};

/// Groups that the result and the totals read.
pub(crate) struct SharedGroups {
    /// Gives keys, finalized aggregates and states.
    plan: LogicalPlan,
    /// Each aggregate with the column of its states.
    states: Vec<(Expr, String)>,
}

/// An aggregate over all groups.
struct Total {
    /// The aggregate's call in the select list.
    aggregate: Expr,
    /// What computes it.
    call: Expr,
    /// Its column.
    name: String,
}

impl Analyzer<'_> {
    /// Groups rows by keys without sets, once for the result and for the totals; `aggregates` get
    /// their names, keys the names of `keys`.
    pub(crate) fn shared_groups(
        &self,
        plan: LogicalPlan,
        keys: &[(Expr, String)],
        aggregates: &[(Expr, String)],
    ) -> Result<SharedGroups> {
        let mut states = Vec::with_capacity(aggregates.len());
        let mut finals: Vec<Expr> = keys.iter().map(|(_, name)| column(name)).collect();
        let mut calls = Vec::with_capacity(aggregates.len());
        for (aggregate, name) in aggregates {
            let (udf, call) = parts(aggregate)?;
            let (states_of, merged) = in_two_steps(udf.bound())?;
            let state = self.fresh("state");
            let key = format!("{}State", udf.key());
            calls.push(udaf::call(key, states_of, call.params.args.clone()).alias(&state));
            finals.push(finalized(udf.key(), merged, column(&state)).alias(name));
            finals.push(column(&state));
            states.push((aggregate.clone(), state));
        }
        let group = keys.iter().map(|(expr, name)| expr.clone().alias(name));
        let grouped = aggregate(plan, group.collect(), calls)?;
        let shared = StreamOperator::Shared(SharedRows::default());
        let shared = stream_node(grouped, shared).map_err(plan_error)?;
        let plan = project(shared, finals)?;
        Ok(SharedGroups { plan, states })
    }

    /// The plan of the totals' row over shared groups; `having` is over their columns.
    pub(crate) fn totals_of_groups(
        &self,
        groups: &SharedGroups,
        having: Option<Expr>,
        grouping: &Grouping,
        clauses: &Clauses,
    ) -> Result<LogicalPlan> {
        let plan = match having {
            Some(having) if !self.totals_before_having() => filter(groups.plan.clone(), having)?,
            _ => groups.plan.clone(),
        };
        let mut totals = Vec::with_capacity(groups.states.len());
        for (aggregate, state) in &groups.states {
            let (udf, _) = parts(aggregate)?;
            let (_, merged) = in_two_steps(udf.bound())?;
            let key = format!("{}Merge", udf.key());
            totals.push(Total {
                aggregate: aggregate.clone(),
                call: udaf::call(key, merged, vec![column(state)]),
                name: self.fresh("total"),
            });
        }
        self.totals_row(plan, totals, grouping, clauses)
    }

    /// The plan of the totals' row over the rows before GROUP BY with sets of keys.
    pub(crate) fn totals_of_rows(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        clauses: &Clauses,
    ) -> Result<LogicalPlan> {
        let mut only_items = only_items(clauses);
        let totals = collect_aggregates(&mut only_items)?.into_iter();
        let totals = totals.map(|aggregate| Total {
            call: aggregate.clone(),
            aggregate,
            name: self.fresh("total"),
        });
        self.totals_row(plan, totals.collect(), grouping, clauses)
    }

    /// The select list over the one row of `totals`; keys show their defaults, constants themselves.
    fn totals_row(
        &self,
        plan: LogicalPlan,
        totals: Vec<Total>,
        grouping: &Grouping,
        clauses: &Clauses,
    ) -> Result<LogicalPlan> {
        let mut defaults = Vec::with_capacity(grouping.keys.len());
        for key in grouping.keys.iter().filter(|k| k.constant.is_none()) {
            defaults.push((key.expr.clone(), default_of(&key.expr, &key.data_type)?));
        }
        let no_keys: Vec<Expr> = Vec::new();
        let calls = totals.iter().map(|t| t.call.clone().alias(&t.name));
        let calls: Vec<Expr> = calls.collect();
        let plan = if calls.is_empty() {
            LogicalPlanBuilder::empty(true).build()
        } else {
            LogicalPlanBuilder::from(plan)
                .aggregate(no_keys, calls)
                .and_then(|b| b.build())
        };
        let mut clauses = only_items(clauses);
        for expr in clauses.exprs_mut() {
            *expr = replace(expr.clone(), |e| {
                let key = defaults.iter().find(|(k, _)| k == e);
                let total = || totals.iter().find(|t| t.aggregate == *e);
                key.map(|(_, default)| default.clone())
                    .or_else(|| grouping_of_totals(e, grouping))
                    .or_else(|| total().map(|t| column(&t.name)))
            })?;
        }
        self.items_of(plan.map_err(plan_error)?, clauses)
    }

    /// The select list, window functions included, over a row of totals; of `arrayJoin` the first element.
    fn items_of(&self, mut plan: LogicalPlan, mut clauses: Clauses) -> Result<LogicalPlan> {
        for call in std::mem::take(&mut clauses.late_array_joins) {
            plan = self.apply_array_join_call(plan, call)?;
            plan = limited_rows(plan, 0, Some(1))?;
        }
        let plan = self.windows(plan, &mut clauses)?;
        let exprs = clauses.items.into_iter();
        let exprs = exprs.map(|item| item.typed.expr.alias(self.fresh(&item.name)));
        project(plan, exprs.collect())
    }

    /// The totals of a query over a subquery with totals: its select list over their row.
    pub(crate) fn totals_of_subquery(
        &self,
        totals: LogicalPlan,
        clauses: &Clauses,
    ) -> Result<LogicalPlan> {
        self.items_of(totals, only_items(clauses))
    }

    /// The totals' row with the columns named as those of the rows.
    pub(crate) fn named_as(
        &self,
        totals: LogicalPlan,
        columns: &[OutputColumn],
    ) -> Result<LogicalPlan> {
        let fields: Vec<Expr> = totals
            .schema()
            .iter()
            .zip(columns)
            .map(|((q, f), c)| Expr::from((q, f)).alias(&c.internal))
            .collect();
        project(totals, fields)
    }

    fn totals_before_having(&self) -> bool {
        let settings = self.settings();
        let mode = settings.changed().get("totals_mode");
        mode.is_some_and(|m| m == "before_having")
    }
}

impl SharedGroups {
    /// Gives keys, finalized aggregates and states.
    pub(crate) fn plan(&self) -> LogicalPlan {
        self.plan.clone()
    }
}

/// What a key shows in the totals; the constants of a tuple are those of every group.
fn default_of(key: &Expr, data_type: &DataType) -> Result<Expr> {
    if let (Expr::ScalarFunction(call), DataType::Tuple(tuple)) = (key, data_type)
        && call.func.name() == "tuple"
        && call.args.len() == tuple.types.len()
    {
        let elements = call.args.iter().zip(&tuple.types);
        let elements = elements.map(|(element, data_type)| match element {
            Expr::Literal(..) => Ok(element.clone()),
            _ => zero(data_type),
        });
        let args = elements.collect::<Result<Vec<_>>>()?;
        let call = ScalarFunction::new_udf(Arc::clone(&call.func), args);
        return Ok(Expr::ScalarFunction(call));
    }
    zero(data_type)
}

fn zero(data_type: &DataType) -> Result<Expr> {
    let default = Typed::constant(default_array(data_type)?, data_type.clone())?;
    Ok(default.expr)
}

fn only_items(clauses: &Clauses) -> Clauses {
    Clauses {
        items: clauses.items.clone(),
        late_array_joins: clauses.late_array_joins.clone(),
        ..Clauses::default()
    }
}

/// The dialect's function in an aggregate's call.
fn parts(expr: &Expr) -> Result<(&AggregateUdf, &AggregateFunction)> {
    let Expr::AggregateFunction(call) = expr else {
        return Err(Error::bug("no aggregate function"));
    };
    let udf = call.func.inner().downcast_ref::<AggregateUdf>();
    Ok((udf.ok_or_else(|| Error::bug("foreign aggregate"))?, call))
}

/// The value of packed states.
fn finalized(key: &str, merged: BoundAggregate, state: Expr) -> Expr {
    let return_type = merged.return_type.clone();
    let eval = Arc::new(move |columns: &[Column], num_rows: usize| {
        let states = columns.iter().map(|c| c.expand(num_rows));
        of_each_row(&merged, &states.collect::<Result<Vec<_>>>()?, num_rows)
    });
    let bound = BoundFunction::from_parts("finalizeAggregation", return_type, eval);
    udf::call(format!("{key}Finalize"), bound, vec![state])
}
