//! Compares orders of packed words with those of a sort by keys.

use std::sync::Arc;

use arrow::array::{Array, Int8Array, Int64Array, UInt16Array, UInt32Array, UInt64Array};
use arrow::compute::take;

use super::*;

fn rows(columns: &[ArrayRef]) -> Option<Vec<u32>> {
    let num_rows = u32::try_from(columns[0].len()).unwrap();
    // In pieces, some of them empty.
    let pieces = columns.iter().map(|column| {
        let ends = [0, column.len() / 3, column.len() / 3, column.len()];
        let pieces = ends.windows(2).map(|e| column.slice(e[0], e[1] - e[0]));
        pieces.collect::<Vec<_>>()
    });
    let pieces: Vec<Vec<ArrayRef>> = pieces.collect();
    let pieces: Vec<&[ArrayRef]> = pieces.iter().map(Vec::as_slice).collect();
    let order = packed_order(&pieces, num_rows, &mut SortMemory::default())?;
    let Some(rows) = order.permutation.rows() else {
        return Some((0..num_rows).collect());
    };
    for (key, column) in order.keys.iter().zip(columns) {
        assert_eq!(key.is_none(), column.null_count() > 0);
        if let Some(key) = key {
            assert_eq!(key, &take(column, rows, None).unwrap());
        }
    }
    Some(rows.values().to_vec())
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
    let sorted = packed_order(&[&[constant]], 3, &mut SortMemory::default());
    assert!(sorted.unwrap().permutation.rows().is_none());
    assert_eq!(rows(&[Arc::clone(&wide), Arc::clone(&wide)]), None);
    // NULL would be beyond the last number.
    let full: ArrayRef = Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)]));
    assert_eq!(rows(&[full]), None);
    let nothing: ArrayRef = Arc::new(UInt64Array::from(vec![None, None]));
    assert_eq!(rows(&[nothing]), Some(vec![0, 1]));
}

#[test]
fn runs_of_rows_are_sorted_as_rows_are() {
    let mut state = 3_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 33
    };
    // Runs as short as pay, longer than a stride, longer than a chunk.
    for longest in [3, 20, 6000] {
        for spread in [2, 1 << 20, 1 << 31] {
            let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
            while a.len() < 30_000 {
                let len = random() % longest + 2;
                let (wide, few) = (random() % spread * 3_000_000_007, random() % 3);
                for _ in 0..len {
                    a.push(wide as i64 - (1 << 62));
                    b.push((few > 0).then_some(few as i8));
                    c.push(few as u16);
                }
            }
            let wide: ArrayRef = Arc::new(Int64Array::from(a.clone()));
            let nullable: ArrayRef = Arc::new(Int8Array::from(b.clone()));
            let few: ArrayRef = Arc::new(UInt16Array::from(c.clone()));
            let mut expected: Vec<u32> = (0..a.len() as u32).collect();
            expected.sort_by_key(|row| (c[*row as usize], a[*row as usize]));
            assert_eq!(rows(&[few, Arc::clone(&wide)]), Some(expected.clone()));
            let place = |row: u32| (b[row as usize].is_none(), b[row as usize]);
            expected.sort_by_key(|row| (a[*row as usize], place(*row), *row));
            assert_eq!(rows(&[wide, nullable]), Some(expected));
        }
    }
}
