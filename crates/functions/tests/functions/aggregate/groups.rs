//! States of groups: ids, and sets of numbers as values.

use std::sync::Arc;

use arrow::array::{AsArray, UInt64Array};
use arrow::datatypes::{UInt8Type, UInt64Type};
use basalt_error::ErrorCode;
use basalt_types::DataType;

use super::one_group;
use crate::testing::{Input, call, constant};
use basalt_functions::aggregate::{bind, group_ids};
use basalt_functions::{Column, Context};

#[test]
fn groups_beyond_32_bits_are_refused() {
    let last = u32::MAX as usize;
    assert_eq!(group_ids([0, last - 1], last).unwrap(), [0, u32::MAX - 1]);
    let refused = group_ids([0], last + 1).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::TOO_MANY_ROWS);
}

/// What `groupBitmap` or its state makes of numbers.
fn bitmap_of(name: &str, numbers: &UInt64Array) -> Input {
    let bound = bind(name, &[], &[DataType::UInt64], &Context::default()).expect(name);
    let mut states = (bound.factory)();
    let groups = one_group(numbers.len());
    states
        .update(&[Arc::new(numbers.clone())], groups)
        .expect(name);
    Input {
        data_type: bound.return_type,
        column: Column::new(states.finish(0..1).expect(name)),
    }
}

fn members(bitmap: &Input) -> Vec<u64> {
    let array = call("bitmapToArray", std::slice::from_ref(bitmap), 1).expect("array");
    let list = array.column.array.as_list::<i32>().value(0);
    list.as_primitive::<UInt64Type>().values().to_vec()
}

fn contains(bitmap: &Input, number: &str) -> bool {
    let args = [bitmap.clone(), constant("UInt64", number)];
    let found = call("bitmapContains", &args, 1).expect("contains");
    found.column.array.as_primitive::<UInt8Type>().value(0) == 1
}

#[test]
fn a_bitmap_survives_all_its_forms() {
    for len in [0_u64, 3, 32, 33, 5000, 200_000] {
        let descending = || (0..len).rev().map(|n| n * 3);
        let numbers = UInt64Array::from_iter_values(descending().chain(descending()));
        let size = bitmap_of("groupBitmap", &numbers).column.array;
        assert_eq!(size.as_primitive::<UInt64Type>().value(0), len);
        let bitmap = bitmap_of("groupBitmapState", &numbers);
        // A small one keeps the order of arrival.
        let expected: Vec<u64> = match len {
            0..=32 => descending().collect(),
            _ => (0..len).map(|n| n * 3).collect(),
        };
        assert_eq!(members(&bitmap), expected);
        assert!(!contains(&bitmap, "1") && contains(&bitmap, "0") == (len > 0));
        let copy = call("bitmapOr", &[bitmap.clone(), bitmap], 1).expect("written again");
        assert_eq!(members(&copy), expected);
    }
}
