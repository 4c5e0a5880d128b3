//! Keeps the sorts below what follows the order of the rows: aggregates, functions that number rows or look at
//! their neighbours, windows over all rows without an order of their own.
//!
//! `SELECT groupArray(x) FROM (SELECT … ORDER BY x)` means sorted rows. An aggregation asks for no order,
//! so DataFusion takes such a sort out; behind a step that asks for it the sort stays.

use std::sync::Arc;

use basalt_analyzer::plan::StreamOperator;
use basalt_analyzer::udaf::AggregateUdf;
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};

use super::swapped;
use crate::group_by::row_order::{self, looks_back};
use crate::group_by::{FirstKeys, GroupByExec, SetRowsExec};
use crate::one_input::ReadExec;
use crate::stream::StreamExec;

/// The rule; it must come before the one that takes sorts out.
#[derive(Debug, Default)]
pub struct KeepSorts;

impl PhysicalOptimizerRule for KeepSorts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        swapped(plan, |node| {
            match follows_sort(node) || takes_by_place(node) {
                true => with_kept_sort(node),
                false => Ok(None),
            }
        })
    }

    fn name(&self) -> &str {
        "KeepSorts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Whether it is an operator whose result follows the order of sorted rows.
pub(crate) fn follows_sort(node: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        return projection.expr().iter().any(|e| looks_back(&e.expr));
    }
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return looks_back(filter.predicate());
    }
    if let Some(step) = node.downcast_ref::<StreamExec>() {
        return matches!(step.operator(), StreamOperator::Window(w) if w.takes_rows_as_they_come());
    }
    if let Some(ours) = node.downcast_ref::<GroupByExec>() {
        return ours.follows_sort();
    }
    if numbers_rows(node) {
        return true;
    }
    let Some(foreign) = node.downcast_ref::<AggregateExec>() else {
        return false;
    };
    let mut keys = foreign.group_expr().expr().iter();
    let mut calls = foreign.aggr_expr().iter();
    keys.any(|(key, _)| looks_back(key))
        || calls.any(|call| {
            let udf = call.fun().inner().downcast_ref::<AggregateUdf>();
            udf.is_some_and(|udf| row_order::follows_sort(&udf.bound().name))
                || call.expressions().iter().any(looks_back)
        })
}

/// Whether it leaves out rows by their places and does not know the order that it asks for: the keys of a sort
/// below are no columns here any more.
fn takes_by_place(node: &Arc<dyn ExecutionPlan>) -> bool {
    let Some(step) = node.downcast_ref::<StreamExec>() else {
        return false;
    };
    let asks = step.required_input_ordering().iter().any(Option::is_some);
    let by_place = matches!(
        step.operator(),
        StreamOperator::LimitBy { .. } | StreamOperator::LimitRows { .. }
    );
    by_place && !asks
}

/// Whether it is DataFusion's window over rows as they come, which pairs the rows of PASTE JOIN.
fn numbers_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    let bounded = node.downcast_ref::<BoundedWindowAggExec>();
    let unbounded = node.downcast_ref::<WindowAggExec>();
    let exprs = bounded.map(BoundedWindowAggExec::window_expr);
    let exprs = exprs.or(unbounded.map(WindowAggExec::window_expr));
    exprs.is_some_and(|exprs| {
        let has_no_order =
            |e: &Arc<dyn WindowExpr>| e.partition_by().is_empty() && e.order_by().is_empty();
        exprs.iter().any(has_no_order)
    })
}

/// Whether it depends on the rows in whatever order one source gives them, not only in that of a sort.
pub(crate) fn follows_rows(node: &Arc<dyn ExecutionPlan>) -> bool {
    match node.downcast_ref::<GroupByExec>() {
        Some(group_by) => group_by.follows_order(),
        None => !node.is::<AggregateExec>() && follows_sort(node),
    }
}

/// The plan with a step above the sort that the rows of its input come from, if they do.
fn with_kept_sort(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let children: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    let Ok([child]) = <[Arc<dyn ExecutionPlan>; 1]>::try_from(children) else {
        return Ok(None);
    };
    let kept: Option<Arc<dyn ExecutionPlan>> = if child.downcast_ref::<SortExec>().is_some() {
        Some(Arc::new(StreamExec::try_new(
            child,
            StreamOperator::Ordered,
        )?))
    } else if keeps_order(&child) {
        with_kept_sort(&child)?
    } else {
        None
    };
    kept.map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input]))
        .transpose()
}

/// Whether rows come out in the order in which they come in, and nothing else is done with that order.
pub(crate) fn keeps_order(plan: &Arc<dyn ExecutionPlan>) -> bool {
    let step = plan.downcast_ref::<StreamExec>().map(StreamExec::operator);
    matches!(
        step,
        Some(StreamOperator::ArrayJoin { .. } | StreamOperator::Unordered | StreamOperator::Whole)
    ) || plan.downcast_ref::<ProjectionExec>().is_some()
        || plan.downcast_ref::<FilterExec>().is_some()
        || plan.downcast_ref::<SetRowsExec>().is_some()
        || plan.is::<ReadExec<FirstKeys>>()
}
