//! Puts JSON values into columns of any type.

use std::borrow::Cow;

use basalt_error::{Error, Result};
use basalt_types::builder::NestedMut;
use basalt_types::{ColumnBuilder, DataType};

use super::number::{Number, write_compact};
use super::value::{Json, Kind};

/// How lenient conversions are.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Whether `true` is 1 where an integer is wanted.
    pub bool_as_integer: bool,
}

/// Appends `value`, or the type's default (NULL if it is Nullable) if it does not convert; says
/// whether it did.
///
/// # Errors
/// `LOGICAL_ERROR` if a nested column cannot be built.
pub fn insert(builder: &mut ColumnBuilder, value: Json<'_>, rules: Rules) -> Result<bool> {
    if value.kind() == Kind::Null {
        builder.append_default();
        return Ok(builder.is_nullable());
    }
    let base = builder.data_type().base().clone();
    let len = builder.len();
    let done = match &base {
        DataType::Array(_) => return insert_array(builder, value, rules),
        DataType::Tuple(tuple) => return insert_tuple(builder, value, (&tuple.names, rules)),
        DataType::Map(..) => return insert_map(builder, value, rules),
        DataType::String => builder.append_raw(&text_of(value)).is_ok(),
        DataType::Bool => append_bool(builder, value),
        DataType::Float32 | DataType::Float64 => append_float(builder, value),
        DataType::DateTime(_) if value.kind() == Kind::Number => {
            append_integer(builder, value, rules)
        }
        DataType::DateTime64(precision, _) if value.kind() == Kind::Number => {
            append_ticks(builder, value, *precision)
        }
        t if t.is_integer() => append_integer(builder, value, rules),
        t => append_text(builder, value, t),
    };
    if !done {
        builder.truncate(len);
        builder.append_default();
    }
    Ok(done)
}

/// A value's text as a String: the content of strings, all else without space.
pub fn text_of(value: Json<'_>) -> Cow<'_, [u8]> {
    if let Some(text) = value.string() {
        return text;
    }
    let mut out = Vec::new();
    write_compact(value, &mut out);
    if out.first() == Some(&b'"') {
        // A number beyond 64 bits.
        return Cow::Borrowed(value.text());
    }
    Cow::Owned(out)
}

fn number_of(value: Json<'_>) -> Option<Number> {
    match value.kind() {
        Kind::Number => Number::parse(value.text()),
        Kind::String => {
            let text = value.string()?;
            Number::parse(Json::parse(&text).filter(|j| j.text() == &*text)?.text())
        }
        _ => None,
    }
}

fn append_bool(builder: &mut ColumnBuilder, value: Json<'_>) -> bool {
    let flag = match value.kind() {
        Kind::Bool => Some(value.text() == b"true"),
        _ => match number_of(value) {
            Some(Number::Int(number)) => Some(number != 0),
            Some(Number::UInt(_)) => Some(true),
            _ => None,
        },
    };
    flag.is_some_and(|flag| builder.append_raw(&[u8::from(flag)]).is_ok())
}

fn append_float(builder: &mut ColumnBuilder, value: Json<'_>) -> bool {
    let Some(number) = number_of(value)
        .map(Number::to_float)
        .filter(|f| f.is_finite())
    else {
        return false;
    };
    if *builder.data_type().base() == DataType::Float32 {
        builder.append_raw(&(number as f32).to_le_bytes()).is_ok()
    } else {
        builder.append_raw(&number.to_le_bytes()).is_ok()
    }
}

fn append_integer(builder: &mut ColumnBuilder, value: Json<'_>, rules: Rules) -> bool {
    let number = match value.kind() {
        Kind::Bool if rules.bool_as_integer => Some(i128::from(value.text() == b"true")),
        _ => number_of(value).and_then(Number::to_integer),
    };
    let (Some(number), Some(size)) = (number, builder.data_type().fixed_size_bytes()) else {
        return false;
    };
    let bits = size as u32 * 8;
    let is_signed = builder.data_type().is_signed();
    let range = if !is_signed {
        0..1_i128 << bits
    } else {
        -(1_i128 << (bits - 1))..1_i128 << (bits - 1)
    };
    range.contains(&number) && builder.append_raw(&number.to_le_bytes()[..size]).is_ok()
}

/// Seconds with a fraction as ticks.
fn append_ticks(builder: &mut ColumnBuilder, value: Json<'_>, precision: u8) -> bool {
    let unit = 10f64.powi(i32::from(precision));
    let ticks = number_of(value).map(|seconds| seconds.to_float() * unit);
    let ticks = ticks.filter(|t| t.abs() < 9e18);
    ticks.is_some_and(|t| builder.append_raw(&(t as i64).to_le_bytes()).is_ok())
}

/// Types that are read from text: dates, decimals, enums, addresses.
fn append_text(builder: &mut ColumnBuilder, value: Json<'_>, base: &DataType) -> bool {
    let takes_number = base.is_date_time() || base.is_decimal() || base.is_enum();
    let is_text = matches!(base, DataType::FixedString(_)) || value.kind() == Kind::String;
    let fits = is_text || (value.kind() == Kind::Number && takes_number);
    fits && builder.append_text(&text_of(value)).is_ok()
}

fn not_nested() -> Error {
    Error::bug("a nested type has nested columns")
}

fn insert_array(builder: &mut ColumnBuilder, value: Json<'_>, rules: Rules) -> Result<bool> {
    if value.kind() != Kind::Array {
        builder.append_default();
        return Ok(false);
    }
    let Some(NestedMut::Array(items)) = builder.nested() else {
        return Err(not_nested());
    };
    let before = items.len();
    let (mut any, mut empty) = (false, true);
    for item in value.items() {
        any |= insert(items, item, rules)?;
        empty = false;
    }
    if !any {
        items.truncate(before);
    }
    builder.finish_nested()?;
    Ok(any || empty)
}

fn insert_tuple(
    builder: &mut ColumnBuilder,
    value: Json<'_>,
    (names, rules): (&[String], Rules),
) -> Result<bool> {
    let Some(NestedMut::Tuple(columns)) = builder.nested() else {
        return Err(not_nested());
    };
    let mut any = false;
    let mut items = value.items();
    let mut members = value.members();
    for (idx, column) in columns.iter_mut().enumerate() {
        let element = match (value.kind(), names.get(idx)) {
            (Kind::Object, Some(name)) => value.member(name.as_bytes(), false),
            (Kind::Object, None) => members.next().map(|(_, v)| v),
            _ => items.next(),
        };
        match element {
            Some(element) => any |= insert(column, element, rules)?,
            None => column.append_default(),
        }
    }
    builder.finish_nested()?;
    Ok(any)
}

fn insert_map(builder: &mut ColumnBuilder, value: Json<'_>, rules: Rules) -> Result<bool> {
    if value.kind() != Kind::Object {
        builder.append_default();
        return Ok(false);
    }
    let Some(NestedMut::Map([keys, values])) = builder.nested() else {
        return Err(not_nested());
    };
    for (key, member) in value.members() {
        insert(keys, key, rules)?;
        insert(values, member, rules)?;
    }
    builder.finish_nested()?;
    Ok(true)
}
