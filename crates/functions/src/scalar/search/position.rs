//! Finds and counts substrings.

use arrow::array::ArrayRef;
use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;
use memchr::memmem::Finder;

use super::fold::Mode;
use crate::scalar::strings::shapes::{Ints, is_text, number_rows, refuse_fixed, text_column};
use crate::scalar::strings::utf8::{char_offset, count_chars};
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "position",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "position(haystack, needle[, start])",
        description: "Place of a substring in bytes, from 1; 0 if it is not there.",
        resolve: |call| resolve_search(call, Mode::BYTES, place),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "positionUTF8",
        fails: Fails::Never,
        syntax: "positionUTF8(haystack, needle[, start])",
        description: "Place of a substring in characters, from 1; 0 if it is not there.",
        resolve: |call| resolve_search(call, Mode::UTF8, place),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "positionCaseInsensitive",
        fails: Fails::Never,
        aliases: &["instr"],
        case_insensitive: true,
        syntax: "positionCaseInsensitive(haystack, needle[, start])",
        description: "As `position`, ASCII letters in any case.",
        resolve: |call| resolve_search(call, Mode::CASE_INSENSITIVE, place),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "positionCaseInsensitiveUTF8",
        fails: Fails::Never,
        syntax: "positionCaseInsensitiveUTF8(haystack, needle[, start])",
        description: "As `positionUTF8`, letters in any case.",
        resolve: |call| resolve_search(call, Mode::CASE_INSENSITIVE_UTF8, place),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "locate",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "locate(needle, haystack[, start])",
        description: "As `position`, with the needle first.",
        resolve: resolve_locate,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countSubstrings",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "countSubstrings(haystack, needle[, start])",
        description: "How often a substring occurs, without overlaps.",
        resolve: |call| resolve_count(call, Mode::BYTES),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countSubstringsCaseInsensitive",
        fails: Fails::Never,
        syntax: "countSubstringsCaseInsensitive(haystack, needle[, start])",
        description: "As `countSubstrings`, ASCII letters in any case.",
        resolve: |call| resolve_count(call, Mode::CASE_INSENSITIVE),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countSubstringsCaseInsensitiveUTF8",
        fails: Fails::Never,
        syntax: "countSubstringsCaseInsensitiveUTF8(haystack, needle[, start])",
        description: "As `countSubstrings`, letters in any case.",
        resolve: |call| resolve_count(call, Mode::CASE_INSENSITIVE_UTF8),
        ..ScalarFunction::BASE
    },
];

/// What is wanted of a folded haystack, from a start in bytes on.
type Search = fn(&[u8], &Finder<'_>, usize, Mode) -> u64;

fn place(haystack: &[u8], finder: &Finder<'_>, start: usize, mode: Mode) -> u64 {
    let Some(at) = finder.find(&haystack[start..]) else {
        return 0;
    };
    let before = &haystack[..start + at];
    let before = if mode.in_chars {
        count_chars(before)
    } else {
        before.len()
    };
    before as u64 + 1
}

fn count(haystack: &[u8], finder: &Finder<'_>, start: usize, _: Mode) -> u64 {
    if finder.needle().is_empty() {
        return 0;
    }
    finder.find_iter(&haystack[start..]).count() as u64
}

/// The haystack, needle and start among the columns.
#[derive(Clone, Copy)]
struct Order {
    haystack: usize,
    needle: usize,
}

fn resolve_locate(call: &Call<'_>) -> Result<Resolved> {
    let is_mysql = call
        .context
        .settings
        .get("function_locate_has_mysql_compatible_argument_order")
        .is_none_or(|v| v == "1" || v == "true");
    let (haystack, needle) = if is_mysql { (1, 0) } else { (0, 1) };
    resolve_ordered(call, Order { haystack, needle }, Mode::BYTES, place)
}

fn resolve_count(call: &Call<'_>, mode: Mode) -> Result<Resolved> {
    let resolved = resolve_search(call, mode, count)?;
    refuse_fixed(call, 0)?;
    Ok(resolved)
}

fn resolve_search(call: &Call<'_>, mode: Mode, search: Search) -> Result<Resolved> {
    let order = Order {
        haystack: 0,
        needle: 1,
    };
    resolve_ordered(call, order, mode, search)
}

fn resolve_ordered(call: &Call<'_>, order: Order, mode: Mode, search: Search) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(order.haystack, is_text)?;
    call.expect_type(order.needle, |t| *t == DataType::String)?;
    if call.args[order.haystack].constant.is_none() {
        refuse_fixed(call, order.haystack)?;
    }
    if call.args.len() == 3 {
        call.expect_type(2, DataType::is_unsigned)?;
    }
    let data_type = call.data_type(order.haystack).clone();
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let text = text_column(&columns[order.haystack], &data_type)?;
        let starts = columns.get(2).map(Ints::new).transpose()?;
        let needles = &columns[order.needle];
        search_rows(
            &text,
            needles,
            num_rows,
            |haystack, finder, row| {
                let wanted = starts.as_ref().map_or(0, |s| s.value(row));
                start_offset(haystack, wanted, mode)
                    .map_or(0, |start| search(haystack, finder, start, mode))
            },
            mode,
        )
    })
}

/// Where in bytes the search begins; `None` if that is beyond the end.
fn start_offset(haystack: &[u8], start: i64, mode: Mode) -> Option<usize> {
    let skipped = usize::try_from(start.max(1) - 1).unwrap_or(usize::MAX);
    let len = if mode.in_chars && skipped > 0 {
        count_chars(haystack)
    } else {
        haystack.len()
    };
    if skipped > len {
        return None;
    }
    Some(if mode.in_chars {
        char_offset(haystack, skipped)
    } else {
        skipped
    })
}

fn search_rows(
    text: &Column,
    needles: &Column,
    num_rows: usize,
    search: impl Fn(&[u8], &Finder<'_>, usize) -> u64,
    mode: Mode,
) -> Result<ArrayRef> {
    let (haystacks, needles) = (text.strings()?, needles.strings()?);
    let mut scratch = Vec::new();
    if needles.is_const() {
        let needle = mode.folded(needles.value(0));
        let finder = Finder::new(&needle);
        return number_rows::<UInt64Type>(&[], num_rows, |row| {
            let haystack = mode.fold(haystacks.value(row), &mut scratch);
            Ok(search(haystack, &finder, row))
        });
    }
    number_rows::<UInt64Type>(&[], num_rows, |row| {
        let needle = mode.folded(needles.value(row));
        let haystack = mode.fold(haystacks.value(row), &mut scratch);
        Ok(search(haystack, &Finder::new(&needle), row))
    })
}
