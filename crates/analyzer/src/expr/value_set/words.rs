//! Reads integers of any width as words of 64 bits, some of a column at a time.

use datafusion::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion::arrow::datatypes::{
    ArrowNativeType, DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
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
