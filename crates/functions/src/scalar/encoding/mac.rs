//! Converts MAC addresses between numbers and texts.

use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;

use super::hex::HEX_DIGITS;
use crate::scalar::strings::shapes::{text_to_number, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "MACNumToString",
        syntax: "MACNumToString(n)",
        description: "The number of a MAC address as text.",
        resolve: resolve_text,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "MACStringToNum",
        syntax: "MACStringToNum(s)",
        description: "The number of the MAC address that a text is, 0 for other texts.",
        resolve: |call| {
            text_to_number::<UInt64Type>(call, DataType::UInt64, |s| parse(s, 6).unwrap_or(0))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "MACStringToOUI",
        syntax: "MACStringToOUI(s)",
        description: "The first three bytes of a MAC address as a number.",
        resolve: |call| {
            text_to_number::<UInt64Type>(call, DataType::UInt64, |s| {
                parse(s, 3)
                    .or_else(|| Some(parse(s, 6)? >> 24))
                    .unwrap_or(0)
            })
        },
        ..ScalarFunction::BASE
    },
];

fn resolve_text(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::UInt64)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let numbers = columns[0].primitive::<UInt64Type>()?;
        write_rows(columns, num_rows, |row, out| {
            let number = numbers.value(columns[0].row(row));
            for (i, byte) in number.to_be_bytes()[2..].iter().enumerate() {
                if i > 0 {
                    out.push(b':');
                }
                out.extend([byte >> 4, byte & 15].map(|d| HEX_DIGITS[usize::from(d)]));
            }
            Ok(())
        })
    })
}

/// `num_bytes` pairs of digits with any character between them.
fn parse(text: &[u8], num_bytes: usize) -> Option<u64> {
    if text.len() != num_bytes * 3 - 1 {
        return None;
    }
    text.chunks(3).try_fold(0u64, |number, pair| {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        Some(number << 8 | u64::from(high * 16 + low))
    })
}
