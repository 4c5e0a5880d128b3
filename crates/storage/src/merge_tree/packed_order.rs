//! Sorts rows by keys of integers: each row's keys and its number are packed into one word.
//!
//! A key takes the bits of its range in the rows at hand, so that keys of several columns and the number of
//! a row often fit into 64 bits. Words are sorted digit by digit. The numbers of the rows make all words different, so
//! that rows with equal keys stay in their order.
//!
//! Of keys that are wider, up to 128 bits with the row's number, a word has what fits, from the highest bit down. The
//! rest of each key waits in the order of the rows, is taken in that of the sorted words, and orders those whose
//! bits were the same so far. (Sorting words of 128 bits takes twice as long.)

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

/// Words that are sorted by insertion.
const FEW: usize = 24;

/// Memory for words, which the next part of an insert needs again.
#[derive(Debug, Default)]
pub(super) struct SortMemory {
    pub(super) words: Vec<u64>,
    pub(super) scratch: Vec<u64>,
    rests: Vec<u64>,
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
    let key_bits = keys.iter().map(|key| key.num_bits).sum::<u32>();
    let cut = Cut {
        row_bits,
        rest_bits: (key_bits + row_bits).saturating_sub(u64::BITS),
    };
    (cut.rest_bits <= u64::BITS).then(|| order(&keys, cut, memory))
}

/// How a key is cut into what its row's word has, above the number of the row, and the rest.
#[derive(Clone, Copy)]
struct Cut {
    row_bits: u32,
    rest_bits: u32,
}

impl Cut {
    /// The word of a row and the rest of its key.
    fn cut(self, key: u128, row: u64) -> (u64, u64) {
        let prefix = (key >> self.rest_bits).low();
        let rest = key.low() & low_bits(self.rest_bits);
        (prefix << self.row_bits | row, rest)
    }

    fn row(self, word: u64) -> u32 {
        // Rows are numbered by 32 bits.
        (word & low_bits(self.row_bits)) as u32
    }

    fn prefix(self, word: u64) -> u64 {
        word >> self.row_bits
    }

    fn key(self, word: u64, rest: u64) -> u128 {
        u128::from(self.prefix(word)) << self.rest_bits | u128::from(rest)
    }
}

/// So many bits that are set.
pub(super) fn low_bits(num_bits: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - num_bits).unwrap_or(0)
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
struct Append<'a>(&'a mut [u128], &'a Key<'a>, Option<&'a NullBuffer>);

