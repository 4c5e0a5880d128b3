//! Plans UNION, EXCEPT and INTERSECT over columns cast to their common types.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result, counted};
use basalt_parser::ast::{SetExpr, SetOperator, Span};
use basalt_types::{DataType, supertype_or_variant};
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};

use super::limit::within_settings;
use super::order_by::distinct;
use super::{Analyzer, Outer, OutputColumn, Planned};
use crate::plan::{
    Frame, RowLimit, StreamOperator, Window, WindowColumn, WindowFunction, project, stream_node,
};
use crate::typed::column;
use crate::{Typed, plan_error};

impl Analyzer<'_> {
    pub(crate) fn set_expr(&self, set: &SetExpr, outer: &Outer) -> Result<Planned> {
        match set {
            SetExpr::Select(select) => self.select(select, outer),
            SetExpr::Nested(inner) => self.set_expr(inner, outer),
            SetExpr::Operation { operator, branches } => {
                let outer = with_of_first(branches, outer)?;
                self.operation(*operator, branches, &outer)
            }
        }
    }

    fn operation(
        &self,
        operator: SetOperator,
        branches: &[SetExpr],
        outer: &Outer,
    ) -> Result<Planned> {
        let last = branches.len().saturating_sub(1);
        let planned: Vec<Planned> = branches
            .iter()
            .enumerate()
            .map(|(i, branch)| match i == last {
                true => self.set_expr(branch, outer),
                false => self.branch_with_settings(branch, outer),
            })
            .collect::<Result<_>>()?;
        let columns = self.common_columns(operator, &planned);
        let columns = columns.map_err(|(e, i)| self.placed(e, place(&branches[i])))?;
        let mut plans = Vec::with_capacity(planned.len());
        let mut totals = None;
        for mut branch in planned {
            // Those of the first branch that has any.
            if let Some(plan) = branch.totals.take()
                && totals.is_none()
            {
                let row = Planned {
                    plan,
                    ..branch.clone()
                };
                totals = Some(self.aligned(row, &columns)?);
            }
            plans.push(self.aligned(branch, &columns)?);
        }
        let drops_duplicates = self.drops_duplicates(operator);
        let second = branches.get(1).map(place).unwrap_or_default();
        let plan = match drops_duplicates.map_err(|e| self.placed(e, second))? {
            Some(true) => self.at_most(union(plans, true)?, RowLimit::Distinct)?,
            Some(false) => union(plans, false)?,
            None => {
                let mut plans = plans.into_iter();
                let first = plans
                    .next()
                    .ok_or_else(|| Error::bug("set operation without branches"))?;
                plans.try_fold(first, |left, right| self.combine(operator, left, right))?
            }
        };
        Ok(Planned {
            plan,
            columns,
            totals,
        })
    }

    /// A branch whose SETTINGS count for itself only; those of the last branch are the whole operation's.
    fn branch_with_settings(&self, branch: &SetExpr, outer: &Outer) -> Result<Planned> {
        self.as_subquery(|| within_settings(self.set_expr(branch, outer)?, branch))
    }

    /// Whether a union drops duplicates; `None` for other operators.
    fn drops_duplicates(&self, operator: SetOperator) -> Result<Option<bool>> {
        match operator {
            SetOperator::UnionAll => Ok(Some(false)),
            SetOperator::UnionDistinct => Ok(Some(true)),
            SetOperator::UnionDefault => match self.mode("union_default_mode") {
                Some(mode) => Ok(Some(mode == "DISTINCT")),
                None => Err(Error::new(
                    ErrorCode::EXPECTED_ALL_OR_DISTINCT,
                    "Write UNION ALL or UNION DISTINCT (or set union_default_mode)",
                )),
            },
            _ => Ok(None),
        }
    }

    fn combine(
        &self,
        operator: SetOperator,
        left: LogicalPlan,
        right: LogicalPlan,
    ) -> Result<LogicalPlan> {
        let distinct_by = |setting: &str| self.mode(setting) == Some("DISTINCT");
        let shown = unqualified_columns(&left);
        let few = |plan: LogicalPlan| {
            let plan = project(plan, shown)?;
            self.at_most(plan, RowLimit::Distinct)
        };
        match operator {
            SetOperator::UnionAll | SetOperator::UnionDistinct | SetOperator::UnionDefault => {
                Err(Error::bug("a union has all of its branches at once"))
            }
            SetOperator::ExceptDistinct => few(except(left, right, false)?),
            SetOperator::ExceptDefault if distinct_by("except_default_mode") => {
                few(except(left, right, false)?)
            }
            SetOperator::ExceptAll | SetOperator::ExceptDefault => {
                self.of_multisets(left, right, except)
            }
            SetOperator::IntersectDistinct => few(intersect(left, right, false)?),
            SetOperator::IntersectDefault if distinct_by("intersect_default_mode") => {
                few(intersect(left, right, false)?)
            }
            SetOperator::IntersectAll | SetOperator::IntersectDefault => {
                self.of_multisets(left, right, intersect)
            }
        }
    }

    /// EXCEPT ALL and INTERSECT ALL count how often a row is there: its numbers make it unique.
    fn of_multisets(
        &self,
        left: LogicalPlan,
        right: LogicalPlan,
        combine: fn(LogicalPlan, LogicalPlan, bool) -> Result<LogicalPlan>,
    ) -> Result<LogicalPlan> {
        let shown = unqualified_columns(&left);
        let number = self.fresh("copy");
        let [left, right] = [left, right].map(|side| numbered_among_equals(side, &number));
        project(combine(left?, right?, true)?, shown)
    }

    fn mode(&self, setting: &str) -> Option<&'static str> {
        let settings = self.settings();
        let value = settings.changed().get(setting)?;
        ["ALL", "DISTINCT"]
            .into_iter()
            .find(|m| value.eq_ignore_ascii_case(m))
    }

    /// The result's columns: names of the first branch, common types of all; or the branch that does not
    /// fit.
    fn common_columns(
        &self,
        operator: SetOperator,
        branches: &[Planned],
    ) -> Result<Vec<OutputColumn>, (Error, usize)> {
        let first = branches
            .first()
            .ok_or_else(|| (Error::bug("set operation without branches"), 0))?;
        let num_columns = first.columns.len();
        let mut others = branches.iter().enumerate();
        if let Some((i, other)) = others.find(|(_, b)| b.columns.len() != num_columns) {
            let code = match operator {
                SetOperator::UnionDefault | SetOperator::UnionAll | SetOperator::UnionDistinct => {
                    ErrorCode::UNION_ALL_RESULT_STRUCTURES_MISMATCH
                }
                _ => ErrorCode::INTERSECT_OR_EXCEPT_RESULT_STRUCTURES_MISMATCH,
            };
            let e = Error::new(
                code,
                format!(
                    "Select {}: different number of columns in a set operation, {num_columns} and {}",
                    counted(num_columns, "column"),
                    other.columns.len()
                ),
            );
            return Err((e, i));
        }
        let mut columns = Vec::with_capacity(num_columns);
        for (i, column) in first.columns.iter().enumerate() {
            let types: Vec<DataType> = branches
                .iter()
                .map(|b| b.columns[i].data_type.clone())
                .collect();
            let data_type = supertype_or_variant(&types)
                .map_err(|e| (e.within(format!("Column {} of a set operation", i + 1)), 0))?;
            let internal = self.fresh(&column.name);
            columns.push(OutputColumn {
                name: column.name.clone(),
                internal,
                data_type,
            });
        }
        Ok(columns)
    }

    /// A branch with the result's names and types.
    pub(super) fn aligned(&self, branch: Planned, columns: &[OutputColumn]) -> Result<LogicalPlan> {
        let mut exprs = Vec::with_capacity(columns.len());
        for (from, to) in branch.columns.into_iter().zip(columns) {
            let typed = Typed::column(&from.internal, from.data_type);
            exprs.push(typed.cast_to(&to.data_type, self)?.expr.alias(&to.internal));
        }
        project(branch.plan, exprs)
    }
}

