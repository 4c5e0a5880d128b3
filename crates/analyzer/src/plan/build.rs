//! Builds projections and filters of any width in time that grows with their expressions alone.
//!
//! DataFusion's builder looks through the whole plan below for each expression, and through all
//! fields of the schema for each column: with thousands of columns that is most of a query's time.
//! Here a step finds its columns by a hash table of the fields.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use basalt_error::Result;
use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef, ExprSchema};
use datafusion::error::Result as PlanResult;
use datafusion::logical_expr::expr_rewriter::normalize_col;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, Filter, LogicalPlan, LogicalPlanBuilder, Projection,
};

use super::layers::layered;
use crate::plan_error;

/// Wider rows do not keep what DataFusion knows of dependencies between their columns.
const MAX_DEPENDENT_COLUMNS: usize = 64;

/// `SELECT exprs` over a plan.
pub(crate) fn project(plan: LogicalPlan, exprs: Vec<Expr>) -> Result<LogicalPlan> {
    try_project(plan, exprs).map_err(plan_error)
}

/// The rows of a plan for which `condition` holds.
pub(crate) fn filter(plan: LogicalPlan, condition: Expr) -> Result<LogicalPlan> {
    let condition = qualified(condition, &plan, &Fields::new(plan.schema()));
    condition
        .and_then(|c| Filter::try_new(c, Arc::new(plan)))
        .map(LogicalPlan::Filter)
        .map_err(plan_error)
}

/// The rows of a plan behind the first `offset`, `limit` of them at most.
///
/// # Errors
/// If the plan is damaged.
pub fn limited_rows(plan: LogicalPlan, offset: usize, limit: Option<usize>) -> Result<LogicalPlan> {
    // More rows than that there never are, and DataFusion takes no more.
    let rows = |n: usize| n.min(i64::MAX as usize);
    LogicalPlanBuilder::from(plan)
        .limit(rows(offset), limit.map(rows))
        .and_then(|b| b.build())
        .map_err(plan_error)
}

/// `GROUP BY keys` with `calls`; all of them have names.
pub(crate) fn aggregate(
    plan: LogicalPlan,
    keys: Vec<Expr>,
    calls: Vec<Expr>,
) -> Result<LogicalPlan> {
    try_aggregate(plan, keys, calls).map_err(plan_error)
}

fn try_aggregate(
    plan: LogicalPlan,
    mut keys: Vec<Expr>,
    mut calls: Vec<Expr>,
) -> PlanResult<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let fields = Fields::new(&schema);
    for expr in keys.iter_mut().chain(&mut calls) {
        *expr = qualified(std::mem::take(expr), &plan, &fields)?;
    }
    let input = Arc::new(plan);
    let step = if keys.len() + calls.len() <= MAX_DEPENDENT_COLUMNS {
        Aggregate::try_new(input, keys, calls)?
    } else {
        let schema = schema_of(keys.iter().chain(&calls), &input)?;
        Aggregate::try_new_with_schema(input, keys, calls, schema)?
    };
    Ok(LogicalPlan::Aggregate(step))
}

fn try_project(plan: LogicalPlan, exprs: Vec<Expr>) -> PlanResult<LogicalPlan> {
    let schema = Arc::clone(plan.schema());
    let fields = Fields::new(&schema);
    let mut exprs = columnized(exprs, &plan)?;
    for expr in &mut exprs {
        *expr = qualified(std::mem::take(expr), &plan, &fields)?;
    }
    let (plan, exprs) = layered(plan, exprs)?;
    let (plan, exprs) = merged(plan, exprs)?;
    Ok(LogicalPlan::Projection(projection(plan, exprs)?))
}

/// A step of expressions whose columns are already those of `plan`.
pub(super) fn plain_projection(plan: LogicalPlan, exprs: Vec<Expr>) -> PlanResult<LogicalPlan> {
    projection(Arc::new(plan), exprs).map(LogicalPlan::Projection)
}

/// The step itself; all columns of its expressions are those of `input`.
fn projection(input: Arc<LogicalPlan>, exprs: Vec<Expr>) -> PlanResult<Projection> {
    if exprs.len() <= MAX_DEPENDENT_COLUMNS {
        return Projection::try_new(exprs, input);
    }
    let schema = schema_of(&exprs, &input)?;
    Projection::try_new_with_schema(exprs, input, schema)
}

/// The fields that the expressions give, without dependencies between them.
fn schema_of<'e>(
    exprs: impl IntoIterator<Item = &'e Expr>,
    input: &LogicalPlan,
) -> PlanResult<DFSchemaRef> {
    let fields = Fields::new(input.schema());
    let given: PlanResult<Vec<_>> = exprs.into_iter().map(|e| e.to_field(&fields)).collect();
    let metadata = input.schema().as_arrow().metadata().clone();
    DFSchema::new_with_metadata(given?, metadata).map(Arc::new)
}

