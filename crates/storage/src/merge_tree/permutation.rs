//! Takes the rows of columns in another order.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, ArrayData, ArrayRef, UInt32Array, make_array};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::ArrowNativeType;
use basalt_error::{Error, Result};
use basalt_kernels::prefetch::prefetch;

/// Values that are copied at once: most runs are shorter.
const STRIDE: usize = 8;

/// Runs whose values are asked for ahead: each lies somewhere else.
const AHEAD: usize = 8;

/// Which rows stand where.
#[derive(Debug)]
pub(super) enum Permutation {
    /// Rows stay where they are.
    Identity,
    /// The rows in their order.
    Rows(UInt32Array),
    /// Runs of rows in their order, whose rows stay together.
    Runs(Runs),
}

/// Runs of rows in some order.
#[derive(Debug)]
pub(super) struct Runs {
    runs: Vec<Range<u32>>,
    num_rows: usize,
    /// The rows one by one, when somebody needs them so.
    rows: OnceLock<UInt32Array>,
}

impl Runs {
    pub(super) fn new(runs: Vec<Range<u32>>) -> Self {
        let num_rows = runs.iter().map(|run| run.len()).sum();
        Self {
            runs,
            num_rows,
            rows: OnceLock::new(),
        }
    }

    fn rows(&self) -> &UInt32Array {
        self.rows.get_or_init(|| {
            let mut rows = Vec::with_capacity(self.num_rows + STRIDE);
            for run in &self.runs {
                let len = rows.len() + run.len();
                // By whole strides, of which the next run overwrites what is too much.
                let stride: [u32; STRIDE] = std::array::from_fn(|i| run.start + i as u32);
                rows.extend_from_slice(&stride);
                if len > rows.len() {
                    rows.extend(run.start + STRIDE as u32..run.end);
                }
                rows.truncate(len);
            }
            UInt32Array::from(rows)
        })
    }

    /// The values of all runs.
    fn copied<N: ArrowNativeType>(&self, values: &[N]) -> Buffer {
        let mut copied: Vec<N> = Vec::with_capacity(self.num_rows + STRIDE);
        for (at, run) in self.runs.iter().enumerate() {
            if let Some(next) = self.runs.get(at + AHEAD) {
                prefetch(values, next.start as usize);
            }
            let rows = run.start as usize..run.end as usize;
            let stride = values[rows.start..].first_chunk::<STRIDE>();
            match stride.filter(|_| rows.len() <= STRIDE) {
                Some(stride) => {
                    let len = copied.len() + rows.len();
                    copied.extend_from_slice(stride);
                    copied.truncate(len);
                }
                None => copied.extend_from_slice(&values[rows]),
            }
        }
        Buffer::from_vec(copied)
    }
}

impl Permutation {
    /// The rows in their order; none if they stay where they are.
    pub(super) fn rows(&self) -> Option<&UInt32Array> {
        match self {
            Self::Identity => None,
            Self::Rows(rows) => Some(rows),
            Self::Runs(runs) => Some(runs.rows()),
        }
    }

    /// A column with its rows in this order.
    pub(super) fn of(&self, column: &ArrayRef) -> Result<ArrayRef> {
        if let Self::Runs(runs) = self
            && let Some(taken) = values_of_runs(column, runs)
        {
            return Ok(taken);
        }
        match self.rows() {
            Some(rows) => take(column, rows, None).map_err(|e| Error::bug(e.to_string())),
            None => Ok(Arc::clone(column)),
        }
    }
}

/// The values of runs of rows; none if they are not all of one width, or some are NULL.
fn values_of_runs(column: &ArrayRef, runs: &Runs) -> Option<ArrayRef> {
    let width = column.data_type().primitive_width()?;
    if column.null_count() > 0 {
        return None;
    }
    let data = column.to_data();
    let values = match width {
        1 => runs.copied(&values_in::<u8>(&data)),
        2 => runs.copied(&values_in::<u16>(&data)),
        4 => runs.copied(&values_in::<u32>(&data)),
        8 => runs.copied(&values_in::<u64>(&data)),
        16 => runs.copied(&values_in::<i128>(&data)),
        _ => return None,
    };
    let taken = ArrayData::builder(column.data_type().clone())
        .len(runs.num_rows)
        .add_buffer(values)
        .build();
    taken.ok().map(make_array)
}

/// The values of a column, all of them of one width.
fn values_in<N: ArrowNativeType>(data: &ArrayData) -> ScalarBuffer<N> {
    ScalarBuffer::new(data.buffers()[0].clone(), data.offset(), data.len())
}

#[cfg(test)]
mod tests {
    use arrow::array::{
        BinaryViewArray, BooleanArray, Decimal128Array, Float64Array, Int8Array, Int64Array,
        UInt16Array,
    };

    use super::*;

    #[test]
    fn runs_are_taken_as_their_rows_are() {
        let starts = [0_u32, 1, 3, 11, 20, 40, 200, 999, 1000];
        let mut runs: Vec<Range<u32>> = starts.windows(2).map(|s| s[0]..s[1]).collect();
        runs.reverse();
        runs.swap(0, 3);
        let numbers = 0..1010_i64;
        let columns: [ArrayRef; 7] = [
            Arc::new(Int64Array::from_iter_values(numbers.clone())),
            Arc::new(Int8Array::from_iter_values(
                numbers.clone().map(|n| n as i8),
            )),
            Arc::new(UInt16Array::from_iter_values(
                numbers.clone().map(|n| n as u16),
            )),
            Arc::new(Decimal128Array::from_iter_values(
                numbers.clone().map(i128::from),
            )),
            Arc::new(
                numbers
                    .clone()
                    .map(|n| (n % 3 > 0).then_some(n as f64))
                    .collect::<Float64Array>(),
            ),
            Arc::new(
                numbers
                    .clone()
                    .map(|n| Some(n % 3 > 0))
                    .collect::<BooleanArray>(),
            ),
            Arc::new(BinaryViewArray::from_iter_values(
                numbers.map(|n| n.to_string()),
            )),
        ];
        let permutation = Permutation::Runs(Runs::new(runs.clone()));
        let rows = UInt32Array::from_iter_values(runs.into_iter().flatten());
        assert_eq!(permutation.rows(), Some(&rows));
        for column in columns {
            // The array has others before and behind.
            let column = column.slice(3, 1000);
            let expected = take(&column, &rows, None).unwrap();
            assert_eq!(&permutation.of(&column).unwrap(), &expected);
        }
    }
}
