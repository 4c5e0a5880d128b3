//! Plans ASOF JOIN: of the rows that match, the one whose value is closest.
//!
//! The rows of the left side get numbers, are joined by all conditions, and of each number's rows
//! the first by the inequality's right value stays.

use basalt_error::{Error, ErrorCode, Result};
use datafusion::common::JoinType;
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Operator, SortExpr, WindowFunctionDefinition,
};

use super::Analyzer;
use super::join::{Sides, joined};
use super::order_by::first_of_each;
use crate::plan_error;
use crate::typed::column;

impl Analyzer<'_> {
    pub(super) fn asof_joined(
        &self,
        mut sides: Sides,
        join_type: JoinType,
        conditions: Vec<Expr>,
    ) -> Result<LogicalPlan> {
        if !matches!(join_type, JoinType::Inner | JoinType::Left) {
            return Err(Error::not_implemented(
                "ASOF JOIN that is neither INNER nor LEFT",
            ));
        }
        let (value, descending) = closest(&sides, &conditions)?;
        let number = self.fresh("asof_row");
        sides.left.plan = numbered(sides.left.plan, &number)?;
        let plan = joined(sides, join_type, conditions)?;
        let sort = |expr, asc| SortExpr {
            expr,
            asc,
            nulls_first: false,
        };
        let order = vec![sort(column(&number), true), sort(value, !descending)];
        let plan = LogicalPlanBuilder::from(plan)
            .sort(order)
            .and_then(|b| b.build());
        first_of_each(plan.map_err(plan_error)?, &[number])
    }
}

/// The right side's expression of the one inequality, and whether the greatest is closest.
fn closest(sides: &Sides, conditions: &[Expr]) -> Result<(Expr, bool)> {
    let mut found = None;
    for condition in conditions {
        let Expr::BinaryExpr(binary) = condition else {
            continue;
        };
        let greater = match binary.op {
            Operator::Gt | Operator::GtEq => true,
            Operator::Lt | Operator::LtEq => false,
            _ => continue,
        };
        let (a, b) = (binary.left.as_ref(), binary.right.as_ref());
        let one = if Sides::is_only_of(a, &sides.left) && Sides::is_only_of(b, &sides.right) {
            (b.clone(), greater)
        } else if Sides::is_only_of(b, &sides.left) && Sides::is_only_of(a, &sides.right) {
            (a.clone(), !greater)
        } else {
            continue;
        };
        if found.replace(one).is_some() {
            return Err(invalid("has more than one inequality"));
        }
    }
    found.ok_or_else(|| invalid("needs an inequality, such as left.time >= right.time"))
}

fn invalid(why: &str) -> Error {
    Error::new(
        ErrorCode::INVALID_JOIN_ON_EXPRESSION,
        format!("ASOF JOIN {why}"),
    )
}

/// The plan with its rows' numbers as a column behind the others.
fn numbered(plan: LogicalPlan, name: &str) -> Result<LogicalPlan> {
    let definition = WindowFunctionDefinition::WindowUDF(row_number_udwf());
    let number = Expr::WindowFunction(Box::new(WindowFunction::new(definition, Vec::new())));
    let shown = number.schema_name().to_string();
    let mut exprs: Vec<Expr> = plan
        .schema()
        .iter()
        .map(|(q, f)| Expr::from((q, f)))
        .collect();
    exprs.push(column(&shown).alias(name));
    let plan = LogicalPlanBuilder::window_plan(plan, vec![number]).map_err(plan_error)?;
    let plan = LogicalPlanBuilder::from(plan)
        .project(exprs)
        .and_then(|b| b.build());
    plan.map_err(plan_error)
}
