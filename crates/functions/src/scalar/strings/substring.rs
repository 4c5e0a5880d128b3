//! Cuts strings by position, in bytes or characters, without copying them.

use std::ops::Range;

use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{Ints, bad_arguments, is_text, piece_rows, text_column, validity_of};
use super::utf8::{char_offset, chars, count_chars};
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "substring",
        fails: Fails::Never,
        aliases: &["substr", "mid", "byteSlice"],
        case_insensitive: true,
        syntax: "substring(s, offset[, length])",
        description: "Bytes of a string from an offset on: 1 is the first, -1 the last.",
        resolve: |call| resolve_cut(call, Unit::Bytes, 2..=3, substring),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "substringUTF8",
        syntax: "substringUTF8(s, offset[, length])",
        description: "Characters of a string from an offset on: 1 is the first, -1 the last.",
        resolve: |call| resolve_cut(call, Unit::Chars, 2..=3, substring),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "left",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "left(s, length)",
        description: "The first bytes of a string; a negative length leaves out that many.",
        resolve: |call| resolve_cut(call, Unit::Bytes, 2..=2, left),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "leftUTF8",
        syntax: "leftUTF8(s, length)",
        description: "The first characters of a string; a negative length leaves out that many.",
        resolve: |call| resolve_cut(call, Unit::Chars, 2..=2, left),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "right",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "right(s, length)",
        description: "The last bytes of a string; a negative length leaves out that many.",
        resolve: |call| resolve_cut(call, Unit::Bytes, 2..=2, right),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "rightUTF8",
        syntax: "rightUTF8(s, length)",
        description: "The last characters of a string; a negative length leaves out that many.",
        resolve: |call| resolve_cut(call, Unit::Chars, 2..=2, right),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "substringIndex",
        aliases: &["SUBSTRING_INDEX"],
        case_insensitive: true,
        syntax: "substringIndex(s, delimiter, count)",
        description: "The string before the count-th delimiter; from the right if negative.",
        resolve: |call| resolve_index(call, Unit::Bytes),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "substringIndexUTF8",
        syntax: "substringIndexUTF8(s, delimiter, count)",
        description: "As `substringIndex` with any character as the delimiter.",
        resolve: |call| resolve_index(call, Unit::Chars),
        ..ScalarFunction::BASE
    },
];

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Bytes,
    Chars,
}

/// Gives the units to keep, from the number of units and the one or two arguments.
type Cut = fn(usize, i64, Option<i64>) -> Range<usize>;

fn substring(len: usize, offset: i64, length: Option<i64>) -> Range<usize> {
    if offset == 0 {
        return 0..0;
    }
    let len = len as i128;
    let start = if offset > 0 {
        i128::from(offset) - 1
    } else {
        len + i128::from(offset)
    };
    let end = match length.map(i128::from) {
        None => len,
        Some(length) if length >= 0 => start + length,
        Some(length) => len + length,
    };
    let (start, end) = (start.clamp(0, len), end.clamp(0, len));
    start as usize..end.max(start) as usize
}

fn left(len: usize, length: i64, _: Option<i64>) -> Range<usize> {
    let taken = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    0..if length >= 0 {
        taken.min(len)
    } else {
        len.saturating_sub(taken)
    }
}

fn right(len: usize, length: i64, _: Option<i64>) -> Range<usize> {
    let taken = usize::try_from(length.unsigned_abs()).unwrap_or(usize::MAX);
    let start = if length >= 0 {
        len.saturating_sub(taken)
    } else {
        taken.min(len)
    };
    start..len
}

fn resolve_cut(
    call: &Call<'_>,
    unit: Unit,
    num_args: std::ops::RangeInclusive<usize>,
    cut: Cut,
) -> Result<Resolved> {
    call.expect_args(num_args)?;
    let takes = match unit {
        Unit::Bytes => is_text,
        Unit::Chars => |t: &DataType| *t == DataType::String,
    };
    call.expect_type(0, takes)?;
    for idx in 1..call.args.len() {
        call.expect_type(idx, |t| t.is_integer() || t.is_float())?;
    }
    let data_type = call.data_type(0).clone();
    Resolved::new(DataType::String, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        let first = Ints::new(&columns[1])?;
        let second = columns.get(2).map(Ints::new).transpose()?;
        piece_rows(&text, num_rows, |row, value| {
            let second = second.as_ref().map(|s| s.value(row));
            if unit == Unit::Bytes || value.is_ascii() {
                return cut(value.len(), first.value(row), second);
            }
            let chars = cut(count_chars(value), first.value(row), second);
            let start = char_offset(value, chars.start);
            start..start + char_offset(&value[start..], chars.len())
        })
    })
}

fn resolve_index(call: &Call<'_>, unit: Unit) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(2, DataType::is_integer)?;
    let delimiter = call.constant_bytes(1)?;
    let is_one = match unit {
        Unit::Bytes => delimiter.len() == 1,
        Unit::Chars => chars(&delimiter).count() == 1,
    };
    if !is_one {
        return Err(bad_arguments(format!(
            "Second argument to {} must be a single character",
            call.name
        )));
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        index_rows(columns, num_rows, &delimiter)
    })
}

fn index_rows(
    columns: &[Column],
    num_rows: usize,
    delimiter: &[u8],
) -> Result<arrow::array::ArrayRef> {
    let counts = Ints::new(&columns[2])?;
    let validity = validity_of(columns, num_rows);
    let finder = memchr::memmem::Finder::new(delimiter);
    piece_rows(&columns[0], num_rows, |row, value| {
        if validity.as_ref().is_some_and(|v| v.is_null(row)) {
            return 0..0;
        }
        let count = counts.value(row);
        let nth = usize::try_from(count.unsigned_abs().saturating_sub(1)).unwrap_or(usize::MAX);
        if count > 0 {
            0..finder.find_iter(value).nth(nth).unwrap_or(value.len())
        } else if count < 0 {
            let found = memchr::memmem::rfind_iter(value, delimiter).nth(nth);
            found.map_or(0, |at| at + delimiter.len())..value.len()
        } else {
            0..0
        }
    })
}
