//! Builds columns of strings: fresh bytes in one shared buffer, or views into an input's buffers.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewArray, FixedSizeBinaryArray, ListArray, make_view};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::Field;
use basalt_error::{Error, ErrorCode, Result};

use crate::window::window;
use crate::{Column, interrupt, memory};

/// Longest string that lies inside its view.
const INLINE_LEN: usize = 12;

/// A block is sealed at this size, so that offsets stay far from their 32 bits.
const BLOCK_BYTES: usize = 1 << 30;

/// Bytes that are written between two looks whether the query may go on, at most; fewer where all that
/// it may hold is little.
const CHECKED_BYTES: usize = 1 << 24;

/// The part of a query's memory that is written between two looks.
const CHECKED_PART: usize = 16;

fn checked_bytes() -> usize {
    (memory::limit() / CHECKED_PART).min(CHECKED_BYTES)
}

/// Writes strings one after the other; all of a batch share one growing buffer.
#[derive(Debug, Default)]
pub struct StringWriter {
    views: Vec<u128>,
    sealed: Vec<Buffer>,
    bytes: Vec<u8>,
    /// Where the current row begins in `bytes`.
    start: usize,
    /// Bytes that are sealed.
    sealed_bytes: usize,
    /// Length of `bytes` from which on they may take too much, or too long.
    max_len: usize,
}

impl StringWriter {
    /// A writer that expects `num_rows` strings of `size_bytes` together.
    pub fn with_capacity(num_rows: usize, size_bytes: usize) -> Self {
        Self {
            views: Vec::with_capacity(num_rows),
            bytes: Vec::with_capacity(size_bytes.min(BLOCK_BYTES)),
            max_len: checked_bytes(),
            ..Self::default()
        }
    }

    /// The buffer to append the current row's bytes to; nothing before them may be changed.
    #[inline]
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// What was written of the current row.
    pub fn row_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..]
    }

    /// Ends the current row.
    ///
    /// # Errors
    /// `TOO_LARGE_STRING_SIZE` for a string that a view cannot hold, `MEMORY_LIMIT_EXCEEDED` if all of
    /// them take too much.
    #[inline]
    pub fn finish_row(&mut self) -> Result<()> {
        let value = &self.bytes[self.start..];
        if value.len() <= INLINE_LEN {
            self.views.push(make_view(value, 0, 0));
            self.bytes.truncate(self.start);
            return Ok(());
        }
        let (block, offset) = (self.sealed.len(), self.start);
        if self.bytes.len() > self.max_len {
            self.check()?;
        }
        let value = &self.bytes[self.start..];
        if self.bytes.len() > u32::MAX as usize / 2 {
            return Err(too_large(value.len()));
        }
        // Both fit: blocks are at least a gigabyte, the offset was checked above.
        self.views
            .push(make_view(value, block as u32, offset as u32));
        if self.bytes.len() >= BLOCK_BYTES {
            self.sealed_bytes += self.bytes.len();
            self.sealed
                .push(Buffer::from(std::mem::take(&mut self.bytes)));
            self.max_len = self.next_len();
        }
        self.start = self.bytes.len();
        Ok(())
    }

    /// Checks whether what was written may be so much, and whether the query may go on.
    #[cold]
    fn check(&mut self) -> Result<()> {
        memory::check(self.sealed_bytes + self.bytes.len())?;
        interrupt::check()?;
        self.max_len = self.next_len();
        Ok(())
    }

    /// Length of `bytes` at which to check again.
    fn next_len(&self) -> usize {
        let limit = memory::limit().saturating_sub(self.sealed_bytes);
        limit.min(self.bytes.len() + checked_bytes())
    }

    /// Writes a whole row.
    ///
    /// # Errors
    /// As [`StringWriter::finish_row`].
    #[inline]
    pub fn push(&mut self, value: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(value);
        self.finish_row()
    }

    /// Number of finished rows.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether no row is finished.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The column of all finished rows.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if Arrow finds the views broken.
    pub fn finish(mut self) -> Result<ArrayRef> {
        if !self.bytes.is_empty() {
            self.sealed.push(Buffer::from(self.bytes));
        }
        view_array(self.views, self.sealed)
    }

    /// The finished rows as lists that end at `offsets`.
    ///
    /// # Errors
    /// As [`StringWriter::finish`] and [`list_of`].
    pub fn finish_lists(self, offsets: Vec<i32>) -> Result<ArrayRef> {
        list_of(self.finish()?, offsets)
    }
}

/// Cuts pieces out of a column's strings without copying them.
#[derive(Debug)]
pub struct Slicer<'a> {
    source: Source<'a>,
    mask: usize,
    views: Vec<u128>,
}

