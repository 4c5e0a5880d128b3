//! Makes a table of all types for tests that step around thresholds, and the keys that it is sorted by.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BinaryViewArray, PrimitiveArray, RecordBatch, UInt32Array,
};
use arrow::datatypes::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};

use super::Key;
use super::columns::{Row, decimal, fixed, float, list, strings, text, tuple, wide};

/// The column of the rows' numbers.
const ROW: &str = "row";

/// Keys of several columns, and of rows that are nothing else: those are counted, or need no place.
const COMBINED: [(&[&str], bool); 12] = [
    (&["few", "i64"], true),
    (&["u8", "text"], true),
    (&["full_f64", "i8"], true),
    (&["skewed", "u32"], true),
    (&["uuid", "decimal"], true),
    (&["list", "few"], true),
    (&["few", "i32", "text"], true),
    (&["f64", "u8", "i64"], true),
    (&["text", "text2"], false),
    (&["few", "i8"], false),
    (&["u16"], false),
    (&["f64"], false),
];

/// A number that looks like chance, another one for each row.
pub(super) fn random(row: usize) -> u64 {
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

/// Strings of random numbers.
fn bytes(num_rows: usize, value: fn(u64) -> Option<String>) -> ArrayRef {
    let values = (0..num_rows).map(random).map(value);
    Arc::new(values.collect::<BinaryViewArray>())
}

/// Long strings that begin with the same, each of them once.
fn distinct_url(n: u64) -> Option<String> {
    Some(format!("https://www.example.com/catalogue/items/{n:016x}"))
}

/// Nearly all begin with one of two long strings.
fn skewed_url(n: u64) -> Option<String> {
    match n % 100 {
        0..60 => Some(format!("https://shop.example.com/catalogue/items/{n:x}")),
        60..95 => Some(format!("https://news.example.org/articles/of/today/{n:x}")),
        95..98 => Some(format!("{}", n % 1000)),
        _ => None,
    }
}

fn second_text(n: u64) -> Option<String> {
    let text = |n: u64| format!("https://a.example/{}/{}", n % 3, n % 11);
    (!n.is_multiple_of(13)).then(|| text(n >> 36))
}

/// Numbers of all types.
fn numbers(num_rows: usize) -> Vec<(&'static str, ArrayRef)> {
    vec![
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
        ("few", full::<UInt16Type>(num_rows, |n| (n % 5) as u16)),
        ("full_i32", full::<Int32Type>(num_rows, |n| n as i32)),
        (
            "full_u64",
            full::<UInt64Type>(num_rows, |n| (n << 4) | (n & 15)),
        ),
        (
            "full_f64",
            full::<Float64Type>(num_rows, |n| float(n as u16)),
        ),
    ]
}

/// Columns of bytes, of wide numbers and of types within others.
fn others(num_rows: usize) -> Vec<(&'static str, ArrayRef)> {
    let row = |n: u64| -> Row {
        let is_null = n.is_multiple_of(10);
        let small = (!is_null).then_some((n >> 4) as u8 % 4);
        let middle = (!is_null).then_some((n >> 20) as u16);
        let large = (!is_null).then_some(n.rotate_left(17) as i64);
        (small, middle, large, n)
    };
    let rows: Vec<Row> = (0..num_rows).map(random).map(row).collect();
    vec![
        ("text", strings(&rows, text)),
        ("text2", bytes(num_rows, second_text)),
        ("urls", bytes(num_rows, distinct_url)),
        ("skewed", bytes(num_rows, skewed_url)),
        ("uuid", fixed(&rows, 16)),
        ("decimal", decimal(&rows)),
        ("wide", wide(&rows)),
        ("list", list(&rows)),
        ("tuple", tuple(&rows)),
    ]
}

/// Columns of all types, and the rows' numbers.
pub(super) fn table(num_rows: usize) -> RecordBatch {
    let row: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..num_rows as u32));
    let columns = numbers(num_rows).into_iter().chain(others(num_rows));
    let columns = columns.chain([(ROW, row)]);
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Columns to sort by, and whether the result has the rows' numbers besides.
#[derive(Debug)]
pub(super) struct Keys {
    names: Vec<String>,
    has_row: bool,
}

impl Keys {
    /// Keys of columns with these names.
    pub(super) fn new(names: &[&str], has_row: bool) -> Self {
        Self {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            has_row,
        }
    }

    /// The columns of the result, and the keys among them. Two bits are the direction of each and its place of NULLs.
    pub(super) fn of(&self, all: &RecordBatch, bits: u64) -> (RecordBatch, Vec<Key>) {
        let names = self.names.iter().map(String::as_str);
        let names = names.chain(self.has_row.then_some(ROW));
        let schema = all.schema();
        let columns: Vec<usize> = names.map(|name| schema.index_of(name).unwrap()).collect();
        let is_set = |bit: usize| (bits >> bit) & 1 == 1;
        let key = |i: usize| (i, is_set(2 * i), is_set(2 * i + 1));
        let keys = (0..self.names.len()).map(key).collect();
        (all.project(&columns).unwrap(), keys)
    }
}

/// Keys of one column each, and of several.
pub(super) fn all_keys() -> Vec<Keys> {
    let columns = numbers(0).into_iter().chain(others(0));
    let single = columns.map(|(name, _)| Keys::new(&[name], true));
    let combined = COMBINED.iter();
    let combined = combined.map(|(names, has_row)| Keys::new(names, *has_row));
    single.chain(combined).collect()
}
