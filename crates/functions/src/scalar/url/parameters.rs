//! Reads and cuts the parameters of URLs (`?name=value&…`), and lists an URL's levels.

use std::ops::Range;

use arrow::array::{Array, AsArray};
use basalt_error::Result;
use basalt_types::DataType;
use memchr::{memchr2, memmem};

use super::parts;
use crate::scalar::strings::shapes::{piece_rows, string_to_pieces, write_rows};
use crate::{Call, Resolved, ScalarFunction, StringColumn};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "extractURLParameter",
        syntax: "extractURLParameter(url, name)",
        description: "The value of a parameter of an URL, or an empty string.",
        resolve: resolve_parameter,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractURLParameters",
        syntax: "extractURLParameters(url)",
        description: "The parameters of an URL as they are: `name=value`.",
        resolve: |call| string_to_pieces(call, parameters),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractURLParameterNames",
        syntax: "extractURLParameterNames(url)",
        description: "The names of an URL's parameters.",
        resolve: |call| string_to_pieces(call, parameter_names),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "cutURLParameter",
        syntax: "cutURLParameter(url, name)",
        description: "The URL without a parameter, or without several.",
        resolve: resolve_cut,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "URLHierarchy",
        syntax: "URLHierarchy(url)",
        description: "The URL cut after each of its levels, from the shortest on.",
        resolve: |call| string_to_pieces(call, url_levels),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "URLPathHierarchy",
        syntax: "URLPathHierarchy(url)",
        description: "As `URLHierarchy`, without scheme, host and the root.",
        resolve: |call| string_to_pieces(call, path_levels),
        ..ScalarFunction::BASE
    },
];

/// Where the parameters begin: behind the first `?` or `#`.
fn parameters_start(url: &[u8]) -> Option<usize> {
    memchr2(b'?', b'#', url).map(|at| at + 1)
}

/// A name ends with one of `=&#`, its value with `&` or `#`; what a `?` ends, or the end of the URL, is no name.
fn parameters(url: &[u8], pieces: &mut Vec<Range<usize>>) {
    let Some(mut start) = parameters_start(url) else {
        return;
    };
    while let Some(rest) = url.get(start..) {
        let is_end = |b: &u8| b"=&#?".contains(b);
        let Some(len) = rest.iter().position(is_end) else {
            return;
        };
        let mut end = start + len;
        if url[end] == b'?' {
            start = end + 1;
            continue;
        }
        if url[end] == b'=' {
            end = memchr2(b'&', b'#', &url[end..]).map_or(url.len(), |len| end + len);
        }
        pieces.push(start..end);
        start = end + 1;
    }
}

/// A name ends with one of `=&#`; what a `?` ends, or the end of the URL, is none.
fn parameter_names(url: &[u8], pieces: &mut Vec<Range<usize>>) {
    let mut next = parameters_start(url);
    while let Some(start) = next {
        let is_end = |b: &u8| b"=&#?".contains(b);
        let Some(len) = url[start..].iter().position(is_end) else {
            return;
        };
        let end = start + len;
        next = Some(end + 1);
        if url[end] == b'?' {
            continue;
        }
        pieces.push(start..end);
        if url[end] == b'=' {
            next = memchr2(b'&', b'#', &url[end..]).map(|len| end + len + 1);
        }
    }
}

/// `name=value` behind `?`, `#` or `&`.
fn find_parameter(url: &[u8], name: &[u8]) -> Option<Range<usize>> {
    let first = parameters_start(url)?;
    let pattern = [name, b"="].concat();
    let found = memmem::find_iter(&url[first - 1..], &pattern).find(|at| {
        // The byte before belongs to the searched part, whose first is the `?` or `#`.
        *at > 0 && matches!(url[first + at - 2], b'?' | b'#' | b'&')
    });
    let start = first - 1 + found?;
    let value = start + pattern.len();
    let len = memchr2(b'&', b'#', &url[value..]);
    Some(start..len.map_or(url.len(), |len| value + len))
}

fn resolve_parameter(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, DataType::is_string)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let names = columns[1].strings()?;
        piece_rows(&columns[0], num_rows, |row, url| {
            let name = names.value(row);
            let found = find_parameter(url, name).filter(|_| !name.is_empty());
            found.map_or(0..0, |found| found.start + name.len() + 1..found.end)
        })
    })
}

fn resolve_cut(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, |t| match t {
        DataType::Array(element) => **element == DataType::String,
        t => t.is_string(),
    })?;
    let is_list = matches!(call.data_type(1), DataType::Array(_));
    Resolved::new(DataType::String, move |columns, num_rows| {
        let urls = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            let mut url = urls.value(row).to_vec();
            if is_list {
                let lists = columns[1].array.as_list::<i32>();
                let names = lists.value(columns[1].row(row));
                let strings = StringColumn::of_array(&names, false)?;
                for i in 0..names.len() {
                    cut_parameter(&mut url, strings.value(i));
                }
            } else {
                cut_parameter(&mut url, columns[1].strings()?.value(row));
            }
            out.extend_from_slice(&url);
            Ok(())
        })
    })
}

/// Of the marks beside a parameter the `?` or `#` before it stays, else the `&` before it goes.
fn cut_parameter(url: &mut Vec<u8>, name: &[u8]) {
    if name.is_empty() {
        return;
    }
    let Some(mut found) = find_parameter(url, name) else {
        return;
    };
    if url.get(found.end) == Some(&b'&') {
        found.end += 1;
    } else if url[found.start - 1] == b'&' {
        found.start -= 1;
    }
    url.drain(found);
}

/// Where the first level begins: behind the host; `None` without a scheme.
fn after_host(url: &[u8]) -> Option<usize> {
    let scheme = parts::protocol(url);
    if scheme.is_empty() {
        return None;
    }
    let start = scheme.end + 3;
    let len = memchr::memchr3(b'/', b'?', b'#', &url[start..]);
    Some(len.map_or(url.len(), |len| start + len))
}

/// Cuts `url` after each separator from `at` on that has something before it.
fn levels(url: &[u8], start: usize, mut at: usize, pieces: &mut Vec<Range<usize>>) {
    while at < url.len() {
        let Some(len) = memchr::memchr3(b'/', b'?', b'#', &url[at..]) else {
            break;
        };
        pieces.push(start..at + len + 1);
        at += len + 2;
    }
    let is_cut = |end: usize| {
        pieces
            .last()
            .is_some_and(|last: &Range<usize>| last.end == end)
    };
    if start < url.len() && !is_cut(url.len()) {
        pieces.push(start..url.len());
    }
}

/// Appends the URL cut after each of its levels.
pub fn url_levels(url: &[u8], pieces: &mut Vec<Range<usize>>) {
    levels(url, 0, after_host(url).unwrap_or(url.len()), pieces);
}

fn path_levels(url: &[u8], pieces: &mut Vec<Range<usize>>) {
    let Some(start) = after_host(url) else {
        return;
    };
    if start + 1 < url.len() {
        levels(url, start, start + 2, pieces);
    }
}
