//! Makes columns of all types of rows of numbers.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryViewArray, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, ListArray, PrimitiveArray, RecordBatch, StructArray,
};
use arrow::datatypes::{
    Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type, i256,
};

/// A row as numbers, from which columns of all types are made.
pub(super) type Row = (Option<u8>, Option<u16>, Option<i64>, u64);

/// Columns of [`batch`].
pub(super) const NUM_COLUMNS: usize = 21;

/// Those of them that are integers.
pub(super) const INTEGERS: [usize; 9] = [0, 1, 2, 3, 12, 17, 18, 19, 20];

const FLOATS: [f64; 8] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    -0.0,
    1.5,
    -2.5,
    f64::MIN_POSITIVE,
];

pub(super) fn float(n: u16) -> f64 {
    match FLOATS.get(usize::from(n % 16)) {
        Some(float) => *float,
        None => f64::from(n) - 300.0,
    }
}

fn short(n: u16) -> Vec<u8> {
    [b"", b"a".as_slice(), b"a\0", b"b", b"\xff\xff"][usize::from(n % 5)].to_vec()
}

/// Strings that differ late, and by a zero byte.
pub(super) fn text(n: u16) -> Vec<u8> {
    match n % 4 {
        0 => b"https://".to_vec(),
        1 => format!("https://a.example/{n}").into_bytes(),
        2 => format!("https://a.example/{}\0", n - 1).into_bytes(),
        _ => format!("https://b{n}").into_bytes(),
    }
}

/// Most begin with the same for long, some with something else.
fn url(n: u16) -> Vec<u8> {
    match n % 16 {
        0 => Vec::new(),
        1 => b"ftp://old.example/".to_vec(),
        2 => b"https://www.example.com/a/long/".to_vec(),
        _ => format!(
            "https://www.example.com/a/long/path/{}/and/on/{}",
            n % 7,
            n / 16
        )
        .into_bytes(),
    }
}

fn primitive<T: ArrowPrimitiveType>(
    rows: &[Row],
    value: impl Fn(&Row) -> Option<T::Native>,
) -> ArrayRef {
    let values = rows.iter().map(value);
    Arc::new(values.collect::<PrimitiveArray<T>>())
}

pub(super) fn strings(rows: &[Row], value: fn(u16) -> Vec<u8>) -> ArrayRef {
    let values = rows.iter().map(|r| r.1.map(value));
    Arc::new(values.collect::<BinaryViewArray>())
}

/// Strings of `size` bytes.
pub(super) fn fixed(rows: &[Row], size: i32) -> ArrayRef {
    let wide = |n: &i64| {
        let mut bytes = vec![0; size as usize];
        bytes[..8].copy_from_slice(&n.to_be_bytes());
        bytes[size as usize - 1] = 7;
        bytes
    };
    let values = rows.iter().map(|r| r.2.as_ref().map(wide));
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, size).unwrap())
}

/// Arrays that begin with the same, end early, and have NULLs.
pub(super) fn list(rows: &[Row]) -> ArrayRef {
    let values = |n: u16| (0..n % 4).map(move |i| (n % 7 > i).then(|| i32::from(n % 3)));
    let lists = rows.iter().map(|r| r.1.map(values));
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

/// Tuples of a number and a string.
pub(super) fn tuple(rows: &[Row]) -> ArrayRef {
    let first = primitive::<UInt8Type>(rows, |r| r.0);
    let columns = [("1", first), ("2", strings(rows, text))];
    let fields = columns.iter().map(|(name, column)| {
        let data_type = column.data_type().clone();
        Field::new(*name, data_type, true)
    });
    let fields = fields.collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    Arc::new(StructArray::try_new_with_length(fields, columns, None, rows.len()).unwrap())
}

/// Numbers of 128 bits.
pub(super) fn decimal(rows: &[Row]) -> ArrayRef {
    let values = rows.iter().map(|r| r.2.map(|n| i128::from(n) << 50));
    let values = values.collect::<Decimal128Array>();
    Arc::new(values.with_precision_and_scale(38, 5).unwrap())
}

/// Numbers of 256 bits.
pub(super) fn wide(rows: &[Row]) -> ArrayRef {
    let values = rows.iter().map(|r| r.2.map(i256::from));
    let values = values.collect::<Decimal256Array>();
    Arc::new(values.with_precision_and_scale(76, 5).unwrap())
}

/// A column of each type and more; column 12 is made of the last number.
pub(super) fn batch(rows: &[Row]) -> RecordBatch {
    let columns: [(&str, ArrayRef); NUM_COLUMNS] = [
        ("u8", primitive::<UInt8Type>(rows, |r| r.0)),
        ("u16", primitive::<UInt16Type>(rows, |r| r.1)),
        ("i64", primitive::<Int64Type>(rows, |r| r.2)),
        ("i8", primitive::<Int8Type>(rows, |r| r.0.map(|n| n as i8))),
        ("f64", primitive::<Float64Type>(rows, |r| r.1.map(float))),
        (
            "f32",
            primitive::<Float32Type>(rows, |r| r.1.map(|n| float(n) as f32)),
        ),
        ("decimal", decimal(rows)),
        ("uuid", fixed(rows, 16)),
        ("fixed", fixed(rows, 20)),
        ("nine", fixed(rows, 9)),
        ("short", strings(rows, short)),
        ("text", strings(rows, text)),
        ("payload", primitive::<UInt64Type>(rows, |r| Some(r.3))),
        ("url", strings(rows, url)),
        ("list", list(rows)),
        ("tuple", tuple(rows)),
        ("wide", wide(rows)),
        (
            "i16",
            primitive::<Int16Type>(rows, |r| r.1.map(|n| n as i16)),
        ),
        (
            "i32",
            primitive::<Int32Type>(rows, |r| r.2.map(|n| (n >> 32) as i32)),
        ),
        (
            "u32",
            primitive::<UInt32Type>(rows, |r| r.2.map(|n| n as u32)),
        ),
        (
            "u64",
            primitive::<UInt64Type>(rows, |r| r.2.map(|n| n as u64)),
        ),
    ];
    let columns = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}
