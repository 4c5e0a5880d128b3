//! The functions `like`, `match` and their kin: does a string fit a pattern.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, UInt8Array};
use arrow::datatypes::UInt8Type;
use basalt_error::Result;
use basalt_types::DataType;
use memchr::memmem::Finder;

use super::containing::rows_containing;
use super::like::LikeMatcher;
use super::regexp::{RegexpCache, compile_with};
use crate::scalar::strings::shapes::{is_text, number_rows, text_column};
use crate::{Call, Column, Fails, Resolved, ScalarFunction, StringColumn};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "like",
        fails: Fails::Patterns,
        syntax: "s LIKE pattern",
        description: "Whether a string fits a pattern with `%` and `_`.",
        resolve: |call| resolve_like(call, false, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notLike",
        fails: Fails::Patterns,
        syntax: "s NOT LIKE pattern",
        description: "Whether a string does not fit a pattern with `%` and `_`.",
        resolve: |call| resolve_like(call, false, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "ilike",
        fails: Fails::Patterns,
        syntax: "s ILIKE pattern",
        description: "As `like`, in any case.",
        resolve: |call| resolve_like(call, true, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notILike",
        fails: Fails::Patterns,
        syntax: "s NOT ILIKE pattern",
        description: "As `notLike`, in any case.",
        resolve: |call| resolve_like(call, true, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "match",
        fails: Fails::Patterns,
        aliases: &["REGEXP_MATCHES"],
        case_insensitive: true,
        syntax: "match(s, regexp)",
        description: "Whether a regular expression matches somewhere in a string.",
        resolve: |call| resolve_match(call, false, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "matchCaseInsensitive",
        fails: Fails::Patterns,
        syntax: "matchCaseInsensitive(s, regexp)",
        description: "As `match`, in any case.",
        resolve: |call| resolve_match(call, true, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notMatch",
        fails: Fails::Patterns,
        syntax: "notMatch(s, regexp)",
        description: "Whether a regular expression matches nowhere in a string.",
        resolve: |call| resolve_match(call, false, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "notMatchCaseInsensitive",
        fails: Fails::Patterns,
        syntax: "notMatchCaseInsensitive(s, regexp)",
        description: "As `notMatch`, in any case.",
        resolve: |call| resolve_match(call, true, false),
        ..ScalarFunction::BASE
    },
];

/// Checks the types; gives the bytes of the pattern if it is constant.
fn constant_pattern(call: &Call<'_>) -> Result<Option<Vec<u8>>> {
    call.expect_args(2..=2)?;
    call.expect_type(0, is_text)?;
    call.expect_type(1, |t| *t == DataType::String)?;
    let is_constant = call.args[1].constant.is_some();
    is_constant.then(|| call.constant_bytes(1)).transpose()
}

fn resolve_like(call: &Call<'_>, ignores_case: bool, wanted: bool) -> Result<Resolved> {
    let pattern = constant_pattern(call)?;
    let data_type = call.data_type(0).clone();
    let matcher = pattern
        .map(|p| LikeMatcher::new(&p, ignores_case))
        .transpose()?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        if let Some(matcher) = &matcher {
            return match_rows(&text, num_rows, wanted, matcher.contained(), |value| {
                matcher.matches(value)
            });
        }
        let (values, patterns) = (text.strings()?, columns[1].strings()?);
        let mut matchers: HashMap<&[u8], LikeMatcher> = HashMap::new();
        number_rows::<UInt8Type>(columns, num_rows, |row| {
            let pattern = patterns.value(row);
            if !matchers.contains_key(pattern) {
                matchers.insert(pattern, LikeMatcher::new(pattern, ignores_case)?);
            }
            Ok(u8::from(
                matchers[pattern].matches(values.value(row)) == wanted,
            ))
        })
    })
}

/// Ones where `is_match` is as `wanted`, by a search over many rows at once where a text that they
/// must contain is all there is to match.
fn match_rows(
    text: &Column,
    num_rows: usize,
    wanted: bool,
    contained: Option<&Finder<'static>>,
    is_match: impl Fn(&[u8]) -> bool,
) -> Result<ArrayRef> {
    let to_number = |found: bool| u8::from(found == wanted);
    let views = text.array.as_binary_view_opt().filter(|_| !text.is_const);
    let values = match (views, contained) {
        (Some(views), Some(finder)) => UInt8Array::from(rows_containing(views, finder, wanted)),
        (Some(views), None) => {
            UInt8Array::from_iter_values(views.bytes_iter().map(|value| to_number(is_match(value))))
        }
        (None, _) => {
            let strings: StringColumn<'_> = text.strings()?;
            UInt8Array::from_iter_values(
                (0..num_rows).map(|row| to_number(is_match(strings.value(row)))),
            )
        }
    };
    Ok(Arc::new(values))
}

fn resolve_match(call: &Call<'_>, ignores_case: bool, wanted: bool) -> Result<Resolved> {
    let pattern = constant_pattern(call)?;
    let data_type = call.data_type(0).clone();
    let regexp = pattern
        .map(|p| compile_with(&p, ignores_case))
        .transpose()?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        if let Some(regexp) = &regexp {
            return match_rows(&text, num_rows, wanted, regexp.contained(), |value| {
                regexp.is_match(value)
            });
        }
        let (values, patterns) = (text.strings()?, columns[1].strings()?);
        let mut regexps = RegexpCache::new(ignores_case);
        number_rows::<UInt8Type>(columns, num_rows, |row| {
            let regexp = regexps.get(patterns.value(row))?;
            Ok(u8::from(regexp.is_match(values.value(row)) == wanted))
        })
    })
}
