//! Plans WITH RECURSIVE: the rows of the first branch, then those that the others make of them.

use std::sync::Arc;

use basalt_error::{Error, Result};
use basalt_parser::ast::{SetExpr, SetOperator};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::logical_expr::LogicalPlanBuilder;

use super::from::{Source, subquery_source};
use super::outer::WithSubquery;
use super::{Analyzer, OutputColumn, Planned};
use crate::{TableColumn, plan_error};

impl Analyzer<'_> {
    /// The rows of a subquery of WITH that names itself.
    pub(super) fn recursive_table(&self, with: &WithSubquery<'_>, name: &str) -> Result<Source> {
        let (first, others, is_distinct) = branches(&with.query.body)?;
        let mut start = self.set_expr(first, with.outer)?;
        for (column, name) in start.columns.iter_mut().zip(with.columns) {
            column.name.clone_from(name);
        }
        let columns: Vec<OutputColumn> = start
            .columns
            .iter()
            .map(|c| OutputColumn {
                internal: self.fresh(&c.name),
                ..c.clone()
            })
            .collect();
        let start = self.aligned(start, &columns)?;
        // What a round reads: the rows of the round before.
        let fields: Vec<Field> = columns
            .iter()
            .map(|c| Field::new(&c.name, c.data_type.physical(), true))
            .collect();
        let work_name = self.fresh(name);
        let work_table = Arc::new(CteWorkTable::new(&work_name, Arc::new(Schema::new(fields))));
        let work_columns = columns
            .iter()
            .map(|c| TableColumn::new(&c.name, c.data_type.clone()))
            .collect();
        let outer = with
            .outer
            .with_work_table(name, &work_name, work_table, work_columns);
        let mut round = None;
        for branch in others {
            let planned = self.set_expr(branch, &outer)?;
            if planned.columns.len() != columns.len() {
                return Err(Error::new(
                    basalt_error::ErrorCode::UNION_ALL_RESULT_STRUCTURES_MISMATCH,
                    "Branches of a recursive subquery must have the same number of columns",
                ));
            }
            let plan = self.aligned(planned, &columns)?;
            round = Some(match round {
                None => plan,
                Some(before) => LogicalPlanBuilder::from(before)
                    .union(plan)
                    .and_then(|b| b.build())
                    .map_err(plan_error)?,
            });
        }
        let round = round.ok_or_else(|| Error::bug("recursion without a second branch"))?;
        let plan = LogicalPlanBuilder::from(start)
            .to_recursive_query(work_name, round, is_distinct)
            .and_then(|b| b.build())
            .map_err(plan_error)?;
        Ok(subquery_source(Planned {
            plan,
            columns,
            totals: None,
        }))
    }
}

/// The branch that starts, those that go on, and whether equal rows are dropped.
fn branches(set: &SetExpr) -> Result<(&SetExpr, &[SetExpr], bool)> {
    match set {
        SetExpr::Nested(inner) => branches(inner),
        SetExpr::Operation { operator, branches } => {
            let is_distinct = match operator {
                SetOperator::UnionAll => false,
                SetOperator::UnionDistinct => true,
                _ => return Err(unsupported()),
            };
            let (first, others) = branches.split_first().ok_or_else(unsupported)?;
            Ok((first, others, is_distinct))
        }
        SetExpr::Select(_) => Err(unsupported()),
    }
}

fn unsupported() -> Error {
    Error::not_implemented("WITH RECURSIVE other than a UNION ALL or UNION DISTINCT")
}
