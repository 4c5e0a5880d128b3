//! `gini`: how unequal values are.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::Result;
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
        call.expect_type(0, |t| t.is_integer() || t.is_float())?;
        Ok(bind_collected(DataType::Float64, call.types, Gini))
    },
    ..AggregateFunction::BASE
}];

#[derive(Debug)]
struct Gini;

impl RowsFunction for Gini {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let results = range.map(|group| {
            let mut sorted = values[rows.rows(group)].to_vec();
            sorted.sort_by(f64::total_cmp);
            let n = sorted.len() as f64;
            let weighted = sorted.iter().enumerate().map(|(i, v)| (i as f64 + 1.0) * v);
            let (weighted, sum): (f64, f64) = (weighted.sum(), sorted.iter().sum());
            (2.0 * weighted - (n + 1.0) * sum) / (n * sum)
        });
        Ok(Arc::new(Float64Array::from_iter_values(results)))
    }
}
