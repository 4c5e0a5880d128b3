//! Defines [`Grouping`]: the keys of GROUP BY, and the sets of ROLLUP, CUBE and GROUPING SETS.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, GroupBy, GroupByKind};
use basalt_types::DataType;
use datafusion::logical_expr::Expr;

use super::Analyzer;
use super::array_join_calls::reads_aggregate;
use super::items::Item;
use crate::expr::Resolver;
use crate::expr::aggregate::has_aggregate;
use crate::{Typed, plan_error};

/// The keys of a GROUP BY.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grouping {
    /// All keys, each once.
    pub(crate) keys: Vec<Typed>,
    /// The sets of keys, as positions; empty for one set of all keys.
    pub(crate) sets: Vec<Vec<usize>>,
    /// Whether a set without keys has a row over no rows: as GROUPING SETS, not as ROLLUP or CUBE.
    pub(super) keeps_empty: bool,
}

/// More sets than this are refused (CUBE doubles them with each key).
const MAX_GROUPING_SETS: usize = 4096;

/// Keys of several sets: which of them a row has are the bits of a number.
const MAX_KEYS_OF_SETS: usize = 64;

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
            Some(GroupBy::All(kind)) => {
                let calls = resolver.array_joins.borrow();
                let is_key = |i: &&Item| {
                    i.typed.constant.is_none() && !reads_aggregate(&i.typed.expr, &calls)
                };
                let keys = items.iter().filter(is_key).map(|i| i.typed.clone());
                let keys: Vec<Typed> = keys.collect();
                if keys.is_empty() {
                    return Ok(None);
                }
                grouping.add_in_sets(keys, *kind)?;
            }
            Some(GroupBy::Exprs { kind, exprs }) => {
                let mut keys = self.keys(resolver, exprs, items, "GROUP BY")?;
                if *kind != GroupByKind::Plain || !select.with_totals {
                    keys = without_tuples(keys)?;
                }
                grouping.add_in_sets(keys, *kind)?;
            }
            Some(GroupBy::GroupingSets(_)) if select.with_totals => {
                return Err(Error::not_implemented("WITH TOTALS of GROUPING SETS"));
            }
            Some(GroupBy::GroupingSets(sets)) => {
                for set in sets {
                    let keys = self.keys(resolver, set, items, "GROUP BY")?;
                    let keys = without_tuples(keys)?.into_iter();
                    let positions = keys.map(|k| grouping.add(k)).collect();
                    grouping.sets.push(positions);
                }
                // As a GROUP BY of constants, which has no row over no rows.
                let are_constant = grouping.keys.iter().all(|k| k.constant.is_some());
                grouping.keeps_empty = grouping.keys.is_empty() || !are_constant;
            }
        }
        if !grouping.sets.is_empty() && grouping.keys.len() > MAX_KEYS_OF_SETS {
            return Err(Error::not_implemented(format!(
                "ROLLUP, CUBE or GROUPING SETS of more than {MAX_KEYS_OF_SETS} keys"
            )));
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
            let at = |e: Error| self.placed(e, expr.span);
            let key = match expr.unaliased().as_u64() {
                Some(position) if self.flag("enable_positional_arguments") => {
                    let item = usize::try_from(position)
                        .ok()
                        .and_then(|p| p.checked_sub(1));
                    let item = item.and_then(|i| items.get(i)).ok_or_else(|| {
                        at(Error::new(
                            ErrorCode::BAD_ARGUMENTS,
                            format!(
                                "Position {position} in {clause} is out of bounds: SELECT has {} columns",
                                items.len()
                            ),
                        ))
                    })?;
                    vec![item.typed.clone()]
                }
                _ => resolver
                    .resolve_all(std::slice::from_ref(expr))
                    .map_err(at)?,
            };
            if clause == "GROUP BY" && key.iter().any(|k| has_aggregate(&k.expr)) {
                let e = Error::new(
                    ErrorCode::ILLEGAL_AGGREGATION,
                    "Group by columns, or aggregate in a query around: an aggregate function is found in GROUP BY",
                );
                return Err(resolver.at_aggregation(e, expr.span));
            }
            keys.extend(key);
        }
        Ok(keys)
    }
}

impl Grouping {
    /// Adds keys, and the sets of them that ROLLUP and CUBE make.
    fn add_in_sets(&mut self, keys: Vec<Typed>, kind: GroupByKind) -> Result<()> {
        let mut positions = Vec::new();
        for key in keys {
            let position = self.add(key);
            // A key that is written twice is one.
            if !positions.contains(&position) {
                positions.push(position);
            }
        }
        self.sets = match kind {
            GroupByKind::Plain => Vec::new(),
            GroupByKind::Rollup => (0..=positions.len())
                .rev()
                .map(|n| positions[..n].to_vec())
                .collect(),
            GroupByKind::Cube => subsets(&positions)?,
        };
        Ok(())
    }

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
