//! Plans DISTINCT, ORDER BY, LIMIT BY and LIMIT, and the final projection.

use std::collections::HashSet;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, Distinct, OrderBy};
use basalt_types::DataType;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SortExpr};

use super::float_order::{equal_key, order_key};
use super::items::Item;
use super::late_items::{Computed, LateItems};
use super::limit::{RowBounds, without_first};
use super::select::Clauses;
use super::uuid_order::uuid_key;
use super::{Analyzer, Outer, OutputColumn};
use crate::expr::{Resolver, literal};
use crate::plan::{
    KeyOverflow, RowBound, RowLimit, SizeLimit, StreamOperator, limited_rows, project, stream_node,
};
use crate::scope::{Scope, ScopeColumn};
use crate::typed::column;
use crate::{Typed, plan_error, udf};

/// The sort key of one ORDER BY item.
pub(crate) fn sort_key(
    key: &Typed,
    item: &ast::OrderItem,
    resolver: &Resolver<'_>,
) -> Result<SortExpr> {
    resolver
        .analyzer
        .check_key(&key.data_type, "allow_suspicious_types_in_order_by")?;
    if key
        .data_type
        .has(&|t| matches!(t, DataType::AggregateFunction(_)))
    {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Sort by what it stands for, finalizeAggregation(…): data type {} is not allowed in ORDER BY keys, because \
                 its values are not comparable",
                key.data_type
            ),
        ));
    }
    if item.collate.is_some() {
        return Err(Error::not_implemented("ORDER BY … COLLATE"));
    }
    let has_uuids = |data_type: &DataType| data_type.has(&|t| *t == DataType::Uuid);
    let expr = match key.data_type.base() {
        DataType::Uuid => halves_exchanged(key, resolver)?,
        nested if has_uuids(nested) => uuid_key(key.expr.clone(), &key.data_type),
        _ => key.expr.clone(),
    };
    Ok(SortExpr {
        expr,
        asc: !item.descending,
        nulls_first: item.nulls_first.unwrap_or(false),
    })
}

/// The bytes of a UUID with the second half in front, which is what ClickHouse sorts first by.
fn halves_exchanged(key: &Typed, resolver: &Resolver<'_>) -> Result<Expr> {
    let bytes = resolver.call_by_name("UUIDToNum", vec![key.clone()])?;
    let half = |from: u64| {
        let (from, len) = (literal::unsigned(from)?, literal::unsigned(8)?);
        resolver.call_by_name("substring", vec![bytes.clone(), from, len])
    };
    let exchanged = resolver.call_by_name("concat", vec![half(9)?, half(1)?])?;
    Ok(exchanged.expr)
}

