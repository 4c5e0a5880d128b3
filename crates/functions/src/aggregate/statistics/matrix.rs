//! Matrices of correlations and covariances: `corrMatrix`, `covarPopMatrix`, `covarSampMatrix`.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::bivariate::{Sums, correlation, covariance};
use super::moments::Moments;
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::{Sealed, list_of};
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

const fn entry(
    name: &'static str,
    description: &'static str,
    resolve: fn(&AggregateCall<'_>) -> Result<BoundAggregate>,
) -> AggregateFunction {
    AggregateFunction {
        name,
        syntax: "(x, ...)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The functions of this file.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    entry(
        "corrMatrix",
        "Pearson's correlation coefficients of all pairs of arguments.",
        |call| resolve(call, correlation),
    ),
    entry(
        "covarPopMatrix",
        "Population covariances of all pairs of arguments.",
        |call| resolve(call, |m| covariance(m, m[0])),
    ),
    entry(
        "covarSampMatrix",
        "Sample covariances of all pairs of arguments.",
        |call| resolve(call, |m| covariance(m, m[0] - 1.0)),
    ),
];

fn resolve(call: &AggregateCall<'_>, of_pair: fn(&[f64; 6]) -> f64) -> Result<BoundAggregate> {
    call.expect_args(1..=usize::MAX)?;
    for idx in 0..call.types.len() {
        call.expect_type(idx, |t| t.is_integer() || t.is_float())?;
    }
    let return_type = DataType::array(DataType::array(DataType::Float64));
    Ok(bind_collected(return_type, call.types, Matrix { of_pair }))
}

#[derive(Debug)]
struct Matrix {
    of_pair: fn(&[f64; 6]) -> f64,
}

impl RowsFunction for Matrix {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let columns = rows.columns.iter().map(to_floats);
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let size = columns.len();
        let mut cells = Vec::with_capacity(range.len() * size * size);
        for group in range.clone() {
            for x in &columns {
                for y in &columns {
                    let mut sums = [0.0; 6];
                    for row in rows.rows(group) {
                        Sums::add(&mut sums, x[row], y[row]);
                    }
                    cells.push((self.of_pair)(&sums));
                }
            }
        }
        let ends =
            |step: usize, count: usize| -> Vec<usize> { (0..=count).map(|i| i * step).collect() };
        let cells: ArrayRef = Arc::new(Float64Array::from(cells));
        let rows = list_of(
            &cells,
            &ends(size, range.len() * size),
            item_field(&DataType::Float64),
        )?;
        let row_type = DataType::array(DataType::Float64);
        list_of(&rows, &ends(size, range.len()), item_field(&row_type))
    }
}
