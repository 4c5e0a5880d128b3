//! Runs ARRAY JOIN: a row for each element of the lists.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, ErrorCode, Result};

use super::Step;
use super::stream_exec::positions;

/// The step of ARRAY JOIN.
pub(super) struct ArrayJoinStep {
    schema: SchemaRef,
    lists: Vec<usize>,
    left: bool,
}

impl ArrayJoinStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        schema: SchemaRef,
        columns: &[String],
        left: bool,
    ) -> Result<Self> {
        Ok(Self {
            schema,
            lists: positions(input, columns)?,
            left,
        })
    }

    /// Length of each row's lists, which must agree.
    fn lengths(&self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let mut lengths: Option<Vec<usize>> = None;
        for list in &self.lists {
            let list = batch.column(*list).as_list::<i32>();
            let of_list: Vec<usize> = (0..list.len())
                .map(|i| {
                    if list.is_null(i) {
                        0
                    } else {
                        value_length(list, i)
                    }
                })
                .collect();
            match &lengths {
                Some(first) if *first != of_list => {
                    return Err(Error::new(
                        ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                        "Sizes of ARRAY-JOIN-ed arrays do not match",
                    ));
                }
                _ => lengths = Some(of_list),
            }
        }
        Ok(lengths.unwrap_or_default())
    }
}

fn value_length(list: &arrow::array::ListArray, row: usize) -> usize {
    usize::try_from(list.value_length(row)).unwrap_or(0)
}

impl Step for ArrayJoinStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let lengths = self.lengths(&batch)?;
        let mut rows: Vec<u32> = Vec::new();
        for (row, length) in lengths.iter().enumerate() {
            let copies = if self.left { (*length).max(1) } else { *length };
            let row = u32::try_from(row).map_err(|_| Error::bug("batch of 2^32 rows"))?;
            rows.extend(std::iter::repeat_n(row, copies));
        }
        let rows = UInt32Array::from(rows);
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for column in batch.columns() {
            columns.push(take(column, &rows, None).map_err(|e| Error::bug(e.to_string()))?);
        }
        for list in &self.lists {
            columns.push(elements(batch.column(*list), self.left)?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

/// The elements of all rows; with `left`, one NULL for each empty list.
fn elements(array: &ArrayRef, left: bool) -> Result<ArrayRef> {
    let list = array.as_list::<i32>();
    let is_dense = list.null_count() == 0 && !left;
    let (first, end) = (list.value_offsets()[0], list.value_offsets()[list.len()]);
    let (first, end) = (
        usize::try_from(first).unwrap_or(0),
        usize::try_from(end).unwrap_or(0),
    );
    if is_dense {
        return Ok(list.values().slice(first, end - first));
    }
    let mut indices: Vec<Option<u32>> = Vec::new();
    for row in 0..list.len() {
        let length = if list.is_null(row) {
            0
        } else {
            value_length(list, row)
        };
        let start = usize::try_from(list.value_offsets()[row]).unwrap_or(0);
        indices.extend((start..start + length).map(|i| u32::try_from(i).ok()));
        if length == 0 && left {
            indices.push(None);
        }
    }
    let taken = take(list.values(), &UInt32Array::from(indices), None);
    taken.map_err(|e| Error::bug(e.to_string()))
}