/// Where the first SELECT of a branch stands.
fn place(branch: &SetExpr) -> Span {
    match branch {
        SetExpr::Select(select) => select.span,
        SetExpr::Nested(inner) => place(inner),
        SetExpr::Operation { branches, .. } => branches.first().map(place).unwrap_or_default(),
    }
}

/// WITH before the first SELECT of a UNION is seen by the others, too.
fn with_of_first(branches: &[SetExpr], outer: &Outer) -> Result<Outer> {
    match branches.first() {
        Some(SetExpr::Select(select)) => outer.with_items(select),
        _ => Ok(outer.clone()),
    }
}

/// One step for all branches: steps of two each would be a tree as deep as there are branches.
fn union(branches: Vec<LogicalPlan>, is_distinct: bool) -> Result<LogicalPlan> {
    let branches = branches.into_iter().map(Arc::new).collect();
    let union = Union::try_new_with_loose_types(branches).map_err(plan_error)?;
    let plan = LogicalPlan::Union(union);
    if is_distinct {
        distinct(plan)
    } else {
        Ok(plan)
    }
}

/// The columns under their names alone: joins that set operations become add one for their side.
fn unqualified_columns(plan: &LogicalPlan) -> Vec<Expr> {
    let names = plan.schema().fields().iter().map(|f| f.name());
    names.map(|name| column(name).alias(name)).collect()
}

/// The rows with their numbers among those that are equal.
fn numbered_among_equals(plan: LogicalPlan, number: &str) -> Result<LogicalPlan> {
    let names = plan.schema().fields().iter().map(|f| f.name().clone());
    let window = Window {
        partition: names.collect(),
        order: Vec::new(),
        functions: vec![WindowColumn {
            function: WindowFunction::RowNumber,
            frame: Frame::WHOLE,
            args: Vec::new(),
            output: number.to_owned(),
            arrow: ArrowType::UInt64,
        }],
    };
    stream_node(plan, StreamOperator::Window(window)).map_err(plan_error)
}

fn except(left: LogicalPlan, right: LogicalPlan, is_all: bool) -> Result<LogicalPlan> {
    LogicalPlanBuilder::except(left, right, is_all).map_err(plan_error)
}

fn intersect(left: LogicalPlan, right: LogicalPlan, is_all: bool) -> Result<LogicalPlan> {
    LogicalPlanBuilder::intersect(left, right, is_all).map_err(plan_error)
}
