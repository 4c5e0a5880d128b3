//! The result of a sort by counting: pieces of the columns that its tasks have written.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::compute::concat;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::error::Result;

use super::codes::Codes;
use super::emit::gather;
use super::rows::Rows;
use super::written::{WrittenColumn, width, written_column};

/// Rows that make a batch of their own; fewer are put together.
const MIN_BATCH_ROWS: usize = 8 << 10;

/// Where a column of the result comes from.
enum Source {
    /// The code, which is the key.
    Code,
    /// A column that is written, of this type.
    Written(DataType),
    /// The place of the row.
    Place,
}

/// Where the columns of the result come from.
pub(super) struct Shape(Vec<Source>);

impl Shape {
    /// The columns of `schema`; `is_readable` says which of them a code holds.
    pub(super) fn new(schema: &SchemaRef, is_readable: impl Fn(usize) -> bool) -> Self {
        let source = |(i, field): (usize, &Arc<arrow::datatypes::Field>)| {
            let data_type = field.data_type();
            if is_readable(i) {
                Source::Code
            } else if width(data_type).is_some() {
                Source::Written(data_type.clone())
            } else {
                Source::Place
            }
        };
        Self(schema.fields().iter().enumerate().map(source).collect())
    }

    /// Memory of a row.
    pub(super) fn row_bytes(&self) -> usize {
        let width = |source: &Source| match source {
            Source::Code | Source::Place => 0,
            Source::Written(data_type) => width(data_type).unwrap_or(0),
        };
        let place = if self.needs_places() { 8 } else { 0 };
        self.0.iter().map(width).sum::<usize>() + place
    }

    /// Whether a column is found by the places of rows.
    pub(super) fn needs_places(&self) -> bool {
        self.0.iter().any(|source| matches!(source, Source::Place))
    }

    /// Columns of `num_rows` rows to write.
    pub(super) fn written_columns(&self, num_rows: usize) -> Vec<Option<Box<dyn WrittenColumn>>> {
        let column = |source: &Source| match source {
            Source::Written(data_type) => written_column(data_type, num_rows),
            Source::Code | Source::Place => None,
        };
        self.0.iter().map(column).collect()
    }
}

/// What one task has written.
pub(super) struct Written {
    /// The columns that are written.
    pub(super) columns: Vec<Option<ArrayRef>>,
    /// The batch and the row of each row, if a column needs them.
    pub(super) places: Vec<(u32, u32)>,
    /// Where the rows of each code begin; one more than there are codes.
    pub(super) starts: Vec<usize>,
}

/// Rows of one task with one code.
#[derive(Clone)]
pub(super) struct Piece {
    task: usize,
    code: usize,
    rows: Range<usize>,
}

/// All rows of the result.
pub(super) struct CountedRows {
    pub(super) written: Vec<Written>,
    pub(super) rows: Arc<Rows>,
    pub(super) codes: Arc<Codes>,
    pub(super) schema: SchemaRef,
    /// For each column of the result, which key it is, if it is one.
    pub(super) key_columns: Vec<Option<usize>>,
}

impl CountedRows {
    /// The pieces of each batch of the result.
    pub(super) fn pieces(&self, max_rows: usize) -> Vec<Vec<Piece>> {
        let num_codes = self.codes.len();
        let mut batches = Vec::new();
        let mut batch: Vec<Piece> = Vec::new();
        let mut num_rows = 0;
        for code in 0..num_codes {
            for (task, written) in self.written.iter().enumerate() {
                let mut rows = written.starts[code]..written.starts[code + 1];
                while !rows.is_empty() {
                    if num_rows >= MIN_BATCH_ROWS.min(max_rows) {
                        batches.push(std::mem::take(&mut batch));
                        num_rows = 0;
                    }
                    let end = rows.end.min(rows.start + max_rows - num_rows);
                    num_rows += end - rows.start;
                    batch.push(Piece {
                        task,
                        code,
                        rows: rows.start..end,
                    });
                    rows.start = end;
                }
            }
        }
        batches.push(batch);
        batches.retain(|batch| !batch.is_empty());
        batches
    }

    /// The batch that these pieces make.
    pub(super) fn batch(&self, pieces: &[Piece]) -> Result<RecordBatch> {
        let num_rows = pieces.iter().map(|piece| piece.rows.len()).sum();
        let fields = self.schema.fields().iter().enumerate();
        let columns = fields.map(|(i, field)| {
            let key = self.key_columns[i].and_then(|key| self.codes.readable(key));
            match key {
                Some(place) => {
                    let codes = pieces.iter().map(|piece| (piece.code, piece.rows.len()));
                    self.codes.unpack(codes, place, field.data_type())
                }
                None => self.column(i, pieces),
            }
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }

    fn column(&self, i: usize, pieces: &[Piece]) -> Result<ArrayRef> {
        let written = |piece: &Piece| {
            let column = self.written[piece.task].columns[i].as_ref()?;
            Some(column.slice(piece.rows.start, piece.rows.len()))
        };
        let written: Vec<ArrayRef> = pieces.iter().filter_map(written).collect();
        match written.as_slice() {
            [] => {
                let columns = self.rows.batches.iter().map(|batch| batch.column(i));
                gather(columns, &self.places(pieces))
            }
            [one] => Ok(Arc::clone(one)),
            several => {
                let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
                Ok(concat(&several)?)
            }
        }
    }

    fn places(&self, pieces: &[Piece]) -> Vec<(usize, usize)> {
        let of_piece = |piece: &Piece| &self.written[piece.task].places[piece.rows.clone()];
        let places = pieces.iter().flat_map(of_piece);
        places
            .map(|(batch, row)| (*batch as usize, *row as usize))
            .collect()
    }
}
