//! Measures strings: length, emptiness, validity, bytes in use.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::datatypes::{Float64Type, Int32Type, UInt8Type, UInt16Type, UInt64Type};
use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::string_to_number;
use super::utf8::count_chars;
use crate::characters::is_utf8;
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "length",
        fails: Fails::Never,
        aliases: &["OCTET_LENGTH", "CARDINALITY"],
        case_insensitive: true,
        syntax: "length(s)",
        description: "Length of a string in bytes, of an array or a map in elements.",
        resolve: |call| size_of::<UInt64Type>(call, DataType::UInt64, |len| len as u64),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "lengthUTF8",
        fails: Fails::Never,
        aliases: &["CHAR_LENGTH", "CHARACTER_LENGTH"],
        case_insensitive: true,
        syntax: "lengthUTF8(s)",
        description: "Length of a string in Unicode characters.",
        resolve: |call| {
            string_to_number::<UInt64Type>(call, DataType::UInt64, |s| count_chars(s) as u64)
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "empty",
        fails: Fails::Never,
        syntax: "empty(x)",
        description: "Whether a string, array or map is empty, or a UUID or IPv6 address all zeros.",
        resolve: |call| size_of::<UInt8Type>(call, DataType::UInt8, |len| u8::from(len == 0)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notEmpty",
        fails: Fails::Never,
        syntax: "notEmpty(x)",
        description: "Whether a string, array or map has something in it.",
        resolve: |call| size_of::<UInt8Type>(call, DataType::UInt8, |len| u8::from(len != 0)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "ascii",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "ascii(s)",
        description: "Number of the first byte of a string, 0 for an empty one.",
        resolve: |call| {
            string_to_number::<Int32Type>(call, DataType::Int32, |s| {
                s.first().map_or(0, |b| i32::from(*b))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isValidUTF8",
        fails: Fails::Never,
        syntax: "isValidUTF8(s)",
        description: "Whether the bytes of a string are UTF-8.",
        resolve: |call| {
            string_to_number::<UInt8Type>(call, DataType::UInt8, |s| u8::from(is_utf8(s)))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "isValidASCII",
        fails: Fails::Never,
        aliases: &["isASCII"],
        syntax: "isValidASCII(s)",
        description: "Whether all bytes of a string are below 128.",
        resolve: |call| {
            string_to_number::<UInt8Type>(call, DataType::UInt8, |s| u8::from(s.is_ascii()))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "stringBytesUniq",
        fails: Fails::Never,
        syntax: "stringBytesUniq(s)",
        description: "Number of different bytes in a string.",
        resolve: |call| {
            string_to_number::<UInt16Type>(call, DataType::UInt16, |s| {
                byte_counts(s).iter().filter(|c| **c > 0).count() as u16
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "stringBytesEntropy",
        fails: Fails::Never,
        syntax: "stringBytesEntropy(s)",
        description: "Shannon entropy of a string's bytes, in bits.",
        resolve: |call| string_to_number::<Float64Type>(call, DataType::Float64, bytes_entropy),
        ..ScalarFunction::BASE
    },
];

/// `f(number of bytes or elements)`; `empty` also knows addresses, whose length is then all zeros.
fn size_of<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    return_type: DataType,
    f: fn(usize) -> T::Native,
) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let data_type = call.data_type(0).clone();
    let is_length = return_type == DataType::UInt64;
    match data_type {
        DataType::Array(_) | DataType::Map(..) => {}
        DataType::Uuid | DataType::Ipv6 | DataType::Ipv4 if !is_length => {}
        _ => call.expect_type(0, DataType::is_string)?,
    }
    // A FixedString is empty if it is all zeros, but its length is that of its type.
    let trims_zeros = !is_length && data_type != DataType::String;
    Resolved::new(return_type, move |columns, num_rows| {
        if let Some(lists) = columns[0].array.as_list_opt::<i32>() {
            let sizes = lists.offsets().windows(2).map(|w| (w[1] - w[0]) as usize);
            return Ok(repeat_const::<T>(
                sizes.map(f).collect(),
                &columns[0],
                num_rows,
            ));
        }
        if let Some(numbers) = columns[0]
            .array
            .as_primitive_opt::<arrow::datatypes::UInt32Type>()
        {
            let sizes = numbers.values().iter().map(|n| *n as usize);
            return Ok(repeat_const::<T>(
                sizes.map(f).collect(),
                &columns[0],
                num_rows,
            ));
        }
        if let (Some(views), false) = (columns[0].array.as_binary_view_opt(), columns[0].is_const) {
            // The length is the lowest part of a view: no string is touched.
            let sizes = views.views().iter().map(|v| f(*v as u32 as usize));
            return Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(sizes)));
        }
        let strings = columns[0].strings()?;
        let sizes = (0..num_rows).map(|row| {
            let value = strings.value(row);
            let is_zero = trims_zeros && value.iter().all(|b| *b == 0);
            f(if is_zero { 0 } else { value.len() })
        });
        Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(sizes)))
    })
}

fn repeat_const<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    column: &Column,
    num_rows: usize,
) -> ArrayRef {
    let values = if column.is_const {
        vec![values.first().copied().unwrap_or_default(); num_rows]
    } else {
        values
    };
    Arc::new(PrimitiveArray::<T>::new(values.into(), None))
}

fn byte_counts(bytes: &[u8]) -> [u32; 256] {
    let mut counts = [0u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    counts
}

fn bytes_entropy(bytes: &[u8]) -> f64 {
    let total = bytes.len() as f64;
    let shares = byte_counts(bytes).into_iter().filter(|c| *c > 0);
    shares
        .map(|count| f64::from(count) / total)
        .map(|p| -p * p.log2())
        .sum()
}
