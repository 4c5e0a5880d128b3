//! Finds the groups of rows for which a condition may hold, by what a part knows of them.

use basalt_analyzer::may_use_others;
use basalt_error::Result;
use basalt_exec::scan::merge_tree::matching_groups;
use basalt_parser::ast::{self, Literal, ObjectName};
use basalt_storage::Part;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr_rewriter::unnormalize_col;
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::catalog::Table;
use crate::merge_tree::MergeTreeTable;
use crate::session::{RunningQuery, Session};
use crate::statement::alter;
use crate::statement::alter::rows::with_no_rows;
use crate::statement::query;

/// A condition as scans see it.
pub(super) struct Matching(Vec<Expr>);

impl Matching {
    /// A condition over a table's columns. Where it cannot be a filter of a scan it may hold for all groups: whoever
    /// evaluates it finds what is wrong with it.
    pub(super) fn of(
        session: &mut Session,
        query: &RunningQuery<'_>,
        (name, table): (&ObjectName, &Table),
        condition: &ast::Expr,
    ) -> Self {
        // A subquery would run once more.
        if may_use_others(condition, &|_| false) {
            return Self(Vec::new());
        }
        Self(filters(session, query, (name, table), condition).unwrap_or_default())
    }

    /// The groups of a part of a table for which it may hold.
    pub(super) fn groups(&self, table: &MergeTreeTable, part: &Part) -> Vec<usize> {
        let (layout, keys) = (table.storage.layout(), table.key_exprs());
        matching_groups((layout, &keys), part, &self.0)
    }
}

/// What is left of the condition beside the rows of a table when a query with it is optimized.
fn filters(
    session: &mut Session,
    query: &RunningQuery<'_>,
    (name, table): (&ObjectName, &Table),
    condition: &ast::Expr,
) -> Result<Vec<Expr>> {
    with_no_rows(session, &table.columns, |session, rows| {
        let one = ast::Expr::literal(Literal::UInt(1));
        let mut select = alter::select(rows, vec![one], Some(condition.clone()));
        alter::set_alias(&mut select, &name.name);
        let planned = query::plan(session, query, &select)?;
        let plan = query.execution.optimized(&planned.plan)?;
        Ok(filters_of(&plan, &rows.name))
    })
}

/// The filters of a plan over the rows of a table as they are.
fn filters_of(plan: &LogicalPlan, table: &str) -> Vec<Expr> {
    let mut filters = Vec::new();
    // The closure never fails.
    let _ = plan.apply(|step| {
        if let LogicalPlan::Filter(filter) = step
            && let LogicalPlan::TableScan(scan) = filter.input.as_ref()
            && scan.table_name.table() == table
        {
            filters.push(unnormalize_col(filter.predicate.clone()));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    filters
}
