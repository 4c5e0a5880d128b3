//! Takes out of strings what regular expressions match, and counts matches.

use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::datatypes::UInt64Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::on_value::GroupFinder;
use super::regexp::{Regexp, RegexpCache, compile, compile_with};
use crate::scalar::strings::output::{Slicer, list_of, offset_of};
use crate::scalar::strings::shapes::{
    Ints, bad_arguments, number_rows, piece_list_rows, piece_rows,
};
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "extract",
        fails: Fails::Patterns,
        syntax: "extract(s, regexp)",
        description: "The first match of a regular expression, or of its first group.",
        resolve: resolve_extract,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractAll",
        fails: Fails::Patterns,
        syntax: "extractAll(s, regexp)",
        description: "All matches of a regular expression, or of its first group.",
        resolve: resolve_all,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractGroups",
        syntax: "extractGroups(s, regexp)",
        description: "The groups of the first match of a regular expression.",
        resolve: resolve_groups,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractAllGroupsVertical",
        aliases: &["extractAllGroups"],
        syntax: "extractAllGroupsVertical(s, regexp)",
        description: "For each match of a regular expression the array of its groups.",
        resolve: |call| resolve_all_groups(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "extractAllGroupsHorizontal",
        syntax: "extractAllGroupsHorizontal(s, regexp)",
        description: "For each group of a regular expression the array of what it matched.",
        resolve: |call| resolve_all_groups(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "regexpExtract",
        aliases: &["REGEXP_EXTRACT", "REGEXP_SUBSTR"],
        case_insensitive: true,
        syntax: "regexpExtract(s, regexp[, group])",
        description: "A group of the first match of a regular expression; 0 is all of it.",
        resolve: resolve_group,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countMatches",
        fails: Fails::Patterns,
        syntax: "countMatches(s, regexp)",
        description: "How often a regular expression matches, without overlaps.",
        resolve: |call| resolve_count(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "countMatchesCaseInsensitive",
        syntax: "countMatchesCaseInsensitive(s, regexp)",
        description: "As `countMatches`, in any case.",
        resolve: |call| resolve_count(call, true),
        ..ScalarFunction::BASE
    },
];

fn constant_regexp(call: &Call<'_>) -> Result<Regexp> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    compile(&call.constant_bytes(1)?)
}

/// Calls `f` with the groups of each match until one is empty; group 0 is the match.
fn each_match(
    finder: &mut GroupFinder<'_>,
    value: &[u8],
    mut f: impl FnMut(&dyn Fn(usize) -> Range<usize>),
) {
    let mut groups = finder.on(value);
    let mut start = 0;
    while let Some(found) = groups.find_at(start) {
        if found.is_empty() {
            break;
        }
        f(&|group| groups.group(group).unwrap_or(0..0));
        start = found.end;
    }
}

/// The matches until one is empty.
fn matches_of<'a>(regexp: &'a Regexp, value: &'a [u8]) -> impl Iterator<Item = Range<usize>> + 'a {
    let regexp = regexp.on(value);
    let mut start = 0;
    std::iter::from_fn(move || {
        let found = regexp.find_at(start).filter(|found| !found.is_empty())?;
        start = found.end;
        Some(found)
    })
}

fn resolve_extract(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let regexp = constant_regexp(call)?;
    let has_groups = regexp.num_groups() > 0;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut finder = regexp.groups(|| strings.characters());
        piece_rows(&columns[0], num_rows, |_, value| {
            if !has_groups {
                return regexp.find(value).unwrap_or(0..0);
            }
            let mut groups = finder.on(value);
            groups.find_at(0);
            groups.group(1).unwrap_or(0..0)
        })
    })
}

fn resolve_all(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let regexp = constant_regexp(call)?;
    let has_groups = regexp.num_groups() > 0;
    let return_type = DataType::array(DataType::String);
    Resolved::new(return_type, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut finder = regexp.groups(|| strings.characters());
        piece_list_rows(&columns[0], num_rows, |_, value, pieces| {
            match has_groups {
                true => each_match(&mut finder, value, |groups| pieces.push(groups(1))),
                false => pieces.extend(matches_of(&regexp, value)),
            }
            Ok(())
        })
    })
}

fn grouped_regexp(call: &Call<'_>) -> Result<Regexp> {
    let regexp = constant_regexp(call)?;
    if regexp.num_groups() == 0 {
        return Err(bad_arguments(format!(
            "There are no groups in the regular expression of function {}",
            call.name
        )));
    }
    Ok(regexp)
}

