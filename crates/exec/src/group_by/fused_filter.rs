//! Aggregates over rows that a condition picks, without copying them together first.
//!
//! Functions that skip NULL see the other rows as NULL; what the rest of the functions see is
//! filtered as usual. Only whole columns are arguments here: an expression could fail on rows
//! that the condition keeps away from it.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::{filter, nullif};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;

use super::Grouping;
use super::grouping::AggregateArgs;
use crate::predicate::Predicate;

/// An aggregation over the input of the filter that was below it.
pub(super) struct Fused {
    pub(super) input: Arc<dyn ExecutionPlan>,
    pub(super) grouping: Grouping,
    pub(super) predicate: Predicate,
}

impl Fused {
    /// What `grouping` over `input` is if a filter there becomes part of it.
    pub(super) fn of(grouping: &Grouping, input: &Arc<dyn ExecutionPlan>) -> Option<Self> {
        let projection = input.downcast_ref::<ProjectionExec>();
        let below = projection.map_or(input, |projection| projection.input());
        let filter = below.downcast_ref::<FilterExec>()?;
        let predicate = Predicate::try_new(filter.predicate(), &filter.input().schema())?;
        if filter.fetch().is_some() {
            return None;
        }
        let source = |column: &Column| {
            let column = match projection {
                Some(p) => p
                    .expr()
                    .get(column.index())?
                    .expr
                    .downcast_ref::<Column>()?,
                None => column,
            };
            let index = match filter.projection() {
                Some(kept) => *kept.get(column.index())?,
                None => column.index(),
            };
            Some(Column::new(column.name(), index))
        };
        let mut grouping = grouping.clone();
        for arg in grouping.aggregates.iter_mut().flat_map(|a| &mut a.args) {
            *arg = Arc::new(arg.downcast_ref::<Column>().and_then(source)?);
        }
        Some(Self {
            input: Arc::clone(filter.input()),
            grouping,
            predicate,
        })
    }
}

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
    let mut args = grouping.args(batch)?;
    let mut num_rows = vec![num_picked; args.len()];
    if num_picked < batch.num_rows() {
        let dropped = BooleanArray::new(!&rows, None);
        let rows = BooleanArray::new(rows, None);
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

fn keep(args: &mut [ArrayRef], rows: &BooleanArray) -> Result<()> {
    for arg in args {
        *arg = filter(arg, rows)?;
    }
    Ok(())
}
