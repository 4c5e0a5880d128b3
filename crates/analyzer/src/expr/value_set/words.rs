//! Reads integers of any width, and other values of 128 bits, as words of 64 bits, some of a column at a time.

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion::arrow::datatypes::{
    ArrowNativeType, DataType as ArrowType, Decimal128Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

/// Rows that are looked at together: their words stay in the first cache.
pub(super) const CHUNK: usize = 1024;

/// Reads rows of a column from `begin` on, signed integers with their sign in all upper bits.
type Read = fn(&ArrayRef, usize, &mut [u64]);

/// How integers of a type are read; none for other values.
pub(super) fn reader(physical: &ArrowType) -> Option<Read> {
    Some(match physical {
        ArrowType::UInt8 => read::<UInt8Type>,
        ArrowType::UInt16 => read::<UInt16Type>,
        ArrowType::UInt32 => read::<UInt32Type>,
        ArrowType::UInt64 => read::<UInt64Type>,
        ArrowType::Int8 => read::<Int8Type>,
        ArrowType::Int16 => read::<Int16Type>,
        ArrowType::Int32 => read::<Int32Type>,
        ArrowType::Int64 => read::<Int64Type>,
        _ => return None,
    })
}

fn read<T: ArrowPrimitiveType>(array: &ArrayRef, begin: usize, out: &mut [u64]) {
    let values = &array.as_primitive::<T>().values()[begin..];
    for (out, value) in out.iter_mut().zip(values) {
        *out = value.as_usize() as u64;
    }
}

/// What is read of the values of a column at once.
pub(super) struct Part<'a> {
    column: &'a ArrayRef,
    read: Read,
    /// Bits of a word that are the value's.
    pub(super) num_bits: usize,
}

impl Part<'_> {
    /// The words of rows from `begin` on, without other bits.
    pub(super) fn read(&self, begin: usize, out: &mut [u64]) {
        (self.read)(self.column, begin, out);
        if self.num_bits < 64 {
            let mask = u64::MAX >> (64 - self.num_bits);
            out.iter_mut().for_each(|word| *word &= mask);
        }
    }
}

/// The words that the values of a column are; none if they are neither integers nor 128 bits that are equal if the
/// values are.
pub(super) fn parts(column: &ArrayRef) -> Option<Vec<Part<'_>>> {
    let part = |read, num_bits| Part {
        column,
        read,
        num_bits,
    };
    let (high, low): (Read, Read) = match column.data_type() {
        ArrowType::Decimal128(..) => (
            |column, begin, out| read_decimals(column, begin, out, 64),
            |column, begin, out| read_decimals(column, begin, out, 0),
        ),
        ArrowType::FixedSizeBinary(16) => (
            |column, begin, out| read_bytes(column, begin, out, 0),
            |column, begin, out| read_bytes(column, begin, out, 8),
        ),
        integer => {
            let read = reader(integer)?;
            return Some(vec![part(read, 8 * integer.primitive_width()?)]);
        }
    };
    Some(vec![part(high, 64), part(low, 64)])
}

fn read_decimals(array: &ArrayRef, begin: usize, out: &mut [u64], shift: u32) {
    let values = &array.as_primitive::<Decimal128Type>().values()[begin..];
    for (out, value) in out.iter_mut().zip(values) {
        *out = (value >> shift) as u64;
    }
}

fn read_bytes(array: &ArrayRef, begin: usize, out: &mut [u64], offset: usize) {
    let values = &array.as_fixed_size_binary().value_data()[16 * begin..];
    for (out, value) in out.iter_mut().zip(values.chunks_exact(16)) {
        let word = value[offset..].first_chunk();
        *out = word.map_or(0, |word| u64::from_be_bytes(*word));
    }
}

/// All words of a column.
pub(super) fn all(array: &ArrayRef) -> Option<Vec<u64>> {
    let mut words = vec![0; array.len()];
    reader(array.data_type())?(array, 0, &mut words);
    Some(words)
}

/// Where the chunks of so many rows begin, and how many rows each has.
pub(super) fn chunks(num_rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let begins = (0..num_rows).step_by(CHUNK);
    begins.map(move |begin| (begin, CHUNK.min(num_rows - begin)))
}
