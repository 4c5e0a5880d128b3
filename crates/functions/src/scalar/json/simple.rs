//! Finds fields in JSON without parsing it: the functions `simpleJSON…`, also `visitParam…`.
//!
//! The first `"name":` anywhere in the text counts, and the value must follow at once.

use std::sync::Arc;

use arrow::array::{ArrowPrimitiveType, PrimitiveArray};
use arrow::datatypes::{Float64Type, Int64Type, UInt8Type, UInt64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::value::unescape;
use crate::scalar::strings::shapes::write_rows;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "simpleJSONHas",
        aliases: &["visitParamHas"],
        syntax: "simpleJSONHas(json, name)",
        description: "Whether there is a field of that name.",
        resolve: |call| resolve_number::<UInt8Type>(call, DataType::UInt8, |_| 1),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractInt",
        aliases: &["visitParamExtractInt"],
        syntax: "simpleJSONExtractInt(json, name)",
        description: "The field's value as an Int64, 0 if it is none.",
        resolve: |call| resolve_number::<Int64Type>(call, DataType::Int64, |v| integer(v, true)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractUInt",
        aliases: &["visitParamExtractUInt"],
        syntax: "simpleJSONExtractUInt(json, name)",
        description: "The field's value as a UInt64, 0 if it is none.",
        resolve: |call| resolve_number::<UInt64Type>(call, DataType::UInt64, |v| integer(v, false)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractFloat",
        aliases: &["visitParamExtractFloat"],
        syntax: "simpleJSONExtractFloat(json, name)",
        description: "The field's value as a Float64, 0 if it is none.",
        resolve: |call| resolve_number::<Float64Type>(call, DataType::Float64, float),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractBool",
        aliases: &["visitParamExtractBool"],
        syntax: "simpleJSONExtractBool(json, name)",
        description: "Whether the field's value is true.",
        resolve: |call| {
            resolve_number::<UInt8Type>(call, DataType::UInt8, |v| u8::from(v.starts_with(b"true")))
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractRaw",
        aliases: &["visitParamExtractRaw"],
        syntax: "simpleJSONExtractRaw(json, name)",
        description: "The field's value as it stands.",
        resolve: |call| resolve_text(call, |value, out| out.extend_from_slice(raw(value))),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "simpleJSONExtractString",
        aliases: &["visitParamExtractString"],
        syntax: "simpleJSONExtractString(json, name)",
        description: "The field's string, without its escapes.",
        resolve: |call| resolve_text(call, string),
        ..ScalarFunction::BASE
    },
];

/// The text behind `"name":`, which `needle` is.
fn value_of<'a>(text: &'a [u8], finder: &memchr::memmem::Finder<'_>) -> Option<&'a [u8]> {
    let at = finder.find(text)?;
    Some(&text[at + finder.needle().len()..])
}

fn needle(call: &Call<'_>) -> Result<Vec<u8>> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_string)?;
    if *call.data_type(0) != DataType::String {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Function {} takes a String, not a FixedString", call.name),
        ));
    }
    let name = call.constant_bytes(1)?;
    Ok([b"\"", name.as_slice(), b"\":"].concat())
}

fn resolve_number<T: ArrowPrimitiveType>(
    call: &Call<'_>,
    result: DataType,
    number: fn(&[u8]) -> T::Native,
) -> Result<Resolved> {
    let needle = needle(call)?;
    Resolved::new(result, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let finder = memchr::memmem::Finder::new(&needle);
        let value = |row| value_of(texts.value(row), &finder).map_or(T::Native::default(), number);
        Ok(Arc::new(PrimitiveArray::<T>::from_iter_values(
            (0..num_rows).map(value),
        )))
    })
}

fn resolve_text(call: &Call<'_>, write: fn(&[u8], &mut Vec<u8>)) -> Result<Resolved> {
    let needle = needle(call)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let texts = columns[0].strings()?;
        let finder = memchr::memmem::Finder::new(&needle);
        write_rows(columns, num_rows, |row, out| {
            if let Some(value) = value_of(texts.value(row), &finder) {
                write(value, out);
            }
            Ok(())
        })
    })
}

/// The integer that a value begins with, perhaps in quotes; 0 if there is none or it is too large.
fn integer<T: std::str::FromStr + Default>(value: &[u8], signed: bool) -> T {
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let sign = usize::from(signed && value.first() == Some(&b'-'));
    let digits = value[sign..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    let text = std::str::from_utf8(&value[..sign + digits]).unwrap_or_default();
    text.parse().unwrap_or_default()
}

fn float(value: &[u8]) -> f64 {
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    let is_part = |b: &&u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let len = value.iter().take_while(is_part).count();
    let text = std::str::from_utf8(&value[..len]).unwrap_or_default();
    text.parse().unwrap_or_default()
}

/// The value up to the comma or bracket that ends it.
fn raw(value: &[u8]) -> &[u8] {
    let (mut depth, mut in_string) = (0_usize, false);
    let mut i = 0;
    while let Some(byte) = value.get(i) {
        match byte {
            b'\\' if in_string => i += 1,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' | b',' if !in_string && depth == 0 => return &value[..i],
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        i += 1;
    }
    value
}

fn string(value: &[u8], out: &mut Vec<u8>) {
    let Some(inner) = value.strip_prefix(b"\"") else {
        return;
    };
    let mut end = 0;
    while let Some(byte) = inner.get(end) {
        match byte {
            b'\\' => end += 2,
            b'"' => return unescape(&inner[..end], out),
            _ => end += 1,
        }
    }
}
