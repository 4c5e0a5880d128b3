//! Plans joins: strictness, USING, and the defaults that outer joins fill with.

use std::collections::HashSet;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, JoinConstraint, JoinKind, JoinStrictness};
use basalt_types::least_supertype;
use datafusion::common::JoinType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator};

use super::from::Source;
use super::order_by::first_of_each;
use super::{Analyzer, Outer, default_array};
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::scope::{Scope, ScopeColumn};
use crate::typed::column;
use crate::{Typed, plan_error};

/// Columns that both sides of USING have: positions in the left and the right scope.
type UsingPairs = Vec<(usize, usize)>;

impl Analyzer<'_> {
    /// Joins `right` to what stands left of it.
    pub(crate) fn join(
        &self,
        left: Source,
        right: Source,
        join: &ast::Join,
        (outer, aliases): (&Outer, &Aliases<'_>),
    ) -> Result<Source> {
        if join.kind == JoinKind::Paste {
            return Err(Error::not_implemented("PASTE JOIN"));
        }
        let using = self.using_pairs(&left.scope, &right.scope, join)?;
        let mut scope = left.scope.clone();
        scope.columns.extend(right.scope.columns.iter().cloned());
        let is_asof = join.strictness == JoinStrictness::Asof;
        let mut conditions = self.using_conditions(&left.scope, &right.scope, &using)?;
        if is_asof && let Some(Expr::BinaryExpr(last)) = conditions.last_mut() {
            // The last column of USING is the one that need not be equal.
            last.op = Operator::GtEq;
        }
        if let Some(JoinConstraint::On(on)) = &join.constraint {
            let resolver = Resolver::new(self, outer, &scope, aliases);
            let condition = resolver.condition(on).map_err(|e| {
                let wrong_type = e.code() == ErrorCode::ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER;
                if wrong_type {
                    Error::new(ErrorCode::INVALID_JOIN_ON_EXPRESSION, e.message())
                } else {
                    e
                }
            })?;
            conditions.extend(split_conjunction(&condition).into_iter().cloned());
        }
        let join_type = join_type(join)?;
        let sides = Sides { left, right };
        let sides = self.one_row_for_each_key(sides, &conditions, join)?;
        let num_left = sides.left.scope.columns.len();
        let columns = scope.columns;
        let plan = if is_asof {
            self.asof_joined(sides, join_type, conditions)?
        } else {
            joined(sides, join_type, conditions)?
        };
        let shape = Shape {
            join_type,
            using,
            num_left,
        };
        self.filled(
            plan,
            columns,
            &shape,
            join.strictness == JoinStrictness::Anti,
        )
    }

    fn using_pairs(&self, left: &Scope, right: &Scope, join: &ast::Join) -> Result<UsingPairs> {
        let mut pairs = UsingPairs::new();
        if join.natural {
            for (i, l) in left.columns.iter().enumerate() {
                pairs.extend(
                    right
                        .columns
                        .iter()
                        .position(|r| r.name == l.name)
                        .map(|j| (i, j)),
                );
            }
        }
        if let Some(JoinConstraint::Using(exprs)) = &join.constraint {
            for expr in exprs {
                let ExprKind::Identifier(parts) = &expr.unaliased().kind else {
                    return Err(Error::not_implemented("An expression in USING"));
                };
                let position = |scope: &Scope| {
                    let found = scope.find(parts)?;
                    let internal = found.map(|(c, _)| c.internal.clone());
                    let index = scope
                        .columns
                        .iter()
                        .position(|c| Some(&c.internal) == internal.as_ref());
                    index.ok_or_else(|| scope.unknown(parts, &[]))
                };
                pairs.push((position(left)?, position(right)?));
            }
        }
        Ok(pairs)
    }

    fn using_conditions(
        &self,
        left: &Scope,
        right: &Scope,
        using: &UsingPairs,
    ) -> Result<Vec<Expr>> {
        let mut conditions = Vec::new();
        for (l, r) in using {
            let (l, r) = (left.columns[*l].typed(), right.columns[*r].typed());
            let common = least_supertype(&[l.data_type.clone(), r.data_type.clone()])
                .map_err(|e| Error::new(ErrorCode::TYPE_MISMATCH, e.message()))?;
            let (l, r) = (l.cast_to(&common, self)?, r.cast_to(&common, self)?);
            conditions.push(l.expr.eq(r.expr));
        }
        Ok(conditions)
    }

    /// ANY and SEMI take one row of the other side for each key: the rest is left out before.
    fn one_row_for_each_key(
        &self,
        mut sides: Sides,
        conditions: &[Expr],
        join: &ast::Join,
    ) -> Result<Sides> {
        let (dedup_left, dedup_right) = match (join.strictness, join.kind) {
            (JoinStrictness::Any, JoinKind::Inner) => (true, true),
            (JoinStrictness::Any | JoinStrictness::Semi, JoinKind::Right) => (true, false),
            (JoinStrictness::Any | JoinStrictness::Semi, _) => (false, true),
            _ => (false, false),
        };
        if dedup_left || dedup_right {
            let (left_keys, right_keys) = sides.keys(conditions)?;
            if dedup_left {
                sides.left.plan = self.deduplicated(sides.left.plan, left_keys)?;
            }
            if dedup_right {
                sides.right.plan = self.deduplicated(sides.right.plan, right_keys)?;
            }
        }
        Ok(sides)
    }

    fn deduplicated(&self, plan: LogicalPlan, keys: Vec<Expr>) -> Result<LogicalPlan> {
        let mut exprs: Vec<Expr> = plan
            .schema()
            .iter()
            .map(|(q, f)| Expr::from((q, f)))
            .collect();
        let names: Vec<String> = keys.iter().map(|_| self.fresh("join_key")).collect();
        exprs.extend(keys.into_iter().zip(&names).map(|(k, n)| k.alias(n)));
        let plan = LogicalPlanBuilder::from(plan)
            .project(exprs)
            .and_then(|b| b.build());
        first_of_each(plan.map_err(plan_error)?, &names)
    }

    /// The joined columns: defaults where a side has no row, USING columns merged.
    fn filled(
        &self,
        plan: LogicalPlan,
        columns: Vec<ScopeColumn>,
        shape: &Shape,
        is_anti: bool,
    ) -> Result<Source> {
        let use_nulls = self.flag("join_use_nulls");
        let (fill_left, fill_right) = shape.filled_sides(is_anti);
        let mut exprs = Vec::with_capacity(columns.len());
        let mut scope = Scope::default();
        for (i, mut c) in columns.into_iter().enumerate() {
            let is_left = i < shape.num_left;
            let fill = if is_left { fill_left } else { fill_right };
            let absent = is_anti && fill;
            let mut expr = if absent {
                Typed::constant(default_array(&c.data_type)?, c.data_type.clone())?.expr
            } else {
                column(&c.internal)
            };
            if fill && use_nulls && (c.data_type.can_be_nullable() || c.data_type.is_nullable()) {
                c.data_type = c.data_type.to_nullable();
            } else if fill && !absent && !c.data_type.is_nullable() {
                expr = default_where_null(expr, &c.data_type)?;
            }
            let pair = shape
                .using
                .iter()
                .find(|(l, r)| *l == i || shape.num_left + *r == i);
            if let Some((_, right)) = pair {
                if is_left && fill_left && !is_anti {
                    let other = &scope_name(&plan, shape.num_left + *right);
                    expr = when_null(column(&c.internal), column(other));
                } else if !is_left {
                    c.hidden = true;
                }
            }
            let internal = self.fresh(&c.name);
            exprs.push(expr.alias(&internal));
            c.internal = internal;
            scope.columns.push(c);
        }
        let plan = LogicalPlanBuilder::from(plan)
            .project(exprs)
            .and_then(|b| b.build());
        Ok(Source {
            plan: plan.map_err(plan_error)?,
            scope,
            totals: None,
        })
    }
}

