//! Searches for many needles, or many regular expressions, at once.

use std::borrow::Cow;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::datatypes::{UInt8Type, UInt64Type};
use basalt_error::Result;
use basalt_types::DataType;
use memchr::memmem::Finder;
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::fold::Mode;
use super::regexp::translate;
use crate::scalar::strings::output::{list_of, offset_of};
use crate::scalar::strings::shapes::{bad_arguments, number_rows, text_column};
use crate::scalar::strings::utf8::count_chars;
use crate::{Call, Column, Resolved, ScalarFunction, StringColumn};

/// What a `multiSearch…` function wants to know of its needles' places.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    Any,
    FirstIndex,
    FirstPosition,
    AllPositions,
}

const fn multi_search(
    name: &'static str,
    resolve: fn(&Call<'_>) -> Result<Resolved>,
    description: &'static str,
) -> ScalarFunction {
    ScalarFunction {
        name,
        syntax: "multiSearch…(haystack, [needle, …])",
        description,
        resolve,
        ..ScalarFunction::BASE
    }
}

const ANY: &str = "Whether one of the needles is in the haystack.";
const FIRST_INDEX: &str = "Number of the first needle, from 1, that is in the haystack; or 0.";
const FIRST_POSITION: &str = "First place, from 1, where one of the needles is; or 0.";
const ALL_POSITIONS: &str = "For each needle its first place, from 1, in the haystack; or 0.";

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    multi_search(
        "multiSearchAny",
        |c| search(c, Wanted::Any, Mode::BYTES),
        ANY,
    ),
    multi_search(
        "multiSearchAnyUTF8",
        |c| search(c, Wanted::Any, Mode::UTF8),
        ANY,
    ),
    multi_search(
        "multiSearchAnyCaseInsensitive",
        |c| search(c, Wanted::Any, Mode::CASE_INSENSITIVE),
        ANY,
    ),
    multi_search(
        "multiSearchAnyCaseInsensitiveUTF8",
        |c| search(c, Wanted::Any, Mode::CASE_INSENSITIVE_UTF8),
        ANY,
    ),
    multi_search(
        "multiSearchFirstIndex",
        |c| search(c, Wanted::FirstIndex, Mode::BYTES),
        FIRST_INDEX,
    ),
    multi_search(
        "multiSearchFirstIndexUTF8",
        |c| search(c, Wanted::FirstIndex, Mode::UTF8),
        FIRST_INDEX,
    ),
    multi_search(
        "multiSearchFirstIndexCaseInsensitive",
        |c| search(c, Wanted::FirstIndex, Mode::CASE_INSENSITIVE),
        FIRST_INDEX,
    ),
    multi_search(
        "multiSearchFirstIndexCaseInsensitiveUTF8",
        |c| search(c, Wanted::FirstIndex, Mode::CASE_INSENSITIVE_UTF8),
        FIRST_INDEX,
    ),
    multi_search(
        "multiSearchFirstPosition",
        |c| search(c, Wanted::FirstPosition, Mode::BYTES),
        FIRST_POSITION,
    ),
    multi_search(
        "multiSearchFirstPositionUTF8",
        |c| search(c, Wanted::FirstPosition, Mode::UTF8),
        FIRST_POSITION,
    ),
    multi_search(
        "multiSearchFirstPositionCaseInsensitive",
        |c| search(c, Wanted::FirstPosition, Mode::CASE_INSENSITIVE),
        FIRST_POSITION,
    ),
    multi_search(
        "multiSearchFirstPositionCaseInsensitiveUTF8",
        |c| search(c, Wanted::FirstPosition, Mode::CASE_INSENSITIVE_UTF8),
        FIRST_POSITION,
    ),
    multi_search(
        "multiSearchAllPositions",
        |c| search(c, Wanted::AllPositions, Mode::BYTES),
        ALL_POSITIONS,
    ),
    multi_search(
        "multiSearchAllPositionsUTF8",
        |c| search(c, Wanted::AllPositions, Mode::UTF8),
        ALL_POSITIONS,
    ),
    multi_search(
        "multiSearchAllPositionsCaseInsensitive",
        |c| search(c, Wanted::AllPositions, Mode::CASE_INSENSITIVE),
        ALL_POSITIONS,
    ),
    multi_search(
        "multiSearchAllPositionsCaseInsensitiveUTF8",
        |c| search(c, Wanted::AllPositions, Mode::CASE_INSENSITIVE_UTF8),
        ALL_POSITIONS,
    ),
    ScalarFunction {
        name: "multiMatchAny",
        syntax: "multiMatchAny(s, [regexp, …])",
        description: "Whether one of the regular expressions matches.",
        resolve: |call| resolve_match(call, Wanted::Any),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "multiMatchAnyIndex",
        syntax: "multiMatchAnyIndex(s, [regexp, …])",
        description: "Number, from 1, of a regular expression that matches; or 0.",
        resolve: |call| resolve_match(call, Wanted::FirstIndex),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "multiMatchAllIndices",
        syntax: "multiMatchAllIndices(s, [regexp, …])",
        description: "Numbers, from 1, of all regular expressions that match.",
        resolve: |call| resolve_match(call, Wanted::AllPositions),
        ..ScalarFunction::BASE
    },
];