impl Analyzer<'_> {
    /// Refuses keys of which nobody knows how their values compare, unless a setting allows them.
    ///
    /// # Errors
    /// `ILLEGAL_COLUMN` for a type with a Variant in it.
    pub(crate) fn check_key(&self, data_type: &DataType, setting: &str) -> Result<()> {
        if !data_type.has_variant() || self.flag(setting) {
            return Ok(());
        }
        Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Cast {data_type} to one of its types, or set {setting} = 1: values of several types \
                 make keys that nobody expects"
            ),
        ))
    }

    /// Resolves ORDER BY; constants order nothing.
    pub(crate) fn order_by(
        &self,
        resolver: &Resolver<'_>,
        select: &ast::Select,
        items: &[Item],
    ) -> Result<Vec<SortExpr>> {
        let mut keys = Vec::new();
        match &select.order_by {
            None => {}
            Some(OrderBy::All(all)) => {
                for item in items {
                    keys.push(sort_key(&item.typed, all, resolver)?);
                }
            }
            Some(OrderBy::Items { items: order, .. }) => {
                for item in order {
                    let exprs = std::slice::from_ref(&item.expr);
                    for key in self.keys(resolver, exprs, items, "ORDER BY")? {
                        keys.push(sort_key(&key, item, resolver)?);
                    }
                }
            }
        }
        Ok(keys)
    }

    pub(crate) fn limit_by_keys(
        &self,
        resolver: &Resolver<'_>,
        select: &ast::Select,
        items: &[Item],
    ) -> Result<Vec<Expr>> {
        let Some(limit_by) = &select.limit_by else {
            return Ok(Vec::new());
        };
        if limit_by.all {
            return Ok(items.iter().map(|i| i.typed.expr.clone()).collect());
        }
        let keys = self.keys(resolver, &limit_by.by, items, "LIMIT BY")?;
        Ok(keys.into_iter().map(|k| k.expr).collect())
    }

    /// The last steps of a SELECT, ending in exactly its columns.
    pub(crate) fn ordered(
        &self,
        plan: LogicalPlan,
        (select, outer): (&ast::Select, &Outer),
        clauses: Clauses,
    ) -> Result<(LogicalPlan, Vec<OutputColumn>)> {
        let mut computed = Computed::new(self);
        let names = Names::of(&clauses, &mut computed);
        let items = &names.items;
        let only_items = computed.are_all_in(items);
        let num_sorted = clauses.bounds.num_sorted(select);
        let mut late = None;
        if clauses.waits_for_sort() {
            late = computed.split_late(&names.of_keys(), num_sorted.is_some())?;
        }
        let mut plan = computed.project(plan)?;
        plan = match &select.distinct {
            Distinct::None => plan,
            Distinct::All if only_items => self.at_most(distinct(plan)?, RowLimit::Distinct)?,
            Distinct::All => first_of_each(plan, items)?,
        };
        if !names.order_by.is_empty() {
            let mut as_sorted = items.clone();
            if select.distinct == Distinct::All {
                (plan, as_sorted) = keys_as_sorted(plan, items, &names.order_by)?;
            }
            let sorts = (names.order_by.iter()).zip(&clauses.order_by);
            plan = self.sorted(plan, sorts, num_sorted)?;
            if as_sorted != *items {
                plan = first_of_each(plan, &as_sorted)?;
            }
            if num_sorted.is_none() || is_filled(select) {
                plan = LateItems::project(late.take(), self, plan)?;
            }
            let shown = shown_scope(&clauses.items, items);
            let fills = (&shown, clauses.fills.as_slice());
            plan = self.with_fill(plan, (select, outer), &names.order_by, fills)?;
        }
        plan = self.limits(plan, select, &names, clauses.bounds)?;
        plan = LateItems::project(late, self, plan)?;
        self.final_projection(plan, clauses.items, names.items)
    }

    /// The rows in order, of which as many are kept as a number says.
    fn sorted<'s>(
        &self,
        mut plan: LogicalPlan,
        order_by: impl Iterator<Item = (&'s String, &'s SortExpr)>,
        num_sorted: Option<u64>,
    ) -> Result<LogicalPlan> {
        let (below, above) = around_sort(self.size_limit(RowLimit::Sort), num_sorted);
        plan = limited_to(plan, below)?;
        let sorts = order_by.map(|(name, s)| SortExpr {
            expr: order_key(name, &plan, s),
            ..*s
        });
        let sorts: Vec<_> = sorts.collect();
        let kept = above.and(num_sorted);
        let kept = kept.and_then(|num_rows| usize::try_from(num_rows).ok());
        let sorted = LogicalPlanBuilder::from(plan).sort_with_limit(sorts, kept);
        limited_to(sorted.and_then(|b| b.build()).map_err(plan_error)?, above)
    }

    /// The plan under a limit that a setting sets.
    pub(super) fn at_most(&self, plan: LogicalPlan, setting: RowLimit) -> Result<LogicalPlan> {
        limited_to(plan, self.size_limit(setting))
    }

    /// What settings limit an operator to, and what happens there.
    pub(crate) fn size_limit(&self, of: RowLimit) -> Option<SizeLimit> {
        let settings = self.settings();
        let settings = settings.changed();
        let number = |name: &str| settings.get(name)?.parse().ok();
        let overflow = match settings.get(of.overflow_mode()).map(String::as_str) {
            Some("break") => KeyOverflow::Break,
            Some("any") => KeyOverflow::Any,
            _ => KeyOverflow::Throw,
        };
        let limit = SizeLimit {
            of,
            rows: number(of.name()).unwrap_or(0),
            bytes: of.name_of_bytes().and_then(number).unwrap_or(0),
            overflow,
        };
        (limit.rows > 0 || limit.bytes > 0).then_some(limit)
    }

    fn limits(
        &self,
        mut plan: LogicalPlan,
        select: &ast::Select,
        names: &Names,
        bounds: RowBounds,
    ) -> Result<LogicalPlan> {
        let limit_by = names.limit_by.iter().chain(&names.domain).cloned();
        plan = limited_by(plan, bounds.limit_by, limit_by.collect())?;
        let offset = bounds.offset.unwrap_or(RowBound::Rows(0));
        let (limit, offset) = match (bounds.limit, offset) {
            (None, RowBound::Rows(offset)) => (None, offset),
            (Some(RowBound::Rows(limit)), RowBound::Rows(offset)) => (Some(limit), offset),
            (limit, offset) => {
                if select.with_ties || !names.domain.is_empty() {
                    return Err(Error::not_implemented(
                        "A negative or fractional LIMIT with ties or in a correlated subquery",
                    ));
                }
                let limit = limit.unwrap_or(RowBound::Rows(u64::MAX));
                let operator = StreamOperator::LimitRows { offset, limit };
                return stream_node(plan, operator).map_err(plan_error);
            }
        };
        if limit.is_none() && offset == 0 {
            return Ok(plan);
        }
        if !names.domain.is_empty() {
            // The query stands for many: each has its own limit.
            let operator = StreamOperator::LimitBy {
                keys: names.domain.clone(),
                offset: RowBound::Rows(offset),
                limit: RowBound::Rows(limit.unwrap_or(u64::MAX)),
            };
            return stream_node(plan, operator).map_err(plan_error);
        }
        if select.with_ties {
            let limit = limit.ok_or_else(|| Error::bug("WITH TIES without LIMIT"))?;
            if names.order_by.is_empty() {
                return Err(Error::new(
                    ErrorCode::WITH_TIES_WITHOUT_ORDER_BY,
                    "Add ORDER BY: LIMIT WITH TIES needs it to know what is equal",
                ));
            }
            let operator = StreamOperator::LimitWithTies {
                keys: names.order_by.clone(),
                offset,
                limit,
            };
            return stream_node(plan, operator).map_err(plan_error);
        }
        if limit.is_none() && self.is_in_subquery() {
            return without_first(plan, offset);
        }
        let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        limited_rows(plan, rows(offset), limit.map(rows))
    }

    fn final_projection(
        &self,
        plan: LogicalPlan,
        items: Vec<Item>,
        names: Vec<String>,
    ) -> Result<(LogicalPlan, Vec<OutputColumn>)> {
        let mut columns: Vec<OutputColumn> = Vec::with_capacity(items.len());
        let mut exprs = Vec::with_capacity(items.len());
        let mut taken = HashSet::new();
        for (item, name) in items.into_iter().zip(names) {
            let repeated = !taken.insert(name.clone());
            let internal = if repeated {
                self.fresh(&item.name)
            } else {
                name.clone()
            };
            exprs.push(if repeated {
                column(&name).alias(&internal)
            } else {
                column(&name)
            });
            let data_type: DataType = item.typed.data_type;
            columns.push(OutputColumn {
                name: item.name,
                internal,
                data_type,
            });
        }
        Ok((project(plan, exprs)?, columns))
    }
}

