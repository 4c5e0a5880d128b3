//! Plans joins that take one row of the other side: ANY, SEMI, and PASTE JOIN.
//!
//! Where equalities say which rows match, all but the first row of each key are left out before
//! joining. Other conditions need the whole join: rows get numbers, and of each number's matches
//! the first stays.

use basalt_error::Result;
use basalt_parser::ast::{self, JoinKind, JoinStrictness};
use datafusion::common::JoinType;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator, WindowFunctionDefinition,
};

use super::Analyzer;
use super::from::Source;
use super::join::{Sides, all_columns, joined};
use super::order_by::first_of_each;
use crate::plan::{limited_rows, project};
use crate::plan_error;
use crate::typed::column;

/// Which sides give at most one row for each row, or key, of the other side.
#[derive(Clone, Copy)]
struct OneOf {
    left: bool,
    right: bool,
}

impl Analyzer<'_> {
    pub(super) fn any_joined(
        &self,
        mut sides: Sides,
        join_type: JoinType,
        conditions: Vec<Expr>,
        join: &ast::Join,
    ) -> Result<LogicalPlan> {
        let one_of = match (join.strictness, join.kind) {
            (JoinStrictness::Any, JoinKind::Inner) => OneOf {
                left: true,
                right: true,
            },
            (_, JoinKind::Right) => OneOf {
                left: true,
                right: false,
            },
            _ => OneOf {
                left: false,
                right: true,
            },
        };
        let mut sorted = Conditions::default();
        for condition in conditions {
            sorted.add(&sides, condition);
        }
        if !sorted.others.is_empty() {
            return self.first_matches(sides, join_type, sorted.all(), one_of);
        }
        let mut kept = sorted.equalities;
        for (side, filters, keys, is_one) in [
            (
                &mut sides.left,
                sorted.of_left,
                sorted.left_keys,
                one_of.left,
            ),
            (
                &mut sides.right,
                sorted.of_right,
                sorted.right_keys,
                one_of.right,
            ),
        ] {
            if is_one {
                let plan = LogicalPlanBuilder::from(side.plan.clone());
                let filtered = match conjunction(filters) {
                    Some(filter) => plan.filter(filter),
                    None => Ok(plan),
                };
                let plan = filtered.and_then(|b| b.build()).map_err(plan_error)?;
                side.plan = self.deduplicated(plan, keys)?;
            } else {
                kept.extend(filters);
            }
        }
        joined(sides, join_type, kept)
    }

    fn deduplicated(&self, plan: LogicalPlan, keys: Vec<Expr>) -> Result<LogicalPlan> {
        if keys.is_empty() {
            return limited_rows(plan, 0, Some(1));
        }
        let mut exprs = all_columns(&plan);
        let names: Vec<String> = keys.iter().map(|_| self.fresh("join_key")).collect();
        exprs.extend(keys.into_iter().zip(&names).map(|(k, n)| k.alias(n)));
        first_of_each(project(plan, exprs)?, &names)
    }

    /// Joins whole and keeps the first match of each row.
    fn first_matches(
        &self,
        mut sides: Sides,
        join_type: JoinType,
        conditions: Vec<Expr>,
        one_of: OneOf,
    ) -> Result<LogicalPlan> {
        let mut numbers = Vec::new();
        // One match on the right is one for each row of the left.
        for (side, is_one) in [
            (&mut sides.left, one_of.right),
            (&mut sides.right, one_of.left),
        ] {
            if is_one {
                let number = self.fresh("row");
                side.plan = numbered(side.plan.clone(), &number)?;
                numbers.push(number);
            }
        }
        let mut plan = joined(sides, join_type, conditions)?;
        for number in numbers {
            plan = first_of_each(plan, &[number])?;
        }
        Ok(plan)
    }

    /// PASTE JOIN: the rows side by side, as many as the shorter side has.
    pub(super) fn pasted(&self, left: Source, right: Source) -> Result<Source> {
        let numbers = [self.fresh("row"), self.fresh("row")];
        let mut scope = left.scope;
        scope.columns.extend(right.scope.columns);
        let right = numbered(right.plan, &numbers[1])?;
        let same = column(&numbers[0]).eq(column(&numbers[1]));
        let plan = LogicalPlanBuilder::from(numbered(left.plan, &numbers[0])?)
            .join_on(right, JoinType::Inner, [same])
            .and_then(|b| b.sort([column(&numbers[0]).sort(true, false)]))
            .and_then(|b| b.build())
            .map_err(plan_error)?;
        Ok(Source {
            plan,
            scope,
            totals: None,
        })
    }
}

/// The conditions of a join by what they need.
#[derive(Default)]
struct Conditions {
    /// Equalities between the sides, and their operands.
    equalities: Vec<Expr>,
    left_keys: Vec<Expr>,
    right_keys: Vec<Expr>,
    of_left: Vec<Expr>,
    of_right: Vec<Expr>,
    others: Vec<Expr>,
}

impl Conditions {
    fn add(&mut self, sides: &Sides, condition: Expr) {
        match sides.compared(&condition) {
            Some((left, Operator::Eq, right)) => {
                self.left_keys.push(left);
                self.right_keys.push(right);
                self.equalities.push(condition);
            }
            _ if Sides::is_only_of(&condition, &sides.left) => self.of_left.push(condition),
            _ if Sides::is_only_of(&condition, &sides.right) => self.of_right.push(condition),
            _ => self.others.push(condition),
        }
    }

    fn all(self) -> Vec<Expr> {
        let parts = [self.equalities, self.of_left, self.of_right, self.others];
        parts.into_iter().flatten().collect()
    }
}

/// The plan with its rows' numbers as a column behind the others.
pub(super) fn numbered(plan: LogicalPlan, name: &str) -> Result<LogicalPlan> {
    let definition = WindowFunctionDefinition::WindowUDF(row_number_udwf());
    let function = WindowFunction::new(definition, Vec::new());
    let number = Expr::WindowFunction(Box::new(function));
    let shown = number.schema_name().to_string();
    let mut exprs = all_columns(&plan);
    exprs.push(column(&shown).alias(name));
    let plan = LogicalPlanBuilder::window_plan(plan, vec![number]).map_err(plan_error)?;
    project(plan, exprs)
}
