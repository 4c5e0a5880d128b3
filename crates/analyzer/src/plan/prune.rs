//! Takes columns that nobody reads out of plans that have many, before DataFusion's optimizer sees them.
//!
//! The optimizer does this, too, but each of its rules compares each column's name with those of all
//! others. Names in our plans are unique in the whole query, so one set of the names that the steps above
//! read is enough to decide about a step.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DFSchemaRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, LogicalPlan, Projection, TableScan, logical_plan::TableScanBuilder,
};

/// Steps of so many columns make the optimizer's look-ups by name cost more than the query.
const WIDE: usize = 128;

/// Plans whose steps all have fewer columns are left to the optimizer.
const MANY: usize = 12;

/// Whether a step of the plan has so many columns that the optimizer's look-ups by name would cost more than
/// the query.
pub fn is_wide(plan: &LogicalPlan) -> bool {
    has_width(plan, WIDE)
}

/// Whether a step has so many columns, or more.
fn has_width(plan: &LogicalPlan, width: usize) -> bool {
    // The closure never fails.
    plan.exists(|step| Ok(step.schema().fields().len() >= width))
        .unwrap_or(false)
}

/// The plan without the columns that no step reads, if it has many.
///
/// # Errors
/// Those of DataFusion when it makes a step again.
pub fn pruned(plan: LogicalPlan) -> Result<LogicalPlan> {
    if !has_width(&plan, MANY) || has_subqueries(&plan) {
        return Ok(plan);
    }
    let mut needed = Needed::default();
    needed.all_of(plan.schema());
    Ok(needed.prune(plan)?.data)
}

/// Names of the columns that steps above the current one read.
#[derive(Default)]
struct Needed(HashSet<String>);

impl Needed {
    fn all_of(&mut self, schema: &DFSchema) {
        self.0
            .extend(schema.fields().iter().map(|f| f.name().clone()));
    }

    fn columns_of(&mut self, expr: &Expr) {
        let _ = expr.apply(|e| {
            if let Expr::Column(column) = e
                && !self.0.contains(&column.name)
            {
                self.0.insert(column.name.clone());
            }
            Ok(TreeNodeRecursion::Continue)
        });
    }

    fn prune(&mut self, plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Projection(step) => self.projection(step),
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::Aggregate(step) => self.aggregate(step),
            other => {
                if is_positional(&other) {
                    other.inputs().iter().for_each(|i| self.all_of(i.schema()));
                }
                other.apply_expressions(|e| {
                    self.columns_of(e);
                    Ok(TreeNodeRecursion::Continue)
                })?;
                let pruned = other.map_children(|input| self.prune(input))?;
                if !pruned.transformed {
                    return Ok(pruned);
                }
                pruned.map_data(LogicalPlan::recompute_schema)
            }
        }
    }

    fn projection(&mut self, step: Projection) -> Result<Transformed<LogicalPlan>> {
        let width = step.expr.len();
        let fields = step.schema.fields().iter();
        let mut kept: Vec<usize> = fields
            .enumerate()
            .filter_map(|(i, f)| self.0.contains(f.name()).then_some(i))
            .collect();
        if kept.is_empty() && width > 0 {
            kept.push(0);
        }
        let Projection {
            expr,
            input,
            schema,
            ..
        } = step;
        let exprs: Vec<Expr> = kept.iter().map(|i| expr[*i].clone()).collect();
        exprs.iter().for_each(|e| self.columns_of(e));
        let input = self.prune(Arc::unwrap_or_clone(input))?;
        let is_changed = input.transformed || kept.len() < width;
        let schema = if kept.len() < width {
            part_of(&schema, &kept)?
        } else {
            schema
        };
        let step = Projection::try_new_with_schema(exprs, Arc::new(input.data), schema)?;
        Ok(Transformed::new_transformed(
            LogicalPlan::Projection(step),
            is_changed,
        ))
    }

    fn aggregate(&mut self, step: Aggregate) -> Result<Transformed<LogicalPlan>> {
        let exprs = step.group_expr.iter().chain(&step.aggr_expr);
        exprs.for_each(|e| self.columns_of(e));
        let input = self.prune(Arc::unwrap_or_clone(step.input))?;
        let (keys, calls) = (step.group_expr, step.aggr_expr);
        let made = Aggregate::try_new_with_schema(Arc::new(input.data), keys, calls, step.schema)?;
        Ok(Transformed::new_transformed(
            LogicalPlan::Aggregate(made),
            input.transformed,
        ))
    }

    fn scan(&self, scan: TableScan) -> Result<Transformed<LogicalPlan>> {
        let fields = scan.projected_schema.fields().iter();
        let read: Vec<usize> = fields
            .enumerate()
            .filter(|(_, f)| self.0.contains(f.name()))
            .map(|(i, _)| scan.projection.as_ref().map_or(i, |p| p[i]))
            .collect();
        if read.len() == scan.projected_schema.fields().len() {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        }
        let scan = TableScanBuilder::from(scan).with_projection(Some(read));
        Ok(Transformed::yes(LogicalPlan::TableScan(scan.build()?)))
    }
}

/// Whether a step reads all columns of its inputs, or finds them by position.
fn is_positional(plan: &LogicalPlan) -> bool {
    !matches!(
        plan,
        LogicalPlan::Filter(_)
            | LogicalPlan::Join(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(Distinct::On(_))
    )
}

fn part_of(schema: &DFSchemaRef, kept: &[usize]) -> Result<DFSchemaRef> {
    let field = |i: &usize| {
        let (qualifier, field) = schema.qualified_field(*i);
        (qualifier.cloned(), Arc::clone(field))
    };
    let fields = kept.iter().map(field).collect();
    DFSchema::new_with_metadata(fields, schema.as_arrow().metadata().clone()).map(Arc::new)
}

/// Whether an expression has a plan of its own, whose columns are not looked at here.
fn has_subqueries(plan: &LogicalPlan) -> bool {
    let mut found = false;
    let _ = plan.apply(|node| {
        node.apply_expressions(|expr| {
            let is_there = |e: &Expr| {
                matches!(
                    e,
                    Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_)
                )
            };
            found |= expr.exists(|e| Ok(is_there(e)))?;
            Ok(TreeNodeRecursion::Continue)
        })
    });
    found
}
