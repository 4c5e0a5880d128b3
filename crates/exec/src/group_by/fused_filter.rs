//! Aggregates over rows that a condition picks, without copying them together first.
//!
//! Functions that skip NULL see the other rows as NULL; what the rest of the functions see is
//! filtered as usual. Arguments are whole columns, or expressions that can be compiled: others could
//! fail on rows that the condition keeps away from them. In the order in which floats are added up or compared, rows
//! that are dropped hold their places, so that it does not depend on what is compiled.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray, RecordBatch,
    RecordBatchOptions,
};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;

use super::Grouping;
use super::grouping::AggregateArgs;
use crate::compile::{CompiledGroups, CompiledTotals};
use crate::filter_project::Selection;
use crate::predicate::Predicate;

/// An aggregation over the input of the filter that was below it.
pub(super) struct Fused {
    pub(super) input: Arc<dyn ExecutionPlan>,
    pub(super) grouping: Grouping,
    pub(super) predicate: Predicate,
    pub(super) compiled: Option<CompiledWhole>,
}

/// An aggregation that can be compiled as a whole.
#[derive(Clone, Debug)]
pub(super) enum CompiledWhole {
    /// Without keys.
    Totals(Arc<CompiledTotals>),
    /// By few small keys.
    Groups(Arc<CompiledGroups>),
}

impl CompiledWhole {
    /// What `grouping` over rows of `schema` is, of which those count for which `condition` holds.
    pub(super) fn of(
        grouping: &Grouping,
        condition: Option<&Arc<dyn PhysicalExpr>>,
        schema: &Schema,
    ) -> Option<Self> {
        let Grouping {
            keys, aggregates, ..
        } = grouping;
        if keys.is_empty() {
            let totals = CompiledTotals::of(aggregates, condition, schema)?;
            return Some(Self::Totals(Arc::new(totals)));
        }
        let groups = CompiledGroups::of(keys, aggregates, condition, schema)?;
        Some(Self::Groups(Arc::new(groups)))
    }
}

impl Fused {
    /// What `grouping` over `input` is if a filter there becomes part of it.
    pub(super) fn of(
        grouping: &Grouping,
        input: &Arc<dyn ExecutionPlan>,
        compiles: bool,
    ) -> Option<Self> {
        let projection = input.downcast_ref::<ProjectionExec>();
        let below = projection.map_or(input, |projection| projection.input());
        let filter = below.downcast_ref::<FilterExec>()?;
        if filter.fetch().is_some() {
            return None;
        }
        let mut grouping = grouping.clone();
        let args = grouping.aggregates.iter_mut().flat_map(|a| &mut a.args);
        for expr in args.chain(&mut grouping.keys) {
            *expr = below_filter(expr, projection, filter)?;
        }
        let (condition, schema) = (filter.predicate(), filter.input().schema());
        let compiled = compiles
            .then(|| CompiledWhole::of(&grouping, Some(condition), &schema))
            .flatten();
        // With keys, rows are copied all the same where there is no code.
        if compiled.is_none() && !grouping.keys.is_empty() {
            return None;
        }
        // What can be compiled gives a value for any row.
        let is_safe = compiled.is_some();
        let predicate = match Predicate::try_new(condition, &schema) {
            Some(predicate) => predicate,
            None if is_safe => Predicate::of_any(condition, &schema)?,
            None => return None,
        };
        if grouping.computes() && !is_safe {
            return None;
        }
        Some(Self {
            input: Arc::clone(filter.input()),
            grouping,
            predicate,
            compiled,
        })
    }
}

/// The expression over the rows of `projection`, or of `filter`, as one over those of the filter's input.
fn below_filter(
    expr: &Arc<dyn PhysicalExpr>,
    projection: Option<&ProjectionExec>,
    filter: &FilterExec,
) -> Option<Arc<dyn PhysicalExpr>> {
    let projected = |column: &Column| match projection {
        Some(projection) => Some(Arc::clone(&projection.expr().get(column.index())?.expr)),
        None => Some(Arc::new(column.clone()) as _),
    };
    let kept = |column: &Column| {
        let index = match filter.projection() {
            Some(kept) => *kept.get(column.index())?,
            None => column.index(),
        };
        Some(Arc::new(Column::new(column.name(), index)) as _)
    };
    with_columns(&with_columns(expr, projected)?, kept)
}

/// The expression with another one for each of its columns; none if one has none.
fn with_columns(
    expr: &Arc<dyn PhysicalExpr>,
    other: impl Fn(&Column) -> Option<Arc<dyn PhysicalExpr>>,
) -> Option<Arc<dyn PhysicalExpr>> {
    let mut is_complete = true;
    let replaced = Arc::clone(expr).transform_up(|expr| {
        let Some(column) = expr.downcast_ref::<Column>() else {
            return Ok(Transformed::no(expr));
        };
        match other(column) {
            Some(other) => Ok(Transformed::yes(other)),
            None => {
                is_complete = false;
                Ok(Transformed::no(expr))
            }
        }
    });
    replaced.data().ok().filter(|_| is_complete)
}