/// The two sides of a join.
pub(super) struct Sides {
    pub(super) left: Source,
    pub(super) right: Source,
}

impl Sides {
    /// Whether the expression has columns, all of the side with this schema.
    pub(super) fn is_only_of(expr: &Expr, side: &Source) -> bool {
        let columns = expr.column_refs();
        let has = |name: &str| side.plan.schema().field_with_unqualified_name(name).is_ok();
        !columns.is_empty() && columns.iter().all(|c| has(&c.name))
    }

    /// The expressions of each side that equalities compare.
    fn keys(&self, conditions: &[Expr]) -> Result<(Vec<Expr>, Vec<Expr>)> {
        let names = |s: &Source| -> HashSet<String> {
            s.plan
                .schema()
                .fields()
                .iter()
                .map(|f| f.name().clone())
                .collect()
        };
        let (left, right) = (names(&self.left), names(&self.right));
        let only = |e: &Expr, side: &HashSet<String>| {
            let columns = e.column_refs();
            !columns.is_empty() && columns.iter().all(|c| side.contains(&c.name))
        };
        let (mut left_keys, mut right_keys) = (Vec::new(), Vec::new());
        for condition in conditions {
            let Expr::BinaryExpr(binary) = condition else {
                return Err(Error::not_implemented(
                    "ANY or SEMI JOIN with a condition that is no equality",
                ));
            };
            let (a, b) = (binary.left.as_ref(), binary.right.as_ref());
            let (a, b) = if only(a, &left) && only(b, &right) {
                (a, b)
            } else {
                (b, a)
            };
            if binary.op != Operator::Eq || !only(a, &left) || !only(b, &right) {
                return Err(Error::not_implemented(
                    "ANY or SEMI JOIN with a condition that is no equality",
                ));
            }
            left_keys.push(a.clone());
            right_keys.push(b.clone());
        }
        Ok((left_keys, right_keys))
    }
}

