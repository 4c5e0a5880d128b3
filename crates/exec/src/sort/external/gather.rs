//! Collects rows of several blocks in their new order, and makes batches of them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, MutableArrayData, RecordBatch, RecordBatchOptions, make_array,
};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use datafusion::error::Result;

/// Rows that a piece has on average, from which on it is copied as a whole: what a piece costs before its
/// first row is worth about as many rows that are copied one by one.
const MIN_COPIED_ROWS: usize = 12;

/// Rows of one block that follow each other in the result.
#[derive(Clone, Copy, Debug)]
struct Piece {
    block: usize,
    row: usize,
    len: usize,
}

/// Rows of the next batch.
pub(super) struct Gathered {
    schema: SchemaRef,
    blocks: Vec<RecordBatch>,
    pieces: Vec<Piece>,
    num_rows: usize,
    max_rows: usize,
    max_blocks: usize,
}

impl Gathered {
    /// No rows yet; a batch has at most `max_rows` of `max_blocks`.
    pub(super) fn new(schema: SchemaRef, max_rows: usize, max_blocks: usize) -> Self {
        Self {
            schema,
            blocks: Vec::new(),
            pieces: Vec::new(),
            num_rows: 0,
            max_rows: max_rows.max(1),
            max_blocks,
        }
    }

    /// Whether a batch should be made before more rows come.
    pub(super) fn is_full(&self) -> bool {
        self.num_rows >= self.max_rows || self.blocks.len() > self.max_blocks
    }

    /// How many rows there is room for.
    pub(super) fn room(&self) -> usize {
        self.max_rows - self.num_rows
    }

    /// Takes a block; gives its number.
    pub(super) fn add_block(&mut self, block: RecordBatch) -> usize {
        self.blocks.push(block);
        self.blocks.len() - 1
    }

    /// Appends `len` rows of a block from `row` on.
    #[inline(always)]
    pub(super) fn push(&mut self, block: usize, row: usize, len: usize) {
        self.num_rows += len;
        if let Some(last) = self.pieces.last_mut()
            && last.block == block
            && last.row + last.len == row
        {
            last.len += len;
            return;
        }
        self.pieces.push(Piece { block, row, len });
    }

    /// The rows so far; none if there are none.
    pub(super) fn take(&mut self) -> Result<Option<RecordBatch>> {
        let batch = match self.pieces.as_slice() {
            [] => return Ok(None),
            [one] => self.blocks[one.block].slice(one.row, one.len),
            _ => self.batch()?,
        };
        self.pieces.clear();
        self.num_rows = 0;
        Ok(Some(batch))
    }

    /// Lets go of blocks that are not `used`, whose numbers become new ones.
    pub(super) fn keep<'a>(&mut self, used: impl Iterator<Item = &'a mut usize>) {
        let blocks = std::mem::take(&mut self.blocks);
        for number in used {
            *number = self.add_block(blocks[*number].clone());
        }
    }

    fn batch(&self) -> Result<RecordBatch> {
        let is_copied = self.num_rows >= MIN_COPIED_ROWS * self.pieces.len();
        let indices = if is_copied {
            Vec::new()
        } else {
            self.indices()
        };
        let column = |i: usize| {
            let blocks = self.blocks.iter().map(|block| block.column(i));
            if is_copied {
                return self.copied(blocks);
            }
            let blocks: Vec<&dyn Array> = blocks.map(AsRef::as_ref).collect();
            Ok(interleave(&blocks, &indices)?)
        };
        let columns = (0..self.schema.fields().len()).map(column);
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.num_rows));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }

    /// The block of each row, and its place there.
    fn indices(&self) -> Vec<(usize, usize)> {
        let mut indices = Vec::with_capacity(self.num_rows);
        for piece in &self.pieces {
            let rows = piece.row..piece.row + piece.len;
            indices.extend(rows.map(|row| (piece.block, row)));
        }
        indices
    }

    fn copied<'a>(&self, blocks: impl Iterator<Item = &'a ArrayRef>) -> Result<ArrayRef> {
        let blocks: Vec<_> = blocks.map(Array::to_data).collect();
        let mut copied = MutableArrayData::new(blocks.iter().collect(), false, self.num_rows);
        for piece in &self.pieces {
            copied.try_extend(piece.block, piece.row, piece.row + piece.len)?;
        }
        Ok(make_array(copied.freeze()))
    }
}
