//! Runs ARRAY JOIN: a row for each element of the lists.
//!
//! Rows with long lists come out piece by piece, so that a batch stays small however many there are.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, ErrorCode, Result};

use super::stream_exec::MAX_BATCH_ROWS;
use super::{Step, positions};

/// Elements of lists in a piece at most: every row of it has a copy of its lists.
const MAX_COPIED_ELEMENTS: usize = 1 << 22;

/// The step of ARRAY JOIN.
pub(super) struct ArrayJoinStep {
    schema: SchemaRef,
    lists: Vec<usize>,
    left: bool,
    pending: Option<Pending>,
}

/// A batch some of whose rows have not come out yet.
struct Pending {
    batch: RecordBatch,
    /// Length of each row's lists.
    lengths: Vec<usize>,
    /// Rows of a piece.
    piece_rows: usize,
    /// The next row, and its elements that have come out.
    row: usize,
    element: usize,
}

/// Elements of one row that come out together; one NULL stands for an empty list.
struct Run {
    row: usize,
    elements: Range<usize>,
    is_missing: bool,
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
            pending: None,
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

    /// The next rows of a batch.
    fn piece(&self, pending: &mut Pending) -> Result<RecordBatch> {
        let runs = pending.next_runs(self.left);
        let mut rows: Vec<u32> = Vec::new();
        for run in &runs {
            let row = u32::try_from(run.row).map_err(|_| Error::bug("batch of 2^32 rows"))?;
            let copies = run.elements.len() + usize::from(run.is_missing);
            rows.extend(std::iter::repeat_n(row, copies));
        }
        let rows = UInt32Array::from(rows);
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        for column in pending.batch.columns() {
            columns.push(take(column, &rows, None).map_err(|e| Error::bug(e.to_string()))?);
        }
        for list in &self.lists {
            let list = pending.batch.column(*list).as_list::<i32>();
            columns.push(elements(list, &runs)?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

fn value_length(list: &ListArray, row: usize) -> usize {
    usize::try_from(list.value_length(row)).unwrap_or(0)
}

impl Pending {
    /// Elements of as many rows as make a batch.
    fn next_runs(&mut self, left: bool) -> Vec<Run> {
        let (mut runs, mut num_rows) = (Vec::new(), 0);
        while num_rows < self.piece_rows && self.row < self.lengths.len() {
            let length = self.lengths[self.row];
            let end = length.min(self.element + self.piece_rows - num_rows);
            let is_missing = left && length == 0;
            if is_missing || end > self.element {
                runs.push(Run {
                    row: self.row,
                    elements: self.element..end,
                    is_missing,
                });
            }
            num_rows += end - self.element + usize::from(is_missing);
            self.element = end;
            if end == length {
                (self.row, self.element) = (self.row + 1, 0);
            }
        }
        runs
    }

    fn is_done(&self) -> bool {
        self.row == self.lengths.len()
    }
}

impl Step for ArrayJoinStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let lengths = self.lengths(&batch)?;
        let longest = lengths.iter().max().map_or(1, |longest| (*longest).max(1));
        self.pending = Some(Pending {
            lengths,
            piece_rows: (MAX_COPIED_ELEMENTS / longest).clamp(1, MAX_BATCH_ROWS),
            batch,
            row: 0,
            element: 0,
        });
        let first = self.ready()?;
        Ok(first.unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.schema))))
    }

    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        let Some(mut pending) = self.pending.take() else {
            return Ok(None);
        };
        let piece = self.piece(&mut pending)?;
        if !pending.is_done() {
            self.pending = Some(pending);
        }
        Ok(Some(piece))
    }
}

/// The elements of these runs.
fn elements(list: &ListArray, runs: &[Run]) -> Result<ArrayRef> {
    let start_of = |run: &Run| {
        let start = usize::try_from(list.value_offsets()[run.row]).unwrap_or(0);
        start + run.elements.start
    };
    let num_elements: usize = runs.iter().map(|run| run.elements.len()).sum();
    // Without NULLs between them, whose elements do not count, the lists lie one behind another.
    let is_dense = list.null_count() == 0 && runs.iter().all(|run| !run.is_missing);
    if is_dense {
        let first = runs.first().map_or(0, start_of);
        return Ok(list.values().slice(first, num_elements));
    }
    let mut indices: Vec<Option<u32>> = Vec::with_capacity(num_elements);
    for run in runs {
        let start = start_of(run);
        let range = start..start + run.elements.len();
        indices.extend(range.map(|i| u32::try_from(i).ok()));
        if run.is_missing {
            indices.push(None);
        }
    }
    let taken = take(list.values(), &UInt32Array::from(indices), None);
    taken.map_err(|e| Error::bug(e.to_string()))
}