fn limited_by(
    plan: LogicalPlan,
    bounds: Option<(RowBound, RowBound)>,
    keys: Vec<String>,
) -> Result<LogicalPlan> {
    let Some((limit, offset)) = bounds.filter(|_| !keys.is_empty()) else {
        return Ok(plan);
    };
    let operator = StreamOperator::LimitBy {
        keys,
        offset,
        limit,
    };
    stream_node(plan, operator).map_err(plan_error)
}

/// The names of the columns that the last steps of a SELECT work with.
struct Names {
    items: Vec<String>,
    /// The keys that rows are sorted by.
    order_by: Vec<String>,
    limit_by: Vec<String>,
    domain: Vec<String>,
}

impl Names {
    /// Has the expressions of the clauses computed.
    fn of(clauses: &Clauses, computed: &mut Computed<'_>) -> Self {
        let items = clauses.items.iter().map(|i| {
            let copies = udf::copies(&i.typed.expr);
            computed.name(copies.as_ref().unwrap_or(&i.typed.expr), &i.name)
        });
        let items = items.collect();
        let order_by = clauses.order_by.iter().map(|s| &s.expr);
        let mut named = |exprs: &mut dyn Iterator<Item = &Expr>, hint| {
            exprs.map(|e| computed.name(e, hint)).collect()
        };
        Self {
            items,
            order_by: named(&mut order_by.into_iter(), "order"),
            limit_by: named(&mut clauses.limit_by.iter(), "limit_by"),
            domain: named(&mut clauses.domain.iter(), "domain"),
        }
    }