#[derive(Debug)]
enum Source<'a> {
    View(&'a BinaryViewArray),
    Fixed(&'a FixedSizeBinaryArray),
}

impl<'a> Slicer<'a> {
    /// Cuts from `column`, about `capacity` pieces.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the column is not binary.
    pub fn new(column: &'a Column, capacity: usize) -> Result<Self> {
        column.strings()?;
        let array = column.array.as_any();
        let source = if let Some(view) = array.downcast_ref::<BinaryViewArray>() {
            Source::View(view)
        } else {
            let fixed = array.downcast_ref::<FixedSizeBinaryArray>();
            Source::Fixed(fixed.ok_or_else(|| Error::bug("expected a binary array"))?)
        };
        Ok(Self {
            source,
            mask: if column.is_const { 0 } else { usize::MAX },
            views: Vec::with_capacity(capacity),
        })
    }

    /// The whole string of a row.
    #[inline]
    pub fn value(&self, row: usize) -> &'a [u8] {
        match self.source {
            Source::View(array) => array.value(row & self.mask),
            Source::Fixed(array) => array.value(row & self.mask),
        }
    }

    /// Adds the piece `range` of a row's string; a range beyond it is cut to it.
    #[inline]
    pub fn push(&mut self, row: usize, range: Range<usize>) {
        self.push_of(row, self.value(row), range);
    }

    /// The same for those who know the row's `value`.
    #[inline]
    pub fn push_of(&mut self, row: usize, value: &'a [u8], range: Range<usize>) {
        let end = range.end.min(value.len());
        let start = range.start.min(end);
        let piece = &value[start..end];
        if piece.len() <= INLINE_LEN {
            self.views.push(short_view(value, start..end));
            return;
        }
        let row = row & self.mask;
        let (block, offset) = match self.source {
            Source::View(array) => {
                let view = array.views()[row];
                ((view >> 64) as u32, (view >> 96) as u32)
            }
            Source::Fixed(array) => (0, (row * array.value_length() as usize) as u32),
        };
        // The piece lies inside a value whose own offsets fit 32 bits.
        self.views
            .push(make_view(piece, block, offset + start as u32));
    }

    /// Number of pieces so far.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether there is no piece yet.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// The column of all pieces.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if Arrow finds the views broken.
    pub fn finish(self) -> Result<ArrayRef> {
        let buffers = match self.source {
            Source::View(array) => array.data_buffers().to_vec(),
            Source::Fixed(array) => vec![array.clone().into_parts().1],
        };
        view_array(self.views, buffers)
    }

    /// The pieces as lists that end at `offsets`.
    ///
    /// # Errors
    /// As [`Slicer::finish`] and [`list_of`].
    pub fn finish_lists(self, offsets: Vec<i32>) -> Result<ArrayRef> {
        list_of(self.finish()?, offsets)
    }
}

/// Lists over `values`; `offsets` begins with 0 and has one more entry for each list.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit together.
pub fn list_of(values: ArrayRef, offsets: Vec<i32>) -> Result<ArrayRef> {
    let field = Field::new("item", values.data_type().clone(), false);
    list_with_field(values, offsets, field)
}

/// As [`list_of`], for elements of a type that has its own nullability.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit together.
pub fn list_with_field(values: ArrayRef, offsets: Vec<i32>, field: Field) -> Result<ArrayRef> {
    if offsets.windows(2).any(|w| w[0] > w[1]) {
        return Err(too_many_elements());
    }
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let list = ListArray::try_new(Arc::new(field), offsets, values, None);
    Ok(Arc::new(list.map_err(|e| Error::bug(e.to_string()))?))
}

/// The offset after `len` elements.
///
/// # Errors
/// `TOO_LARGE_ARRAY_SIZE` beyond 32 bits.
pub fn offset_of(len: usize) -> Result<i32> {
    i32::try_from(len).map_err(|_| too_many_elements())
}

/// The view of a short piece of a value, without a copy of so many bytes as nobody knows before.
#[inline]
fn short_view(value: &[u8], piece: Range<usize>) -> u128 {
    let mask = (1 << (8 * piece.len())) - 1;
    (window(value, piece.start) & mask) << 32 | piece.len() as u128
}

fn view_array(views: Vec<u128>, buffers: Vec<Buffer>) -> Result<ArrayRef> {
    let array = BinaryViewArray::try_new(ScalarBuffer::from(views), buffers, None);
    Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
}

fn too_large(len: usize) -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_STRING_SIZE,
        format!("Too large string: {len} bytes"),
    )
}

fn too_many_elements() -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_ARRAY_SIZE,
        "Arrays of one batch have more than 2147483647 elements together; use smaller batches",
    )
}
