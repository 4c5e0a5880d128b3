//! Looks for whole tokens and for subsequences.

use std::sync::Arc;

use arrow::array::UInt8Array;
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use memchr::memmem::Finder;

use super::fold::Mode;
use crate::scalar::strings::shapes::{bad_arguments, is_text, number_rows, text_column};
use crate::scalar::strings::utf8::chars;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "hasToken",
        syntax: "hasToken(haystack, token)",
        description: "Whether a token is in the haystack with no letter or digit beside it.",
        resolve: |call| resolve_token(call, Mode::BYTES, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasTokenCaseInsensitive",
        case_insensitive: true,
        syntax: "hasTokenCaseInsensitive(haystack, token)",
        description: "As `hasToken`, ASCII letters in any case.",
        resolve: |call| resolve_token(call, Mode::CASE_INSENSITIVE, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasTokenOrNull",
        syntax: "hasTokenOrNull(haystack, token)",
        description: "As `hasToken`, NULL if the token has separators in it.",
        resolve: |call| resolve_token(call, Mode::BYTES, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasTokenCaseInsensitiveOrNull",
        case_insensitive: true,
        syntax: "hasTokenCaseInsensitiveOrNull(haystack, token)",
        description: "As `hasTokenOrNull`, ASCII letters in any case.",
        resolve: |call| resolve_token(call, Mode::CASE_INSENSITIVE, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasSubsequence",
        case_insensitive: true,
        syntax: "hasSubsequence(haystack, needle)",
        description: "Whether the needle's bytes are in the haystack in this order.",
        resolve: |call| resolve_subsequence(call, Mode::BYTES),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasSubsequenceUTF8",
        case_insensitive: true,
        syntax: "hasSubsequenceUTF8(haystack, needle)",
        description: "Whether the needle's characters are in the haystack in this order.",
        resolve: |call| resolve_subsequence(call, Mode::UTF8),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasSubsequenceCaseInsensitive",
        case_insensitive: true,
        syntax: "hasSubsequenceCaseInsensitive(haystack, needle)",
        description: "As `hasSubsequence`, ASCII letters in any case.",
        resolve: |call| resolve_subsequence(call, Mode::CASE_INSENSITIVE),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "hasSubsequenceCaseInsensitiveUTF8",
        case_insensitive: true,
        syntax: "hasSubsequenceCaseInsensitiveUTF8(haystack, needle)",
        description: "As `hasSubsequenceUTF8`, letters in any case.",
        resolve: |call| resolve_subsequence(call, Mode::CASE_INSENSITIVE_UTF8),
        ..ScalarFunction::BASE
    },
];

fn is_separator(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric()
}

fn resolve_token(call: &Call<'_>, mode: Mode, or_null: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, is_text)?;
    if matches!(call.data_type(0), DataType::FixedString(_)) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Function {} takes no FixedString to search in", call.name),
        ));
    }
    let token = mode.folded(&call.constant_bytes(1)?);
    let return_type = if or_null {
        DataType::UInt8.to_nullable()
    } else {
        DataType::UInt8
    };
    if token.iter().any(|b| is_separator(*b)) {
        if !or_null {
            return Err(bad_arguments(
                "Needle must not contain whitespace or separator characters",
            ));
        }
        return Resolved::new(return_type, |_, num_rows| {
            Ok(Arc::new(UInt8Array::new_null(num_rows)))
        });
    }
    let data_type = call.data_type(0).clone();
    let finder = Finder::new(&token).into_owned();
    Resolved::new(return_type, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        let strings = text.strings()?;
        let mut scratch = Vec::new();
        number_rows::<UInt8Type>(&[], num_rows, |row| {
            let haystack = mode.fold(strings.value(row), &mut scratch);
            Ok(u8::from(has_token(haystack, &finder)))
        })
    })
}

fn has_token(haystack: &[u8], finder: &Finder<'_>) -> bool {
    let len = finder.needle().len();
    len > 0
        && finder.find_iter(haystack).any(|at| {
            let before = at.checked_sub(1).map(|i| haystack[i]);
            let after = haystack.get(at + len).copied();
            before.is_none_or(is_separator) && after.is_none_or(is_separator)
        })
}

fn resolve_subsequence(call: &Call<'_>, mode: Mode) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, DataType::is_string)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let (haystacks, needles) = (columns[0].strings()?, columns[1].strings()?);
        let mut scratch = Vec::new();
        number_rows::<UInt8Type>(columns, num_rows, |row| {
            let needle = mode.folded(needles.value(row));
            let haystack = mode.fold(haystacks.value(row), &mut scratch);
            let found = if mode.in_chars {
                is_subsequence(chars(&needle), chars(haystack))
            } else {
                is_subsequence(needle.iter(), haystack.iter())
            };
            Ok(u8::from(found))
        })
    })
}

fn is_subsequence<T: PartialEq>(
    mut needle: impl Iterator<Item = T>,
    mut haystack: impl Iterator<Item = T>,
) -> bool {
    needle.all(|wanted| haystack.any(|found| found == wanted))
}
