//! Compares strings by their n-grams: runs of four bytes, or of three characters.

use std::hash::Hash;

use arrow::datatypes::Float32Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use hashbrown::HashMap;

use super::case::lower_utf8;
use super::shapes::two_strings_to_number;
use super::utf8::code_points;
use crate::{Call, Resolved, ScalarFunction};

/// How n-grams are taken and compared.
#[derive(Clone, Copy)]
struct Mode {
    utf8: bool,
    ignores_case: bool,
    /// Whether only the needle's n-grams count, and more of them are better.
    searches: bool,
}

macro_rules! functions {
    ($($name:literal $utf8:literal $ignores_case:literal $searches:literal;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[$(
            ScalarFunction {
                name: $name,
                syntax: concat!($name, "(haystack, needle)"),
                description: if $searches {
                    "Share of the needle's n-grams that are in the haystack, from 0 to 1."
                } else {
                    "Share of both strings' n-grams that the other does not have, from 0 to 1."
                },
                resolve: |call| resolve(call, Mode {
                    utf8: $utf8,
                    ignores_case: $ignores_case,
                    searches: $searches,
                }),
                ..ScalarFunction::BASE
            },
        )*];
    };
}

functions! {
    "ngramDistance" false false false;
    "ngramDistanceCaseInsensitive" false true false;
    "ngramDistanceUTF8" true false false;
    "ngramDistanceCaseInsensitiveUTF8" true true false;
    "ngramSearch" false false true;
    "ngramSearchCaseInsensitive" false true true;
    "ngramSearchUTF8" true false true;
    "ngramSearchCaseInsensitiveUTF8" true true true;
}

/// Longest needle, and longest haystack that is compared at all.
const MAX_BYTES: usize = 1 << 15;

fn resolve(call: &Call<'_>, mode: Mode) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    (0..2).try_for_each(|idx| call.expect_type(idx, |t| *t == DataType::String))?;
    two_strings_to_number::<Float32Type>(call, DataType::Float32, move |haystack, needle| {
        if needle.len() > MAX_BYTES {
            return Err(Error::new(
                ErrorCode::TOO_LARGE_STRING_SIZE,
                format!("The needle is longer than {MAX_BYTES} bytes"),
            ));
        }
        if haystack.len() > MAX_BYTES {
            return Ok(if mode.searches { 0.0 } else { 1.0 });
        }
        Ok(if mode.utf8 {
            let points = |s: &[u8]| {
                if mode.ignores_case {
                    let mut lower = Vec::new();
                    lower_utf8(s, &mut lower);
                    code_points(&lower)
                } else {
                    code_points(s)
                }
            };
            compare::<u32, 3>(&points(haystack), &points(needle), mode.searches)
        } else if mode.ignores_case {
            let (haystack, needle) = (haystack.to_ascii_lowercase(), needle.to_ascii_lowercase());
            compare::<u8, 4>(&haystack, &needle, mode.searches)
        } else {
            compare::<u8, 4>(haystack, needle, mode.searches)
        })
    })
}

fn compare<T: Hash + Eq + Copy, const N: usize>(
    haystack: &[T],
    needle: &[T],
    searches: bool,
) -> f32 {
    let grams = |s: &[T]| s.len().saturating_sub(N - 1);
    // How often an n-gram is in the needle more than in the haystack.
    let mut surplus: HashMap<&[T], i64, ahash::RandomState> = HashMap::default();
    for gram in needle.windows(N) {
        *surplus.entry(gram).or_default() += 1;
    }
    let missing_all = grams(needle);
    let mut missing = missing_all;
    let mut unmatched = 0_usize;
    for gram in haystack.windows(N) {
        match surplus.get_mut(gram) {
            Some(left) if *left > 0 => {
                *left -= 1;
                missing -= 1;
            }
            _ => unmatched += 1,
        }
    }
    if searches {
        return 1.0 - missing as f32 / missing_all.max(1) as f32;
    }
    (missing + unmatched) as f32 / (grams(haystack) + missing_all).max(1) as f32
}
