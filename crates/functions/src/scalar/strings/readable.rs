//! Writes sizes, quantities and times for people, and reads sizes back.

use std::sync::Arc;

use arrow::array::{AsArray, PrimitiveArray, UInt64Array};
use arrow::datatypes::{DataType as ArrowType, Float64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::shapes::{bad_arguments, validity_of, write_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "formatReadableSize",
        aliases: &["FORMAT_BYTES"],
        case_insensitive: true,
        syntax: "formatReadableSize(bytes)",
        description: "A number of bytes for people, in steps of 1024: `1.50 MiB`.",
        resolve: |call| resolve_scaled(call, 1024.0, &BINARY_UNITS),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "formatReadableDecimalSize",
        syntax: "formatReadableDecimalSize(bytes)",
        description: "A number of bytes for people, in steps of 1000: `1.50 MB`.",
        resolve: |call| resolve_scaled(call, 1000.0, &DECIMAL_UNITS),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "formatReadableQuantity",
        syntax: "formatReadableQuantity(n)",
        description: "A number for people: `1.23 million`.",
        resolve: |call| resolve_scaled(call, 1000.0, &QUANTITIES),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "parseReadableSize",
        syntax: "parseReadableSize(s)",
        description: "The number of bytes that a text like `1.50 MiB` means.",
        resolve: |call| resolve_parse(call, Failure::Error),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "parseReadableSizeOrNull",
        syntax: "parseReadableSizeOrNull(s)",
        description: "As `parseReadableSize`, NULL for other texts.",
        resolve: |call| resolve_parse(call, Failure::Null),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "parseReadableSizeOrZero",
        syntax: "parseReadableSizeOrZero(s)",
        description: "As `parseReadableSize`, 0 for other texts.",
        resolve: |call| resolve_parse(call, Failure::Zero),
        ..ScalarFunction::BASE
    },
];

const BINARY_UNITS: [&str; 9] = [
    " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB", " ZiB", " YiB",
];
const DECIMAL_UNITS: [&str; 9] = [" B", " KB", " MB", " GB", " TB", " PB", " EB", " ZB", " YB"];
const QUANTITIES: [&str; 22] = [
    "",
    " thousand",
    " million",
    " billion",
    " trillion",
    " quadrillion",
    " quintillion",
    " sextillion",
    " septillion",
    " octillion",
    " nonillion",
    " decillion",
    " undecillion",
    " duodecillion",
    " tredecillion",
    " quattuordecillion",
    " quindecillion",
    " sexdecillion",
    " septendecillion",
    " octodecillion",
    " novemdecillion",
    " vigintillion",
];

/// Numbers of any type as floats, one for each row.
#[derive(Debug)]
pub struct Floats {
    values: PrimitiveArray<Float64Type>,
    mask: usize,
}

impl Floats {
    /// The column's numbers.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the column holds no numbers.
    pub fn new(column: &Column) -> Result<Self> {
        let values = arrow::compute::cast(&column.array, &ArrowType::Float64);
        let values = values.map_err(|e| Error::bug(e.to_string()))?;
        Ok(Self {
            values: values.as_primitive::<Float64Type>().clone(),
            mask: if column.is_const { 0 } else { usize::MAX },
        })
    }

    /// The number of a row.
    pub fn value(&self, row: usize) -> f64 {
        self.values.value(row & self.mask)
    }
}

fn resolve_scaled(call: &Call<'_>, base: f64, units: &'static [&'static str]) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_number)?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let numbers = Floats::new(&columns[0])?;
        write_rows(columns, num_rows, |row, out| {
            let (mut number, mut unit) = (numbers.value(row), 0);
            while unit + 1 < units.len() && number.abs() >= base {
                number /= base;
                unit += 1;
            }
            if number.is_nan() {
                out.extend_from_slice(b"nan");
            } else {
                out.extend_from_slice(format!("{number:.2}").as_bytes());
            }
            out.extend_from_slice(units[unit].as_bytes());
            Ok(())
        })
    })
}

/// What becomes of a text that is no size.
#[derive(Clone, Copy, PartialEq)]
enum Failure {
    Error,
    Null,
    Zero,
}

fn resolve_parse(call: &Call<'_>, failure: Failure) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    let return_type = match failure {
        Failure::Null => DataType::UInt64.to_nullable(),
        _ => DataType::UInt64,
    };
    let name = call.name.to_owned();
    Resolved::new(return_type, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let validity = validity_of(columns, num_rows);
        let mut sizes = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let size = parse_size(strings.value(row));
            let is_null = validity.as_ref().is_some_and(|v| v.is_null(row));
            sizes.push(match (size, failure) {
                (Ok(size), _) => Some(size),
                (Err(error), Failure::Error) if !is_null => {
                    return Err(error.within(format!("Invalid expression for function {name}")));
                }
                (Err(_), Failure::Null) => None,
                (Err(_), _) => Some(0),
            });
        }
        if failure == Failure::Null {
            return Ok(Arc::new(UInt64Array::from(sizes)));
        }
        let sizes = sizes.into_iter().map(Option::unwrap_or_default);
        Ok(Arc::new(UInt64Array::from_iter_values(sizes)))
    })
}

fn parse_size(text: &[u8]) -> Result<u64> {
    let shown = String::from_utf8_lossy(text);
    if shown.starts_with(|c: char| c.is_ascii_whitespace()) {
        return Err(Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!("Leading whitespace is not allowed (\"{shown}\")"),
        ));
    }
    let (number, rest) = leading_number(&shown).ok_or_else(|| {
        Error::new(
            ErrorCode::CANNOT_PARSE_NUMBER,
            format!("Cannot read the number of \"{shown}\""),
        )
    })?;
    if !number.is_finite() || number < 0.0 {
        return Err(bad_arguments(format!(
            "Size must be a number from 0 on ({number})"
        )));
    }
    let rest = rest.trim_start();
    let unit_len = rest
        .find(|c: char| c.is_ascii_whitespace())
        .unwrap_or(rest.len());
    if unit_len < rest.len() {
        return Err(Error::new(
            ErrorCode::UNEXPECTED_DATA_AFTER_PARSED_VALUE,
            format!("Text after the size in \"{shown}\""),
        ));
    }
    let scale = unit_scale(rest).ok_or_else(|| {
        Error::new(
            ErrorCode::CANNOT_PARSE_TEXT,
            format!("Unknown readable size unit (\"{rest}\")"),
        )
    })?;
    let size = (number * scale).ceil();
    if size >= u64::MAX as f64 {
        return Err(bad_arguments(format!("Size \"{shown}\" is too big")));
    }
    Ok(size as u64)
}

/// The longest front of a text that is a number, and what follows.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let word = ["nan", "inf"].iter().find(|w| {
        text.get(..w.len())
            .is_some_and(|front| front.eq_ignore_ascii_case(w))
    });
    let longest = match word {
        Some(word) => word.len(),
        None => text.find(|c| !is_part(c)).unwrap_or(text.len()),
    };
    (1..=longest)
        .rev()
        .find_map(|len| Some((text[..len].parse().ok()?, &text[len..])))
}

fn unit_scale(unit: &str) -> Option<f64> {
    let unit = unit.to_ascii_lowercase();
    let prefix = unit.strip_suffix('b')?;
    let (prefix, base) = match prefix.strip_suffix('i') {
        Some(prefix) if !prefix.is_empty() => (prefix, 1024f64),
        Some(_) => return None,
        None => (prefix, 1000f64),
    };
    let power = ["", "k", "m", "g", "t", "p", "e"]
        .iter()
        .position(|p| *p == prefix)?;
    Some(base.powi(power as i32))
}
