//! Rounds numbers to digits, to powers of two and to classes of durations and ages.

mod classes;
mod floats;

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use classes::{round_age, round_down, round_duration};
use floats::float;

use super::decimals::{Ticks, Width, decimal_array, digits, ticks_of};
use super::numeric::{Native, Num, Numbers, array_of, map1, with_native};
use crate::scalar::arrays::integers::Integers;
use crate::{Call, Column, Fails, Resolved, ScalarFunction};

/// Where a number goes that lies between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// To the nearest; halves away from zero, of floats to the even one.
    Nearest,
    /// To the nearest; halves to the even one.
    Bankers,
    Floor,
    Ceil,
    Trunc,
}

/// Rounding functions.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "round",
        case_insensitive: true,
        syntax: "round(x[, digits])",
        description: "Rounds to the nearest number with that many decimal digits.",
        resolve: |call| to_digits(call, Mode::Nearest),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "roundBankers",
        syntax: "roundBankers(x[, digits])",
        description: "Rounds to the nearest number, halves to the even digit.",
        resolve: |call| to_digits(call, Mode::Bankers),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "floor",
        case_insensitive: true,
        syntax: "floor(x[, digits])",
        description: "Rounds down.",
        resolve: |call| to_digits(call, Mode::Floor),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "ceil",
        aliases: &["ceiling"],
        case_insensitive: true,
        syntax: "ceil(x[, digits])",
        description: "Rounds up.",
        resolve: |call| to_digits(call, Mode::Ceil),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "trunc",
        aliases: &["truncate"],
        case_insensitive: true,
        syntax: "trunc(x[, digits])",
        description: "Rounds towards zero.",
        resolve: |call| to_digits(call, Mode::Trunc),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "roundToExp2",
        fails: Fails::Never,
        syntax: "roundToExp2(x)",
        description: "Rounds down to a power of two.",
        resolve: super::bits::round_to_exp2,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "roundDuration",
        fails: Fails::Never,
        syntax: "roundDuration(seconds)",
        description: "Rounds down to one of 1, 10, 30, 60, 120, … 36000 seconds.",
        resolve: round_duration,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "roundAge",
        fails: Fails::Never,
        syntax: "roundAge(years)",
        description: "Rounds down to one of the ages 17, 18, 25, 35, 45, 55.",
        resolve: round_age,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "roundDown",
        syntax: "roundDown(x, elements)",
        description: "Rounds down to an element of a constant array, or to the least of them.",
        resolve: round_down,
        ..ScalarFunction::BASE
    },
];

fn to_digits(call: &Call<'_>, mode: Mode) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    if call.args.len() == 2 && call.args[1].constant.is_none() {
        return to_digits_of_rows(call, mode);
    }
    let digits = match call.args.len() {
        2 => call.constant_i64(1)?,
        _ => 0,
    };
    rounding(call.data_type(0), mode, digits, || call.illegal_type(0))
}

/// Rounds each row to its own number of digits: for each such number once.
fn to_digits_of_rows(call: &Call<'_>, mode: Mode) -> Result<Resolved> {
    call.expect_type(1, DataType::is_integer)?;
    let data_type = call.data_type(0).clone();
    let illegal = call.illegal_type(0);
    let plain = rounding(&data_type, mode, 0, || illegal.clone())?;
    Resolved::new(plain.return_type, move |columns, num_rows| {
        let values = columns[0].expand(num_rows)?;
        let digits = Integers::of(&columns[1])?;
        let validity = columns[1].validity(num_rows);
        let mut rows_of: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for row in 0..num_rows {
            // What is computed where the digits are NULL is dropped.
            let is_valid = validity.as_ref().is_none_or(|v| v.is_valid(row));
            let wanted = if is_valid { digits.value(row) } else { 0 };
            let row = u32::try_from(row).map_err(|_| Error::bug("a batch of too many rows"))?;
            rows_of.entry(wanted).or_default().push(row);
        }
        let bug = |e: arrow::error::ArrowError| Error::bug(e.to_string());
        let mut places = vec![(0, 0); num_rows];
        let mut results = Vec::with_capacity(rows_of.len());
        for (digits, rows) in rows_of {
            let rows = UInt32Array::from(rows);
            let taken = Column::new(arrow::compute::take(&values, &rows, None).map_err(bug)?);
            let rounded = rounding(&data_type, mode, digits, || illegal.clone())?;
            for (i, row) in rows.values().iter().enumerate() {
                places[*row as usize] = (results.len(), i);
            }
            results.push((rounded.eval)(&[taken], rows.len())?);
        }
        let results: Vec<&dyn Array> = results.iter().map(AsRef::as_ref).collect();
        if results.is_empty() {
            return Ok(values);
        }
        arrow::compute::interleave(&results, &places).map_err(bug)
    })
}