impl Visit for Append<'_> {
    type Output = ();

    fn visit(self, numbers: impl Iterator<Item = u64>) {
        let Self(words, key, nulls) = self;
        let append = |word: &mut u128, number: u64| {
            *word = *word << key.num_bits | u128::from(number);
        };
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

/// The order of rows by their keys.
fn order(keys: &[Key<'_>], cut: Cut, memory: &mut SortMemory) -> PackedOrder {
    if pack(keys, cut, memory) {
        return PackedOrder::Sorted;
    }
    let SortMemory {
        words,
        scratch,
        rests,
    } = memory;
    scratch.resize(words.len(), 0);
    radix_sort(words, scratch);
    let sorted_rests: &[u64] = match cut.rest_bits {
        0 => rests,
        _ => {
            let taken = scratch.iter_mut().zip(words.iter());
            taken.for_each(|(rest, word)| *rest = rests[cut.row(*word) as usize]);
            sort_rests(words, scratch, cut);
            scratch
        }
    };
    let sorted = (&words[..], sorted_rests);
    let mut shift = 0;
    let mut decoded: Vec<_> = keys
        .iter()
        .rev()
        .map(|key| {
            let place = shift;
            shift += key.num_bits;
            decoded(sorted, (cut, place), key)
        })
        .collect();
    decoded.reverse();
    PackedOrder::Rows(SortedRows {
        rows: words.iter().map(|word| cut.row(*word)).collect(),
        keys: decoded,
    })
}

/// Makes the words of the rows, and the rests of their keys; whether they stand in order.
fn pack(keys: &[Key<'_>], cut: Cut, memory: &mut SortMemory) -> bool {
    let num_rows = keys.first().map_or(0, |key| key.array.len());
    let SortMemory { words, rests, .. } = memory;
    words.resize(num_rows, 0);
    rests.resize(num_rows, 0);
    let (mut is_sorted, mut last) = (true, 0);
    let chunks = words
        .chunks_mut(CHUNK_ROWS)
        .zip(rests.chunks_mut(CHUNK_ROWS));
    for ((words, rests), start) in chunks.zip((0..).step_by(CHUNK_ROWS)) {
        let mut chunk = [0_u128; CHUNK_ROWS];
        let chunk = &mut chunk[..words.len()];
        for key in keys {
            let array = key.array.slice(start, chunk.len());
            // Keys are of types that have numbers.
            let _ = with_numbers(&array, Append(chunk, key, array.nulls()));
        }
        let cuts = words.iter_mut().zip(rests).zip(start as u64..);
        for (((word, rest), row), key) in cuts.zip(chunk) {
            (*word, *rest) = cut.cut(*key, row);
            is_sorted &= last <= *key;
            last = *key;
        }
    }
    is_sorted
}

/// Sorts words that are sorted but for the rests of their keys, with these.
fn sort_rests(words: &mut [u64], rests: &mut [u64], cut: Cut) {
    let mut end = 0;
    while let Some(next) = (end + 1..words.len()).find(|i| {
        let is_same = cut.prefix(words[i - 1]) == cut.prefix(words[*i]);
        is_same && rests[i - 1] > rests[*i]
    }) {
        let prefix = cut.prefix(words[next]);
        let is_same = |word: &u64| cut.prefix(*word) == prefix;
        // What stands before is in order, and what follows is not known yet.
        let before = words[..next]
            .iter()
            .rev()
            .take_while(|w| is_same(w))
            .count();
        end = next + words[next..].iter().take_while(|w| is_same(w)).count();
        let run = next - before..end;
        sort_run((&mut words[run.clone()], &mut rests[run]), prefix, cut);
    }
}

/// Sorts words with the same bits above the rows' numbers by the rests of their keys.
fn sort_run((words, rests): (&mut [u64], &mut [u64]), prefix: u64, cut: Cut) {
    let whole = words.iter().zip(rests.iter());
    let whole =
        whole.map(|(word, rest)| u128::from(*rest) << cut.row_bits | u128::from(cut.row(*word)));
    let mut whole: Vec<u128> = whole.collect();
    match whole.len() {
        0..=FEW => whole.sort_unstable(),
        num => radix_sort(&mut whole, &mut vec![0; num]),
    }
    for ((word, rest), whole) in words.iter_mut().zip(rests).zip(whole) {
        *word = prefix << cut.row_bits | whole.low() & low_bits(cut.row_bits);
        *rest = (whole >> cut.row_bits).low();
    }
}

/// The values of a key in the order of the words, of whose keys it has the bits from `shift` on.
#[allow(
    clippy::cast_possible_truncation,
    reason = "numbers that were made of values of the same type"
)]
fn decoded(
    (words, rests): (&[u64], &[u64]),
    (cut, shift): (Cut, u32),
    key: &Key<'_>,
) -> Option<ArrayRef> {
    fn values<T: ArrowPrimitiveType>(numbers: impl Iterator<Item = T::Native>) -> Option<ArrayRef> {
        Some(Arc::new(PrimitiveArray::<T>::from_iter_values(numbers)))
    }
    if key.array.null_count() > 0 {
        return None;
    }
    let mask = low_bits(key.num_bits);
    let unsigned = words.iter().zip(rests).map(|(word, rest)| {
        let offset = match key.num_bits {
            // All rows have the same value, and there may be no bits to shift by.
            0 => 0,
            _ => (cut.key(*word, *rest) >> shift).low() & mask,
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
    fn wide_keys_that_begin_alike_are_sorted_to_their_end() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        // One key that is far from all others: those share their highest bits.
        for num_rows in [2_usize, 30, 3000, 40_000] {
            for spread in [2, 1 << 10, 1 << 30] {
                let mut a: Vec<u64> = (0..num_rows).map(|_| random() % spread).collect();
                a[num_rows / 2] = u64::MAX;
                let b: Vec<u32> = (0..num_rows).map(|_| random() as u32 % 5).collect();
                let columns: [ArrayRef; 2] = [
                    Arc::new(UInt64Array::from(a.clone())),
                    Arc::new(UInt32Array::from(b.clone())),
                ];
                let mut expected: Vec<u32> = (0..num_rows as u32).collect();
                expected.sort_by_key(|row| (a[*row as usize], b[*row as usize]));
                assert_eq!(rows(&columns), Some(expected), "{num_rows} rows, {spread}");
                let [a, b] = columns;
                assert!(rows(&[b, a]).is_some());
            }
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
