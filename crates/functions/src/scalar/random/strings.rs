//! Random strings, and strings with random errors.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::source::Source;
use crate::scalar::strings::reverse::fixed_array;
use crate::scalar::strings::shapes::{Ints, write_rows};
use crate::{Call, Column, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "randomString",
        purity: Purity::PerRow,
        syntax: "randomString(length[, anything])",
        description: "A string of random bytes.",
        resolve: |call| resolve_string(call, |source, out, len| source.fill(out, len)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "randomPrintableASCII",
        purity: Purity::PerRow,
        syntax: "randomPrintableASCII(length[, anything])",
        description: "A string of random printable ASCII characters.",
        resolve: |call| resolve_string(call, push_printable),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "randomStringUTF8",
        purity: Purity::PerRow,
        syntax: "randomStringUTF8(length[, anything])",
        description: "A string of random Unicode characters.",
        resolve: |call| resolve_string(call, push_characters),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "randomFixedString",
        purity: Purity::PerRow,
        syntax: "randomFixedString(length)",
        description: "A FixedString of random bytes.",
        resolve: resolve_fixed,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "fuzzBits",
        purity: Purity::PerRow,
        syntax: "fuzzBits(s, probability)",
        description: "The string with each bit turned over with a probability.",
        resolve: resolve_fuzz,
        ..ScalarFunction::BASE
    },
];

/// Longest random string.
const MAX_LEN: usize = 16_777_216;

/// Appends a random string of a length.
type Push = fn(&mut Source, &mut Vec<u8>, usize);

fn push_printable(source: &mut Source, out: &mut Vec<u8>, len: usize) {
    // Printable are the 95 characters from the space to the tilde.
    out.extend((0..len).map(|_| b' ' + source.below(95) as u8));
}

fn push_characters(source: &mut Source, out: &mut Vec<u8>, len: usize) {
    let mut num_chars = 0;
    while num_chars < len {
        // Surrogates are no characters.
        if let Some(c) = char::from_u32(source.below(0x11_0000) as u32) {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            num_chars += 1;
        }
    }
}

fn checked_len(len: i64) -> Result<usize> {
    let len = usize::try_from(len).ok().filter(|len| *len <= MAX_LEN);
    len.ok_or_else(|| {
        Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("Length of a random string must be from 0 to {MAX_LEN}"),
        )
    })
}

fn resolve_string(call: &Call<'_>, push: Push) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_integer)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let lengths = Ints::new(&columns[0])?;
        let mut source = Source::new();
        write_rows(columns, num_rows, |row, out| {
            push(&mut source, out, checked_len(lengths.value(row))?);
            Ok(())
        })
    })
}

fn resolve_fixed(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let len = checked_len(call.constant_i64(0)?)?;
    let size = u32::try_from(len).unwrap_or(0);
    if size == 0 {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            "Length of a FixedString must be at least 1",
        ));
    }
    Resolved::new(DataType::FixedString(size), move |_, num_rows| {
        let mut bytes = Vec::new();
        Source::new().fill(&mut bytes, num_rows * len);
        fixed_array(len, bytes)
    })
}

fn resolve_fuzz(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_float)?;
    let probability = call.constant_f64(1)?;
    if !(0.0..=1.0).contains(&probability) {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            "Second argument of function fuzzBits must be from 0.0 to 1.0",
        ));
    }
    let return_type = call.data_type(0).clone();
    Resolved::new(return_type.clone(), move |columns, num_rows| {
        fuzz_rows(columns, num_rows, probability, &return_type)
    })
}

fn fuzz_rows(
    columns: &[Column],
    num_rows: usize,
    probability: f64,
    return_type: &DataType,
) -> Result<ArrayRef> {
    let strings = columns[0].strings()?;
    let mut source = Source::new();
    let mut fuzz = |byte: &u8| {
        (0..8).fold(*byte, |byte, bit| {
            byte ^ u8::from(source.canonical() < probability) << bit
        })
    };
    if let DataType::FixedString(size) = return_type {
        let bytes = (0..num_rows)
            .flat_map(|row| strings.value(row))
            .map(&mut fuzz);
        return fixed_array(*size as usize, bytes.collect());
    }
    write_rows(columns, num_rows, |row, out| {
        out.extend(strings.value(row).iter().map(&mut fuzz));
        Ok(())
    })
}
