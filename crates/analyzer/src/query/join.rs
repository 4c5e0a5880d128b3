//! Plans joins: kinds, merged columns, and the defaults that outer joins fill with.

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{self, ExprKind, JoinConstraint, JoinKind, JoinStrictness};
use datafusion::common::JoinType;
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator};

use super::from::Source;
use super::using::UsingPairs;
use super::{Analyzer, Outer, default_array};
use crate::expr::Resolver;
use crate::expr::aliases::Aliases;
use crate::plan::{RowLimit, project};
use crate::scope::{Scope, ScopeColumn};
use crate::typed::column;
use crate::{Typed, plan_error};

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
            return self.pasted(left, right);
        }
        let using = self.using_pairs(&left.scope, &right.scope, join)?;
        let right = Source {
            plan: self.at_most(right.plan, RowLimit::Join)?,
            ..right
        };
        let mut sides = Sides { left, right };
        self.common_using_types(&mut sides, &using)?;
        let mut conditions = sides.using_conditions(&using);
        let is_asof = join.strictness == JoinStrictness::Asof;
        if is_asof && let Some(Expr::BinaryExpr(last)) = conditions.last_mut() {
            // The last column of USING is the one that need not be equal.
            last.op = Operator::GtEq;
        }
        let mut scope = sides.left.scope.clone();
        scope
            .columns
            .extend(sides.right.scope.columns.iter().cloned());
        if let Some(JoinConstraint::On(on)) = &join.constraint {
            let resolver = Resolver::new(self, outer, &scope, aliases);
            if matches!(on.unaliased().kind, ExprKind::Identifier(_))
                && matches!(resolver.resolve(on)?.expr, Expr::Column(_))
            {
                return Err(Error::new(
                    ErrorCode::INVALID_JOIN_ON_EXPRESSION,
                    "Compare the column in ON with something: a column alone joins nothing",
                ));
            }
            let on = sides.with_tuple_keys(on, &resolver)?;
            conditions.extend(match is_asof {
                true => self.asof_conditions(&sides, &on, &resolver)?,
                false => sides.with_keys(join_conditions(&on, &resolver)?),
            });
        }
        if join_type(join)? == JoinType::Inner {
            sides.share_origins(&conditions, &mut scope);
        }
        let shape = Shape {
            join_type: join_type(join)?,
            using,
            num_left: sides.left.scope.columns.len(),
            is_anti: join.strictness == JoinStrictness::Anti,
        };
        let totals = sides.totals()?;
        let plan = match join.strictness {
            JoinStrictness::Asof => self.asof_joined(sides, shape.join_type, conditions)?,
            JoinStrictness::Any | JoinStrictness::Semi => {
                self.any_joined(sides, shape.join_type, conditions, join)?
            }
            _ => joined(sides, shape.join_type, conditions)?,
        };
        self.filled((plan, totals), scope.columns, &shape)
    }

    pub(super) fn cast_column(
        &self,
        source: &mut Source,
        position: usize,
        data_type: &basalt_types::DataType,
    ) -> Result<()> {
        let scope_column = &mut source.scope.columns[position];
        if scope_column.data_type == *data_type {
            return Ok(());
        }
        let cast = scope_column.typed().cast_to(data_type, self)?;
        let internal = self.fresh(&scope_column.name);
        let mut exprs = all_columns(&source.plan);
        exprs.push(cast.expr.alias(&internal));
        let totals = source.totals.take();
        source.totals = totals.map(|t| project(t, exprs.clone())).transpose()?;
        source.plan = project(source.plan.clone(), exprs)?;
        scope_column.internal = internal;
        scope_column.data_type = data_type.clone();
        Ok(())
    }

    /// The joined columns: those of USING merged and in front, defaults where a side has no row.
    fn filled(
        &self,
        (plan, totals): (LogicalPlan, Option<LogicalPlan>),
        columns: Vec<ScopeColumn>,
        shape: &Shape,
    ) -> Result<Source> {
        let (fill_left, fill_right) = shape.filled_sides();
        let before: Vec<String> = columns.iter().map(|c| c.internal.clone()).collect();
        let mut exprs = Vec::with_capacity(columns.len());
        let mut scope = Scope::default();
        for (i, c) in columns.into_iter().enumerate() {
            let fill = if i < shape.num_left {
                fill_left
            } else {
                fill_right
            };
            let (mut c, expr) = self.filled_column(c, fill, shape.is_anti)?;
            let internal = self.fresh(&c.name);
            exprs.push(expr.alias(&internal));
            c.internal = internal;
            scope.columns.push(c);
        }
        let mut merged = Vec::with_capacity(shape.using.len());
        for (l, r) in &shape.using {
            let r = shape.num_left + *r;
            let (left, right) = (&scope.columns[*l], &scope.columns[r]);
            let (expr, data_type) = match (fill_left, fill_right) {
                (false, _) => (column(&before[*l]), left.data_type.clone()),
                (true, false) => (column(&before[r]), right.data_type.clone()),
                (true, true) => {
                    let either = when_null(column(&before[*l]), column(&before[r]));
                    let nullable = left.data_type.is_nullable() || right.data_type.is_nullable();
                    let base = left.data_type.base().clone();
                    (either, if nullable { base.to_nullable() } else { base })
                }
            };
            let internal = self.fresh(&left.name);
            exprs.push(expr.alias(&internal));
            // Of a RIGHT JOIN both tables' own columns show with their tables' names: a qualifier
            // that nobody can write makes the merged one count as a table's.
            let is_right = fill_left && !fill_right;
            merged.push(ScopeColumn {
                qualifier: if is_right {
                    vec![String::from("\0using"); 3]
                } else {
                    Vec::new()
                },
                name: left.name.clone(),
                internal,
                data_type,
                hidden: false,
                merged: false,
                origin: left.origin.clone(),
                array: None,
            });
        }
        for (l, r) in &shape.using {
            scope.columns[*l].merged = true;
            scope.columns[shape.num_left + *r].merged = true;
        }
        merged.append(&mut scope.columns);
        scope.columns = merged;
        Ok(Source {
            totals: totals.map(|t| project(t, exprs.clone())).transpose()?,
            plan: project(plan, exprs)?,
            scope,
        })
    }

    /// A column behind the join, with its type there, and what it is.
    fn filled_column(
        &self,
        mut c: ScopeColumn,
        fill: bool,
        is_anti: bool,
    ) -> Result<(ScopeColumn, Expr)> {
        let mut expr = column(&c.internal);
        if !fill {
            return Ok((c, expr));
        }
        if self.flag("join_use_nulls") {
            c.data_type = c.data_type.to_nullable();
        }
        if is_anti {
            expr = Typed::constant(default_array(&c.data_type)?, c.data_type.clone())?.expr;
        } else if !c.data_type.is_nullable() {
            expr = default_where_null(expr, &c.data_type)?;
        }
        Ok((c, expr))
    }
}

