//! Makes arrays of the buffers in a file, without a copy, and checks all that reading them relies on.
//!
//! Offsets of lists and views of strings are checked by Arrow's own constructors: what a damaged file holds
//! is an error, whatever its checksums say.

use arrow::array::ArrayData;
use arrow::buffer::Buffer;
use arrow::datatypes::DataType;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::aligned;
use super::node::{Node, children};

/// Why bytes are no array.
pub(super) type Damage = String;

/// The bytes of an array, of which buffer after buffer is taken.
pub(super) struct Buffers {
    /// Begins at a multiple of 64 in its file.
    bytes: Bytes,
    offset: u64,
}

impl Buffers {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self { bytes, offset: 0 }
    }

    fn next(&mut self, num_bytes: u64) -> Option<Bytes> {
        let start = aligned(self.offset)?;
        let end = start.checked_add(num_bytes)?;
        let range = usize::try_from(start).ok()?..usize::try_from(end).ok()?;
        self.offset = end;
        (range.end <= self.bytes.len()).then(|| self.bytes.slice(range))
    }

    /// The buffers of a node by their checksums.
    fn of(&mut self, node: &Node) -> Result<Vec<Bytes>, Damage> {
        let buffer = |stored: &super::node::StoredBuffer| {
            let bytes = self
                .next(stored.num_bytes)
                .ok_or("its bytes are not all there")?;
            match xxh3_64(&bytes) == stored.checksum {
                true => Ok(bytes),
                false => Err("checksum doesn't match".to_owned()),
            }
        };
        node.buffers.iter().map(buffer).collect()
    }

    /// Compares all checksums.
    pub(super) fn check(&mut self, node: &Node) -> Result<(), Damage> {
        self.of(node)?;
        node.children.iter().try_for_each(|child| self.check(child))
    }

    /// The array of a node.
    pub(super) fn array(&mut self, node: &Node, data_type: &DataType) -> Result<ArrayData, Damage> {
        let buffers = self.of(node)?;
        let mut buffers = buffers.into_iter().map(Buffer::from);
        let len = i32::try_from(node.num_values).map_err(|_| "it has too many values")?;
        let len = usize::try_from(len).map_err(|_| "it has too many values")?;
        let validity = buffers.next().filter(|validity| !validity.is_empty());
        if validity.as_ref().is_some_and(|v| v.len() < len.div_ceil(8)) {
            return Err("its validity is too short".to_owned());
        }
        let mut values: Vec<Buffer> = buffers.collect();
        if *data_type == DataType::BinaryView && values.last().is_some_and(Buffer::is_empty) {
            // Short strings only; without values the views are empty, too.
            values.truncate(1);
        }
        let children = node.children.iter().zip(children(data_type));
        let children = children.map(|(child, data_type)| self.array(child, data_type));
        let array = ArrayData::builder(data_type.clone())
            .len(len)
            .null_bit_buffer(validity)
            .buffers(values)
            .child_data(children.collect::<Result<_, _>>()?);
        array.build().map_err(|e| e.to_string())
    }
}
