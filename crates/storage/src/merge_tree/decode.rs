//! Reads the blocks that `encode` writes as arrays, without copying what is stored plain. Strings with a
//! dictionary become dictionary arrays.

use std::sync::Arc;

use arrow::array::{
    ArrayData, ArrayRef, AsArray, BinaryViewArray, DictionaryArray, ListArray, StructArray,
    UInt16Array, make_array,
};
use arrow::buffer::{BooleanBuffer, Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType};
use basalt_codec::block::CHECKSUM_BYTES;
use basalt_codec::{Block, BlockDecoder, DecodeError, Element, Kind, PaddedBuffer};
use basalt_profile::Disowned;
use basalt_types::DataType;
use bytes::Bytes;

use super::encode::{children, element, narrow_decimal, wide_decimal};
use super::read::Stored;

/// The values of an array, one by one if it is a dictionary array.
///
/// # Errors
/// If it is none that [`super::Part::read_cached`] gives.
pub fn flat(array: &ArrayRef) -> basalt_error::Result<ArrayRef> {
    let Some(strings) = array.as_any_dictionary_opt() else {
        return Ok(Arc::clone(array));
    };
    let taken = take(strings.values(), strings.keys(), None);
    taken.map_err(|e| basalt_error::Error::bug(e.to_string()))
}

/// Why a group could not be read, and at which of its blocks.
#[derive(Debug)]
pub(super) struct BadBlock {
    pub(super) block: usize,
    pub(super) why: String,
}

type Result<T> = std::result::Result<T, BadBlock>;

/// What a block holds.
struct ReadBlock {
    element: Element,
    num: usize,
    values: Buffer,
}

/// Reads the blocks of a group one behind the other.
pub(super) struct GroupDecoder {
    stored: Bytes,
    /// Whether checksums are compared.
    checks: bool,
    /// Whether the bytes need no memory of their own.
    is_mapped: bool,
    /// Whether anything was not used just as it is stored.
    has_decoded: bool,
    position: usize,
    num_read: usize,
    /// Places of decoders so far: those of blocks that a group may have or not are left free.
    num_slots: usize,
    /// One for each block, which holds values of its own kind.
    decoders: Vec<BlockDecoder>,
    checksums: Vec<u8>,
}