/// Of this many rows one must be picked for expressions to be worth computing for all of them.
const FEW: usize = 5;

/// Arguments of each aggregate and the number of rows that it is to be fed with them.
pub(super) struct PickedArgs {
    pub(super) args: AggregateArgs,
    pub(super) num_rows: Vec<usize>,
}

/// The arguments for the rows that the condition picks; `None` if it picks none.
pub(super) fn pick(
    grouping: &Grouping,
    predicate: &Predicate,
    batch: &RecordBatch,
) -> Result<Option<PickedArgs>> {
    let rows = predicate.rows(batch)?;
    let num_picked = rows.count_set_bits();
    if num_picked == 0 {
        return Ok(None);
    }
    if grouping.computes() && num_picked.saturating_mul(FEW) < batch.num_rows() {
        let picked = picked_rows(grouping, batch, (rows.clone(), num_picked))?;
        let mut args = grouping.args(&picked)?;
        let mut num_rows = vec![num_picked; args.len()];
        let specs = grouping.aggregates.iter().zip(&mut args);
        for ((spec, args), num_rows) in specs.zip(&mut num_rows) {
            if let ([only], true) = (args.as_mut_slice(), spec.bound.skips_nulls)
                && let Some(placed) = at_their_places(only, &rows)
            {
                (*only, *num_rows) = (placed, batch.num_rows());
            }
        }
        return Ok(Some(PickedArgs { args, num_rows }));
    }
    let mut args = grouping.args(batch)?;
    let mut num_rows = vec![num_picked; args.len()];
    if num_picked < batch.num_rows() {
        let dropped = BooleanArray::new(!&rows, None);
        let rows = Selection::new(rows);
        let specs = grouping.aggregates.iter().zip(&mut args);
        for ((spec, args), num_rows) in specs.zip(&mut num_rows) {
            match args.first_mut() {
                Some(first) if spec.bound.skips_nulls => {
                    *first = nullif(first, &dropped)?;
                    *num_rows = batch.num_rows();
                }
                _ => keep(args, &rows)?,
            }
        }
    }
    Ok(Some(PickedArgs { args, num_rows }))
}

/// Floats of picked rows at the places of these among all rows, NULL elsewhere; none if they are no floats.
fn at_their_places(values: &ArrayRef, rows: &BooleanBuffer) -> Option<ArrayRef> {
    fn placed<T: ArrowPrimitiveType>(values: &ArrayRef, rows: &BooleanBuffer) -> ArrayRef {
        let values = values.as_primitive::<T>();
        let mut all = vec![T::Native::default(); rows.len()];
        let mut is_there = vec![
            false;
            if values.nulls().is_some() {
                rows.len()
            } else {
                0
            }
        ];
        for (i, place) in rows.set_indices().enumerate() {
            all[place] = values.value(i);
            if let Some(is_there) = is_there.get_mut(place) {
                *is_there = values.is_valid(i);
            }
        }
        let nulls = match values.nulls() {
            Some(_) => is_there.into(),
            None => rows.clone(),
        };
        Arc::new(PrimitiveArray::<T>::new(
            all.into(),
            Some(NullBuffer::new(nulls)),
        ))
    }
    match values.data_type() {
        DataType::Float32 => Some(placed::<Float32Type>(values, rows)),
        DataType::Float64 => Some(placed::<Float64Type>(values, rows)),
        _ => None,
    }
}

fn keep(args: &mut [ArrayRef], rows: &Selection) -> Result<()> {
    for arg in args {
        *arg = rows.kept(arg)?;
    }
    Ok(())
}

/// The picked rows of those columns that arguments read; in the others, which only the condition reads, any rows.
fn picked_rows(
    grouping: &Grouping,
    batch: &RecordBatch,
    (rows, num_picked): (BooleanBuffer, usize),
) -> Result<RecordBatch> {
    let args = grouping.aggregates.iter().flat_map(|spec| &spec.args);
    let is_read: HashSet<usize> = args
        .flat_map(collect_columns)
        .map(|column| column.index())
        .collect();
    let rows = Selection::new(rows);
    let columns = batch.columns().iter().enumerate();
    let picked = columns.map(|(place, array)| match is_read.contains(&place) {
        true => rows.kept(array),
        false => Ok(array.slice(0, num_picked)),
    });
    let options = RecordBatchOptions::new().with_row_count(Some(num_picked));
    let picked = picked.collect::<Result<_>>()?;
    let batch = RecordBatch::try_new_with_options(batch.schema(), picked, &options)?;
    Ok(batch)
}
