//! Sorts rows by keys of integers: each row's keys and its number are packed into one word.
//!
//! A key takes the bits of its range in the rows at hand, so that keys of several columns and the number of
//! a row often fit into 64 bits, and mostly into 128. Words are sorted digit by digit. The numbers of the rows make
//! all words different, so that rows with equal keys stay in their order.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType as ArrowType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use basalt_kernels::radix_sort::{RadixWord, radix_sort};

/// Rows whose words are made together: they stay in the nearest cache meanwhile.
const CHUNK_ROWS: usize = 1 << 11;

/// Memory for words, which the next part of an insert needs again.
#[derive(Debug, Default)]
pub(super) struct SortMemory {
    narrow: (Vec<u64>, Vec<u64>),
    wide: (Vec<u128>, Vec<u128>),
}

/// The order of rows by their keys.
#[derive(Debug, PartialEq)]
pub(super) enum PackedOrder {
    /// They stand in order.
    Sorted,
    /// Others stand before them.
    Rows(SortedRows),
}

/// Rows in the order of their keys.
#[derive(Debug, PartialEq)]
pub(super) struct SortedRows {
    /// The numbers of the rows.
    pub(super) rows: Vec<u32>,
    /// The columns of the keys, which are cheaper to take out of the words than to gather; none for those with
    /// NULLs.
    pub(super) keys: Vec<Option<ArrayRef>>,
}

/// The order of rows by `columns`, NULL last; none if some are no integers, or take too many bits.
pub(super) fn packed_order(
    columns: &[ArrayRef],
    num_rows: u32,
    memory: &mut SortMemory,
) -> Option<PackedOrder> {
    let keys = columns.iter().map(Key::of).collect::<Option<Vec<_>>>()?;
    let row_bits = u32::BITS - num_rows.leading_zeros();
    let num_bits = keys.iter().map(|key| key.num_bits).sum::<u32>() + row_bits;
    if num_bits <= u64::BITS {
        memory.wide = Default::default();
        let (words, scratch) = &mut memory.narrow;
        Some(order(&keys, row_bits, (words, scratch)))
    } else if num_bits <= u128::BITS {
        memory.narrow = Default::default();
        let (words, scratch) = &mut memory.wide;
        Some(order(&keys, row_bits, (words, scratch)))
    } else {
        None
    }
}

/// The keys of a column, which are numbers from 0 up when the least is taken from them.
struct Key<'a> {
    array: &'a ArrayRef,
    least: u64,
    /// What NULL is.
    null: u64,
    num_bits: u32,
}

impl<'a> Key<'a> {
    fn of(array: &'a ArrayRef) -> Option<Self> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let (least, greatest) = with_numbers(array, Bounds(nulls))?;
        let range = greatest.saturating_sub(least);
        let null = match nulls {
            Some(_) => range.checked_add(1)?,
            None => range,
        };
        Some(Self {
            array,
            least,
            null,
            num_bits: u64::BITS - null.leading_zeros(),
        })
    }
}

/// Works on the values of a column, as numbers of the same order.
trait Visit {
    type Output;

    fn visit(self, numbers: impl Iterator<Item = u64>) -> Self::Output;
}

fn with_numbers<V: Visit>(array: &ArrayRef, work: V) -> Option<V::Output> {
    fn signed<T: ArrowPrimitiveType<Native: Into<i64>>, V: Visit>(
        array: &ArrayRef,
        work: V,
    ) -> Option<V::Output> {
        let values = array.as_primitive_opt::<T>()?.values().iter();
        // With the sign flipped they compare as unsigned numbers.
        Some(work.visit(values.map(|v| (*v).into().cast_unsigned() ^ (1 << 63))))
    }
    fn unsigned<T: ArrowPrimitiveType<Native: Into<u64>>, V: Visit>(
        array: &ArrayRef,
        work: V,
    ) -> Option<V::Output> {
        let values = array.as_primitive_opt::<T>()?.values().iter();
        Some(work.visit(values.map(|v| (*v).into())))
    }
    match array.data_type() {
        ArrowType::UInt8 => unsigned::<UInt8Type, V>(array, work),
        ArrowType::UInt16 => unsigned::<UInt16Type, V>(array, work),
        ArrowType::UInt32 => unsigned::<UInt32Type, V>(array, work),
        ArrowType::UInt64 => unsigned::<UInt64Type, V>(array, work),
        ArrowType::Int8 => signed::<Int8Type, V>(array, work),
        ArrowType::Int16 => signed::<Int16Type, V>(array, work),
        ArrowType::Int32 => signed::<Int32Type, V>(array, work),
        ArrowType::Int64 => signed::<Int64Type, V>(array, work),
        _ => None,
    }
}

