//! Tests of hypotheses about samples: a statistic and the probability of one as extreme.
//!
//! | module | owns |
//! |---|---|
//! | `distributions` | normal, Student's and Fisher's distribution |
//! | `means` | tests of means: Student, Welch, z, analysis of variance |
//! | `ranks` | tests by order: Mann-Whitney, Kolmogorov-Smirnov |

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, StructArray};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::{DataType, TupleType};

use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::{to_floats, wrong_array};
use crate::aggregate::{AggregateCall, AggregateFunction, BoundAggregate};

pub(crate) mod distributions;
mod means;
mod ranks;

/// The functions of this folder.
pub(super) const FUNCTIONS: [&[AggregateFunction]; 2] = [means::FUNCTIONS, ranks::FUNCTIONS];

/// Values of one group, row by row: the first argument and the second.
struct Sample<'a> {
    values: &'a [f64],
    second: &'a [f64],
}

impl Sample<'_> {
    /// The values whose index is 0, and the others.
    fn split(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (value, index) in self.values.iter().zip(self.second) {
            if *index == 0.0 { &mut x } else { &mut y }.push(*value);
        }
        (x, y)
    }
}

type Compute = dyn Fn(&Sample<'_>) -> Result<Vec<f64>> + Send + Sync;

/// A test over pairs of a value and the index of its sample.
struct Test {
    return_type: DataType,
    compute: Box<Compute>,
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test -> {}", self.return_type)
    }
}

/// Binds a test whose result has fields of these names.
fn bind(
    call: &AggregateCall<'_>,
    fields: &[&str],
    compute: impl Fn(&Sample<'_>) -> Result<Vec<f64>> + Send + Sync + 'static,
) -> Result<BoundAggregate> {
    call.expect_args(2..=2)?;
    for idx in 0..2 {
        call.expect_type(idx, |t| t.is_number())?;
    }
    let return_type = DataType::Tuple(Arc::new(TupleType {
        types: vec![DataType::Float64; fields.len()],
        names: fields.iter().map(|f| (*f).to_owned()).collect(),
    }));
    let test = Test {
        return_type: return_type.clone(),
        compute: Box::new(compute),
    };
    Ok(bind_collected(return_type, call.types, test))
}

impl RowsFunction for Test {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let second = to_floats(&rows.columns[1])?;
        let ArrowType::Struct(fields) = self.return_type.physical() else {
            return Err(wrong_array(&rows.columns[0]));
        };
        let mut columns = vec![Vec::with_capacity(range.len()); fields.len()];
        for group in range {
            let rows = rows.rows(group);
            let result = (self.compute)(&Sample {
                values: &values[rows.clone()],
                second: &second[rows],
            })?;
            for (column, value) in columns.iter_mut().zip(result) {
                column.push(value);
            }
        }
        let arrays = columns
            .into_iter()
            .map(|c| Arc::new(Float64Array::from(c)) as ArrayRef);
        Ok(Arc::new(
            StructArray::try_new(fields, arrays.collect(), None).map_err(bug)?,
        ))
    }
}

/// Number of values, their mean, and the sum of the squared deviations from it.
fn moments(values: &[f64]) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (n, mean, squares)
}
