//! Tells scans what the top-N above them still wants.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::Volatility;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;

use crate::scan::ScanExec;
use crate::sort::{FirstRows, KeyBound, SortRowsExec, key_column};

/// The rule that gives a top-N and the scan below it one bound.
#[derive(Debug)]
pub struct BoundScans;

/// The top-N at `node` over a scan that leaves out rows; none if there is no such.
fn bounded(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(sort) = node.downcast_ref::<SortRowsExec>() else {
        return Ok(None);
    };
    let Some(num_rows) = sort.num_top_rows().filter(|_| !sort.is_partitioned()) else {
        return Ok(None);
    };
    let first = sort.ordering().first();
    let key = key_column(first.expr.as_ref());
    let (Some(key), Some(input)) = (key, sort.children().first().copied()) else {
        return Ok(None);
    };
    let wanted = FirstRows {
        num_rows,
        loses_ties: sort.ordering().len() == 1 && !sort.with_ties(),
    };
    let bound = |column: usize, passing: Passing<'_>, scan: &ScanExec| {
        let schema = scan.schema();
        let data_type = schema.field(column).data_type();
        if *data_type == DataType::BinaryView {
            let is_only = passing.is_only(scan);
            let bound = is_only.then(|| KeyBound::of_texts(column, first.options, wanted))?;
            return bound.map(Arc::new);
        }
        let bound = KeyBound::new(column, data_type, first.options)?;
        Some(Arc::new(if passing.is_only(scan) {
            bound.of_first(wanted)
        } else {
            bound
        }))
    };
    Ok(match below(input, key.index(), Passing::All, &bound)? {
        Some((input, bound)) => Some(Arc::new(sort.over_bounded(input, bound)?)),
        None => None,
    })
}

/// Which rows of an operator come to the top-N above it.
#[derive(Clone, Copy)]
enum Passing<'a> {
    All,
    /// Those for which a predicate over the operator's fields holds.
    If(&'a Arc<dyn PhysicalExpr>),
    Unknown,
}

impl Passing<'_> {
    /// Whether they are the rows that the scan knows to pass.
    fn is_only(self, scan: &ScanExec) -> bool {
        match self {
            Self::All => scan.source().passes_only(None),
            Self::If(predicate) => scan.source().passes_only(Some(predicate)),
            Self::Unknown => false,
        }
    }
}

/// A plan with a bounded scan below, and the bound.
type Bounded = (Arc<dyn ExecutionPlan>, Arc<KeyBound>);

/// Makes the bound of a column of a scan.
type MakeBound<'a> = dyn Fn(usize, Passing<'_>, &ScanExec) -> Option<Arc<KeyBound>> + 'a;

/// The plan `node` with a bounded scan below, whose column is column `column` of `node`. All steps between
/// look at one row at a time, so that rows which are missing change nothing about others.
fn below(
    node: &Arc<dyn ExecutionPlan>,
    column: usize,
    passing: Passing<'_>,
    bound: &MakeBound<'_>,
) -> Result<Option<Bounded>> {
    if let Some(scan) = node.downcast_ref::<ScanExec>() {
        let bounded = bound(column, passing, scan).and_then(|bound| {
            let scan: Arc<dyn ExecutionPlan> = Arc::new(scan.with_bound(&bound)?);
            Some((scan, bound))
        });
        return Ok(bounded);
    }
    let Some(column) = column_below(node, column) else {
        return Ok(None);
    };
    let children = node.children();
    let [child] = children[..] else {
        return Ok(None);
    };
    let passing = match (passing, node.downcast_ref::<FilterExec>()) {
        (Passing::All, Some(filter)) => Passing::If(filter.predicate()),
        (Passing::All, None) => Passing::All,
        (passing, None) if node.is::<CoalescePartitionsExec>() => passing,
        (passing, None) if node.is::<CooperativeExec>() => passing,
        // Of more than one condition, or one over a projection's columns, nobody asks.
        _ => Passing::Unknown,
    };
    let Some((child, bound)) = below(child, column, passing, bound)? else {
        return Ok(None);
    };
    let node = replace_children_if_necessary(Arc::clone(node), vec![child])?;
    Ok(Some((node, bound)))
}

/// The input's column that is column `column` of a step; none if the step must see all rows, or
/// computes it.
fn column_below(node: &Arc<dyn ExecutionPlan>, column: usize) -> Option<usize> {
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        let exprs = projection.expr();
        let are_pure = exprs.iter().all(|projected| is_pure(&projected.expr));
        let column = exprs.get(column)?.expr.downcast_ref::<Column>()?;
        return are_pure.then(|| column.index());
    }
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        let is_usable = filter.fetch().is_none() && is_pure(filter.predicate());
        return match filter.projection().as_deref() {
            _ if !is_usable => None,
            Some(projection) => projection.get(column).copied(),
            None => Some(column),
        };
    }
    if node.is::<CooperativeExec>() {
        return Some(column);
    }
    node.downcast_ref::<CoalescePartitionsExec>()
        .filter(|coalesce| coalesce.fetch().is_none())
        .map(|_| column)
}

/// Whether an expression depends on nothing but its row.
fn is_pure(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let mut is_pure = true;
    let found = expr.apply(|node| {
        let call = node.downcast_ref::<ScalarFunctionExpr>();
        let volatility = call.map(|call| call.fun().signature().volatility);
        is_pure &= volatility.is_none_or(|v| v == Volatility::Immutable);
        Ok(TreeNodeRecursion::Continue)
    });
    found.is_ok() && is_pure
}

impl PhysicalOptimizerRule for BoundScans {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let bound = |node: Arc<dyn ExecutionPlan>| {
            // The bound of one round is not that of the next.
            if node.is::<RecursiveQueryExec>() {
                return Ok(Transformed::new(node, false, TreeNodeRecursion::Jump));
            }
            Ok(match bounded(&node)? {
                Some(ours) => Transformed::yes(ours),
                None => Transformed::no(node),
            })
        };
        plan.transform_down(bound).data()
    }

    fn name(&self) -> &str {
        "BoundScans"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