    /// Those that must be there before what can wait is computed.
    fn of_keys(&self) -> HashSet<&String> {
        self.order_by.iter().chain(&self.domain).collect()
    }
}

/// Whether ORDER BY fills gaps.
fn is_filled(select: &ast::Select) -> bool {
    match &select.order_by {
        Some(OrderBy::Items { items, .. }) => items.iter().any(|i| i.with_fill.is_some()),
        _ => false,
    }
}

/// The select list's columns by the names that they show under.
fn shown_scope(items: &[Item], names: &[String]) -> Scope {
    let column = |(item, name): (&Item, &String)| ScopeColumn {
        qualifier: Vec::new(),
        name: item.name.clone(),
        internal: name.clone(),
        data_type: item.typed.data_type.clone(),
        hidden: false,
        merged: false,
        origin: None,
        array: None,
    };
    Scope {
        columns: items.iter().zip(names).map(column).collect(),
    }
}

pub(crate) fn distinct(plan: LogicalPlan) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan)
        .distinct()
        .and_then(|b| b.build())
        .map_err(plan_error)
}

/// The plan with keys by which its rows differ once they are sorted, where of those that they are
/// sorted by only the place in that order counts: zeros of both signs are sorted as one value.
fn keys_as_sorted(
    plan: LogicalPlan,
    keys: &[String],
    sorted_by: &[String],
) -> Result<(LogicalPlan, Vec<String>)> {
    let columns = plan.schema().fields().iter().map(|f| column(f.name()));
    let mut exprs: Vec<Expr> = columns.collect();
    let num_columns = exprs.len();
    let mut names = Vec::with_capacity(keys.len());
    for key in keys {
        let as_sorted = equal_key(key, &plan);
        if !sorted_by.contains(key) || as_sorted == column(key) {
            names.push(key.clone());
            continue;
        }
        let name = format!("{key} as sorted");
        if !names.contains(&name) {
            exprs.push(as_sorted.alias(name.as_str()));
            names.push(name);
        }
    }
    if exprs.len() == num_columns {
        return Ok((plan, keys.to_vec()));
    }
    Ok((project(plan, exprs)?, names))
}

/// The plan under a limit, if there is one.
fn limited_to(plan: LogicalPlan, limit: Option<SizeLimit>) -> Result<LogicalPlan> {
    match limit {
        Some(limit) => stream_node(plan, StreamOperator::AtMost(limit)).map_err(plan_error),
        None => Ok(plan),
    }
}

/// The limits of what goes into a sort, and of what comes out of one that keeps `num_sorted` rows: only
/// these are known to be kept.
fn around_sort(
    limit: Option<SizeLimit>,
    num_sorted: Option<u64>,
) -> (Option<SizeLimit>, Option<SizeLimit>) {
    let (Some(limit), Some(num_sorted)) = (limit, num_sorted) else {
        return (limit, None);
    };
    let of_rows = SizeLimit { bytes: 0, ..limit };
    let of_bytes = SizeLimit { rows: 0, ..limit };
    let below = limit.rows > 0 && num_sorted > limit.rows;
    let above = limit.bytes > 0;
    (below.then_some(of_rows), above.then_some(of_bytes))
}

/// The first row of each value of the keys.
pub(crate) fn first_of_each(plan: LogicalPlan, keys: &[String]) -> Result<LogicalPlan> {
    let operator = StreamOperator::LimitBy {
        keys: keys.to_vec(),
        offset: RowBound::Rows(0),
        limit: RowBound::Rows(1),
    };
    stream_node(plan, operator).map_err(plan_error)
}
