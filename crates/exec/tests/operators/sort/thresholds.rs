//! Sorts as many rows as each threshold says, one less and one more: each type and strategy against a stable
//! sort.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewArray, PrimitiveArray, RecordBatch, UInt32Array,
};
use arrow::datatypes::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use basalt_exec::sort::{Limit, Options, Strategy};

use super::{context, expected, float, partitions, run, sort_of, text};

/// Rows or words where something changes: comparing, stretches, batches and parts, pieces of a part, the
/// best rows. A batch of the operator's result has 65505.
const THRESHOLDS: [usize; 6] = [384, 2048, 4096, 8192, 32_768, 65_536];

/// Rows up to which each direction and place of NULLs is tried with each threshold; above, they take turns.
const ALL_WAYS_ROWS: usize = 3000;

fn random(row: usize) -> u64 {
    let mixed = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ (mixed >> 32)
}

/// Values of random numbers; each tenth row or so is NULL.
fn column<T: ArrowPrimitiveType>(num_rows: usize, value: impl Fn(u64) -> T::Native) -> ArrayRef {
    let values = (0..num_rows).map(random);
    let values = values.map(|n| (!n.is_multiple_of(10)).then(|| value(n >> 4)));
    Arc::new(values.collect::<PrimitiveArray<T>>())
}

/// The same without NULL.
fn full<T: ArrowPrimitiveType>(num_rows: usize, value: impl Fn(u64) -> T::Native) -> ArrayRef {
    let values = (0..num_rows).map(|row| value(random(row) >> 4));
    Arc::new(PrimitiveArray::<T>::from_iter_values(values))
}

/// Columns of all types, and the rows' numbers.
fn table(num_rows: usize) -> RecordBatch {
    let texts = (0..num_rows).map(random);
    let texts = texts.map(|n| (!n.is_multiple_of(10)).then(|| text((n >> 20) as u16)));
    let columns: [(&str, ArrayRef); 15] = [
        ("i8", column::<Int8Type>(num_rows, |n| n as i8)),
        ("i16", column::<Int16Type>(num_rows, |n| n as i16)),
        ("i32", column::<Int32Type>(num_rows, |n| n as i32)),
        ("i64", column::<Int64Type>(num_rows, |n| (n << 4) as i64)),
        ("u8", column::<UInt8Type>(num_rows, |n| n as u8)),
        ("u16", column::<UInt16Type>(num_rows, |n| n as u16)),
        ("u32", column::<UInt32Type>(num_rows, |n| n as u32)),
        ("u64", column::<UInt64Type>(num_rows, |n| n << 4)),
        (
            "f32",
            column::<Float32Type>(num_rows, |n| float(n as u16) as f32),
        ),
        ("f64", column::<Float64Type>(num_rows, |n| float(n as u16))),
        ("text", Arc::new(texts.collect::<BinaryViewArray>())),
        ("few", full::<UInt16Type>(num_rows, |n| (n % 5) as u16)),
        ("full_i32", full::<Int32Type>(num_rows, |n| n as i32)),
        (
            "full_f64",
            full::<Float64Type>(num_rows, |n| float(n as u16)),
        ),
        (
            "row",
            Arc::new(UInt32Array::from_iter_values(0..num_rows as u32)),
        ),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Keys of one column each, and pairs.
fn all_keys() -> Vec<Vec<usize>> {
    let pairs = [[11, 3], [4, 10], [13, 0]];
    let single = (0..14).map(|column| vec![column]);
    single.chain(pairs.map(Vec::from)).collect()
}

/// The `way`th of four directions and places of NULLs for keys of these columns, of which the second falls
/// where the first rises.
fn keys_of(columns: &[usize], way: usize) -> Vec<(usize, bool, bool)> {
    let keys = columns.iter().enumerate();
    let key = |(i, column): (usize, &usize)| (*column, (way + i) % 2 == 1, way / 2 == 1);
    keys.map(key).collect()
}

/// Sorts rows by some of their columns, with each strategy.
fn check(all: &RecordBatch, columns: &[usize], way: usize, limit: Limit) {
    let mut projected = columns.to_vec();
    projected.push(all.num_columns() - 1);
    let all = all.project(&projected).unwrap();
    let places: Vec<usize> = (0..columns.len()).collect();
    let keys = keys_of(&places, way);
    let end = limit
        .fetch
        .map_or(all.num_rows(), |fetch| fetch.min(all.num_rows()));
    let expected = expected(&all, &keys).slice(0, end);
    // One batch as large as the threshold, and several.
    let num_inputs = 1 + way % 2;
    for strategy in Strategy::ALL {
        let options = Options {
            strategy,
            external_bytes: None,
        };
        let input = partitions(&all, num_inputs, all.num_rows().div_ceil(num_inputs));
        let sort = sort_of(all.schema(), &input, &keys);
        let sort = sort.with_options(options).with_limit(limit);
        let sorted = run(sort, context(2, 65_505));
        assert!(
            sorted == expected,
            "{} rows by {columns:?}, {keys:?}, {strategy:?}, {limit:?}",
            all.num_rows()
        );
    }
}

#[test]
fn each_type_around_each_threshold() {
    let mut turn = 0;
    for num_rows in THRESHOLDS.iter().flat_map(|t| [t - 1, *t, t + 1]) {
        let all = table(num_rows);
        for columns in all_keys() {
            if num_rows <= ALL_WAYS_ROWS {
                (0..4).for_each(|way| check(&all, &columns, way, Limit::default()));
            } else {
                turn += 1;
                check(&all, &columns, turn % 4, Limit::default());
            }
        }
    }
}

#[test]
fn limits_around_each_threshold() {
    let all = table(70_000);
    let limits = THRESHOLDS.iter().flat_map(|t| [t - 1, *t, t + 1]);
    for (i, fetch) in limits.enumerate() {
        let limit = Limit {
            fetch: Some(fetch),
            ..Limit::default()
        };
        check(&all, &[[3, 9, 10, 12][i % 4]], i / 4 % 4, limit);
    }
}
