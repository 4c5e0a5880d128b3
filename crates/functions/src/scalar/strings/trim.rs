//! Takes characters off the ends of strings, without copying them.

use std::ops::Range;

use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{bad_arguments, bytes_to_piece, piece_rows, string_to_piece, write_rows};
use crate::{Call, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "toStringCutToZero",
        syntax: "toStringCutToZero(s)",
        description: "The string up to its first zero byte.",
        resolve: |call| bytes_to_piece(call, |s| 0..memchr::memchr(0, s).unwrap_or(s.len())),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "trimBoth",
        fails: Fails::Never,
        aliases: &["trim"],
        syntax: "trimBoth(s[, characters])",
        description: "The string without spaces, or other characters, at both ends.",
        resolve: |call| resolve_trim(call, true, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "trimLeft",
        fails: Fails::Never,
        aliases: &["ltrim"],
        syntax: "trimLeft(s[, characters])",
        description: "The string without spaces, or other characters, at its beginning.",
        resolve: |call| resolve_trim(call, true, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "trimRight",
        fails: Fails::Never,
        aliases: &["rtrim"],
        syntax: "trimRight(s[, characters])",
        description: "The string without spaces, or other characters, at its end.",
        resolve: |call| resolve_trim(call, false, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "firstLine",
        fails: Fails::Never,
        syntax: "firstLine(s)",
        description: "The string up to its first line break.",
        resolve: |call| string_to_piece(call, first_line),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "basename",
        fails: Fails::Never,
        syntax: "basename(path)",
        description: "The string after its last slash or backslash.",
        resolve: |call| {
            string_to_piece(call, |s| {
                memchr::memrchr2(b'/', b'\\', s).map_or(0, |at| at + 1)..s.len()
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "appendTrailingCharIfAbsent",
        syntax: "appendTrailingCharIfAbsent(s, c)",
        description: "The string with `c` at its end, unless it is there or the string is empty.",
        resolve: resolve_append,
        ..ScalarFunction::BASE
    },
];

fn resolve_trim(call: &Call<'_>, from_left: bool, from_right: bool) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_string)?;
    let mut is_trimmed = [false; 256];
    match call.args.get(1) {
        None => is_trimmed[usize::from(b' ')] = true,
        Some(_) => {
            for byte in call.constant_bytes(1)? {
                is_trimmed[usize::from(byte)] = true;
            }
        }
    }
    let is_kept = move |b: &u8| !is_trimmed[usize::from(*b)];
    Resolved::new(DataType::String, move |columns, num_rows| {
        piece_rows(&columns[0], num_rows, |_, value| {
            let end = if from_right {
                value.iter().rposition(is_kept).map_or(0, |at| at + 1)
            } else {
                value.len()
            };
            let start = if from_left {
                value[..end].iter().position(is_kept).unwrap_or(end)
            } else {
                0
            };
            start..end
        })
    })
}

fn first_line(bytes: &[u8]) -> Range<usize> {
    0..memchr::memchr2(b'\r', b'\n', bytes).unwrap_or(bytes.len())
}

fn resolve_append(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let [last] = call.constant_bytes(1)?[..] else {
        return Err(bad_arguments(format!(
            "Second argument of function {} must be a one-character string",
            call.name
        )));
    };
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            let value = strings.value(row);
            out.extend_from_slice(value);
            if value.last().is_some_and(|b| *b != last) {
                out.push(last);
            }
            Ok(())
        })
    })
}
