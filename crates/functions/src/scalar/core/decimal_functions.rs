//! Multiplies and divides decimals to a scale of choice, and writes numbers with a number of digits.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::cast::array_cast;
use super::decimals::{Ticks, Width, decimal_array, digits, ticks_of};
use super::num::Num;
use super::numeric::{map1, values};
use crate::scalar::strings::shapes::{Ints, validity_of, write_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "multiplyDecimal",
        syntax: "multiplyDecimal(a, b[, scale])",
        description: "The product of two decimals with 76 digits, cut to a scale.",
        resolve: |call| resolve(call, false),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "divideDecimal",
        syntax: "divideDecimal(a, b[, scale])",
        description: "The quotient of two decimals with 76 digits, cut to a scale.",
        resolve: |call| resolve(call, true),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "toDecimalString",
        case_insensitive: true,
        syntax: "toDecimalString(x, digits)",
        description: "A number as text with so many digits behind the point.",
        resolve: to_decimal_string,
        ..ScalarFunction::BASE
    },
];

fn overflow() -> Error {
    Error::new(
        ErrorCode::DECIMAL_OVERFLOW,
        "Numeric overflow: the result has more than 76 digits",
    )
}

fn resolve(call: &Call<'_>, divides: bool) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let (Some((_, scale_a)), Some((_, scale_b))) =
        (digits(call.data_type(0)), digits(call.data_type(1)))
    else {
        let idx = usize::from(call.data_type(0).is_decimal());
        return Err(call.illegal_type(idx));
    };
    let scale = match call.args.get(2) {
        Some(_) => {
            call.expect_type(2, DataType::is_unsigned)?;
            let scale = call.constant_u64(2)?;
            u8::try_from(scale)
                .ok()
                .filter(|s| *s <= 76)
                .ok_or_else(|| {
                    Error::new(
                        ErrorCode::ARGUMENT_OUT_OF_BOUND,
                        format!("Scale {scale} is out of bounds (max scale: 76)"),
                    )
                })?
        }
        None => scale_a.max(scale_b),
    };
    let result = DataType::Decimal {
        precision: 76,
        scale,
    };
    // What the result of the plain operation has to be multiplied with, as a power of ten.
    let (a, b, s) = (i32::from(scale_a), i32::from(scale_b), i32::from(scale));
    let shift = if divides { s + b - a } else { s - a - b };
    Resolved::new(result.clone(), move |columns, num_rows| {
        let ticks = [0, 1].map(|i| ticks_of::<i256>(&columns[i], Width::W256));
        let [a, b] = ticks;
        let (a, b) = (a?, b?);
        let valid = validity_of(columns, num_rows);
        let mut out = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            if valid.as_ref().is_some_and(|v| v.is_null(row)) {
                out.push(i256::ZERO);
                continue;
            }
            let pair = (a[columns[0].row(row)], b[columns[1].row(row)]);
            out.push(if divides {
                quotient(pair, shift)?
            } else {
                product(pair, shift)?
            });
        }
        decimal_array(out, &result, None)
    })
}

fn power(exponent: i32) -> Result<i256> {
    <i256 as Ticks>::power_of_ten(exponent.unsigned_abs()).ok_or_else(overflow)
}

fn product((a, b): (i256, i256), shift: i32) -> Result<i256> {
    let product = a.checked_mul(b).ok_or_else(overflow)?;
    if shift < 0 {
        return Ok(product.checked_div(power(shift)?).unwrap_or(i256::ZERO));
    }
    product.checked_mul(power(shift)?).ok_or_else(overflow)
}

fn quotient((a, b): (i256, i256), shift: i32) -> Result<i256> {
    if b == i256::ZERO {
        return Err(Error::new(ErrorCode::ILLEGAL_DIVISION, "Division by zero"));
    }
    if shift >= 0 {
        let dividend = a.checked_mul(power(shift)?).ok_or_else(overflow)?;
        return dividend.checked_div(b).ok_or_else(overflow);
    }
    let quotient = a.checked_div(b).ok_or_else(overflow)?;
    Ok(quotient.checked_div(power(shift)?).unwrap_or(i256::ZERO))
}

/// Most digits behind the point of floats and of other numbers.
const FLOAT_DIGITS: i64 = 60;
const OTHER_DIGITS: i64 = 77;

fn too_precise(message: String) -> Error {
    Error::new(ErrorCode::CANNOT_PRINT_FLOAT_OR_DOUBLE_NUMBER, message)
}

