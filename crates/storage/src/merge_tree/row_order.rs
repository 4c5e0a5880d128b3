//! Sorts rows by keys of any types, which are bytes that compare as the keys do.
//!
//! A word holds the bits that follow the first byte in which not all rows are the same, and below them the place of
//! the row. Words are sorted digit by digit, which moves 8 bytes a row whatever the keys are. Rows whose bits were the
//! same are sorted once more in this way, by the bytes behind: a radix sort from the front, with digits as wide as a
//! word leaves room for. No row's bytes begin with all bytes of another one, so that they differ in a byte that both
//! have if they differ.

use std::ops::Range;

use arrow::row::Rows;
use basalt_kernels::prefetch::prefetch;
use basalt_kernels::radix_sort::radix_sort;

use super::packed_order::{SortMemory, low_bits};

/// Rows that are compared with each other.
const FEW: usize = 24;

/// Words that are made of a row, at most: rows that still are the same are compared. Where each row is the beginning of
/// the next, every word would tell but few of them from the others.
const MAX_LEVELS: u32 = 32;

/// Rows whose bytes are asked for ahead: where they were sorted already, each lies somewhere else.
const AHEAD: usize = 16;

/// The numbers of `num_rows` rows in the order of their bytes; equal ones stay as they are.
pub(super) fn row_order(rows: &Rows, num_rows: u32, memory: &mut SortMemory) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..num_rows).collect();
    let mut open = vec![(0..sorted.len(), 0, 0)];
    while let Some((stretch, from, level)) = open.pop() {
        let order = &mut sorted[stretch.clone()];
        if order.len() <= FEW || level == MAX_LEVELS {
            let rest = |row: u32| rest_of(rows, row, from);
            order.sort_by(|a, b| rest(*a).cmp(rest(*b)));
            continue;
        }
        let Some(same) = same_bytes(rows, order, from) else {
            continue;
        };
        let from = from + same;
        let place_bits = u64::BITS - (order.len() as u64).leading_zeros();
        sort_by_words(rows, order, (from, place_bits), memory);
        let behind = from + ((u64::BITS - place_bits) / u8::BITS) as usize;
        let again = same_words(&memory.words, place_bits);
        let place = |run: Range<usize>| stretch.start + run.start..stretch.start + run.end;
        open.extend(again.map(|run| (place(run), behind, level + 1)));
    }
    sorted
}

/// The bytes of a row from one on.
fn rest_of(rows: &Rows, row: u32, from: usize) -> &[u8] {
    let bytes = rows.row(row as usize).data();
    bytes.get(from..).unwrap_or(&[])
}

/// Has the processor fetch the bytes of a row from one on.
fn ask_for(rows: &Rows, row: Option<&u32>, from: usize) {
    if let Some(row) = row {
        prefetch(rest_of(rows, *row, from), 0);
    }
}

/// How many bytes of some rows from one on are the same; none if all are.
fn same_bytes(rows: &Rows, order: &[u32], from: usize) -> Option<usize> {
    let first = rest_of(rows, order[0], from);
    let mut same = first.len();
    for (at, row) in order.iter().enumerate().skip(1) {
        ask_for(rows, order.get(at + AHEAD), from);
        let rest = rest_of(rows, *row, from);
        if rest.get(..same) != Some(&first[..same]) {
            let pairs = rest.iter().zip(first);
            same = pairs.take_while(|(a, b)| a == b).count();
        }
        if same == 0 {
            break;
        }
    }
    (same < first.len()).then_some(same)
}

