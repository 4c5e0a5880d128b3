//! Writes arrays behind a column's file, as they are in memory, extent by extent.

use std::io::{self, Write};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::Buffer;
use arrow::compute::concat_batches;
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

use super::extent::{Node, Piece};
use crate::MAX_BATCH_ROWS;
use crate::disk::NewFile;

/// Where buffers begin: what the widest instructions load at once.
const ALIGNMENT: u64 = 64;

/// Rows of an extent at most.
const MAX_EXTENT_ROWS: usize = 16 * MAX_BATCH_ROWS;

/// Bytes of an extent from which on no more rows are added: offsets have 31 bits.
const LARGE_BYTES: usize = 256 << 20;

/// A column's file that rows are appended to.
pub(super) struct ColumnAppender {
    file: Box<dyn NewFile>,
    offset: u64,
}

impl ColumnAppender {
    /// Goes on behind the first `offset` bytes.
    pub(super) fn new(file: Box<dyn NewFile>, offset: u64) -> Self {
        Self { file, offset }
    }

    /// Has the system keep what was written.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    /// Appends an array.
    ///
    /// # Errors
    /// What the system says; `LOGICAL_ERROR` for types that no table has.
    pub(super) fn append(&mut self, array: &ArrayRef) -> Result<Node> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let validity = nulls.map(|nulls| self.piece(nulls.inner().sliced().as_slice()));
        let validity = validity.transpose()?;
        let (buffers, children) = match array.data_type() {
            ArrowType::BinaryView => {
                // Without strings of rows that are not among these.
                let compact = array.as_binary_view().gc();
                let views = self.piece(compact.views().inner().as_slice())?;
                let texts = compact.data_buffers().iter();
                let texts = texts.map(|buffer| self.piece(buffer.as_slice()));
                let buffers = std::iter::once(Ok(views)).chain(texts);
                (buffers.collect::<Result<Vec<_>>>()?, Vec::new())
            }
            ArrowType::List(_) => {
                let lists = array.as_list::<i32>();
                let offsets = lists.value_offsets();
                let (first, last) = (offsets[0], offsets[lists.len()]);
                let from_zero: Vec<i32> = offsets.iter().map(|offset| offset - first).collect();
                let buffer = self.piece(Buffer::from_vec(from_zero).as_slice())?;
                let [first, last] = [first, last].map(|o| usize::try_from(o).unwrap_or(0));
                let elements = lists.values().slice(first, last - first);
                (vec![buffer], vec![self.append(&elements)?])
            }
            ArrowType::Struct(_) => {
                let fields = array.as_struct().columns().iter();
                let children = fields.map(|field| self.append(field));
                (Vec::new(), children.collect::<Result<_>>()?)
            }
            fixed => {
                let width = width(fixed)?;
                let array_data = array.to_data();
                let start = array_data.offset() * width;
                let values = &array_data.buffers()[0].as_slice()[start..][..array.len() * width];
                (vec![self.piece(values)?], Vec::new())
            }
        };
        Ok(Node {
            len: u32::try_from(array.len()).map_err(|_| Error::bug("too many rows at once"))?,
            validity,
            buffers,
            children,
        })
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<Piece> {
        let gap = self.offset.next_multiple_of(ALIGNMENT) - self.offset;
        let gap = usize::try_from(gap).unwrap_or(0);
        self.file.write_all(&[0; ALIGNMENT as usize][..gap])?;
        self.file.write_all(bytes)?;
        let offset = self.offset + gap as u64;
        self.offset = offset + bytes.len() as u64;
        Ok(Piece {
            offset,
            num_bytes: bytes.len() as u64,
            checksum: xxh3_64(bytes),
        })
    }
}

/// Bytes of a value.
fn width(data_type: &ArrowType) -> Result<usize> {
    match data_type {
        ArrowType::FixedSizeBinary(width) => Ok(usize::try_from(*width).unwrap_or(0)),
        other => other
            .primitive_width()
            .ok_or_else(|| Error::bug(format!("no column files of {other}"))),
    }
}

/// The rows as extents: small batches together, with arrays of their own.
pub(super) fn cut(batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
    let mut extents = Vec::new();
    let (mut together, mut num_rows, mut num_bytes) = (Vec::new(), 0, 0);
    let mut batches = batches.into_iter().filter(|b| b.num_rows() > 0).peekable();
    while let Some(batch) = batches.next() {
        num_rows += batch.num_rows();
        num_bytes += batch.get_array_memory_size();
        together.push(batch);
        let next = batches.peek().map_or(usize::MAX / 2, RecordBatch::num_rows);
        if num_rows + next > MAX_EXTENT_ROWS || num_bytes > LARGE_BYTES {
            let joined = match &together[..] {
                [one] => one.clone(),
                several => concat_batches(&several[0].schema(), several)
                    .map_err(|e| Error::bug(e.to_string()))?,
            };
            extents.push(joined);
            together.clear();
            (num_rows, num_bytes) = (0, 0);
        }
    }
    Ok(extents)
}