fn to_decimal_string(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    call.expect_type(0, DataType::is_number)?;
    call.expect_type(1, DataType::is_integer)?;
    let from = call.data_type(0).clone();
    if call.data_type(1).is_signed() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Illegal type of the second argument of function {}",
                call.name
            ),
        ));
    }
    let most = if from.is_float() {
        FLOAT_DIGITS
    } else {
        OTHER_DIGITS
    };
    let exact = digits(&from).map(|(_, scale)| scale);
    let as_text = match Num::of_number(&from) {
        Some(num) if !num.is_float() => Some(array_cast(&from, &DataType::String, call.context)?),
        _ => None,
    };
    Resolved::new(DataType::String, move |columns, num_rows| {
        let places = Ints::new(&columns[1])?;
        let source = Numbers::of(&columns[0], exact, as_text.as_ref())?;
        write_rows(columns, num_rows, |row, out| {
            let places = places.value(row);
            if places > most {
                return Err(too_precise(format!(
                    "Too many fractional digits requested, must not be more than {most}"
                )));
            }
            // At most 77.
            source.write(columns[0].row(row), places as usize, out)
        })
    })
}

/// Numbers to be written with some digits behind the point.
enum Numbers {
    Floats(ArrayRef),
    /// Ticks and their scale.
    Decimals(Vec<i256>, u8),
    /// Integers as texts.
    Texts(ArrayRef),
}

impl Numbers {
    fn of(
        column: &Column,
        scale: Option<u8>,
        as_text: Option<&super::cast::ArrayCast>,
    ) -> Result<Self> {
        Ok(match (scale, as_text) {
            (Some(scale), _) => Numbers::Decimals(ticks_of(column, Width::W256)?, scale),
            (None, Some(cast)) => Numbers::Texts(cast(&column.array)?),
            (None, None) => {
                let whole = Column::new(std::sync::Arc::clone(&column.array));
                Numbers::Floats(map1::<f64, f64>(&whole, column.array.len(), |x| x)?)
            }
        })
    }

    fn write(&self, row: usize, places: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Numbers::Floats(floats) => write_float(values(floats.as_ref())?[row], places, out),
            Numbers::Decimals(ticks, scale) => {
                write_decimal(ticks[row], usize::from(*scale), places, out);
                Ok(())
            }
            Numbers::Texts(texts) => {
                out.extend_from_slice(texts.as_binary_view().value(row));
                push_zeros(places, out);
                Ok(())
            }
        }
    }
}

/// The point and zeros behind a whole number.
fn push_zeros(places: usize, out: &mut Vec<u8>) {
    if places > 0 {
        out.push(b'.');
        out.resize(out.len() + places, b'0');
    }
}

/// Digits behind the point of the longest decimal expansion that a float has.
const MOST_FRACTION_DIGITS: usize = 1074;

/// Rounds the float's exact value, halves away from zero.
fn write_float(value: f64, places: usize, out: &mut Vec<u8>) -> Result<()> {
    if !value.is_finite() {
        let text: &[u8] = match (value.is_nan(), value < 0.0) {
            (true, _) => b"nan",
            (false, true) => b"-inf",
            (false, false) => b"inf",
        };
        out.extend_from_slice(text);
        return Ok(());
    }
    if value.abs() >= 1e60 {
        return Err(too_precise(format!("Cannot print the number {value:e}")));
    }
    let shortest = format!("{value}");
    let fraction = shortest
        .split_once('.')
        .map_or("", |(_, fraction)| fraction);
    // Rust rounds what lies exactly between two texts to the even one.
    let may_be_half = fraction.len() == places + 1 && fraction.ends_with('5');
    let text = if may_be_half {
        round_text(&format!("{value:.MOST_FRACTION_DIGITS$}"), places)
    } else {
        format!("{value:.places$}")
    };
    out.extend_from_slice(text.as_bytes());
    Ok(())
}

fn pad_text(shortest: &str, places: usize) -> Option<String> {
    let fraction = shortest.split_once('.').map_or(0, |(_, f)| f.len());
    let mut text = shortest.to_owned();
    if fraction == 0 && places > 0 {
        text.push('.');
    }
    text.extend(std::iter::repeat_n('0', places.checked_sub(fraction)?));
    Some(text)
}

/// A decimal text with more digits than wanted, rounded.
fn round_text(text: &str, places: usize) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut kept: Vec<u8> = whole.bytes().chain(fraction.bytes().take(places)).collect();
    let rounds_up = fraction.as_bytes().get(places).is_some_and(|d| *d >= b'5');
    if rounds_up {
        let mut at = kept.len();
        loop {
            if at == 0 {
                kept.insert(0, b'1');
                break;
            }
            at -= 1;
            if kept[at] < b'9' {
                kept[at] += 1;
                break;
            }
            kept[at] = b'0';
        }
    }
    let point = kept.len() - places;
    let mut out = sign.to_owned();
    for (i, digit) in kept.into_iter().enumerate() {
        if i == point {
            out.push('.');
        }
        out.push(char::from(digit));
    }
    out
}

/// A decimal with more or fewer digits; what is cut off is rounded.
fn write_decimal(ticks: i256, scale: usize, places: usize, out: &mut Vec<u8>) {
    let text = ticks.to_string();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    let plain = if scale == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    };
    let text = if scale > places {
        round_text(&plain, places)
    } else {
        pad_text(&plain, places).unwrap_or(plain)
    };
    out.extend_from_slice(text.as_bytes());
}
