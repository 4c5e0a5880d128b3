//! Splits strings into arrays of their parts, which are not copied.

use std::ops::Range;

use basalt_error::Result;
use basalt_types::DataType;

use super::shapes::{bad_arguments, piece_list_rows};
use crate::scalar::search::regexp::{Regexp, compile};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "splitByChar",
        syntax: "splitByChar(separator, s[, max_substrings])",
        description: "The parts of a string between single-byte separators.",
        resolve: resolve_by_char,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "splitByString",
        syntax: "splitByString(separator, s[, max_substrings])",
        description: "The parts of a string between separators; its characters if that is ''.",
        resolve: resolve_by_string,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "splitByRegexp",
        syntax: "splitByRegexp(regexp, s[, max_substrings])",
        description: "The parts of a string between matches of a regular expression.",
        resolve: resolve_by_regexp,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "splitByWhitespace",
        syntax: "splitByWhitespace(s[, max_substrings])",
        description: "The parts of a string between white space.",
        resolve: |call| resolve_by_class(call, |b| !is_space(b)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "splitByNonAlpha",
        syntax: "splitByNonAlpha(s[, max_substrings])",
        description: "The parts of a string between white space and ASCII punctuation.",
        resolve: |call| resolve_by_class(call, |b| !is_space(b) && !b.is_ascii_punctuation()),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "alphaTokens",
        aliases: &["splitByAlpha"],
        syntax: "alphaTokens(s[, max_substrings])",
        description: "The runs of ASCII letters in a string.",
        resolve: |call| resolve_by_class(call, |b| b.is_ascii_alphabetic()),
        ..ScalarFunction::BASE
    },
];

/// Space as in C's `isspace`: the vertical tab counts, unlike in Rust.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn resolve_split(
    call: &Call<'_>,
    idx: usize,
    split: impl Fn(&[u8], usize, &mut Vec<Range<usize>>) + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_type(idx, |t| *t == DataType::String)?;
    let limit = match call.args.get(idx + 1) {
        Some(_) => usize::try_from(call.constant_i64(idx + 1)?).unwrap_or(0),
        None => 0,
    };
    let limit = if limit == 0 { usize::MAX } else { limit };
    let includes_rest = call
        .context
        .flag("splitby_max_substrings_includes_remaining_string");
    let return_type = DataType::array(DataType::String);
    Resolved::new(return_type, move |columns, num_rows| {
        piece_list_rows(&columns[idx], num_rows, |_, value, pieces| {
            split(value, limit, pieces);
            if includes_rest
                && pieces.len() == limit
                && let Some(last) = pieces.last_mut()
            {
                last.end = value.len();
            }
            Ok(())
        })
    })
}

fn resolve_by_char(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let [separator] = call.constant_bytes(0)?[..] else {
        return Err(bad_arguments(format!(
            "Illegal separator for function {}. Must be exactly one byte",
            call.name
        )));
    };
    resolve_split(call, 1, move |value, limit, pieces| {
        let mut start = 0;
        for at in memchr::memchr_iter(separator, value) {
            if pieces.len() == limit {
                return;
            }
            pieces.push(start..at);
            start = at + 1;
        }
        push_last(start..value.len(), limit, pieces);
    })
}

fn split_bytes(value: &[u8], limit: usize, pieces: &mut Vec<Range<usize>>) {
    pieces.extend((0..value.len().min(limit)).map(|i| i..i + 1));
}

fn push_last(last: Range<usize>, limit: usize, pieces: &mut Vec<Range<usize>>) {
    if pieces.len() < limit {
        pieces.push(last);
    }
}

fn resolve_by_string(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let separator = call.constant_bytes(0)?;
    if separator.is_empty() {
        return resolve_split(call, 1, split_bytes);
    }
    let finder = memchr::memmem::Finder::new(&separator).into_owned();
    resolve_split(call, 1, move |value, limit, pieces| {
        let mut start = 0;
        for at in finder.find_iter(value) {
            if pieces.len() == limit {
                return;
            }
            pieces.push(start..at);
            start = at + finder.needle().len();
        }
        push_last(start..value.len(), limit, pieces);
    })
}

fn resolve_by_regexp(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let pattern = call.constant_bytes(0)?;
    if pattern.is_empty() {
        return resolve_split(call, 1, split_bytes);
    }
    let regexp = compile(&pattern)?;
    resolve_split(call, 1, move |value, limit, pieces| {
        split_by_regexp(&regexp, value, limit, pieces);
    })
}

/// The first match of nothing ends the splitting.
fn split_by_regexp(regexp: &Regexp, value: &[u8], limit: usize, pieces: &mut Vec<Range<usize>>) {
    let regexp = regexp.on(value);
    let mut start = 0;
    while let Some(found) = regexp.find_at(start) {
        if found.is_empty() || pieces.len() == limit {
            break;
        }
        pieces.push(start..found.start);
        start = found.end;
    }
    push_last(start..value.len(), limit, pieces);
}

/// Parts are the longest runs of bytes that `is_part` holds for.
fn resolve_by_class(call: &Call<'_>, is_part: fn(u8) -> bool) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let is_part: [bool; 256] = std::array::from_fn(|b| is_part(b as u8));
    resolve_split(call, 0, move |value, limit, pieces| {
        push_runs(value, limit, pieces, |b| is_part[usize::from(b)]);
    })
}

/// Appends the runs of bytes that `is_part` holds for, at most `limit`.
pub fn push_runs(
    value: &[u8],
    limit: usize,
    pieces: &mut Vec<Range<usize>>,
    is_part: impl Fn(u8) -> bool,
) {
    let mut start = None;
    for (i, byte) in value.iter().enumerate() {
        match (start, is_part(*byte)) {
            (None, true) if pieces.len() == limit => return,
            (None, true) => start = Some(i),
            (Some(from), false) => {
                pieces.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        pieces.push(from..value.len());
    }
}
