//! Replaces what regular expressions match.

use std::ops::Range;

use basalt_error::Result;
use basalt_types::DataType;

use super::backtrack::BLOCK;
use super::on_value::{GroupFinder, Groups, OnValue};
use super::regexp::{Regexp, RegexpCache, compile};
use crate::scalar::strings::shapes::{
    bad_arguments, only_string_to_string, piece_blocks, refuse_fixed, write_rows,
};
use crate::{Call, Characters, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "replaceRegexpOne",
        syntax: "replaceRegexpOne(s, regexp, replacement)",
        description: "The string with the first match replaced; `\\1` is the first group.",
        resolve: |call| resolve_replace(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "replaceRegexpAll",
        aliases: &["REGEXP_REPLACE"],
        case_insensitive: true,
        syntax: "replaceRegexpAll(s, regexp, replacement)",
        description: "The string with all matches replaced; `\\1` is the first group.",
        resolve: |call| resolve_replace(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "regexpQuoteMeta",
        syntax: "regexpQuoteMeta(s)",
        description: "The string with a backslash before each special character.",
        resolve: |call| only_string_to_string(call, quote_meta),
        ..ScalarFunction::BASE
    },
];

fn quote_meta(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        if b"\0\\|()^$.[]?*+{:-".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

/// A part of a replacement.
#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    Group(usize),
}

/// `\0` to `\9` are groups; a backslash before anything else is dropped, a double one is one.
fn parse_replacement(replacement: &[u8], num_groups: usize) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    let mut bytes = replacement.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            text.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'9') => {
                let group = usize::from(digit - b'0');
                if group > num_groups {
                    return Err(bad_arguments(format!(
                        "Substitution '\\{group}' in replacement argument is invalid, \
                         regexp has only {num_groups} capturing groups"
                    )));
                }
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Group(group));
            }
            Some(other) => text.push(*other),
            None => text.push(b'\\'),
        }
    }
    pieces.push(Piece::Text(text));
    Ok(pieces)
}

fn resolve_replace(call: &Call<'_>, only_first: bool) -> Result<Resolved> {
    call.expect_args(3..=3)?;
    call.expect_type(0, DataType::is_string)?;
    for idx in 1..3 {
        call.expect_type(idx, |t| *t == DataType::String)?;
    }
    if call.args[0].constant.is_some() {
        refuse_fixed(call, 0)?;
    }
    let regexp = match call.args[1].constant {
        Some(_) => {
            let pattern = call.constant_bytes(1)?;
            Some(compile(&pattern).map_err(|e| bad_arguments(e.message()))?)
        }
        None => None,
    };
    let pieces = match (&regexp, &call.args[2].constant) {
        (Some(regexp), Some(_)) => Some(parse_replacement(
            &call.constant_bytes(2)?,
            regexp.num_groups(),
        )?),
        _ => None,
    };
    if let (Some(regexp), Some(pieces)) = (&regexp, &pieces)
        && let Some(group) = only_group(pieces)
        && regexp.is_whole()
    {
        return resolve_whole(regexp.clone(), group);
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let (strings, patterns) = (columns[0].strings()?, columns[1].strings()?);
        let replacements = columns[2].strings()?;
        let mut cache = RegexpCache::new(false);
        let mut constant = match (&regexp, &pieces) {
            (Some(regexp), Some(pieces)) => {
                let known = || strings.characters();
                Some(Replacer::new(regexp, pieces, only_first, known))
            }
            _ => None,
        };
        write_rows(columns, num_rows, |row, out| {
            let value = strings.value(row);
            if let Some(replacer) = &mut constant {
                replacer.replace(value, out);
                return Ok(());
            }
            let regexp = match &regexp {
                Some(regexp) => regexp,
                None => &*cache.get(patterns.value(row))?,
            };
            let pieces = parse_replacement(replacements.value(row), regexp.num_groups())?;
            let known = || Characters::Any;
            Replacer::new(regexp, &pieces, only_first, known).replace(value, out);
            Ok(())
        })
    })
}