impl GroupDecoder {
    /// `decoders` have read the same blocks of other groups of the column.
    pub(super) fn new(stored: &Stored, decoders: Vec<BlockDecoder>) -> Self {
        Self {
            stored: stored.bytes.clone(),
            checks: !stored.is_checked,
            is_mapped: stored.is_mapped,
            has_decoded: false,
            position: 0,
            num_read: 0,
            num_slots: 0,
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

    /// Whether anything was not used just as it is stored.
    pub(super) fn has_decoded(&self) -> bool {
        self.has_decoded
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
                        let key = self.flat_array(key, num_elements)?;
                        let value = self.flat_array(value, num_elements)?;
                        let entries = StructArray::try_new(fields.clone(), vec![key, value], None);
                        Arc::new(entries.map_err(|e| self.bad(e))?)
                    }
                    (_, [element]) => self.flat_array(element, num_elements)?,
                    _ => return Err(self.bad("a list of unknown elements")),
                };
                let offsets = OffsetBuffer::from_lengths(lengths.iter().map(|l| *l as usize));
                let lists = ListArray::try_new(Arc::clone(field), offsets, elements, None);
                Ok(Arc::new(lists.map_err(|e| self.bad(e))?))
            }
            (ArrowType::Struct(fields), types) => {
                let columns = types.iter().map(|t| self.flat_array(t, num_rows));
                let columns = columns.collect::<Result<Vec<_>>>()?;
                let tuples = StructArray::try_new(fields.clone(), columns, None);
                Ok(Arc::new(tuples.map_err(|e| self.bad(e))?))
            }
            (ArrowType::Decimal128(precision, _), _) => {
                let kinds = [narrow_decimal(*precision), wide_decimal()];
                let read = self.next_values(|e, num| num == num_rows && kinds.contains(&e))?;
                let values = match read.element.width() {
                    4 => self.widened::<i32>(&read.values),
                    8 => self.widened::<i64>(&read.values),
                    _ => read.values,
                };
                self.fixed(&physical, num_rows, (values, nulls))
            }
            (physical, _) => {
                let (element, width) = element(physical).map_err(|e| self.bad(e.message()))?;
                let num_values = num_rows * width / usize::from(element.width());
                // Words of the same width: what is no number to a type may be packed as one.
                let fits = |found: Element, num: usize| {
                    found.width() == element.width() && num == num_values
                };
                let values = self.next_values(fits)?.values;
                self.fixed(physical, num_rows, (values, nulls))
            }
        }
    }

    /// Values of a fixed size as an array.
    fn fixed(
        &self,
        physical: &ArrowType,
        num_rows: usize,
        (values, nulls): (Buffer, Option<NullBuffer>),
    ) -> Result<ArrayRef> {
        let built = ArrayData::builder(physical.clone())
            .len(num_rows)
            .add_buffer(values)
            .nulls(nulls)
            .build();
        Ok(make_array(built.map_err(|e| self.bad(e))?))
    }

    /// Numbers in 16 bytes each.
    fn widened<T: ArrowNativeType + Into<i128>>(&mut self, values: &Buffer) -> Buffer {
        self.has_decoded = true;
        let numbers = values.typed_data::<T>();
        if numbers.is_empty() {
            return MutableBuffer::new(0).into();
        }
        let widened = Disowned::new(|| {
            let mut widened = PaddedBuffer::default();
            widened.reset(numbers.len() * size_of::<i128>());
            let (halves, _) = widened.as_words_mut::<u64>().as_chunks_mut::<2>();
            for (halves, number) in halves.iter_mut().zip(numbers) {
                let wide: i128 = (*number).into();
                *halves = [wide as u64, (wide >> 64) as u64];
            }
            widened
        });
        Buffer::from(Bytes::from_owner(widened))
    }

    /// As [`Self::array`], of values within others.
    fn flat_array(&mut self, data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
        let array = self.array(data_type, num_rows)?;
        flat(&array).map_err(|e| self.bad(e.message()))
    }

    fn strings(&mut self, num_rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let (length, code) = (unsigned(4), unsigned(2));
        let first =
            self.next_values(|element, num| num == num_rows && [length, code].contains(&element))?;
        if first.element != code {
            self.num_slots += 1;
            return self.views(&ScalarBuffer::new(first.values, 0, num_rows), nulls);
        }
        let codes = UInt16Array::new(ScalarBuffer::new(first.values, 0, num_rows), nulls);
        let lengths = self.next_values(|element, _| element == length)?;
        let values = self.views(&ScalarBuffer::new(lengths.values, 0, lengths.num), None)?;
        let strings = DictionaryArray::try_new(codes, values);
        Ok(Arc::new(strings.map_err(|e| self.bad(e))?))
    }

    /// Strings of these lengths in the bytes of the next block.
    fn views(
        &mut self,
        lengths: &ScalarBuffer<u32>,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let num_bytes = self.total(lengths, u32::MAX as usize)?;
        let bytes = self.values(Element::BYTES, num_bytes)?;
        self.has_decoded = true;
        let views = Disowned::new(|| {
            let mut views = PaddedBuffer::default();
            views.reset(size_of::<u128>() * lengths.len());
            let mut start = 0_u32;
            let halves = views.as_words_mut::<u64>().chunks_exact_mut(2);
            for (length, halves) in lengths.iter().zip(halves) {
                let value = &bytes[start as usize..][..*length as usize];
                let view = arrow::array::make_view(value, 0, start);
                halves.copy_from_slice(&[view as u64, (view >> 64) as u64]);
                // No overflow: the total has been compared with the largest number.
                start += length;
            }
            views
        });
        let views = match lengths.is_empty() {
            true => ScalarBuffer::default(),
            false => {
                let views = Buffer::from(Bytes::from_owner(views));
                ScalarBuffer::new(views, 0, lengths.len())
            }
        };
        let array = BinaryViewArray::try_new(views, vec![bytes], nulls);
        Ok(Arc::new(array.map_err(|e| self.bad(e))?))
    }

    /// The sum of lengths, which must not be more than `most`.
    fn total(&self, lengths: &[u32], most: usize) -> Result<usize> {
        let total: u64 = lengths.iter().map(|l| u64::from(*l)).sum();
        let total = usize::try_from(total).ok().filter(|total| *total <= most);
        total.ok_or_else(|| self.bad("the lengths are damaged"))
    }

    fn lengths(&mut self, num_rows: usize) -> Result<ScalarBuffer<u32>> {
        let buffer = self.values(unsigned(4), num_rows)?;
        Ok(ScalarBuffer::new(buffer, 0, num_rows))
    }

    fn validity(&mut self, num_rows: usize) -> Result<NullBuffer> {
        let flags = self.values(unsigned(1), num_rows)?;
        let flags = BooleanBuffer::collect_bool(num_rows, |i| flags[i] != 0);
        Ok(NullBuffer::new(flags))
    }

    /// The values of the next block, which must be so many of these.
    fn values(&mut self, element: Element, num_values: usize) -> Result<Buffer> {
        let read = self.next_values(|found, num| found == element && num == num_values)?;
        Ok(read.values)
    }

    /// The values of the next block, if the column has such ones and so many there.
    fn next_values(&mut self, fits: impl Fn(Element, usize) -> bool) -> Result<ReadBlock> {
        let stored = self.stored.clone();
        let rest = &stored[self.position..];
        let read = match self.checks {
            true => Block::read(rest),
            false => Block::read_again(rest),
        };
        let (block, behind) = read.map_err(|e| self.bad(e))?;
        let (element, num) = (block.element(), block.num_values());
        if !fits(element, num) {
            return Err(self.bad("the block holds other values than the column has"));
        }
        let values = match block.plain() {
            // A piece of a buffer keeps all of it.
            Some(plain) if !self.is_mapped && plain.len() < stored.len() / 8 * 7 => {
                Bytes::from_owner(Disowned::new(|| PaddedBuffer::copied(plain)))
            }
            Some(plain) => stored.slice_ref(plain),
            None => {
                self.has_decoded = true;
                if self.decoders.len() <= self.num_slots {
                    self.decoders
                        .resize_with(self.num_slots + 1, BlockDecoder::new);
                }
                let decoder = &mut self.decoders[self.num_slots];
                let mut decoded = Ok(());
                let values = Disowned::new(|| {
                    let mut values = PaddedBuffer::default();
                    decoded = decoder.decode(&block, &mut values);
                    values
                });
                decoded.map_err(|e: DecodeError| self.bad(e))?;
                Bytes::from_owner(values)
            }
        };
        self.checksums.extend_from_slice(&rest[..CHECKSUM_BYTES]);
        self.position = stored.len() - behind.len();
        self.num_read += 1;
        self.num_slots += 1;
        // Nothing lies nowhere, which need not be aligned.
        let values = match values.is_empty() {
            true => MutableBuffer::new(0).into(),
            false => Buffer::from(values),
        };
        Ok(ReadBlock {
            element,
            num,
            values,
        })
    }

    fn bad(&self, why: impl std::fmt::Display) -> BadBlock {
        BadBlock {
            block: self.num_read,
            why: why.to_string(),
        }
    }
}

/// Unsigned integers of 1, 2 or 4 bytes.
fn unsigned(width: u16) -> Element {
    Element::try_new(Kind::Unsigned, width).unwrap_or(Element::BYTES)
}
