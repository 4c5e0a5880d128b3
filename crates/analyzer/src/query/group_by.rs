//! Plans GROUP BY: keys, aggregates, and the sets of ROLLUP, CUBE and GROUPING SETS.

use std::collections::{HashMap, HashSet};

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, GroupBy, GroupByKind};
use basalt_types::DataType;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{
    Aggregate, Cast, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder, Operator, lit,
};

use super::Analyzer;
use super::array_join_calls::reads_aggregate;
use super::items::Item;
use super::redundant_keys::{ReducedKeys, Rules};
use super::select::{Clauses, replace};
use crate::expr::Resolver;
use crate::expr::aggregate::{GROUPING, has_aggregate};
use crate::plan::{KeyOverflow, RowLimit, StreamOperator, aggregate, project, stream_node};
use crate::typed::column;
use crate::udf::FunctionUdf;
use crate::{Typed, plan_error};

/// The keys of a GROUP BY.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grouping {
    /// All keys, each once.
    pub(crate) keys: Vec<Typed>,
    /// The sets of keys, as positions; empty for one set of all keys.
    pub(crate) sets: Vec<Vec<usize>>,
    /// Whether a set without keys has a row over no rows: as GROUPING SETS, not as ROLLUP or CUBE.
    keeps_empty: bool,
}

/// More sets than this are refused (CUBE doubles them with each key).
const MAX_GROUPING_SETS: usize = 4096;

