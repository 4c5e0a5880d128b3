//! Replaces parts of strings that are given as they are, character by character or by position.

use std::collections::HashMap;

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;
use memchr::memmem::Finder;

use super::shapes::{Ints, bad_arguments, refuse_fixed, write_rows};
use super::utf8::{char_offset, chars, count_chars};
use crate::{Call, Column, Fails, Resolved, ScalarFunction, memory};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "replaceOne",
        fails: Fails::Never,
        syntax: "replaceOne(s, pattern, replacement)",
        description: "The string with the first occurrence of a substring replaced.",
        resolve: |call| resolve_replace(call, 1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "replaceAll",
        fails: Fails::Never,
        aliases: &["replace"],
        case_insensitive: true,
        syntax: "replaceAll(s, pattern, replacement)",
        description: "The string with all occurrences of a substring replaced.",
        resolve: |call| resolve_replace(call, usize::MAX),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "translate",
        syntax: "translate(s, from, to)",
        description: "The string with each character of `from` replaced by its like in `to`.",
        resolve: |call| resolve_translate(call, translate_ascii),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "translateUTF8",
        syntax: "translateUTF8(s, from, to)",
        description: "As `translate`, for all Unicode characters.",
        resolve: |call| {
            let resolved = resolve_translate(call, translate_chars)?;
            match call.data_type(0) {
                DataType::FixedString(_) => {
                    Err(bad_arguments("Function translateUTF8 takes no FixedString"))
                }
                _ => Ok(resolved),
            }
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "overlay",
        case_insensitive: true,
        syntax: "overlay(s, replacement, offset[, length])",
        description: "The string with the bytes at an offset replaced.",
        resolve: |call| resolve_overlay(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "overlayUTF8",
        syntax: "overlayUTF8(s, replacement, offset[, length])",
        description: "The string with the characters at an offset replaced.",
        resolve: |call| resolve_overlay(call, true),
        ..ScalarFunction::BASE
    },
];

fn resolve_replace(call: &Call<'_>, limit: usize) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, DataType::is_string)?;
    for idx in 1..3 {
        call.expect_type(idx, |t| *t == DataType::String)?;
    }
    if call.args[0].constant.is_some() {
        refuse_fixed(call, 0)?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let (patterns, replacements) = (columns[1].strings()?, columns[2].strings()?);
        let constant =
            (patterns.is_const() && num_rows > 0).then(|| Finder::new(patterns.value(0)));
        write_rows(columns, num_rows, |row, out| {
            let own;
            let finder = match &constant {
                Some(finder) => finder,
                None => {
                    own = Finder::new(patterns.value(row));
                    &own
                }
            };
            replace(
                strings.value(row),
                finder,
                replacements.value(row),
                limit,
                out,
            )
        })
    })
}

fn replace(
    value: &[u8],
    finder: &Finder<'_>,
    replacement: &[u8],
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let (mut done, allowed) = (0, memory::limit());
    if !finder.needle().is_empty() {
        for at in finder.find_iter(value).take(limit) {
            out.extend_from_slice(&value[done..at]);
            out.extend_from_slice(replacement);
            done = at + finder.needle().len();
            if out.len() > allowed {
                memory::check(out.len())?;
            }
        }
    }
    out.extend_from_slice(&value[done..]);
    Ok(())
}

/// Appends the translation of a string by `from` and `to`.
type Translate = fn(&[u8], &[u8], &[u8], &mut Vec<u8>) -> Result<()>;

fn resolve_translate(call: &Call<'_>, translate: Translate) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    for idx in 0..3 {
        call.expect_type(idx, DataType::is_string)?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let (from, to) = (columns[1].strings()?, columns[2].strings()?);
        write_rows(columns, num_rows, |row, out| {
            translate(strings.value(row), from.value(row), to.value(row), out)
        })
    })
}

/// Of characters that `from` names twice the later one counts; those beyond `to` are dropped.
fn translate_ascii(value: &[u8], from: &[u8], to: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if !from.is_ascii() || !to.is_ascii() {
        return Err(bad_arguments(
            "Second and third arguments must be ASCII strings",
        ));
    }
    let mut map: [Option<u8>; 256] = std::array::from_fn(|b| Some(b as u8));
    for (i, byte) in from.iter().enumerate() {
        map[usize::from(*byte)] = to.get(i).copied();
    }
    out.extend(value.iter().filter_map(|b| map[usize::from(*b)]));
    Ok(())
}

fn translate_chars(value: &[u8], from: &[u8], to: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let mut targets = chars(to);
    let map: HashMap<&[u8], Option<&[u8]>> = chars(from).map(|c| (c, targets.next())).collect();
    for c in chars(value) {
        out.extend_from_slice(map.get(c).copied().unwrap_or(Some(c)).unwrap_or(b""));
    }
    Ok(())
}

fn resolve_overlay(call: &Call<'_>, in_chars: bool) -> Result<Resolved> {
    call.expect_args(3..=4)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_string)?;
    for idx in 2..call.args.len() {
        call.expect_type(idx, DataType::is_integer)?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        overlay_rows(columns, num_rows, in_chars)
    })
}

fn overlay_rows(columns: &[Column], num_rows: usize, in_chars: bool) -> Result<ArrayRef> {
    let (strings, replacements) = (columns[0].strings()?, columns[1].strings()?);
    let offsets = Ints::new(&columns[2])?;
    let lengths = columns.get(3).map(Ints::new).transpose()?;
    let count = |s: &[u8]| if in_chars { count_chars(s) } else { s.len() };
    let place = |s: &[u8], at: usize| if in_chars { char_offset(s, at) } else { at };
    write_rows(columns, num_rows, |row, out| {
        let (value, replacement) = (strings.value(row), replacements.value(row));
        let len = count(value);
        let replaced = match lengths.as_ref().map(|l| l.value(row)) {
            Some(length) if length >= 0 => usize::try_from(length).unwrap_or(usize::MAX),
            _ => count(replacement),
        };
        let start = overlay_start(offsets.value(row), len);
        let end = start.saturating_add(replaced).min(len);
        out.extend_from_slice(&value[..place(value, start)]);
        out.extend_from_slice(replacement);
        out.extend_from_slice(&value[place(value, end)..]);
        Ok(())
    })
}

/// 1 is the first, -1 the last; 0 and what is beyond the string mean its end.
fn overlay_start(offset: i64, len: usize) -> usize {
    let distance = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
    match offset {
        0 => len,
        1.. => (distance - 1).min(len),
        _ => len.saturating_sub(distance),
    }
}
