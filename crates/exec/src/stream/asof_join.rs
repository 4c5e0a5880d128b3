//! Runs ASOF JOIN over the rows of both sides, sorted together: each row of the left takes the
//! last row of the right before it that has the same keys.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, new_null_array};
use arrow::compute::{interleave, take};
use arrow::datatypes::{SchemaRef, UInt8Type};
use arrow::row::OwnedRow;
use basalt_analyzer::plan::AsofColumns;
use basalt_error::{Error, Result};

use super::key_rows::KeyRows;
use super::{Step, bug};

/// The step of ASOF JOIN.
pub(super) struct AsofJoinStep {
    keys: KeyRows,
    time: usize,
    is_left: usize,
    /// Whether each column is one of the right side.
    of_right: Vec<bool>,
    keeps_unmatched: bool,
    /// The last row of the right side: its keys and its columns, each of one row.
    last: Option<(OwnedRow, Vec<ArrayRef>)>,
}

/// Where a row of the result takes the right side's columns from: an array of `interleave`, a row.
type Pick = (usize, usize);

const NOTHING: Pick = (0, 0);
const REMEMBERED: Pick = (1, 0);
const THIS_BATCH: usize = 2;

impl AsofJoinStep {
    pub(super) fn try_new(input: &SchemaRef, columns: &AsofColumns) -> Result<Self> {
        let one = |name: &String| input.index_of(name).map_err(bug);
        let of_right = |f: &Arc<arrow::datatypes::Field>| columns.right.contains(f.name());
        Ok(Self {
            time: one(&columns.time)?,
            is_left: one(&columns.is_left)?,
            of_right: input.fields().iter().map(of_right).collect(),
            keeps_unmatched: columns.keeps_unmatched,
            keys: KeyRows::try_new(input, &columns.keys)?,
            last: None,
        })
    }

    /// The rows of the left side, and for each what it takes from the right side.
    fn picks(&mut self, batch: &RecordBatch) -> Result<(Vec<u32>, Vec<Pick>)> {
        let keys = self.keys.arrays(batch);
        let rows = self.keys.convert(&keys)?;
        let is_left = batch.column(self.is_left).as_primitive::<UInt8Type>();
        let time = batch.column(self.time);
        let (mut lefts, mut picks) = (Vec::new(), Vec::new());
        let mut newest: Option<usize> = None;
        for i in 0..batch.num_rows() {
            let is_null = time.is_null(i) || keys.iter().any(|k| k.is_null(i));
            if is_left.value(i) == 0 {
                if !is_null {
                    newest = Some(i);
                }
                continue;
            }
            let pick = match (newest, &self.last) {
                _ if is_null => NOTHING,
                (Some(j), _) if rows.row(j) == rows.row(i) => (THIS_BATCH, j),
                (None, Some((key, _))) if key.row() == rows.row(i) => REMEMBERED,
                _ => NOTHING,
            };
            if pick != NOTHING || self.keeps_unmatched {
                lefts.push(u32::try_from(i).map_err(|_| Error::bug("batch of 2^32 rows"))?);
                picks.push(pick);
            }
        }
        if let Some(j) = newest {
            let index = UInt32Array::from(vec![j as u32]);
            let row = batch.columns().iter().map(|c| take(c, &index, None));
            let row = row.collect::<std::result::Result<_, _>>().map_err(bug)?;
            self.last = Some((rows.row(j).owned(), row));
        }
        Ok((lefts, picks))
    }
}

impl Step for AsofJoinStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let before = self.last.as_ref().map(|(_, columns)| columns.clone());
        let (lefts, picks) = self.picks(&batch)?;
        let lefts = UInt32Array::from(lefts);
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (i, column) in batch.columns().iter().enumerate() {
            if !self.of_right[i] {
                columns.push(take(column, &lefts, None).map_err(bug)?);
                continue;
            }
            let nothing = new_null_array(column.data_type(), 1);
            let remembered = match &before {
                Some(columns) => Arc::clone(&columns[i]),
                None => Arc::clone(&nothing),
            };
            let sources: [&dyn Array; 3] = [&nothing, &remembered, column];
            columns.push(interleave(&sources, &picks).map_err(bug)?);
        }
        RecordBatch::try_new(batch.schema(), columns).map_err(bug)
    }
}