impl Analyzer<'_> {
    /// Resolves the keys of GROUP BY, positions and aliases included.
    pub(crate) fn grouping(
        &self,
        resolver: &Resolver<'_>,
        select: &ast::Select,
        items: &[Item],
    ) -> Result<Option<Grouping>> {
        let mut grouping = Grouping::default();
        match &select.group_by {
            None => return Ok(None),
            Some(GroupBy::All) => {
                let calls = resolver.array_joins.borrow();
                for item in items
                    .iter()
                    .filter(|i| !reads_aggregate(&i.typed.expr, &calls))
                {
                    grouping.add(item.typed.clone());
                }
            }
            Some(GroupBy::Exprs { kind, exprs }) => {
                let mut positions = Vec::new();
                let mut keys = self.keys(resolver, exprs, items, "GROUP BY")?;
                if *kind != GroupByKind::Plain || !select.with_totals {
                    keys = without_tuples(keys)?;
                }
                for key in keys {
                    let position = grouping.add(key);
                    // A key that is written twice is one.
                    if !positions.contains(&position) {
                        positions.push(position);
                    }
                }
                grouping.sets = match kind {
                    GroupByKind::Plain => Vec::new(),
                    GroupByKind::Rollup => (0..=positions.len())
                        .rev()
                        .map(|n| positions[..n].to_vec())
                        .collect(),
                    GroupByKind::Cube => subsets(&positions)?,
                };
            }
            Some(GroupBy::GroupingSets(_)) if select.with_totals => {
                return Err(Error::not_implemented("WITH TOTALS of GROUPING SETS"));
            }
            Some(GroupBy::GroupingSets(sets)) => {
                grouping.keeps_empty = true;
                for set in sets {
                    let keys = self.keys(resolver, set, items, "GROUP BY")?;
                    let keys = without_tuples(keys)?.into_iter();
                    let positions = keys.map(|k| grouping.add(k)).collect();
                    grouping.sets.push(positions);
                }
            }
        }
        for key in &grouping.keys {
            self.check_key(&key.data_type, "allow_suspicious_types_in_group_by")?;
        }
        Ok(Some(grouping))
    }

    /// Resolves keys; an integer from 1 up is the position of an item.
    pub(crate) fn keys(
        &self,
        resolver: &Resolver<'_>,
        exprs: &[ast::Expr],
        items: &[Item],
        clause: &str,
    ) -> Result<Vec<Typed>> {
        let mut keys = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let key = match expr.unaliased().as_u64() {
                Some(position) if self.flag("enable_positional_arguments") => {
                    let item = usize::try_from(position)
                        .ok()
                        .and_then(|p| p.checked_sub(1));
                    let item = item.and_then(|i| items.get(i)).ok_or_else(|| {
                        Error::new(
                            ErrorCode::BAD_ARGUMENTS,
                            format!(
                                "Position {position} in {clause} is out of bounds: SELECT has {} columns",
                                items.len()
                            ),
                        )
                    })?;
                    item.typed.clone()
                }
                _ => {
                    keys.extend(resolver.resolve_all(std::slice::from_ref(expr))?);
                    continue;
                }
            };
            keys.push(key);
        }
        if clause == "GROUP BY" && keys.iter().any(|k| has_aggregate(&k.expr)) {
            return Err(Error::new(
                ErrorCode::ILLEGAL_AGGREGATION,
                "An aggregate function is found in GROUP BY",
            ));
        }
        Ok(keys)
    }

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
        for expr in clauses.exprs_mut() {
            *expr = replace(expr.clone(), |e| {
                if let Some(grouping) = grouping_value(e, &keys) {
                    return Some(grouping);
                }
                if let Some(key) = keys.iter().find(|k| k.expr == *e) {
                    return Some(column(&key.internal));
                }
                // Only calls are looked up: to hash every expression takes the square of its depth.
                let name = match e {
                    Expr::AggregateFunction(_) => calls.get(e)?,
                    _ => return None,
                };
                Some(column(name))
            })?;
            check_grouped(expr, &outputs)?;
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

    fn key_columns(&self, grouping: &Grouping) -> Vec<KeyColumn> {
        let keys = grouping.keys.iter().map(|k| KeyColumn {
            expr: k.expr.clone(),
            internal: self.fresh("key"),
            bit: None,
        });
        keys.collect()
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
        exprs.extend(keys.iter().map(|k| k.expr.clone().alias(&k.internal)));
        let sets = grouping.sets.iter().map(|set| {
            set.iter()
                .map(|i| column(&keys[*i].internal))
                .collect::<Vec<_>>()
        });
        let sets = Expr::GroupingSet(GroupingSet::GroupingSets(sets.collect()));
        // The empty set has a row over no rows, too, which ROLLUP and CUBE do not show.
        let counted = self.fresh("rows");
        let count =
            basalt_functions::aggregate::bind("count", &[], &[], self.environment.context())?;
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
        let Some((rows, overflow)) = self.row_limit(setting) else {
            return Ok(plan);
        };
        let throws = overflow == KeyOverflow::Throw;
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
                rows,
                setting,
                overflow,
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
        let throws = |limit: &(u64, KeyOverflow)| limit.1 == KeyOverflow::Throw;
        if is_grouped
            && self
                .row_limit(RowLimit::GroupBy)
                .is_some_and(|l| throws(&l))
        {
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

    /// Keys that a row's set leaves out show their type's default (or NULL by a setting).
    fn default_keys(
        &self,
        plan: LogicalPlan,
        grouping: &Grouping,
        keys: &mut [KeyColumn],
        aggregates: &[(Expr, String)],
    ) -> Result<LogicalPlan> {
        let id = Aggregate::INTERNAL_GROUPING_ID;
        let as_u64 = Expr::Cast(Cast::new(Box::new(column(id)), ArrowType::UInt64));
        let mut exprs: Vec<Expr> = aggregates.iter().map(|(_, name)| column(name)).collect();
        let grouping_id = self.fresh("grouping_id");
        exprs.push(as_u64.clone().alias(&grouping_id));
        // DataFusion numbers keys in the order in which the sets first name them; the first key
        // has the highest bit.
        let mut order: Vec<usize> = Vec::new();
        for i in grouping.sets.iter().flatten() {
            if !order.contains(i) {
                order.push(*i);
            }
        }
        for (position, i) in order.iter().enumerate() {
            let shift = order.len() - 1 - position;
            let mask = 1_u64 << shift;
            let key = column(&keys[*i].internal);
            let internal = self.fresh("key");
            let shown = if self.flag("group_by_use_nulls") {
                key
            } else if grouping.keys[*i].constant.is_some() {
                // A constant is the same in every set.
                grouping.keys[*i].expr.clone()
            } else {
                let default = super::default_array(&grouping.keys[*i].data_type)?;
                let default = Typed::constant(default, grouping.keys[*i].data_type.clone())?;
                let left_out = masked(as_u64.clone(), mask).not_eq(lit(0_u64));
                Expr::Case(datafusion::logical_expr::expr::Case::new(
                    None,
                    vec![(Box::new(left_out), Box::new(default.expr))],
                    Some(Box::new(key)),
                ))
            };
            exprs.push(shown.alias(&internal));
            keys[*i].internal = internal;
            keys[*i].bit = Some((grouping_id.clone(), mask));
        }
        project(plan, exprs)
    }
}

impl Grouping {
    /// Adds keys that every set has.
    pub(crate) fn add_to_all_sets(&mut self, keys: Vec<Typed>) {
        for key in keys {
            let position = self.add(key);
            self.sets
                .iter_mut()
                .filter(|set| !set.contains(&position))
                .for_each(|set| set.push(position));
        }
    }

    fn add(&mut self, key: Typed) -> usize {
        if let Some(position) = self.keys.iter().position(|k| k.expr == key.expr) {
            return position;
        }
        self.keys.push(key);
        self.keys.len() - 1
    }
}

/// The keys with the elements of each `tuple(…)` in its place: each is a key of its own.
fn without_tuples(keys: Vec<Typed>) -> Result<Vec<Typed>> {
    let mut all = Vec::with_capacity(keys.len());
    for key in keys {
        match (&key.expr, &key.data_type) {
            (Expr::ScalarFunction(call), DataType::Tuple(elements))
                if call.func.name() == "tuple" =>
            {
                for (element, data_type) in call.args.iter().zip(elements.types.iter()) {
                    all.push(match element {
                        Expr::Literal(value, _) => {
                            let value = value.to_array().map_err(plan_error)?;
                            Typed::constant(value, data_type.clone())?
                        }
                        _ => Typed::new(element.clone(), data_type.clone()),
                    });
                }
            }
            _ => all.push(key),
        }
    }
    Ok(all)
}

/// A key and its column behind the aggregation.
struct KeyColumn {
    expr: Expr,
    internal: String,
    /// Column of the grouping id and the key's bit in it: set if the row's set leaves it out.
    bit: Option<(String, u64)>,
}

fn masked(id: Expr, mask: u64) -> Expr {
    datafusion::logical_expr::binary_expr(id, Operator::BitwiseAnd, lit(mask))
}

fn subsets(positions: &[usize]) -> Result<Vec<Vec<usize>>> {
    let count = u32::try_from(positions.len())
        .ok()
        .and_then(|n| 1_usize.checked_shl(n));
    let count = count.filter(|c| *c <= MAX_GROUPING_SETS).ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "CUBE has too many keys: it makes 2^keys sets",
        )
    })?;
    let all = (0..count).rev().map(|bits| {
        let chosen = positions
            .iter()
            .enumerate()
            .filter(|(i, _)| bits >> (positions.len() - 1 - i) & 1 == 1);
        chosen.map(|(_, p)| *p).collect()
    });
    Ok(all.collect())
}

