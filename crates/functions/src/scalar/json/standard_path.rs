//! Standard SQL's JSON functions with paths such as `$.a[0].b`: `JSON_VALUE` and kin.

use std::sync::Arc;

use arrow::array::UInt8Array;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::insert::text_of;
use super::number::write_compact;
use super::value::{Json, Kind};
use crate::scalar::arrays::lists::bad_arguments;
use crate::scalar::strings::shapes::write_rows;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "JSON_VALUE",
        syntax: "JSON_VALUE(json, path)",
        description: "The first value at a path that is no array or object, as text.",
        resolve: |call| resolve_text(call, write_value),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSON_QUERY",
        syntax: "JSON_QUERY(json, path)",
        description: "All values at a path as a JSON array.",
        resolve: |call| resolve_text(call, write_array),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "JSON_EXISTS",
        syntax: "JSON_EXISTS(json, path)",
        description: "Whether there is a value at a path.",
        resolve: resolve_exists,
        ..ScalarFunction::BASE
    },
];

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(Vec<u8>),
    /// Positions from 0, as ranges without their ends.
    Positions(Vec<(usize, usize)>),
    Every,
}

fn path_of(call: &Call<'_>) -> Result<Vec<Step>> {
    if call.args.len() < 2 {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!("Function {} takes at least 2 arguments", call.name),
        ));
    }
    call.expect_args(2..=3)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    call.expect_type(1, DataType::is_string)?;
    let path = call.constant_str(1)?;
    parse(&path).ok_or_else(|| bad_arguments(format!("Unable to parse JSONPath {path}")))
}

fn parse(path: &str) -> Option<Vec<Step>> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if let Some(name) = rest.strip_prefix('.') {
            let (key, tail) = match name.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"')?,
                None => name.split_at(name.find(['.', '[']).unwrap_or(name.len())),
            };
            if key.is_empty() || key == "*" {
                return None;
            }
            steps.push(Step::Key(key.as_bytes().to_vec()));
            rest = tail;
            continue;
        }
        let bracket = rest.strip_prefix('[')?;
        if let Some(quote) = bracket.chars().next().filter(|c| matches!(c, '\'' | '"')) {
            let (key, tail) = bracket[1..].split_once(quote)?;
            steps.push(Step::Key(key.as_bytes().to_vec()));
            rest = tail.strip_prefix(']')?;
            continue;
        }
        let (inside, tail) = bracket.split_once(']')?;
        steps.push(positions(inside)?);
        rest = tail;
    }
    Some(steps)
}

fn positions(text: &str) -> Option<Step> {
    if text.trim() == "*" {
        return Some(Step::Every);
    }
    let range = |part: &str| match part.split_once(" to ") {
        Some((from, to)) => Some((from.trim().parse().ok()?, to.trim().parse().ok()?)),
        None => {
            let position: usize = part.trim().parse().ok()?;
            Some((position, position.checked_add(1)?))
        }
    };
    text.split(',')
        .map(range)
        .collect::<Option<Vec<_>>>()
        .map(Step::Positions)
}

/// Calls `visit` for each value at the path until it returns true.
fn walk<'a>(value: Json<'a>, steps: &[Step], visit: &mut dyn FnMut(Json<'a>) -> bool) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return visit(value);
    };
    match step {
        Step::Key(key) => value
            .member(key, false)
            .is_some_and(|v| walk(v, rest, visit)),
        Step::Every => value.items().any(|v| walk(v, rest, visit)),
        Step::Positions(ranges) => ranges.iter().any(|(from, to)| {
            let len = to.saturating_sub(*from);
            value
                .items()
                .skip(*from)
                .take(len)
                .any(|v| walk(v, rest, visit))
        }),
    }
}

type Write = fn(Json<'_>, &[Step], &mut Vec<u8>);

fn write_value(json: Json<'_>, steps: &[Step], out: &mut Vec<u8>) {
    walk(json, steps, &mut |value| {
        let is_scalar = !matches!(value.kind(), Kind::Array | Kind::Object);
        if is_scalar {
            out.extend_from_slice(&text_of(value));
        }
        is_scalar
    });
}

fn write_array(json: Json<'_>, steps: &[Step], out: &mut Vec<u8>) {
    walk(json, steps, &mut |value| {
        out.extend_from_slice(if out.is_empty() { b"[" } else { b", " });
        write_compact(value, out);
        false
    });
    if !out.is_empty() {
        out.push(b']');
    }
}

fn resolve_text(call: &Call<'_>, write: Write) -> Result<Resolved> {
    let steps = path_of(call)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let mut answer = Vec::new();
        write_rows(columns, num_rows, |row, out| {
            answer.clear();
            if let Some(json) = Json::parse(texts.value(row)) {
                write(json, &steps, &mut answer);
            }
            out.extend_from_slice(&answer);
            Ok(())
        })
    })
}

fn resolve_exists(call: &Call<'_>) -> Result<Resolved> {
    let steps = path_of(call)?;
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let exists = |row| {
            let json = Json::parse(texts.value(row));
            u8::from(json.is_some_and(|json| walk(json, &steps, &mut |_| true)))
        };
        Ok(Arc::new(UInt8Array::from_iter_values(
            (0..num_rows).map(exists),
        )))
    })
}