fn resolve_groups(call: &Call<'_>) -> Result<Resolved> {
    let regexp = grouped_regexp(call)?;
    let return_type = DataType::array(DataType::String);
    Resolved::new(return_type, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut finder = regexp.groups(|| strings.characters());
        piece_list_rows(&columns[0], num_rows, |_, value, pieces| {
            let mut groups = finder.on(value);
            if groups.find_at(0).is_some() {
                let groups = (1..=regexp.num_groups()).map(|group| groups.group(group));
                pieces.extend(groups.map(|g| g.unwrap_or(0..0)));
            }
            Ok(())
        })
    })
}

fn resolve_all_groups(call: &Call<'_>, vertical: bool) -> Result<Resolved> {
    let regexp = grouped_regexp(call)?;
    let return_type = DataType::array(DataType::array(DataType::String));
    Resolved::new(return_type, move |columns, num_rows| {
        all_groups(&regexp, &columns[0], num_rows, vertical)
    })
}

fn all_groups(
    regexp: &Regexp,
    column: &Column,
    num_rows: usize,
    vertical: bool,
) -> Result<ArrayRef> {
    let num_groups = regexp.num_groups();
    let mut slicer = Slicer::new(column, num_rows)?;
    let strings = column.strings()?;
    let mut finder = regexp.groups(|| strings.characters());
    let (mut inner, mut outer) = (vec![0], vec![0]);
    for row in 0..num_rows {
        let mut pieces = Vec::new();
        each_match(&mut finder, slicer.value(row), |groups| {
            pieces.extend((1..=num_groups).map(groups));
        });
        let num_matches = pieces.len() / num_groups;
        let (lists, len) = if vertical {
            (num_matches, num_groups)
        } else {
            (num_groups, num_matches)
        };
        for list in 0..lists {
            for i in 0..len {
                let at = if vertical {
                    list * num_groups + i
                } else {
                    i * num_groups + list
                };
                slicer.push(row, pieces[at].clone());
            }
            inner.push(offset_of(slicer.len())?);
        }
        outer.push(offset_of(inner.len() - 1)?);
    }
    list_of(slicer.finish_lists(inner)?, outer)
}

fn resolve_group(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_string)?;
    if call.args.len() == 3 {
        call.expect_type(2, DataType::is_integer)?;
    }
    let regexp = compile(&call.constant_bytes(1)?)?;
    let default = regexp.num_groups().min(1) as i64;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let groups = columns.get(2).map(Ints::new).transpose()?;
        let group_of = |row| groups.as_ref().map_or(default, |g| g.value(row));
        for row in 0..num_rows {
            let group = group_of(row);
            if !(0..=regexp.num_groups() as i64).contains(&group) {
                return Err(group_out_of_range(group, regexp.num_groups()));
            }
        }
        let strings = columns[0].strings()?;
        let mut finder = regexp.groups(|| strings.characters());
        piece_rows(&columns[0], num_rows, |row, value| {
            let mut groups = finder.on(value);
            groups.find_at(0);
            groups.group(group_of(row) as usize).unwrap_or(0..0)
        })
    })
}

fn group_out_of_range(group: i64, num_groups: usize) -> Error {
    let code = ErrorCode::INDEX_OF_POSITIONAL_ARGUMENT_IS_OUT_OF_RANGE;
    let message = format!("Group {group} is out of range, the last group is {num_groups}");
    Error::new(code, message)
}

fn resolve_count(call: &Call<'_>, ignores_case: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    call.expect_type(1, DataType::is_string)?;
    let constant = match call.args[1].constant {
        Some(_) => Some(compile_with(&call.constant_bytes(1)?, ignores_case)?),
        None => None,
    };
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let (strings, patterns) = (columns[0].strings()?, columns[1].strings()?);
        let mut cache = RegexpCache::new(ignores_case);
        number_rows::<UInt64Type>(columns, num_rows, |row| match &constant {
            Some(regexp) => Ok(count(regexp, strings.value(row))),
            None => Ok(count(&*cache.get(patterns.value(row))?, strings.value(row))),
        })
    })
}

/// Matches of nothing are passed over.
fn count(regexp: &Regexp, value: &[u8]) -> u64 {
    let regexp = regexp.on(value);
    let (mut start, mut count) = (0, 0);
    while let Some(found) = regexp.find_at(start) {
        if found.is_empty() {
            start = found.end + 1;
        } else {
            count += 1;
            start = found.end;
        }
    }
    count
}