/// The value of a `grouping(key, …)` call: a bit for each key, 1 where the set leaves it out.
fn grouping_value(expr: &Expr, keys: &[KeyColumn]) -> Option<Expr> {
    let Expr::ScalarFunction(call) = expr else {
        return None;
    };
    let function = call.func.inner().as_ref() as &dyn std::any::Any;
    let function = function.downcast_ref::<FunctionUdf>()?;
    if function.function_name() != GROUPING {
        return None;
    }
    let mut value = lit(0_u64);
    for (i, arg) in call.args.iter().enumerate() {
        let key = keys.iter().find(|k| k.expr == *arg)?;
        let Some((id, mask)) = &key.bit else { continue };
        let weight = 1_u64 << (call.args.len() - 1 - i);
        let bit = Expr::Case(datafusion::logical_expr::expr::Case::new(
            None,
            vec![(
                Box::new(masked(column(id), *mask).not_eq(lit(0_u64))),
                Box::new(lit(weight)),
            )],
            Some(Box::new(lit(0_u64))),
        ));
        value = value + bit;
    }
    Some(value)
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

/// Checks that an expression above GROUP BY uses only keys and aggregates.
fn check_grouped(expr: &Expr, outputs: &HashSet<String>) -> Result<()> {
    let columns = expr.column_refs();
    let missing = columns.iter().find(|c| {
        !outputs.contains(&c.name)
            && !c.name.starts_with("arrayJoin_")
            && !c.name.starts_with(super::correlated::PREFIX)
    });
    match missing {
        None => Ok(()),
        Some(column) => {
            let name = column
                .name
                .rsplit_once('_')
                .map_or(column.name.as_str(), |(n, _)| n);
            Err(Error::new(
                ErrorCode::NOT_AN_AGGREGATE,
                format!(
                    "Add `{name}` to GROUP BY or put it into an aggregate function: column `{name}` is not under aggregate function and not in GROUP BY keys"
                ),
            ))
        }
    }
}