/// Needles of one list, ready to search.
struct Needles {
    finders: Vec<Finder<'static>>,
    /// All at once, for lists that stay the same over many rows.
    automaton: Option<AhoCorasick>,
    mode: Mode,
}

impl Needles {
    fn new(list: &ArrayRef, mode: Mode, is_const: bool) -> Result<Self> {
        let strings = StringColumn::of_array(list, false)?;
        let needles: Vec<Vec<u8>> = (0..list.len())
            .map(|i| mode.folded(strings.value(i)))
            .collect();
        let automaton = (is_const && needles.len() > 1).then(|| {
            let mut builder = AhoCorasick::builder();
            builder
                .match_kind(MatchKind::LeftmostFirst)
                .build(&needles)
                .ok()
        });
        Ok(Self {
            finders: needles
                .iter()
                .map(|n| Finder::new(n).into_owned())
                .collect(),
            automaton: automaton.flatten(),
            mode,
        })
    }

    fn any(&self, haystack: &[u8]) -> bool {
        match &self.automaton {
            Some(automaton) => automaton.is_match(haystack),
            None => self.finders.iter().any(|f| f.find(haystack).is_some()),
        }
    }

    fn first_index(&self, haystack: &[u8]) -> u64 {
        let found = self.finders.iter().position(|f| f.find(haystack).is_some());
        found.map_or(0, |i| i as u64 + 1)
    }

    fn first_position(&self, haystack: &[u8]) -> u64 {
        let at = match &self.automaton {
            Some(automaton) => automaton.find(haystack).map(|m| m.start()),
            None => self.finders.iter().filter_map(|f| f.find(haystack)).min(),
        };
        self.place(haystack, at)
    }

    fn place(&self, haystack: &[u8], at: Option<usize>) -> u64 {
        let before = match at {
            None => return 0,
            Some(at) if self.mode.in_chars => count_chars(&haystack[..at]),
            Some(at) => at,
        };
        before as u64 + 1
    }
}

fn expect_list_of_strings(call: &Call<'_>) -> Result<()> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String || t.is_enum())?;
    call.expect_type(
        1,
        |t| matches!(t, DataType::Array(e) if e.is_string() && !e.is_nullable()),
    )
}

fn search(call: &Call<'_>, wanted: Wanted, mode: Mode) -> Result<Resolved> {
    expect_list_of_strings(call)?;
    let constant = match &call.args[1].constant {
        Some(lists) => Some(Needles::new(&lists.as_list::<i32>().value(0), mode, true)?),
        None => None,
    };
    let data_type = call.data_type(0).clone();
    let return_type = match wanted {
        Wanted::Any => DataType::UInt8,
        Wanted::AllPositions => DataType::array(DataType::UInt64),
        _ => DataType::UInt64,
    };
    Resolved::new(return_type, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        let haystacks = text.strings()?;
        let mut scratch = Vec::new();
        match wanted {
            Wanted::AllPositions => {
                all_positions(&haystacks, &columns[1], (constant.as_ref(), mode), num_rows)
            }
            Wanted::Any => number_rows::<UInt8Type>(columns, num_rows, |row| {
                with_needles(constant.as_ref(), &columns[1], (row, mode), |needles| {
                    u8::from(needles.any(mode.fold(haystacks.value(row), &mut scratch)))
                })
            }),
            _ => number_rows::<UInt64Type>(columns, num_rows, |row| {
                with_needles(constant.as_ref(), &columns[1], (row, mode), |needles| {
                    let haystack = mode.fold(haystacks.value(row), &mut scratch);
                    match wanted {
                        Wanted::FirstIndex => needles.first_index(haystack),
                        _ => needles.first_position(haystack),
                    }
                })
            }),
        }
    })
}