/// The group that is all of a replacement, if one is.
fn only_group(pieces: &[Piece]) -> Option<usize> {
    let is_there = |piece: &&Piece| !matches!(piece, Piece::Text(text) if text.is_empty());
    let mut there = pieces.iter().filter(is_there);
    match (there.next(), there.next()) {
        (Some(Piece::Group(group)), None) => Some(*group),
        _ => None,
    }
}

/// Replaces whole values by a group: pieces of the values themselves, which nobody copies.
fn resolve_whole(regexp: Regexp, group: usize) -> Result<Resolved> {
    Resolved::new(DataType::String, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let mut finder = regexp.groups(|| strings.characters());
        let mut part_of = |value: &[u8]| {
            let mut groups = finder.on(value);
            match groups.find_at(0) {
                Some(_) => groups.group(group).unwrap_or(0..0),
                None => 0..value.len(),
            }
        };
        let simple = regexp.simple();
        piece_blocks::<BLOCK>(&columns[0], num_rows, |values, parts| {
            let other = |row: usize| part_of(values[row]);
            if simple.is_some_and(|simple| simple.parts(values, group, parts, other)) {
                return;
            }
            for (value, part) in values.iter().zip(parts) {
                *part = part_of(value);
            }
        })
    })
}

/// Replaces matches in one value after the other.
struct Replacer<'a> {
    regexp: &'a Regexp,
    pieces: &'a [Piece],
    /// There, if a piece is a group in brackets.
    groups: Option<GroupFinder<'a>>,
    only_first: bool,
}

impl<'a> Replacer<'a> {
    fn new(
        regexp: &'a Regexp,
        pieces: &'a [Piece],
        only_first: bool,
        known: impl FnOnce() -> Characters,
    ) -> Self {
        let has_groups = pieces.iter().any(|p| matches!(p, Piece::Group(1..)));
        Self {
            regexp,
            pieces,
            groups: has_groups.then(|| regexp.groups(known)),
            only_first: only_first || regexp.is_anchored(),
        }
    }

    /// A match of nothing right after another match counts, unlike in most libraries.
    fn replace(&mut self, value: &[u8], out: &mut Vec<u8>) {
        if self.regexp.is_empty() {
            return out.extend_from_slice(value);
        }
        let mut matches = match &mut self.groups {
            Some(groups) => Matches::WithGroups(groups.on(value)),
            None => Matches::Alone(self.regexp.on(value)),
        };
        let (mut done, mut start) = (0, 0);
        while let Some(found) = matches.find_at(start) {
            out.extend_from_slice(&value[done..found.start]);
            for piece in self.pieces {
                match piece {
                    Piece::Text(text) => out.extend_from_slice(text),
                    Piece::Group(0) => out.extend_from_slice(&value[found.clone()]),
                    Piece::Group(group) => {
                        let found = matches.group(*group);
                        out.extend_from_slice(found.map_or(&[], |range| &value[range]));
                    }
                }
            }
            done = found.end;
            start = found.end + usize::from(found.is_empty());
            if self.only_first || start > value.len() {
                break;
            }
        }
        out.extend_from_slice(&value[done..]);
    }
}

/// The matches in one value.
enum Matches<'a, 'r> {
    Alone(OnValue<'a>),
    WithGroups(Groups<'a, 'r>),
}

impl Matches<'_, '_> {
    fn find_at(&mut self, start: usize) -> Option<Range<usize>> {
        match self {
            Self::Alone(regexp) => regexp.find_at(start),
            Self::WithGroups(groups) => groups.find_at(start),
        }
    }

    /// A group of the match that was found last.
    fn group(&self, group: usize) -> Option<Range<usize>> {
        match self {
            Self::Alone(_) => None,
            Self::WithGroups(groups) => groups.group(group),
        }
    }
}