struct Shape {
    join_type: JoinType,
    using: UsingPairs,
    num_left: usize,
}

impl Shape {
    /// Which sides may have no row, so that their columns need a default.
    fn filled_sides(&self, is_anti: bool) -> (bool, bool) {
        match self.join_type {
            JoinType::Left => (false, true),
            JoinType::Right => (true, false),
            JoinType::Full => (true, true),
            JoinType::LeftAnti => (false, is_anti),
            JoinType::RightAnti => (is_anti, false),
            _ => (false, false),
        }
    }
}

fn scope_name(plan: &LogicalPlan, index: usize) -> String {
    plan.schema().field(index).name().clone()
}

fn join_type(join: &ast::Join) -> Result<JoinType> {
    Ok(match (join.kind, join.strictness) {
        (JoinKind::Right, JoinStrictness::Anti) => JoinType::RightAnti,
        (_, JoinStrictness::Anti) => JoinType::LeftAnti,
        (_, JoinStrictness::Semi) => JoinType::Inner,
        (JoinKind::Inner | JoinKind::Cross | JoinKind::Comma, _) => JoinType::Inner,
        (JoinKind::Left, _) => JoinType::Left,
        (JoinKind::Right, _) => JoinType::Right,
        (JoinKind::Full, JoinStrictness::Any) => {
            return Err(Error::not_implemented("ANY FULL JOIN"));
        }
        (JoinKind::Full, _) => JoinType::Full,
        (JoinKind::Paste, _) => return Err(Error::not_implemented("PASTE JOIN")),
    })
}

pub(super) fn joined(
    sides: Sides,
    join_type: JoinType,
    conditions: Vec<Expr>,
) -> Result<LogicalPlan> {
    let builder = LogicalPlanBuilder::from(sides.left.plan);
    let right = sides.right.plan;
    let plan = if conditions.is_empty() && join_type == JoinType::Inner {
        builder.cross_join(right)
    } else {
        builder.join_on(right, join_type, conjunction(conditions))
    };
    plan.and_then(|b| b.build()).map_err(plan_error)
}

fn default_where_null(expr: Expr, data_type: &basalt_types::DataType) -> Result<Expr> {
    let default = Typed::constant(default_array(data_type)?, data_type.clone())?;
    Ok(when_null(expr, default.expr))
}

fn when_null(expr: Expr, other: Expr) -> Expr {
    let is_null = Box::new(expr.clone().is_null());
    Expr::Case(Case::new(
        None,
        vec![(is_null, Box::new(other))],
        Some(Box::new(expr)),
    ))
}