/// Expressions that are an aggregate or a window of the step below become its column.
fn columnized(exprs: Vec<Expr>, plan: &LogicalPlan) -> PlanResult<Vec<Expr>> {
    let known: HashMap<&Expr, Column> = plan.columnized_output_exprs()?.into_iter().collect();
    if known.is_empty() {
        return Ok(exprs);
    }
    let replaced = |expr: Expr| {
        let column = |e: Expr| {
            Ok(match known.get(&e) {
                Some(c) => Transformed::new(Expr::Column(c.clone()), true, TreeNodeRecursion::Jump),
                None => Transformed::no(e),
            })
        };
        expr.transform_down(column).map(|t| t.data)
    };
    exprs.into_iter().map(replaced).collect()
}

/// The expression with the tables of its columns, where the plan's fields have one.
fn qualified(expr: Expr, plan: &LogicalPlan, fields: &Fields<'_>) -> PlanResult<Expr> {
    let replaced = expr.transform_up(|e| {
        let Expr::Column(column) = e else {
            return Ok(Transformed::no(e));
        };
        Ok(match fields.position(&column) {
            Some(i) if column.relation.is_none() => {
                let found = Column::from(fields.schema.qualified_field(i));
                Transformed::yes(Expr::Column(found))
            }
            Some(_) => Transformed::no(Expr::Column(column)),
            None => Transformed::yes(normalize_col(Expr::Column(column), plan)?),
        })
    });
    replaced.map(|t| t.data)
}

/// The expressions over the input of a projection that computes nothing; else as they are.
fn merged(plan: LogicalPlan, exprs: Vec<Expr>) -> PlanResult<(Arc<LogicalPlan>, Vec<Expr>)> {
    let LogicalPlan::Projection(below) = &plan else {
        return Ok((Arc::new(plan), exprs));
    };
    if !below.expr.iter().all(is_renaming) {
        return Ok((Arc::new(plan), exprs));
    }
    let fields = Fields::new(&below.schema);
    let source = |column: &Column| {
        let expr = below.expr.get(fields.position(column)?)?;
        Some(expr.clone().unalias_nested().data)
    };
    let replace = |expr: Expr| -> PlanResult<Expr> {
        let name = match &expr {
            Expr::Column(c) => Some((c.relation.clone(), c.name.clone())),
            _ => None,
        };
        let replaced = expr.transform_up(|e| {
            Ok(match &e {
                Expr::Column(column) => match source(column) {
                    Some(found) => Transformed::yes(found),
                    None => Transformed::no(e),
                },
                _ => Transformed::no(e),
            })
        });
        let replaced = replaced?.data;
        Ok(match name {
            Some((relation, name)) => replaced.alias_qualified(relation, name),
            None => replaced,
        })
    };
    let exprs: PlanResult<Vec<Expr>> = exprs.into_iter().map(replace).collect();
    let exprs = exprs?;
    Ok((Arc::clone(&below.input), exprs))
}

/// Whether nothing is computed. Constants of subqueries are that in the query around them, too: some
/// functions take another value for a constant than for a column (`array[0]`).
fn is_renaming(expr: &Expr) -> bool {
    let is_plain = |e: &Expr| matches!(e, Expr::Column(_) | Expr::Literal(..));
    match expr {
        Expr::Alias(alias) => alias.metadata.is_none() && is_plain(&alias.expr),
        other => is_plain(other),
    }
}

/// The fields of a schema by name.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    schema: &'a DFSchema,
    by_name: OnceCell<HashMap<&'a str, Vec<usize>>>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(schema: &'a DFSchema) -> Self {
        Self {
            schema,
            by_name: OnceCell::new(),
        }
    }

    /// Position of the one field that `column` can be.
    pub(super) fn position(&self, column: &Column) -> Option<usize> {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
            for (i, field) in self.schema.fields().iter().enumerate() {
                by_name.entry(field.name()).or_default().push(i);
            }
            by_name
        });
        let same_name = by_name.get(column.name.as_str())?;
        let mut matching = same_name.iter().copied().filter(|i| {
            let (qualifier, _) = self.schema.qualified_field(*i);
            column.relation.is_none() || column.relation.as_ref() == qualifier
        });
        let first = matching.next()?;
        matching.next().is_none().then_some(first)
    }
}

impl ExprSchema for Fields<'_> {
    fn field_from_column(&self, column: &Column) -> PlanResult<&FieldRef> {
        match self.position(column) {
            Some(i) => Ok(&self.schema.fields()[i]),
            None => self.schema.field_from_column(column),
        }
    }
}
