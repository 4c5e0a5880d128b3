//! Compares two strings: how far apart, how alike, whether one begins or ends with the other.

use arrow::datatypes::{Float64Type, UInt8Type, UInt64Type};
use basalt_error::Result;
use basalt_types::DataType;

use super::case::lower_utf8;
use super::levenshtein;
use super::shapes::two_strings_to_number;
use super::utf8::code_points;
use crate::scalar::arrays::search;
use crate::{Call, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "startsWith",
        fails: Fails::Never,
        syntax: "startsWith(s, prefix)",
        description: "Whether a string begins with another.",
        resolve: |call| resolve_affix(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "startsWithUTF8",
        syntax: "startsWithUTF8(s, prefix)",
        description: "Whether a string begins with another that ends at a whole character.",
        resolve: |call| {
            compare(call, |s, p| {
                s.starts_with(p) && starts_at_char(&s[p.len()..])
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "startsWithCaseInsensitive",
        syntax: "startsWithCaseInsensitive(s, prefix)",
        description: "Whether a string begins with another, in any ASCII case.",
        resolve: |call| {
            compare(call, |s, p| {
                s.get(..p.len()).is_some_and(|s| s.eq_ignore_ascii_case(p))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "startsWithCaseInsensitiveUTF8",
        syntax: "startsWithCaseInsensitiveUTF8(s, prefix)",
        description: "Whether a string begins with another, in any case.",
        resolve: |call| compare(call, |s, p| lower(s).starts_with(&lower(p))),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "endsWith",
        fails: Fails::Never,
        syntax: "endsWith(s, suffix)",
        description: "Whether a string ends with another.",
        resolve: |call| resolve_affix(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "endsWithUTF8",
        syntax: "endsWithUTF8(s, suffix)",
        description: "Whether a string ends with another that begins at a whole character.",
        resolve: |call| compare(call, |s, p| s.ends_with(p) && starts_at_char(p)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "endsWithCaseInsensitive",
        syntax: "endsWithCaseInsensitive(s, suffix)",
        description: "Whether a string ends with another, in any ASCII case.",
        resolve: |call| {
            compare(call, |s, p| {
                let start = s.len().checked_sub(p.len());
                start.is_some_and(|start| s[start..].eq_ignore_ascii_case(p))
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "endsWithCaseInsensitiveUTF8",
        syntax: "endsWithCaseInsensitiveUTF8(s, suffix)",
        description: "Whether a string ends with another, in any case.",
        resolve: |call| compare(call, |s, p| lower(s).ends_with(&lower(p))),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "editDistance",
        aliases: &["levenshteinDistance"],
        syntax: "editDistance(a, b)",
        description: "Number of bytes to insert, delete or change to make one string the other.",
        resolve: |call| distance(call, levenshtein::of_bytes),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "editDistanceUTF8",
        aliases: &["levenshteinDistanceUTF8"],
        syntax: "editDistanceUTF8(a, b)",
        description: "Number of characters to insert, delete or change to make one the other.",
        resolve: |call| {
            distance(call, |a, b| {
                levenshtein::edit_distance(&code_points(a), &code_points(b), false)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "damerauLevenshteinDistance",
        syntax: "damerauLevenshteinDistance(a, b)",
        description: "As `editDistance`, with swapping two neighbours as one step.",
        resolve: |call| distance(call, |a, b| levenshtein::edit_distance(a, b, true)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "byteHammingDistance",
        aliases: &["mismatches"],
        syntax: "byteHammingDistance(a, b)",
        description: "Number of places where the bytes of two strings differ.",
        resolve: |call| {
            distance(call, |a, b| {
                let differing = a.iter().zip(b).filter(|(x, y)| x != y).count();
                Ok((differing + a.len().abs_diff(b.len())) as u64)
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "stringJaccardIndex",
        syntax: "stringJaccardIndex(a, b)",
        description: "Share of the bytes of two strings that both have.",
        resolve: |call| similarity(call, jaccard),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "stringJaccardIndexUTF8",
        syntax: "stringJaccardIndexUTF8(a, b)",
        description: "Share of the characters of two strings that both have.",
        resolve: |call| similarity(call, |a, b| jaccard(&code_points(a), &code_points(b))),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "jaroSimilarity",
        syntax: "jaroSimilarity(a, b)",
        description: "Jaro's similarity of two strings, from 0 to 1.",
        resolve: |call| similarity(call, jaro),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "jaroWinklerSimilarity",
        syntax: "jaroWinklerSimilarity(a, b)",
        description: "Jaro's similarity, raised for strings that begin alike.",
        resolve: |call| similarity(call, jaro_winkler),
        ..ScalarFunction::BASE
    },
];

fn lower(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    lower_utf8(bytes, &mut out);
    out
}

fn starts_at_char(bytes: &[u8]) -> bool {
    bytes
        .first()
        .is_none_or(|b| !super::utf8::is_continuation(*b))
}

fn compare(call: &Call<'_>, f: fn(&[u8], &[u8]) -> bool) -> Result<Resolved> {
    if call.name.ends_with("UTF8") {
        expect_texts(call)?;
    }
    let f = move |a: &[u8], b: &[u8]| Ok(u8::from(f(a, b)));
    two_strings_to_number::<UInt8Type>(call, DataType::UInt8, f)
}

fn resolve_affix(call: &Call<'_>, at_end: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if matches!(call.data_type(0), DataType::Array(_)) {
        return search::resolve_affix(call, at_end);
    }
    if at_end {
        compare(call, |s, p| s.ends_with(p))
    } else {
        compare(call, |s, p| s.starts_with(p))
    }
}

/// Checks that there are two values of String, not FixedString.
fn expect_texts(call: &Call<'_>) -> Result<()> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, |t| *t == DataType::String)
}

fn distance(call: &Call<'_>, f: fn(&[u8], &[u8]) -> Result<u64>) -> Result<Resolved> {
    expect_texts(call)?;
    two_strings_to_number::<UInt64Type>(call, DataType::UInt64, f)
}

fn similarity(call: &Call<'_>, f: fn(&[u8], &[u8]) -> f64) -> Result<Resolved> {
    expect_texts(call)?;
    let f = move |a: &[u8], b: &[u8]| Ok(f(a, b));
    two_strings_to_number::<Float64Type>(call, DataType::Float64, f)
}

/// Sets of characters: those of both over those of either.
fn jaccard<T: Copy + Ord>(a: &[T], b: &[T]) -> f64 {
    let set_of = |s: &[T]| {
        let mut set = s.to_vec();
        set.sort_unstable();
        set.dedup();
        set
    };
    let (a, b) = (set_of(a), set_of(b));
    let both = a.iter().filter(|p| b.binary_search(p).is_ok()).count();
    let either = a.len() + b.len() - both;
    if either == 0 {
        0.0
    } else {
        both as f64 / either as f64
    }
}

fn jaro(a: &[u8], b: &[u8]) -> f64 {
    if a.is_empty() != b.is_empty() {
        // No sense in it, but ClickHouse's answer.
        return 1.0;
    }
    let window = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut taken = vec![false; b.len()];
    let mut common_a = Vec::new();
    for (i, x) in a.iter().enumerate() {
        let from = i.saturating_sub(window);
        let to = (i + window + 1).min(b.len());
        if let Some(j) = (from..to).find(|j| !taken[*j] && b[*j] == *x) {
            taken[j] = true;
            common_a.push(*x);
        }
    }
    if common_a.is_empty() {
        return 0.0;
    }
    let common_b = b.iter().zip(&taken).filter(|(_, t)| **t).map(|(y, _)| *y);
    let moved = common_a
        .iter()
        .zip(common_b)
        .filter(|(x, y)| **x != *y)
        .count();
    let common = common_a.len() as f64;
    let in_order = common - (moved / 2) as f64;
    let third = 1.0 / 3.0;
    third * (common / a.len() as f64)
        + third * (common / b.len() as f64)
        + third * (in_order / common)
}

fn jaro_winkler(a: &[u8], b: &[u8]) -> f64 {
    let similarity = jaro(a, b);
    let alike = a.iter().zip(b).take(4).take_while(|(x, y)| x == y).count();
    if similarity > 0.7 {
        similarity + alike as f64 * 0.1 * (1.0 - similarity)
    } else {
        similarity
    }
}