fn rounding(
    data_type: &DataType,
    mode: Mode,
    digits: i64,
    illegal: impl Fn() -> Error,
) -> Result<Resolved> {
    if i16::try_from(digits).is_err() {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            "Scale argument for rounding function is too large",
        ));
    }
    let digits = i32::try_from(digits.clamp(-1000, 1000)).unwrap_or(0);
    let data_type = data_type.clone();
    if data_type.is_decimal() {
        return decimal(data_type, mode, digits);
    }
    let num = Num::of_number(&data_type).ok_or_else(illegal)?;
    Resolved::new(data_type, move |columns, num_rows| {
        let column = &columns[0];
        match num {
            Num::F64 => float::<f64>(column, num_rows, mode, digits),
            Num::F32 => float::<f32>(column, num_rows, mode, digits),
            _ if digits >= 0 => column.expand(num_rows),
            _ => with_native!(num, T => integers::<T>(column, num_rows, mode, digits)),
        }
    })
}

/// `ticks` rounded to a multiple of `unit`.
fn to_multiple<T: Ticks>(ticks: T, unit: T, mode: Mode) -> T {
    let zero = T::from_i128(0);
    let one = T::from_i128(1);
    let (quotient, rest) = (ticks.div_wrapping(unit), ticks.mod_wrapping(unit));
    let away = if ticks < zero {
        zero.sub_wrapping(one)
    } else {
        one
    };
    let twice = if rest < zero {
        zero.sub_wrapping(rest)
    } else {
        rest
    }
    .mul_wrapping(T::from_i128(2));
    let is_odd = !quotient.mod_wrapping(T::from_i128(2)).is_zero();
    let moves = match mode {
        Mode::Nearest => twice >= unit,
        Mode::Bankers => twice > unit || (twice == unit && is_odd),
        Mode::Floor => rest < zero,
        Mode::Ceil => rest > zero,
        Mode::Trunc => false,
    };
    let quotient = if moves {
        quotient.add_wrapping(away)
    } else {
        quotient
    };
    quotient.mul_wrapping(unit)
}

fn integers<T: Native>(
    column: &Column,
    num_rows: usize,
    mode: Mode,
    digits: i32,
) -> Result<ArrayRef> {
    if digits.unsigned_abs() > 19 {
        return map1::<T, T>(column, num_rows, |_| T::default());
    }
    let unit = 10_i128.pow(digits.unsigned_abs());
    let wide: Vec<u64> = Numbers::converted(column.array.as_ref())?;
    let signed = T::NUM.is_signed();
    let number = |bits: u64| {
        if signed {
            i128::from(bits as i64)
        } else {
            i128::from(bits)
        }
    };
    let shift = 64 - 8 * T::NUM.size_bytes() as u32;
    // ClickHouse adds half a unit in the type itself, where the sum may wrap; only what it adds to
    // a narrow positive number has the width of a C++ `int`.
    let wrap = |x: i128, shift: u32| {
        let bits = (x as u64) << shift;
        number(if signed {
            ((bits as i64) >> shift) as u64
        } else {
            bits >> shift
        })
    };
    let round = |x: u64| {
        let x = number(x);
        let moved = match mode {
            Mode::Floor if x < 0 => wrap(x - (unit - 1), shift),
            Mode::Ceil if x >= 0 => wrap(x + (unit - 1), shift),
            Mode::Nearest | Mode::Bankers => {
                let x = if x < 0 { wrap(x - unit, shift) } else { x };
                wrap(x + unit / 2, shift.min(32))
            }
            _ => x,
        };
        let quotient = moved / unit;
        // Of Int8, what leaves the type by rounding up is not brought back to the even digit.
        let stays = T::NUM != Num::I8 || moved == wrap(moved, shift);
        let is_half = mode == Mode::Bankers && stays && moved % unit == 0 && quotient % 2 != 0;
        let quotient = quotient - if is_half { moved.signum() } else { 0 };
        T::from_num((quotient * unit) as i64)
    };
    let rounded = array_of(wide.into_iter().map(round).collect::<Vec<T>>());
    Column {
        array: rounded,
        is_const: column.is_const,
    }
    .expand(num_rows)
}

fn decimal(data_type: DataType, mode: Mode, places: i32) -> Result<Resolved> {
    let (precision, scale) = digits(&data_type).ok_or_else(|| Error::bug("no decimal"))?;
    let drop = u32::try_from(i32::from(scale) - places).unwrap_or(0);
    let width = Width::of(precision);
    Resolved::new(data_type.clone(), move |columns, num_rows| {
        let column = &columns[0];
        let array = if width == Width::W256 {
            decimals::<i256>(column, &data_type, mode, drop)?
        } else {
            decimals::<i128>(column, &data_type, mode, drop)?
        };
        Column {
            array,
            is_const: column.is_const,
        }
        .expand(num_rows)
    })
}

fn decimals<T: Ticks>(
    column: &Column,
    data_type: &DataType,
    mode: Mode,
    drop: u32,
) -> Result<ArrayRef> {
    let ticks = ticks_of::<T>(column, Width::W256)?;
    let rounded = match T::power_of_ten(drop) {
        Some(unit) => ticks
            .into_iter()
            .map(|t| to_multiple(t, unit, mode))
            .collect(),
        None => vec![T::from_i128(0); ticks.len()],
    };
    decimal_array(rounded, data_type, None)
}
