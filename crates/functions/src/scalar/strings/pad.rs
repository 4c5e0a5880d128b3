//! Repeats and pads strings.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::shapes::{Ints, write_rows};
use super::utf8::{char_offset, count_chars};
use crate::{Call, Resolved, ScalarFunction, memory};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "repeat",
        case_insensitive: true,
        syntax: "repeat(s, n)",
        description: "The string n times.",
        resolve: resolve_repeat,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "space",
        case_insensitive: true,
        syntax: "space(n)",
        description: "A string of n spaces.",
        resolve: resolve_space,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "leftPad",
        aliases: &["lpad"],
        case_insensitive: true,
        syntax: "leftPad(s, length[, padding])",
        description: "The string padded at its beginning, or cut, to a length in bytes.",
        resolve: |call| resolve_pad(call, true, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "rightPad",
        aliases: &["rpad"],
        case_insensitive: true,
        syntax: "rightPad(s, length[, padding])",
        description: "The string padded at its end, or cut, to a length in bytes.",
        resolve: |call| resolve_pad(call, false, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "leftPadUTF8",
        syntax: "leftPadUTF8(s, length[, padding])",
        description: "The string padded at its beginning, or cut, to a length in characters.",
        resolve: |call| resolve_pad(call, true, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "rightPadUTF8",
        syntax: "rightPadUTF8(s, length[, padding])",
        description: "The string padded at its end, or cut, to a length in characters.",
        resolve: |call| resolve_pad(call, false, true),
        ..ScalarFunction::BASE
    },
];

/// Most repetitions, and the most a string is padded to.
const MAX_REPETITIONS: i64 = 1_000_000;

fn repetitions(count: i64) -> Result<usize> {
    if count > MAX_REPETITIONS {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("Too many times to repeat ({count}), maximum is: {MAX_REPETITIONS}"),
        ));
    }
    Ok(count.max(0) as usize)
}

fn resolve_repeat(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, DataType::is_integer)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let (strings, counts) = (columns[0].strings()?, Ints::new(&columns[1])?);
        write_rows(columns, num_rows, |row, out| {
            let (value, count) = (strings.value(row), repetitions(counts.value(row))?);
            if value.len() * count > u32::MAX as usize / 2 {
                return Err(Error::new(
                    ErrorCode::TOO_LARGE_STRING_SIZE,
                    "Too large string from function repeat",
                ));
            }
            memory::check(value.len() * count)?;
            append_repeated(out, value, value.len() * count);
            Ok(())
        })
    })
}

/// Appends `len` bytes of `unit` after `unit`, copying what is there already: units may be short.
fn append_repeated(out: &mut Vec<u8>, unit: &[u8], len: usize) {
    let (start, end) = (out.len(), out.len() + len);
    out.extend_from_slice(&unit[..unit.len().min(len)]);
    while out.len() < end && out.len() > start {
        let copied = (out.len() - start) / unit.len() * unit.len();
        out.extend_from_within(start..start + copied.min(end - out.len()));
    }
}

fn resolve_space(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let counts = Ints::new(&columns[0])?;
        write_rows(columns, num_rows, |row, out| {
            out.resize(out.len() + repetitions(counts.value(row))?, b' ');
            Ok(())
        })
    })
}

fn resolve_pad(call: &Call<'_>, at_left: bool, in_chars: bool) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_integer)?;
    let mut padding = match call.args.get(2) {
        Some(_) => call.constant_bytes(2)?,
        None => b" ".to_vec(),
    };
    if padding.is_empty() {
        padding.push(b' ');
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let (strings, lengths) = (columns[0].strings()?, Ints::new(&columns[1])?);
        write_rows(columns, num_rows, |row, out| {
            let value = strings.value(row);
            let wanted = padded_length(lengths.value(row))?;
            let len = if in_chars {
                count_chars(value)
            } else {
                value.len()
            };
            if len >= wanted {
                let end = if in_chars {
                    char_offset(value, wanted)
                } else {
                    wanted
                };
                out.extend_from_slice(&value[..end]);
                return Ok(());
            }
            if !at_left {
                out.extend_from_slice(value);
            }
            append_padding(out, &padding, wanted - len, in_chars);
            if at_left {
                out.extend_from_slice(value);
            }
            Ok(())
        })
    })
}

fn padded_length(length: i64) -> Result<usize> {
    if length < 0 {
        let message = format!("New padded length ({length}) is negative");
        return Err(Error::new(
            ErrorCode::INDEX_OF_POSITIONAL_ARGUMENT_IS_OUT_OF_RANGE,
            message,
        ));
    }
    if length > MAX_REPETITIONS {
        return Err(Error::new(
            ErrorCode::TOO_LARGE_STRING_SIZE,
            format!("New padded length ({length}) is too big, maximum is: {MAX_REPETITIONS}"),
        ));
    }
    Ok(length as usize)
}

fn append_padding(out: &mut Vec<u8>, padding: &[u8], len: usize, in_chars: bool) {
    let unit = if in_chars {
        count_chars(padding).max(1)
    } else {
        padding.len()
    };
    append_repeated(out, padding, len / unit * padding.len());
    let rest = len % unit;
    let end = if in_chars {
        char_offset(padding, rest)
    } else {
        rest
    };
    out.extend_from_slice(&padding[..end]);
}
