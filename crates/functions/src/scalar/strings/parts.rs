//! Compares parts of strings, and takes runs of their bits.

use std::cmp::Ordering;

use arrow::datatypes::Int8Type;
use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{Ints, number_rows, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "compareSubstrings",
        syntax: "compareSubstrings(a, b, offset_a, offset_b, length)",
        description: "-1, 0 or 1 as a part of the first string is less than, equal to or greater than one of the second.",
        resolve: resolve_compare,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitSlice",
        syntax: "bitSlice(s, offset[, length])",
        description: "A run of a string's bits, from a position (from the end if negative), filled up with zeros.",
        resolve: resolve_bits,
        ..ScalarFunction::BASE
    },
];

fn resolve_compare(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(5..=5)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_string)?;
    let mut numbers = [0; 3];
    for (idx, number) in (2..5).zip(&mut numbers) {
        call.expect_type(idx, DataType::is_unsigned)?;
        *number = usize::try_from(call.constant_u64(idx)?).unwrap_or(usize::MAX);
    }
    let [offset_a, offset_b, length] = numbers;
    Resolved::new(DataType::Int8, move |columns, num_rows| {
        let (a, b) = (columns[0].strings()?, columns[1].strings()?);
        number_rows::<Int8Type>(columns, num_rows, |row| {
            let part = |value: &'_ [u8], offset: usize| -> Vec<u8> {
                value.iter().skip(offset).take(length).copied().collect()
            };
            let order = part(a.value(row), offset_a).cmp(&part(b.value(row), offset_b));
            Ok(match order {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            })
        })
    })
}

fn resolve_bits(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_string)?;
    (1..call.args.len()).try_for_each(|idx| call.expect_type(idx, DataType::is_integer))?;
    Resolved::new(DataType::String, |columns, num_rows| {
        let strings = columns[0].strings()?;
        let offsets = Ints::new(&columns[1])?;
        let lengths = columns.get(2).map(Ints::new).transpose()?;
        write_rows(columns, num_rows, |row, out| {
            let length = lengths.as_ref().map(|l| l.value(row));
            push_bits(strings.value(row), offsets.value(row), length, out);
            Ok(())
        })
    })
}

fn push_bits(value: &[u8], offset: i64, length: Option<i64>, out: &mut Vec<u8>) {
    let num_bits = value.len() as i128 * 8;
    let start = match offset {
        0 => return,
        1.. => i128::from(offset) - 1,
        _ => num_bits + i128::from(offset),
    };
    let end = match length {
        None => num_bits,
        Some(length @ 0..) => start + i128::from(length),
        Some(length) => num_bits + i128::from(length),
    };
    let start = start.clamp(0, num_bits);
    let end = end.clamp(start, num_bits);
    // Both lie inside the string now.
    let bit = |at: usize| value[at / 8] >> (7 - at % 8) & 1;
    let (mut at, end) = (start as usize, end as usize);
    while at < end {
        let byte = (0..8).fold(0, |byte, i| {
            byte << 1 | if at + i < end { bit(at + i) } else { 0 }
        });
        out.push(byte);
        at += 8;
    }
}