/// Sorts rows by their bits from a byte on, as many as fit above their places, whose words memory has afterwards.
fn sort_by_words(
    rows: &Rows,
    order: &mut [u32],
    (from, place_bits): (usize, u32),
    memory: &mut SortMemory,
) {
    let SortMemory { words, scratch, .. } = memory;
    words.clear();
    let places = low_bits(place_bits);
    words.extend(order.iter().enumerate().map(|(place, row)| {
        ask_for(rows, order.get(place + AHEAD), from);
        word_of(rest_of(rows, *row, from)) & !places | place as u64
    }));
    scratch.resize(words.len(), 0);
    radix_sort(words, scratch);
    // What was scratch before takes the rows in their order.
    let taken = scratch.iter_mut().zip(words.iter());
    taken.for_each(|(row, word)| *row = order[(word & places) as usize].into());
    let moved = order.iter_mut().zip(scratch.iter());
    moved.for_each(|(row, moved)| *row = *moved as u32);
}

/// The first eight bytes as a number that compares as they do; zeros behind the last.
fn word_of(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut word = [0; size_of::<u64>()];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(word)
}

/// Stretches of sorted words that are the same above their places.
fn same_words(words: &[u64], place_bits: u32) -> impl Iterator<Item = Range<usize>> {
    let mut runs = words.chunk_by(move |a, b| a >> place_bits == b >> place_bits);
    let mut end = 0;
    std::iter::from_fn(move || {
        let run = runs.next()?;
        let start = end;
        end += run.len();
        Some(start..end)
    })
    .filter(|run| run.len() > 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int64Array, UInt8Array};

    use super::super::key_converter::KeyConverter;
    use super::super::packed_order::SortMemory;
    use super::row_order;

    fn check(columns: &[ArrayRef]) {
        let types = columns.iter().map(|c| c.data_type().clone());
        let rows = KeyConverter::new(types).unwrap().rows(columns).unwrap();
        let num_rows = u32::try_from(rows.num_rows()).unwrap();
        let mut expected: Vec<u32> = (0..num_rows).collect();
        expected.sort_by_key(|row| rows.row(*row as usize));
        let mut memory = SortMemory::default();
        assert_eq!(row_order(&rows, num_rows, &mut memory), expected);
        // Memory that was used before.
        assert_eq!(row_order(&rows, num_rows, &mut memory), expected);
    }

    /// Numbers that are the same every time.
    fn random(len: usize) -> impl Iterator<Item = u64> {
        let next = |n: &u64| Some(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        std::iter::successors(Some(7), next)
            .map(|n| n >> 20)
            .take(len)
    }

    #[test]
    fn rows_of_all_lengths_are_sorted_stably() {
        for len in [1, 2, 24, 25, 26, 1000, 20_000] {
            let few: UInt8Array = random(len).map(|n| (n % 3) as u8).collect();
            let wide: Int64Array = random(len)
                .map(|n| (n % 7 != 0).then_some(n as i64 - (1 << 43)))
                .collect();
            let float: Float64Array = random(len).map(|n| Some(n as f64)).collect();
            let texts = |of: &dyn Fn(u64) -> String| -> ArrayRef {
                let texts = random(len).map(|n| Some(of(n).into_bytes()));
                Arc::new(texts.collect::<BinaryViewArray>())
            };
            let few: ArrayRef = Arc::new(few);
            let wide: ArrayRef = Arc::new(wide);
            let float: ArrayRef = Arc::new(float);
            let empty = texts(&|n| {
                if n % 5 == 0 {
                    n.to_string()
                } else {
                    String::new()
                }
            });
            let alike = texts(&|n| format!("a beginning of many bytes that all have/{}", n % 50));
            let nested = texts(&|n| "ab".repeat((n % 40) as usize));
            let stairs = texts(&|n| "x".repeat((n % 3000) as usize));
            let zeros = texts(&|n| "\0".repeat((n % 20) as usize));
            for columns in [
                vec![Arc::clone(&few)],
                vec![Arc::clone(&wide), Arc::clone(&float)],
                vec![Arc::clone(&few), Arc::clone(&alike)],
                vec![Arc::clone(&empty)],
                vec![nested],
                vec![zeros, Arc::clone(&few)],
                vec![stairs],
                vec![alike, empty, wide],
            ] {
                check(&columns);
            }
        }
    }
}