/// The two sides of a join.
pub(super) struct Sides {
    pub(super) left: Source,
    pub(super) right: Source,
}

impl Sides {
    /// The totals of both sides as one row; a side without any has its columns' defaults.
    fn totals(&self) -> Result<Option<LogicalPlan>> {
        if self.left.totals.is_none() && self.right.totals.is_none() {
            return Ok(None);
        }
        let row = |side: &Source| -> Result<LogicalPlan> {
            let columns = side.scope.columns.iter();
            if let Some(totals) = &side.totals {
                return project(
                    totals.clone(),
                    columns.map(|c| column(&c.internal)).collect(),
                );
            }
            let default = |c: &ScopeColumn| {
                let value = Typed::constant(default_array(&c.data_type)?, c.data_type.clone())?;
                Ok(value.expr.alias(&c.internal))
            };
            let nothing = LogicalPlanBuilder::empty(true)
                .build()
                .map_err(plan_error)?;
            project(nothing, columns.map(default).collect::<Result<_>>()?)
        };
        let (left, right) = (row(&self.left)?, row(&self.right)?);
        let both = LogicalPlanBuilder::from(left).cross_join(right);
        both.and_then(|b| b.build()).map_err(plan_error).map(Some)
    }

    fn using_conditions(&self, using: &UsingPairs) -> Vec<Expr> {
        let equal = |(l, r): &(usize, usize)| {
            let left = column(&self.left.scope.columns[*l].internal);
            left.eq(column(&self.right.scope.columns[*r].internal))
        };
        using.iter().map(equal).collect()
    }

