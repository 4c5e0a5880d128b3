//! Makes states of aggregate functions from values, and values from states.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::compute::concat;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{AggregateType, DataType};

use super::entry;
use crate::aggregate::{self, BoundAggregate, Groups, of_each_row};
use crate::scalar::arrays::reduce::named_aggregate;
use crate::{Call, Context, Nulls, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    own_nulls(entry(
        &["finalizeAggregation"],
        Purity::Pure,
        (
            "finalizeAggregation(state)",
            "The value of an aggregate function's state.",
        ),
        finalize,
    )),
    own_nulls(entry(
        &["initializeAggregation"],
        Purity::Pure,
        (
            "initializeAggregation('aggregate', x, ...)",
            "The aggregate function of one row; with -State its state.",
        ),
        initialize,
    )),
    own_nulls(entry(
        &["runningAccumulate"],
        Purity::PerRow,
        (
            "runningAccumulate(state[, grouping])",
            "The values of the states up to each row of the block, anew for each grouping.",
        ),
        running,
    )),
];

const fn own_nulls(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction {
        nulls: Nulls::Own,
        ..function
    }
}

/// The function that merges the states of the first argument.
fn merging(call: &Call<'_>) -> Result<BoundAggregate> {
    match call.data_type(0) {
        DataType::AggregateFunction(state) => merge_of(state, call.context),
        _ => Err(call.illegal_type(0)),
    }
}

fn merge_of(state: &Arc<AggregateType>, context: &Context) -> Result<BoundAggregate> {
    let types = [DataType::AggregateFunction(Arc::clone(state))];
    aggregate::bind(&format!("{}Merge", state.name), &[], &types, context)
}

fn finalize(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let bound = merging(call)?;
    Resolved::new(bound.return_type.clone(), move |columns, num_rows| {
        of_each_row(&bound, &[columns[0].expand(num_rows)?], num_rows)
    })
}

fn initialize(call: &Call<'_>) -> Result<Resolved> {
    if call.args.len() < 2 {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Give function initializeAggregation a name and at least one value",
        ));
    }
    let types: Vec<DataType> = call.args[1..].iter().map(|a| a.data_type.clone()).collect();
    let bound = named_aggregate(call, &types)?;
    Resolved::new(bound.return_type.clone(), move |columns, num_rows| {
        let args = columns[1..].iter().map(|c| c.expand(num_rows));
        of_each_row(&bound, &args.collect::<Result<Vec<_>>>()?, num_rows)
    })
}

fn running(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let bound = merging(call)?;
    Resolved::new(bound.return_type.clone(), move |columns, num_rows| {
        let packed = columns[0].expand(num_rows)?;
        let starts = match columns.get(1) {
            Some(grouping) if num_rows > 0 => {
                let runs = arrow::compute::partition(&[grouping.expand(num_rows)?]);
                let runs = runs.map_err(|e| Error::bug(e.to_string()))?;
                runs.ranges().iter().map(|r| r.start).collect()
            }
            _ => vec![0],
        };
        let mut states = (bound.factory)();
        let mut results: Vec<ArrayRef> = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            if starts.binary_search(&row).is_ok() {
                states = (bound.factory)();
            }
            let groups = Groups {
                ids: None,
                num_groups: 1,
                num_rows: 1,
            };
            states.update(&[packed.slice(row, 1)], groups)?;
            results.push(states.finish(0..1)?);
        }
        if results.is_empty() {
            return states.finish(0..0);
        }
        let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
        concat(&results).map_err(|e| Error::bug(e.to_string()))
    })
}
