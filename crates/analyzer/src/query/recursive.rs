//! Plans WITH RECURSIVE: the rows of the first branch, then those that the others make of them.

use std::collections::HashSet;
use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use basalt_parser::ast::{SetExpr, SetOperator};
use basalt_types::{DataType, supertype_or_variant};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::catalog::cte_worktable::CteWorkTable;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder, TableScan};

use super::from::{Source, subquery_source};
use super::outer::{Outer, WithSubquery};
use super::{Analyzer, OutputColumn, Planned};
use crate::{TableColumn, plan_error};

/// How often the types of a recursion may become wider; from UInt8 to a nullable Int256 it takes fewer.
const MAX_WIDENINGS: usize = 16;

impl Analyzer<'_> {
    /// The rows of a subquery of WITH that names itself.
    pub(super) fn recursive_table(&self, with: &WithSubquery<'_>, name: &str) -> Result<Source> {
        self.as_subquery(|| self.rounds(with, name))
    }

    fn rounds(&self, with: &WithSubquery<'_>, name: &str) -> Result<Source> {
        let (first, others, is_distinct) = branches(&with.query.body)?;
        let mut start = self.set_expr(first, with.outer)?;
        for (column, name) in start.columns.iter_mut().zip(with.columns) {
            column.name.clone_from(name);
        }
        let mut columns: Vec<OutputColumn> = start
            .columns
            .iter()
            .map(|c| OutputColumn {
                internal: self.fresh(&c.name),
                ..c.clone()
            })
            .collect();
        // What a round reads has the type of what it gives, which may be wider: until they agree.
        for _ in 0..MAX_WIDENINGS {
            let (work_name, outer) = self.round_input(with, name, &columns);
            let rounds = others.iter().map(|branch| self.set_expr(branch, &outer));
            let rounds = rounds.collect::<Result<Vec<_>>>()?;
            let types = common_types(&columns, &rounds)?;
            if columns.iter().map(|c| &c.data_type).eq(&types) {
                let start = self.aligned(start, &columns)?;
                let round = self.union_of(rounds, &columns)?;
                if num_scans(&round, &work_name) > 1 {
                    return Err(Error::not_implemented(format!(
                        "More than one `{name}` in the recursive part of WITH RECURSIVE"
                    ))
                    .hinted("Name it once, and join the rest to it"));
                }
                let plan = LogicalPlanBuilder::from(start)
                    .to_recursive_query(work_name, round, is_distinct)
                    .and_then(|b| b.build())
                    .map_err(plan_error)?;
                return Ok(subquery_source(Planned {
                    plan,
                    columns,
                    totals: None,
                }));
            }
            for (column, data_type) in columns.iter_mut().zip(types) {
                column.data_type = data_type;
            }
        }
        Err(Error::new(
            ErrorCode::NO_COMMON_TYPE,
            "Every round of a recursive subquery gives wider types than it reads; cast them",
        ))
    }

    /// The scope of a round: the recursive name stands for the rows of the round before.
    fn round_input(
        &self,
        with: &WithSubquery<'_>,
        name: &str,
        columns: &[OutputColumn],
    ) -> (String, Outer) {
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
        (work_name, outer)
    }

    /// The rows of all branches of a round.
    fn union_of(&self, rounds: Vec<Planned>, columns: &[OutputColumn]) -> Result<LogicalPlan> {
        let mut round = None;
        for planned in rounds {
            let plan = self.aligned(planned, columns)?;
            round = Some(match round {
                None => plan,
                Some(before) => LogicalPlanBuilder::from(before)
                    .union(plan)
                    .and_then(|b| b.build())
                    .map_err(plan_error)?,
            });
        }
        round.ok_or_else(|| Error::bug("recursion without a second branch"))
    }
}

/// How often a plan reads a table.
fn num_scans(plan: &LogicalPlan, table: &str) -> usize {
    let mut num_scans = 0;
    // The closure never fails.
    let _ = plan.apply_with_subqueries(|step| {
        let is_it = |scan: &TableScan| scan.table_name.table() == table;
        num_scans += usize::from(matches!(step, LogicalPlan::TableScan(scan) if is_it(scan)));
        Ok(TreeNodeRecursion::Continue)
    });
    num_scans
}

/// Refuses a plan that runs once, before the rounds, but reads what each round gives.
///
/// # Errors
/// `NOT_IMPLEMENTED`.
pub(crate) fn refuse_work_tables(plan: &LogicalPlan) -> Result<()> {
    let (mut own, mut read) = (HashSet::new(), Vec::new());
    // The closure never fails.
    let _ = plan.apply_with_subqueries(|step| {
        match step {
            LogicalPlan::RecursiveQuery(recursion) => {
                own.insert(recursion.name.clone());
            }
            LogicalPlan::TableScan(scan) => {
                let provider = source_as_provider(&scan.source);
                if provider.is_ok_and(|p| p.is::<CteWorkTable>()) {
                    read.push(scan.table_name.table().to_owned());
                }
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if read.iter().all(|name| own.contains(name)) {
        return Ok(());
    }
    let what =
        "The recursive name of WITH RECURSIVE inside of IN, EXISTS and subqueries of expressions";
    Err(Error::not_implemented(what).hinted("Join it instead"))
}

/// The types that hold what the columns hold now and what the rounds give.
fn common_types(columns: &[OutputColumn], rounds: &[Planned]) -> Result<Vec<DataType>> {
    if rounds.iter().any(|r| r.columns.len() != columns.len()) {
        return Err(Error::new(
            ErrorCode::SIZES_OF_COLUMNS_DOESNT_MATCH,
            "Branches of a recursive subquery must have the same number of columns",
        ));
    }
    let common = |(i, column): (usize, &OutputColumn)| {
        let given = rounds.iter().map(|r| r.columns[i].data_type.clone());
        let types: Vec<DataType> = std::iter::once(column.data_type.clone())
            .chain(given)
            .collect();
        supertype_or_variant(&types)
    };
    columns.iter().enumerate().map(common).collect()
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
    Error::new(
        ErrorCode::UNSUPPORTED_METHOD,
        "Write UNION ALL or UNION DISTINCT: WITH RECURSIVE takes no other set operation",
    )
}
