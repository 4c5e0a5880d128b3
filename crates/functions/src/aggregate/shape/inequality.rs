//! `gini`: how unequal values are.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateFunction, BoundAggregate};

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[AggregateFunction {
    name: "gini",
    syntax: "gini(x)",
    description: "Gini's coefficient: 0 if all values are equal, near 1 if one has everything.",
    resolve: |call| -> Result<BoundAggregate> {
        call.expect_args(1..=1)?;
        call.expect_type(0, DataType::is_number)?;
        Ok(bind_collected(DataType::Float64, call.types, Gini))
    },
    ..AggregateFunction::BASE
}];

#[derive(Debug)]
struct Gini;

impl RowsFunction for Gini {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let results = range.map(|group| coefficient(&values[rows.rows(group)]));
        let results = results.collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Float64Array::from(results)))
    }
}

/// The coefficient of what is no NaN; one value alone has none.
fn coefficient(values: &[f64]) -> Result<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    if sorted.iter().any(|v| *v < 0.0 || v.is_infinite()) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Aggregate function gini takes finite values that are not negative",
        ));
    }
    if sorted.len() < 2 {
        return Ok(f64::NAN);
    }
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let weight = |i: usize| 2.0 * (i as f64 + 1.0) - n - 1.0;
    let weighted = sorted.iter().enumerate().map(|(i, v)| weight(i) * v);
    let (weighted, sum): (f64, f64) = (weighted.sum(), sorted.iter().sum());
    Ok(weighted / (n * sum))
}
