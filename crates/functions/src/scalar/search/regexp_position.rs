//! `regexpPosition`: where a regular expression matches.

use arrow::datatypes::UInt64Type;
use basalt_error::Result;
use basalt_types::DataType;

use super::regexp::{Regexp, compile_with};
use crate::scalar::strings::shapes::{Ints, bad_arguments, number_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "regexpPosition",
    aliases: &["REGEXP_INSTR", "regexpInstr", "regexp_instr"],
    case_insensitive: true,
    syntax: "regexpPosition(s, regexp[, position[, occurrence[, returns_end[, flags]]]])",
    description: "Where a regular expression matches, from 1, or 0; or where the match has ended.",
    resolve,
    ..ScalarFunction::BASE
}];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=6)?;
    call.expect_type(0, DataType::is_string)?;
    (2..call.args.len().min(5)).try_for_each(|idx| call.expect_type(idx, DataType::is_integer))?;
    let ignores_case = match call.args.get(5) {
        Some(_) => call.constant_bytes(5)?.contains(&b'i'),
        None => false,
    };
    let regexp = compile_with(&call.constant_bytes(1)?, ignores_case)?;
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let number = |idx: usize| columns.get(idx).map(Ints::new).transpose();
        let (starts, occurrences, ends) = (number(2)?, number(3)?, number(4)?);
        let columns: Vec<Column> = columns.to_vec();
        number_rows::<UInt64Type>(&columns, num_rows, |row| {
            let value =
                |numbers: &Option<Ints>, none: i64| numbers.as_ref().map_or(none, |n| n.value(row));
            let start = positive(value(&starts, 1), "position")?;
            let occurrence = positive(value(&occurrences, 1), "occurrence")?;
            let found = nth_match(&regexp, texts.value(row), start - 1, occurrence);
            Ok(found.map_or(0, |found| {
                let at = if value(&ends, 0) != 0 {
                    found.end
                } else {
                    found.start
                };
                at as u64 + 1
            }))
        })
    })
}

fn positive(number: i64, what: &str) -> Result<usize> {
    usize::try_from(number)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| {
            bad_arguments(format!(
                "The {what} of function regexpPosition must be at least 1, got {number}"
            ))
        })
}

fn nth_match(
    regexp: &Regexp,
    text: &[u8],
    mut start: usize,
    occurrence: usize,
) -> Option<std::ops::Range<usize>> {
    let regexp = regexp.on(text);
    for _ in 1..occurrence {
        let found = regexp.find_at(start)?;
        if found.is_empty() && found.start >= text.len() {
            return None;
        }
        // An empty match is left behind by one byte.
        start = found.end.max(found.start + 1);
    }
    regexp.find_at(start)
}
