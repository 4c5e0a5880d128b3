//! Optimizes plans over a table of many columns.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::Column;
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::LogicalPlanBuilder;

use super::*;

const NUM_COLUMNS: usize = 300;

fn state() -> SessionState {
    datafusion::prelude::SessionContext::new().state()
}

/// All columns of a table under names of their own, as the analyzer makes them.
fn table() -> LogicalPlanBuilder {
    let fields = (0..NUM_COLUMNS).map(|i| Field::new(format!("c{i}"), DataType::UInt64, true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let table = Arc::new(MemTable::try_new(schema, vec![Vec::new()]).unwrap());
    let names = (0..NUM_COLUMNS).map(|i| {
        let column = Column::new(Some("t"), format!("c{i}"));
        Expr::Column(column).alias(format!("c{i}_{i}"))
    });
    let scan = LogicalPlanBuilder::scan("t", provider_as_source(table), None).unwrap();
    scan.project(names).unwrap()
}

fn column(i: usize) -> Expr {
    Expr::Column(Column::new_unqualified(format!("c{i}_{i}")))
}

/// Number of columns that each step gives, from the last to the scan.
fn widths(plan: &LogicalPlan) -> Vec<usize> {
    let mut widths = Vec::new();
    let _ = plan.apply(|node| {
        widths.push(node.schema().fields().len());
        Ok(TreeNodeRecursion::Continue)
    });
    widths
}

#[test]
fn only_what_is_read_is_left_before_any_rule() {
    let plan = table().filter(column(7).is_not_null()).unwrap();
    let plan = plan.project(vec![column(1)]).unwrap().build().unwrap();
    let plan = pruned(plan).unwrap();
    // The projection, the filter with the column that it needs, the names, the scan.
    assert_eq!(widths(&plan), [1, 2, 2, 2], "{plan:?}");
}

#[test]
fn narrow_results_of_wide_tables_go_through_all_rules() {
    let plan = table().project(vec![column(1)]).unwrap().build().unwrap();
    let plan = optimized(plan, &state()).unwrap();
    assert_eq!(widths(&plan), [1, 1], "{plan:?}");
}

#[test]
fn inputs_of_a_union_keep_their_places() {
    let plan = table().union(table().build().unwrap()).unwrap();
    let first = plan.plan().schema().columns().remove(0);
    let plan = plan.project(vec![Expr::Column(first)]).unwrap().build();
    let plan = pruned(plan.unwrap()).unwrap();
    assert_eq!(widths(&plan)[1..4], [NUM_COLUMNS; 3], "{plan:?}");
}

#[test]
fn all_columns_stay_all_columns() {
    let plan = table().build().unwrap();
    let fields = plan.schema().fields().clone();
    let plan = optimized(plan, &state()).unwrap();
    assert_eq!(*plan.schema().fields(), fields);
}
