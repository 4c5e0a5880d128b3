//! Plans GROUP BY: the aggregation by the keys, and what the clauses above it read of it.

use std::collections::{HashMap, HashSet};

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::Span;
use basalt_types::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder, lit};

use super::Analyzer;
use super::grouping::Grouping;
use super::grouping_id::{KeyColumn, grouping_value};
use super::redundant_keys::{ReducedKeys, Rules};
use super::select::{Clauses, replace};
use crate::expr::{Mentioned, Mentions};
use crate::plan::{KeyOverflow, RowLimit, StreamOperator, aggregate, project, stream_node};
use crate::typed::{column, predicate_of};
use crate::{Typed, plan_error};

impl Analyzer<'_> {
    /// Groups the rows and puts the keys' and aggregates' columns into the clauses; gives the plan
    /// of the totals, too, if there are any.
    pub(crate) fn aggregated(
        &self,
        plan: LogicalPlan,
        grouping: Grouping,
        with_totals: bool,
        clauses: &mut Clauses,
    ) -> Result<(LogicalPlan, Option<LogicalPlan>)> {
        let before = Clauses {
            items: clauses.items.clone(),
            late_array_joins: clauses.late_array_joins.clone(),
            ..Clauses::default()
        };
        let rows = with_totals.then(|| plan.clone());
        let aggregates = collect_aggregates(clauses)?;
        let named: Vec<(Expr, String)> = aggregates
            .into_iter()
            .map(|a| (a, self.fresh("aggregate")))
            .collect();
        let shares = with_totals && grouping.sets.is_empty();
        let plan = self.with_few_keys(plan, &grouping, shares)?;
        let (plan, keys, shared) = if shares {
            let keys = self.key_columns(&grouping);
            let pairs: Vec<(Expr, String)> = keys
                .iter()
                .map(|k| (k.expr.clone(), k.internal.clone()))
                .collect();
            let shared = self.shared_groups(plan, &pairs, &named)?;
            (shared.plan(), keys, Some(shared))
        } else {
            let (plan, keys) = self.group(plan, &grouping, &named)?;
            (plan, keys, None)
        };
        let mut outputs: HashSet<String> = named.iter().map(|(_, name)| name.clone()).collect();
        outputs.extend(keys.iter().map(|k| k.internal.clone()));
        outputs.extend(plan.schema().fields().iter().map(|f| f.name().clone()));
        let calls: HashMap<&Expr, &String> = named.iter().map(|(a, name)| (a, name)).collect();
        let mentions = std::mem::take(&mut clauses.mentions);
        let spans: Vec<Span> = clauses.items.iter().map(|i| i.span).collect();
        for (i, expr) in clauses.exprs_mut().enumerate() {
            *expr = replace(expr.clone(), |e| {
                if let Some(grouping) = grouping_value(e, &keys) {
                    return Some(grouping);
                }
                if let Some(key) = keys.iter().find(|k| k.expr == *e) {
                    return Some(column(&key.internal));
                }
                if let Some(key) = keys.iter().find(|k| predicate_of(&k.expr) == Some(e)) {
                    return Some(column(&key.internal).not_eq(lit(0_u8)));
                }
                // Only calls are looked up: to hash every expression takes the square of its depth.
                let name = match e {
                    Expr::AggregateFunction(_) => calls.get(e)?,
                    _ => return None,
                };
                Some(column(name))
            })?;
            if let Some(missing) = missing_of_groups(expr, &outputs) {
                let place = place_of(&missing, &mentions, (&spans, i));
                return Err(self.placed(not_grouped(&missing), place));
            }
        }
        let totals = match (shared, rows) {
            (Some(groups), _) => {
                let having = clauses.having.clone();
                Some(self.totals_of_groups(&groups, having, &grouping, &before)?)
            }
            (None, Some(rows)) => Some(self.totals_of_rows(rows, &grouping, &before)?),
            (None, None) => None,
        };
        Ok((plan, totals))
    }

    /// A key of several sets. DataFusion takes the range of a constant key, which those that hold rows
    /// do not have; the function keeps it from seeing that they are constant.
    fn not_folded(&self, key: &Typed) -> Result<Expr> {
        Ok(match key.data_type {
            DataType::Array(_) | DataType::Map(..) | DataType::Tuple(_) => {
                self.call_by_name("materialize", vec![key.clone()])?.expr
            }
            _ => key.expr.clone(),
        })
    }

    /// The plan of the aggregation, and where its keys are.
    fn group(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        aggregates: &[(Expr, String)],
    ) -> Result<(LogicalPlan, Vec<KeyColumn>)> {
        let mut keys = self.key_columns(grouping);
        let aggr: Vec<Expr> = aggregates
            .iter()
            .map(|(e, name)| e.clone().alias(name))
            .collect();
        if grouping.sets.is_empty() {
            return Ok((self.group_by_one_set(plan, &keys, aggr)?, keys));
        }
        // Keys become columns first, so that each set names them and nothing is computed twice.
        let mut exprs: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        for (key, typed) in keys.iter().zip(&grouping.keys) {
            exprs.push(self.not_folded(typed)?.alias(&key.internal));
        }
        let sets = grouping.sets.iter().map(|set| {
            set.iter()
                .map(|i| column(&keys[*i].internal))
                .collect::<Vec<_>>()
        });
        let sets = Expr::GroupingSet(GroupingSet::GroupingSets(sets.collect()));
        // The empty set has a row over no rows, too, which ROLLUP and CUBE do not show.
        let counted = self.fresh("rows");
        let count =
            basalt_functions::aggregate::bind("count", &[], &[], self.settings().context())?;
        let one = crate::expr::literal::unsigned(1)?.expr;
        let count = crate::udaf::call("count->UInt64".to_owned(), count, vec![one]);
        let aggr: Vec<Expr> = aggr.into_iter().chain([count.alias(&counted)]).collect();
        let grouped = LogicalPlanBuilder::from(project(plan, exprs)?)
            .aggregate(vec![sets], aggr)
            .and_then(|b| {
                if grouping.keeps_empty {
                    return Ok(b);
                }
                b.filter(column(&counted).gt(lit(0_u64)))
            })
            .and_then(|b| b.build())
            .map_err(plan_error)?;
        let plan = self.default_keys(grouped, grouping, &mut keys, aggregates)?;
        Ok((plan, keys))
    }

    /// The rows under what limits the groups, where the groups themselves cannot be counted: they are those
    /// of several sets, or rows beyond the limit go.
    fn with_few_keys(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        has_totals: bool,
    ) -> Result<LogicalPlan> {
        let setting = RowLimit::GroupBy;
        let Some(limit) = self.size_limit(setting) else {
            return Ok(plan);
        };
        let throws = limit.overflow == KeyOverflow::Throw;
        let is_counted = throws && !has_totals && grouping.sets.is_empty();
        if is_counted || grouping.keys.is_empty() {
            return Ok(plan);
        }
        if grouping.keeps_empty && !throws {
            return Err(Error::not_implemented(format!(
                "{} = 'any' or 'break' of GROUPING SETS",
                setting.overflow_mode()
            )));
        }
        let columns = plan.schema().iter().map(|(q, f)| Expr::from((q, f)));
        let mut exprs: Vec<Expr> = columns.collect();
        let names: Vec<String> = grouping.keys.iter().map(|_| self.fresh("key")).collect();
        let named = grouping.keys.iter().zip(&names);
        exprs.extend(named.map(|(key, name)| key.expr.clone().alias(name)));
        let mut plan = project(plan, exprs)?;
        // ROLLUP and CUBE group by all keys first.
        let all: Vec<Vec<usize>> = vec![(0..names.len()).collect()];
        let sets = match grouping.keeps_empty {
            true => &grouping.sets,
            false => &all,
        };
        for set in sets.iter().filter(|set| !set.is_empty()) {
            let operator = StreamOperator::KeysAtMost {
                keys: set.iter().map(|i| names[*i].clone()).collect(),
                limit,
            };
            plan = stream_node(plan, operator).map_err(plan_error)?;
        }
        Ok(plan)
    }

    /// The plan of an aggregation by all keys; those that follow from others are computed after it.
    fn group_by_one_set(
        &self,
        plan: LogicalPlan,
        keys: &[KeyColumn],
        aggregates: Vec<Expr>,
    ) -> Result<LogicalPlan> {
        let rules = Rules {
            functions_of_keys: self.flag("optimize_group_by_function_keys"),
            injective: self.flag("optimize_injective_functions_in_group_by"),
        };
        let pairs = keys.iter().map(|k| (k.expr.clone(), k.internal.clone()));
        let reduced = ReducedKeys::new(pairs.collect(), rules, || self.fresh("key"))?;
        let named = |(expr, name): (Expr, String)| expr.alias(name);
        let grouped: Vec<Expr> = reduced.grouped.into_iter().map(named).collect();
        let is_grouped = !grouped.is_empty();
        let mut plan = aggregate(plan, grouped, aggregates)?;
        let limit = self.size_limit(RowLimit::GroupBy);
        if is_grouped && limit.is_some_and(|limit| limit.overflow == KeyOverflow::Throw) {
            plan = self.at_most(plan, RowLimit::GroupBy)?;
        }
        if reduced.computed.is_empty() {
            return Ok(plan);
        }
        let columns = plan.schema().iter().map(|(q, f)| Expr::from((q, f)));
        let mut exprs: Vec<Expr> = columns.collect();
        exprs.extend(reduced.computed.into_iter().map(named));
        project(plan, exprs)
    }
}