/// Finds the least and the greatest number.
struct Bounds<'a>(Option<&'a NullBuffer>);

impl Visit for Bounds<'_> {
    type Output = (u64, u64);

    fn visit(self, numbers: impl Iterator<Item = u64>) -> (u64, u64) {
        let wider = |(least, greatest): (u64, u64), n: u64| (least.min(n), greatest.max(n));
        let none = (u64::MAX, 0);
        match self.0 {
            None => numbers.fold(none, wider),
            Some(nulls) => {
                let there = numbers.zip(nulls).filter(|(_, is_there)| *is_there);
                there.map(|(n, _)| n).fold(none, wider)
            }
        }
    }
}

/// Puts a key behind those that the words have; with the NULLs of these rows.
struct Append<'a, W>(&'a mut [W], &'a Key<'a>, Option<&'a NullBuffer>);

impl<W: RadixWord> Visit for Append<'_, W> {
    type Output = ();

    fn visit(self, numbers: impl Iterator<Item = u64>) {
        let Self(words, key, nulls) = self;
        let append = |word: &mut W, number: u64| *word = *word << key.num_bits | W::of(number);
        let words = words.iter_mut().zip(numbers);
        match nulls {
            None => words.for_each(|(word, n)| append(word, n.wrapping_sub(key.least))),
            Some(nulls) => words.zip(nulls).for_each(|((word, n), is_there)| {
                let offset = n.wrapping_sub(key.least);
                append(word, if is_there { offset } else { key.null });
            }),
        }
    }
}