/// Calls `f` with the constant needles or with those of the row.
fn with_needles<R>(
    constant: Option<&Needles>,
    lists: &Column,
    (row, mode): (usize, Mode),
    f: impl FnOnce(&Needles) -> R,
) -> Result<R> {
    if let Some(needles) = constant {
        return Ok(f(needles));
    }
    let list = lists.array.as_list::<i32>().value(lists.row(row));
    Ok(f(&Needles::new(&list, mode, false)?))
}

fn all_positions(
    haystacks: &StringColumn<'_>,
    lists: &Column,
    (constant, mode): (Option<&Needles>, Mode),
    num_rows: usize,
) -> Result<ArrayRef> {
    let (mut places, mut offsets) = (Vec::new(), vec![0]);
    let mut scratch = Vec::new();
    for row in 0..num_rows {
        let haystack = mode.fold(haystacks.value(row), &mut scratch);
        with_needles(constant, lists, (row, mode), |needles| {
            let found = needles.finders.iter().map(|f| f.find(haystack));
            places.extend(found.map(|at| needles.place(haystack, at)));
        })?;
        offsets.push(offset_of(places.len())?);
    }
    list_of(Arc::new(UInt64Array::from(places)), offsets)
}

fn compile_set(list: &ArrayRef) -> Result<RegexSet> {
    let strings = StringColumn::of_array(list, false)?;
    let mut patterns = Vec::with_capacity(list.len());
    for i in 0..list.len() {
        let pattern = std::str::from_utf8(strings.value(i))
            .map_err(|_| bad_arguments("Regular expression is not UTF-8"))?;
        patterns.push(translate(pattern));
    }
    let set = RegexSetBuilder::new(patterns)
        .dot_matches_new_line(true)
        .build();
    set.map_err(|e| {
        let error = e.to_string();
        let reason = error.lines().last().unwrap_or_default().trim().to_owned();
        bad_arguments(format!("Cannot compile a pattern: {reason}"))
    })
}

/// The expressions of a row. Constant ones are not copied: a copy has no room to search in yet.
fn set_of<'s>(
    constant: Option<&'s RegexSet>,
    lists: &Column,
    row: usize,
) -> Result<Cow<'s, RegexSet>> {
    match constant {
        Some(set) => Ok(Cow::Borrowed(set)),
        None => compile_set(&lists.array.as_list::<i32>().value(lists.row(row))).map(Cow::Owned),
    }
}

fn resolve_match(call: &Call<'_>, wanted: Wanted) -> Result<Resolved> {
    expect_list_of_strings(call)?;
    let constant = match &call.args[1].constant {
        Some(lists) => Some(compile_set(&lists.as_list::<i32>().value(0))?),
        None => None,
    };
    let data_type = call.data_type(0).clone();
    let return_type = match wanted {
        Wanted::Any => DataType::UInt8,
        Wanted::AllPositions => DataType::array(DataType::UInt64),
        _ => DataType::UInt64,
    };
    Resolved::new(return_type, move |columns, num_rows| {
        let text = text_column(&columns[0], &data_type)?;
        let strings = text.strings()?;
        match wanted {
            Wanted::Any => number_rows::<UInt8Type>(columns, num_rows, |row| {
                Ok(u8::from(
                    set_of(constant.as_ref(), &columns[1], row)?.is_match(strings.value(row)),
                ))
            }),
            Wanted::AllPositions => {
                let (mut indices, mut offsets) = (Vec::new(), vec![0]);
                for row in 0..num_rows {
                    let found =
                        set_of(constant.as_ref(), &columns[1], row)?.matches(strings.value(row));
                    indices.extend(found.iter().map(|i| i as u64 + 1));
                    offsets.push(offset_of(indices.len())?);
                }
                list_of(Arc::new(UInt64Array::from(indices)), offsets)
            }
            _ => number_rows::<UInt64Type>(columns, num_rows, |row| {
                let found =
                    set_of(constant.as_ref(), &columns[1], row)?.matches(strings.value(row));
                Ok(found.iter().next().map_or(0, |i| i as u64 + 1))
            }),
        }
    })
}
