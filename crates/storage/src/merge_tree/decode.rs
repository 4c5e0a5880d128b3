//! Reads the blocks that `encode` writes as arrays, without copying what is stored plain.

use std::sync::Arc;

use arrow::array::{ArrayData, ArrayRef, BinaryViewArray, ListArray, StructArray, make_array};
use arrow::buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::DataType as ArrowType;
use basalt_codec::block::CHECKSUM_BYTES;
use basalt_codec::{Block, BlockDecoder, DecodeError, Element, Kind, PaddedBuffer};
use basalt_types::DataType;
use bytes::Bytes;

use super::encode::{children, element};

/// Why a group could not be read, and at which of its blocks.
#[derive(Debug)]
pub(super) struct BadBlock {
    pub(super) block: usize,
    pub(super) why: String,
}

type Result<T> = std::result::Result<T, BadBlock>;

/// Reads the blocks of a group one behind the other.
pub(super) struct GroupDecoder {
    stored: Bytes,
    position: usize,
    num_read: usize,
    /// One for each block, which holds values of its own kind.
    decoders: Vec<BlockDecoder>,
    checksums: Vec<u8>,
}

impl GroupDecoder {
    /// `decoders` have read the same blocks of other groups of the column.
    pub(super) fn new(stored: PaddedBuffer, decoders: Vec<BlockDecoder>) -> Self {
        Self {
            stored: Bytes::from_owner(stored),
            position: 0,
            num_read: 0,
            decoders,
            checksums: Vec::new(),
        }
    }

    /// The group's array.
    pub(super) fn decode(&mut self, data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
        let array = self.array(data_type, num_rows)?;
        if self.position != self.stored.len() {
            return Err(self.bad("there is more than the group's blocks"));
        }
        Ok(array)
    }

    /// The checksums of the blocks that were read, and the decoders.
    pub(super) fn into_parts(self) -> (Vec<u8>, Vec<BlockDecoder>) {
        (self.checksums, self.decoders)
    }

    fn array(&mut self, data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
        let physical = data_type.physical();
        let nulls = match data_type.is_nullable() {
            true => Some(self.validity(num_rows)?),
            false => None,
        };
        let children = children(data_type);
        match (&physical, &children[..]) {
            (ArrowType::BinaryView, _) => self.strings(num_rows, nulls),
            (ArrowType::List(field), _) => {
                let lengths = self.lengths(num_rows)?;
                let num_elements = self.total(&lengths, i32::MAX as usize)?;
                let elements = match (field.data_type(), &children[..]) {
                    (ArrowType::Struct(fields), [key, value]) => {
                        let key = self.array(key, num_elements)?;
                        let value = self.array(value, num_elements)?;
                        let entries = StructArray::try_new(fields.clone(), vec![key, value], None);
                        Arc::new(entries.map_err(|e| self.bad(e))?)
                    }
                    (_, [element]) => self.array(element, num_elements)?,
                    _ => return Err(self.bad("a list of unknown elements")),
                };
                let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|l| *l as usize));
                let lists = ListArray::try_new(Arc::clone(field), offsets, elements, None);
                Ok(Arc::new(lists.map_err(|e| self.bad(e))?))
            }
            (ArrowType::Struct(fields), types) => {
                let columns = types.iter().map(|t| self.array(t, num_rows));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let tuples = StructArray::try_new(fields.clone(), columns, None);
                Ok(Arc::new(tuples.map_err(|e| self.bad(e))?))
            }
            (physical, _) => {
                let (element, width) = element(physical).map_err(|e| self.bad(e.message()))?;
                let num_values = num_rows * width / usize::from(element.width());
                let values = self.values(element, num_values)?;
                let built = ArrayData::builder(physical.clone())
                    .len(num_rows)
                    .add_buffer(values)
                    .nulls(nulls)
                    .build();
                Ok(make_array(built.map_err(|e| self.bad(e))?))
            }
        }
    }

    fn strings(&mut self, num_rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let lengths = self.lengths(num_rows)?;
        let num_bytes = self.total(&lengths, u32::MAX as usize)?;
        let bytes = self.values(Element::BYTES, num_bytes)?;
        let mut views: Vec<u128> = Vec::with_capacity(num_rows);
        let mut start = 0_u32;
        for length in lengths.iter() {
            let value = &bytes[start as usize..][..*length as usize];
            views.push(arrow::array::make_view(value, 0, start));
            // No overflow: the total has been compared with the largest number.
            start += length;
        }
        let array = BinaryViewArray::try_new(ScalarBuffer::from(views), vec![bytes], nulls);
        Ok(Arc::new(array.map_err(|e| self.bad(e))?))
    }

    /// The sum of lengths, which must not be more than `most`.
    fn total(&self, lengths: &[u32], most: usize) -> Result<usize> {
        let total: u64 = lengths.iter().map(|l| u64::from(*l)).sum();
        let total = usize::try_from(total).ok().filter(|total| *total <= most);
        total.ok_or_else(|| self.bad("the lengths are damaged"))
    }

    fn lengths(&mut self, num_rows: usize) -> Result<ScalarBuffer<u32>> {
        let length = Element::try_new(Kind::Unsigned, 4).unwrap_or(Element::BYTES);
        let buffer = self.values(length, num_rows)?;
        Ok(ScalarBuffer::new(buffer, 0, num_rows))
    }

    fn validity(&mut self, num_rows: usize) -> Result<NullBuffer> {
        let flag = Element::try_new(Kind::Unsigned, 1).unwrap_or(Element::BYTES);
        let flags = self.values(flag, num_rows)?;
        let flags = BooleanBuffer::collect_bool(num_rows, |i| flags[i] != 0);
        Ok(NullBuffer::new(flags))
    }

    /// The values of the next block.
    fn values(&mut self, element: Element, num_values: usize) -> Result<Buffer> {
        let stored = self.stored.clone();
        let rest = &stored[self.position..];
        let (block, behind) = Block::read(rest).map_err(|e| self.bad(e))?;
        if block.element() != element || block.num_values() != num_values {
            return Err(self.bad("the block holds other values than the column has"));
        }
        let values = match block.plain() {
            Some(plain) => stored.slice_ref(plain),
            None => {
                let mut values = PaddedBuffer::default();
                if self.decoders.len() <= self.num_read {
                    self.decoders
                        .resize_with(self.num_read + 1, BlockDecoder::new);
                }
                let decoded = self.decoders[self.num_read].decode(&block, &mut values);
                decoded.map_err(|e: DecodeError| self.bad(e))?;
                Bytes::from_owner(values)
            }
        };
        self.checksums.extend_from_slice(&rest[..CHECKSUM_BYTES]);
        self.position = stored.len() - behind.len();
        self.num_read += 1;
        // Nothing lies nowhere, which need not be aligned.
        let is_empty = values.is_empty();
        Ok(if is_empty {
            MutableBuffer::new(0).into()
        } else {
            Buffer::from(values)
        })
    }

    fn bad(&self, why: impl std::fmt::Display) -> BadBlock {
        BadBlock {
            block: self.num_read,
            why: why.to_string(),
        }
    }
}