/// The order of rows whose keys and numbers take `num_bits` bits.
fn order<W: RadixWord>(
    keys: &[Key<'_>],
    row_bits: u32,
    (words, scratch): (&mut Vec<W>, &mut Vec<W>),
) -> PackedOrder {
    let num_rows = keys.first().map_or(0, |key| key.array.len());
    words.clear();
    words.resize(num_rows, W::default());
    for (chunk, start) in words.chunks_mut(CHUNK_ROWS).zip((0..).step_by(CHUNK_ROWS)) {
        for key in keys {
            let array = key.array.slice(start, chunk.len());
            // Keys are of types that have numbers.
            let _ = with_numbers(&array, Append(chunk, key, array.nulls()));
        }
        for (word, row) in chunk.iter_mut().zip(start as u64..) {
            *word = *word << row_bits | W::of(row);
        }
    }
    if words.is_sorted() {
        return PackedOrder::Sorted;
    }
    scratch.resize(num_rows, W::default());
    radix_sort(words, scratch);
    let mut shift = row_bits;
    let mut decoded: Vec<_> = keys
        .iter()
        .rev()
        .map(|key| {
            let place = shift;
            shift += key.num_bits;
            decoded(words, place, key)
        })
        .collect();
    decoded.reverse();
    let mask = (1_u64 << row_bits) - 1;
    PackedOrder::Rows(SortedRows {
        rows: words.iter().map(|w| (w.low() & mask) as u32).collect(),
        keys: decoded,
    })
}

/// The values of a key in the order of the words, which have it behind `shift` bits.
#[allow(
    clippy::cast_possible_truncation,
    reason = "numbers that were made of values of the same type"
)]
fn decoded<W: RadixWord>(words: &[W], shift: u32, key: &Key<'_>) -> Option<ArrayRef> {
    fn values<T: ArrowPrimitiveType>(numbers: impl Iterator<Item = T::Native>) -> Option<ArrayRef> {
        Some(Arc::new(PrimitiveArray::<T>::from_iter_values(numbers)))
    }
    if key.array.null_count() > 0 {
        return None;
    }
    let mask = u64::MAX.checked_shr(u64::BITS - key.num_bits).unwrap_or(0);
    let unsigned = words.iter().map(|word| {
        let offset = match key.num_bits {
            // All rows have the same value, and there may be no bits to shift by.
            0 => 0,
            _ => (*word >> shift).low() & mask,
        };
        key.least.wrapping_add(offset)
    });
    let signed = unsigned.clone().map(|n| (n ^ (1 << 63)).cast_signed());
    match key.array.data_type() {
        ArrowType::UInt8 => values::<UInt8Type>(unsigned.map(|n| n as u8)),
        ArrowType::UInt16 => values::<UInt16Type>(unsigned.map(|n| n as u16)),
        ArrowType::UInt32 => values::<UInt32Type>(unsigned.map(|n| n as u32)),
        ArrowType::UInt64 => values::<UInt64Type>(unsigned),
        ArrowType::Int8 => values::<Int8Type>(signed.map(|n| n as i8)),
        ArrowType::Int16 => values::<Int16Type>(signed.map(|n| n as i16)),
        ArrowType::Int32 => values::<Int32Type>(signed.map(|n| n as i32)),
        ArrowType::Int64 => values::<Int64Type>(signed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Int8Array, Int64Array, UInt16Array, UInt32Array, UInt64Array};
    use arrow::compute::take;

    use super::*;

    fn rows(columns: &[ArrayRef]) -> Option<Vec<u32>> {
        let num_rows = u32::try_from(columns[0].len()).unwrap();
        match packed_order(columns, num_rows, &mut SortMemory::default())? {
            PackedOrder::Rows(sorted) => {
                let order = UInt32Array::from(sorted.rows.clone());
                for (key, column) in sorted.keys.iter().zip(columns) {
                    assert_eq!(key.is_none(), column.null_count() > 0);
                    if let Some(key) = key {
                        assert_eq!(key, &take(column, &order, None).unwrap());
                    }
                }
                Some(sorted.rows)
            }
            PackedOrder::Sorted => Some((0..num_rows).collect()),
        }
    }

    #[test]
    fn rows_are_sorted_as_by_comparing_their_keys() {
        let mut state = 1_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 20
        };
        for (num_rows, spread) in [(1, 1), (7, 3), (5000, 10), (20_000, 1 << 40), (9000, 1)] {
            let a: Vec<Option<i8>> = (0..num_rows)
                .map(|_| (random() % 5 > 0).then(|| (random() % 7) as i8 - 3))
                .collect();
            let b: Vec<i64> = (0..num_rows)
                .map(|_| (random() % spread) as i64 - (spread / 2) as i64)
                .collect();
            let columns: [ArrayRef; 2] = [
                Arc::new(Int8Array::from(a.clone())),
                Arc::new(Int64Array::from(b.clone())),
            ];
            let mut expected: Vec<u32> = (0..num_rows).collect();
            let key = |row: &u32| {
                let row = *row as usize;
                (a[row].is_none(), a[row], b[row])
            };
            expected.sort_by_key(key);
            assert_eq!(rows(&columns), Some(expected), "{num_rows} rows, {spread}");
        }
    }

    #[test]
    fn keys_take_the_bits_of_their_range() {
        let wide: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, 0, 1]));
        let narrow: ArrayRef = Arc::new(UInt16Array::from(vec![60_001, 60_000, 60_000]));
        assert_eq!(rows(&[Arc::clone(&wide)]), Some(vec![1, 2, 0]));
        let both = [Arc::clone(&narrow), Arc::clone(&wide)];
        assert_eq!(rows(&both), Some(vec![1, 2, 0]));
        let constant: ArrayRef = Arc::new(Int8Array::from(vec![-4, -4, -4]));
        assert_eq!(
            rows(&[Arc::clone(&constant), Arc::clone(&wide)]),
            Some(vec![1, 2, 0])
        );
        assert_eq!(
            packed_order(&[constant], 3, &mut SortMemory::default()),
            Some(PackedOrder::Sorted)
        );
        assert_eq!(rows(&[Arc::clone(&wide), Arc::clone(&wide)]), None);
        // NULL would be beyond the last number.
        let full: ArrayRef = Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)]));
        assert_eq!(rows(&[full]), None);
        let nothing: ArrayRef = Arc::new(UInt64Array::from(vec![None, None]));
        assert_eq!(rows(&[nothing]), Some(vec![0, 1]));
    }
}