/// Every aggregate call of the clauses, each once.
pub(crate) fn collect_aggregates(clauses: &mut Clauses) -> Result<Vec<Expr>> {
    let mut found: Vec<Expr> = Vec::new();
    let mut known: HashSet<Expr> = HashSet::new();
    for expr in clauses.exprs_mut() {
        expr.apply(|e| {
            if matches!(e, Expr::AggregateFunction(_)) {
                if known.insert(e.clone()) {
                    found.push(e.clone());
                }
                return Ok(TreeNodeRecursion::Jump);
            }
            Ok(TreeNodeRecursion::Continue)
        })
        .map_err(plan_error)?;
    }
    Ok(found)
}

/// A column that an expression above GROUP BY uses, and that is neither a key nor an aggregate.
fn missing_of_groups(expr: &Expr, outputs: &HashSet<String>) -> Option<String> {
    let is_missing = |name: &String| {
        !outputs.contains(name)
            && !name.starts_with(super::array_join_calls::PREFIX)
            && !name.starts_with(super::correlated::PREFIX)
    };
    let mut missing = None;
    // The closure never fails, and so neither does the walk.
    let _ = expr.apply(|e| {
        if let Expr::Column(column) = e
            && is_missing(&column.name)
        {
            missing = Some(column.name.clone());
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    missing
}

/// Where a column stands in the expression of that number: in an item of the select list or behind it.
fn place_of(column: &str, mentions: &Mentions, (items, number): (&[Span], usize)) -> Span {
    let column = Mentioned::Column(column.to_owned());
    let part = items.get(number).copied().unwrap_or_else(|| Span {
        start: items.iter().map(|item| item.end).max().unwrap_or(0),
        end: u32::MAX,
        parenthesised: false,
    });
    let item = items.get(number).copied().unwrap_or_default();
    mentions.first(&column, part).unwrap_or(item)
}

fn not_grouped(column: &str) -> Error {
    let name = column.rsplit_once('_').map_or(column, |(name, _)| name);
    Error::new(
        ErrorCode::NOT_AN_AGGREGATE,
        format!(
            "Add `{name}` to GROUP BY or put it into an aggregate function: column `{name}` is not under aggregate function and not in GROUP BY keys"
        ),
    )
}
