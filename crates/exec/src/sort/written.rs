//! Columns that are written run by run, in the order of the result.
//!
//! A run is copied from a batch that is in the cache to memory that is written in one go. Values of a
//! fixed width are written themselves, of other columns the places of their rows.

use arrow::array::{Array, ArrayData, ArrayRef, make_array};
use arrow::buffer::{Buffer, MutableBuffer, NullBuffer};
use arrow::datatypes::DataType;
use basalt_kernels::counting::gather;
use datafusion::error::Result;

/// Rows that stand together in the result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<'a> {
    /// The rows, counted from [`Runs::first_row`].
    pub(super) rows: &'a [u16],
    /// Where in the column they go.
    pub(super) start: usize,
}

/// Runs of one batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Runs<'a> {
    /// The row of the batch from which rows are counted.
    pub(super) first_row: usize,
    pub(super) runs: &'a [Run<'a>],
}

/// A column that is being written.
pub(super) trait WrittenColumn: Send {
    /// Writes the values of `runs`, which are rows of `array`.
    fn write(&mut self, array: &dyn Array, runs: Runs<'_>);

    /// The column.
    fn finish(self: Box<Self>) -> Result<ArrayRef>;
}

/// A column of `len` rows to write; none if values of the type have no fixed width.
pub(super) fn written_column(data_type: &DataType, len: usize) -> Option<Box<dyn WrittenColumn>> {
    Some(match width(data_type)? {
        1 => Box::new(Fixed::<1>::new(data_type, len)),
        2 => Box::new(Fixed::<2>::new(data_type, len)),
        4 => Box::new(Fixed::<4>::new(data_type, len)),
        8 => Box::new(Fixed::<8>::new(data_type, len)),
        16 => Box::new(Fixed::<16>::new(data_type, len)),
        32 => Box::new(Fixed::<32>::new(data_type, len)),
        _ => return None,
    })
}

/// Bytes of a value, if all have the same and lie one after the other.
pub(super) fn width(data_type: &DataType) -> Option<usize> {
    let width = match data_type {
        DataType::FixedSizeBinary(size) => usize::try_from(*size).ok()?,
        other => other.primitive_width()?,
    };
    matches!(width, 1 | 2 | 4 | 8 | 16 | 32).then_some(width)
}

/// Values of `WIDTH` bytes.
struct Fixed<const WIDTH: usize> {
    data_type: DataType,
    values: MutableBuffer,
    /// Which rows have a value, if some of those written so far have none.
    valid: Option<Vec<bool>>,
    len: usize,
}

impl<const WIDTH: usize> Fixed<WIDTH> {
    fn new(data_type: &DataType, len: usize) -> Self {
        Self {
            data_type: data_type.clone(),
            // Zeroed by the system, page by page when it is written.
            values: MutableBuffer::from_len_zeroed(WIDTH * len),
            valid: None,
            len,
        }
    }
}

impl<const WIDTH: usize> WrittenColumn for Fixed<WIDTH> {
    fn write(&mut self, array: &dyn Array, runs: Runs<'_>) {
        let data = array.to_data();
        let Some(buffer) = data.buffers().first() else {
            return;
        };
        let first = (data.offset() + runs.first_row) * WIDTH;
        let (values, _) = buffer.as_slice()[first..].as_chunks::<WIDTH>();
        let (out, _) = self.values.as_slice_mut().as_chunks_mut::<WIDTH>();
        for run in runs.runs {
            let out = &mut out[run.start..run.start + run.rows.len()];
            gather(values, run.rows, out);
        }
        let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
            return;
        };
        let valid = self.valid.get_or_insert_with(|| vec![true; self.len]);
        for run in runs.runs {
            let valid = valid[run.start..].iter_mut().zip(run.rows);
            valid.for_each(|(valid, row)| {
                *valid = nulls.is_valid(runs.first_row + usize::from(*row));
            });
        }
    }

    fn finish(self: Box<Self>) -> Result<ArrayRef> {
        let data = ArrayData::builder(self.data_type)
            .len(self.len)
            .add_buffer(Buffer::from(self.values))
            .nulls(self.valid.map(NullBuffer::from))
            .build()?;
        Ok(make_array(data))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, FixedSizeBinaryArray, Int16Array};
    use arrow::datatypes::DataType;

    use super::{Run, Runs, written_column};

    #[test]
    fn runs_of_slices_come_to_their_places() {
        let array: ArrayRef = Arc::new(Int16Array::from(vec![None, Some(1), None, Some(3)]));
        let mut column = written_column(&DataType::Int16, 3).unwrap();
        let run = |rows, start| Run { rows, start };
        let runs = [run(&[1, 0], 1)];
        column.write(
            &array.slice(1, 3),
            Runs {
                first_row: 1,
                runs: &runs,
            },
        );
        let runs = [run(&[0], 0)];
        column.write(
            &array.slice(1, 1),
            Runs {
                first_row: 0,
                runs: &runs,
            },
        );
        let expected = Int16Array::from(vec![Some(1), Some(3), None]);
        assert_eq!(column.finish().unwrap().as_ref(), &expected);
    }

    #[test]
    fn other_types_are_not_written() {
        assert!(written_column(&DataType::Utf8, 1).is_none());
        assert!(written_column(&DataType::FixedSizeBinary(3), 1).is_none());
        let sixteen = FixedSizeBinaryArray::try_from_iter([[7u8; 16]].iter()).unwrap();
        let mut column = written_column(&DataType::FixedSizeBinary(16), 1).unwrap();
        let runs = [Run {
            rows: &[0],
            start: 0,
        }];
        column.write(
            &sixteen,
            Runs {
                first_row: 0,
                runs: &runs,
            },
        );
        assert_eq!(column.finish().unwrap().as_ref(), &sixteen);
    }
}