    /// Whether the expression has columns, all of the side with this schema.
    pub(super) fn is_only_of(expr: &Expr, side: &Source) -> bool {
        let columns = expr.column_refs();
        let has = |name: &str| side.plan.schema().field_with_unqualified_name(name).is_ok();
        !columns.is_empty() && columns.iter().all(|c| has(&c.name))
    }

    /// Columns that an inner join makes equal may be named without a table: whichever is meant, it is the same.
    fn share_origins(&self, conditions: &[Expr], scope: &mut Scope) {
        for condition in conditions {
            let Some((Expr::Column(left), Operator::Eq, Expr::Column(right))) =
                self.compared(condition)
            else {
                continue;
            };
            let place = |name: &str| scope.columns.iter().position(|c| c.internal == name);
            if let (Some(left), Some(right)) = (place(&left.name), place(&right.name)) {
                scope.columns[right].origin = scope.columns[left].origin.clone();
            }
        }
    }

    /// The left and the right operand of a comparison between the sides, turned around if needed.
    pub(super) fn compared(&self, condition: &Expr) -> Option<(Expr, Operator, Expr)> {
        let Expr::BinaryExpr(binary) = condition else {
            return None;
        };
        let (a, b) = (binary.left.as_ref(), binary.right.as_ref());
        let parts = |left: &Expr, op, right: &Expr| Some((left.clone(), op, right.clone()));
        if Self::is_only_of(a, &self.left) && Self::is_only_of(b, &self.right) {
            parts(a, binary.op, b)
        } else if Self::is_only_of(b, &self.left) && Self::is_only_of(a, &self.right) {
            parts(b, binary.op.swap()?, a)
        } else {
            None
        }
    }
}

/// The conditions that ON, or a part of it, connects by AND.
pub(super) fn join_conditions(on: &ast::Expr, resolver: &Resolver<'_>) -> Result<Vec<Expr>> {
    let condition = resolver.condition_on_rows(on, "JOIN ON").map_err(|e| {
        let wrong_type = e.code() == ErrorCode::ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER;
        if wrong_type {
            let other = Error::new(ErrorCode::INVALID_JOIN_ON_EXPRESSION, e.message());
            e.position().into_iter().fold(other, Error::at)
        } else {
            e
        }
    })?;
    Ok(split_conjunction(&condition).into_iter().cloned().collect())
}

struct Shape {
    join_type: JoinType,
    using: UsingPairs,
    num_left: usize,
    is_anti: bool,
}

impl Shape {
    /// Which sides may have no row, so that their columns need a default.
    fn filled_sides(&self) -> (bool, bool) {
        match self.join_type {
            JoinType::Left => (false, true),
            JoinType::Right => (true, false),
            JoinType::Full => (true, true),
            JoinType::LeftAnti => (false, self.is_anti),
            JoinType::RightAnti => (self.is_anti, false),
            _ => (false, false),
        }
    }
}

pub(super) fn check_table_names(left: &Scope, right: &Scope) -> Result<()> {
    // Tables without an alias have their database before the name and may be joined to themselves.
    let alias = |c: &ScopeColumn| (c.qualifier.len() == 1).then(|| c.qualifier[0].clone());
    let Some(name) = right.columns.iter().find_map(alias) else {
        return Ok(());
    };
    if left.columns.iter().any(|c| c.qualifier == [name.as_str()]) {
        return Err(Error::new(
            ErrorCode::MULTIPLE_EXPRESSIONS_FOR_ALIAS,
            format!("Two tables have the same alias `{name}`"),
        ));
    }
    Ok(())
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
        (JoinKind::Paste, _) => return Err(Error::bug("PASTE JOIN has no conditions")),
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

/// All columns of a plan, as expressions above it.
pub(crate) fn all_columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().iter().map(Expr::from).collect()
}

/// The expression, a default of its type where it is NULL.
pub(super) fn default_where_null(expr: Expr, data_type: &basalt_types::DataType) -> Result<Expr> {
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
