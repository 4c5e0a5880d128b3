//! Runs ARRAY JOIN: a row for each element of the lists.
//!
//! Rows with long lists come out piece by piece, so that a batch stays small however many there are. The
//! columns of the lists themselves come out empty: nobody above reads them.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::ListSource;
use basalt_error::{Error, ErrorCode, Position, Result};

use super::array_join_lists::{Lists, empty_column};
use super::cells::most_cells;
use super::stream_exec::MAX_BATCH_ROWS;
use super::{Step, positions};

/// Cells of a piece at most: every row of it has a copy of the long lists and texts beside.
const MAX_COPIED_CELLS: usize = 1 << 18;

/// The step of ARRAY JOIN.
pub(super) struct ArrayJoinStep {
    schema: SchemaRef,
    lists: Vec<Lists>,
    left: bool,
    unaligned: bool,
    /// Where the lists stand in the query's text.
    place: Option<Position>,
    /// Rows of a piece at most.
    max_rows: usize,
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
        (input, schema): (&SchemaRef, SchemaRef),
        sources: &[ListSource],
        (left, unaligned): (bool, bool),
        max_rows: usize,
    ) -> Result<Self> {
        let mut lists = Vec::with_capacity(sources.len());
        for source in sources {
            lists.push(match source {
                ListSource::Column(name) => {
                    Lists::Column(positions(input, std::slice::from_ref(name))?[0])
                }
                ListSource::Constant(list) => Lists::Constant(list.array().as_list().clone()),
            });
        }
        Ok(Self {
            schema,
            lists,
            left,
            unaligned,
            place: None,
            max_rows: max_rows.clamp(1, MAX_BATCH_ROWS),
            pending: None,
        })
    }

    /// The step whose errors are at `place` of the query's text.
    pub(super) fn at(self, place: Option<Position>) -> Self {
        Self { place, ..self }
    }

    /// Length of each row's lists, of the longest if they need not agree.
    fn lengths(&self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let mut lengths: Option<Vec<usize>> = None;
        for lists in &self.lists {
            let list = lists.array(batch);
            let rows = 0..batch.num_rows();
            let of_list: Vec<usize> = rows.map(|i| value_length(list, lists.row(i))).collect();
            match &mut lengths {
                Some(longest) if self.unaligned => {
                    for (longest, length) in longest.iter_mut().zip(of_list) {
                        *longest = length.max(*longest);
                    }
                }
                Some(first) if *first != of_list => {
                    let error = Error::new(
                        ErrorCode::SIZES_OF_ARRAYS_DONT_MATCH,
                        "Use arrays of one length or SET enable_unaligned_array_join = 1: sizes of ARRAY-JOIN-ed arrays do not match",
                    );
                    return Err(match self.place {
                        Some(place) => error.at(place),
                        None => error,
                    });
                }
                _ => lengths = Some(of_list),
            }
        }
        Ok(lengths.unwrap_or_default())
    }

    fn is_list(&self, column: usize) -> bool {
        let of_list = |lists: &Lists| matches!(lists, Lists::Column(c) if *c == column);
        self.lists.iter().any(of_list)
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
        for (i, column) in pending.batch.columns().iter().enumerate() {
            columns.push(match self.is_list(i) {
                true => empty_column(column, rows.len()),
                false => take(column, &rows, None).map_err(|e| Error::bug(e.to_string()))?,
            });
        }
        for lists in &self.lists {
            columns.push(elements(lists, &pending.batch, &runs)?);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|e| Error::bug(e.to_string()))
    }

    /// Rows of a piece of this batch: fewer where each has a copy of a long list.
    fn piece_rows(&self, batch: &RecordBatch) -> usize {
        let columns = batch.columns().iter().enumerate();
        let copied = columns.filter(|(i, _)| !self.is_list(*i));
        let cells: usize = copied.map(|(_, column)| most_cells(column)).sum();
        (MAX_COPIED_CELLS / cells.max(1)).clamp(1, self.max_rows)
    }
}

/// Elements of a list; none for NULL.
fn value_length(list: &ListArray, row: usize) -> usize {
    if list.is_null(row) {
        return 0;
    }
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
        self.pending = Some(Pending {
            lengths,
            piece_rows: self.piece_rows(&batch),
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
fn elements(lists: &Lists, batch: &RecordBatch, runs: &[Run]) -> Result<ArrayRef> {
    let list = lists.array(batch);
    let start_of = |run: &Run| {
        let start = usize::try_from(list.value_offsets()[lists.row(run.row)]).unwrap_or(0);
        start + run.elements.start
    };
    let num_elements: usize = runs.iter().map(|run| run.elements.len()).sum();
    // Without NULLs between them, whose elements do not count, the lists lie one behind another.
    let is_row_by_row = matches!(lists, Lists::Column(_)) || runs.len() <= 1;
    let is_whole =
        |run: &Run| !run.is_missing && run.elements.end <= value_length(list, lists.row(run.row));
    let is_dense = is_row_by_row && list.null_count() == 0 && runs.iter().all(is_whole);
    if is_dense {
        let first = runs.first().map_or(0, start_of);
        return Ok(list.values().slice(first, num_elements));
    }
    let mut indices: Vec<Option<u32>> = Vec::with_capacity(num_elements);
    for run in runs {
        let length = value_length(list, lists.row(run.row));
        let start = start_of(run) - run.elements.start;
        let index = |i: usize| u32::try_from(start + i).ok().filter(|_| i < length);
        indices.extend(run.elements.clone().map(index));
        if run.is_missing {
            indices.push(None);
        }
    }
    let taken = take(list.values(), &UInt32Array::from(indices), None);
    taken.map_err(|e| Error::bug(e.to_string()))
}
