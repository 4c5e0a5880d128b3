//! Integers: their decimal texts, and which of them are primes.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, UInt64Array};
use arrow::datatypes::UInt8Type;
use basalt_types::DataType;

use crate::testing::{Input, call};
use basalt_functions::Column;

fn results(name: &str, data_type: DataType, array: ArrayRef) -> ArrayRef {
    let num_rows = array.len();
    let column = Column::new(array);
    let result = call(name, &[Input { data_type, column }], num_rows).expect(name);
    assert_eq!(result.column.array.len(), num_rows);
    result.column.array
}

fn check_texts(data_type: DataType, array: ArrayRef, expected: &[String]) {
    let found = results("toString", data_type, array);
    let found = found.as_binary_view();
    assert_eq!(found.len(), expected.len());
    for (row, expected) in expected.iter().enumerate() {
        assert_eq!(found.value(row), expected.as_bytes());
    }
}

#[test]
fn every_length_is_written() {
    let powers = (0..20).map(|e| 10_u64.pow(e));
    let mut numbers: Vec<u64> = powers.flat_map(|p| [p - 1, p, p + 1]).collect();
    numbers.extend(
        (0..5000_u32).map(|i| 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(i.into()) >> (i % 64)),
    );
    numbers.push(u64::MAX);
    let expected: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let array = UInt64Array::from(numbers.clone());
    check_texts(DataType::UInt64, Arc::new(array), &expected);
    let signed: Vec<i64> = numbers
        .iter()
        .flat_map(|n| [*n as i64, (*n as i64).wrapping_neg()])
        .collect();
    let expected: Vec<String> = signed.iter().map(ToString::to_string).collect();
    let array = Int64Array::from(signed);
    check_texts(DataType::Int64, Arc::new(array), &expected);
}

#[test]
fn primes_are_those_that_nothing_divides() {
    let numbers = UInt64Array::from_iter_values((0..2000).chain([u64::MAX - 58, u64::MAX]));
    for name in ["isPrime", "isProbablePrime"] {
        let found = results(name, DataType::UInt64, Arc::new(numbers.clone()));
        let found = found.as_primitive::<UInt8Type>();
        for n in 0..2000_u64 {
            let naive = n > 1 && (2..n).all(|d| !n.is_multiple_of(d));
            assert_eq!(found.value(n as usize), u8::from(naive), "{name}({n})");
        }
        assert_eq!(found.value(2000), 1);
        assert_eq!(found.value(2001), 0);
    }
}
