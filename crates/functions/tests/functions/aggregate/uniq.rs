//! Numbers of distinct values: estimates, and the words that operators count themselves.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Int16Array, Int64Array, StringArray, UInt64Array,
};
use arrow::datatypes::UInt64Type;
use basalt_types::DataType;

use super::one_group;
use basalt_functions::Context;
use basalt_functions::aggregate::{Aggregator, DistinctWords, bind, rows_without_null};

/// The states of `uniq` behind some numbers.
fn states_of(numbers: impl Iterator<Item = u64>) -> Box<dyn Aggregator> {
    let numbers = UInt64Array::from_iter_values(numbers);
    let groups = one_group(numbers.len());
    let bound = bind("uniq", &[], &[DataType::UInt64], &Context::default()).expect("uniq");
    let mut states = (bound.factory)();
    states.update(&[Arc::new(numbers)], groups).expect("update");
    states
}

fn estimate(states: &mut dyn Aggregator) -> u64 {
    let estimates = states.finish(0..1).expect("finish");
    estimates.as_primitive::<UInt64Type>().value(0)
}

/// `SELECT uniq(number) FROM numbers(n)` in ClickHouse.
#[test]
fn estimates_are_those_of_clickhouse() {
    for (n, expected) in [(1, 1), (100, 100), (65_536, 65_536), (1_000_000, 1_001_943)] {
        let mut all = states_of(0..n);
        assert_eq!(estimate(all.as_mut()), expected);
        let mut left = states_of((0..n).filter(|number| number % 3 == 0));
        let mut right = states_of((0..n).filter(|number| number % 3 != 0));
        let right = right.states(0..1).expect("states");
        left.merge(&right, one_group(1)).expect("merge");
        assert_eq!(estimate(left.as_mut()), expected);
    }
}

fn words_of(array: impl Array + 'static) -> DistinctWords {
    DistinctWords::of(&[Arc::new(array)]).expect("words")
}

#[test]
fn words_are_as_narrow_as_values() {
    let DistinctWords::Words32(words) = words_of(Int16Array::from(vec![-1, 1])) else {
        panic!("no words of 32 bits");
    };
    assert_eq!(*words, [u32::MAX, 1]);
    let DistinctWords::Words64(words) = words_of(Int64Array::from(vec![-1, 1])) else {
        panic!("no words of 64 bits");
    };
    assert_eq!(*words, [u64::MAX, 1]);
    let DistinctWords::Words64(words) = words_of(Float64Array::from(vec![0.0, -0.0])) else {
        panic!("no words of 64 bits");
    };
    assert_ne!(words[0], words[1]);
    let DistinctWords::Words128(words) = words_of(StringArray::from(vec!["a", "b", "a"])) else {
        panic!("no words of 128 bits");
    };
    assert_eq!(words[0], words[2]);
    assert_ne!(words[0], words[1]);
}

#[test]
fn null_in_any_column_counts() {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(1), None, Some(2)])),
        Arc::new(Int16Array::from(vec![1, 2, 3])),
        Arc::new(Int64Array::from(vec![Some(1), Some(2), None])),
    ];
    let valid = rows_without_null(&columns).expect("nulls");
    assert_eq!(valid.iter().collect::<Vec<_>>(), [true, false, false]);
    assert!(rows_without_null(&columns[1..2]).is_none());
}
