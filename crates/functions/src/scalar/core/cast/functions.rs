//! Offers the casts as functions named after their types: `toX`, `toXOrNull | OrZero | OrDefault`.

use arrow::array::new_null_array;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::parse::parse_time_zone;
use basalt_types::{DataType, Tz, parse_data_type};

use super::named::or_default;
use super::{CastMode, cast_function, implicit_cast, intervals, named, strict_cast};
use crate::function::with_nulls;
use crate::scalar::arrays::integers::Integers;
use crate::{Arg, BoundFunction, Call, Column, Context, Fails, Nulls, Resolved, ScalarFunction};

/// One function `toX`: the type by its name, what becomes of values that do not convert.
macro_rules! conversion {
    ($name:literal, $suffix:literal, $result:literal) => {
        ScalarFunction {
            name: concat!($name, $suffix),
            nulls: Nulls::Own,
            takes_variants: true,
            syntax: concat!($name, $suffix, "(x, …)"),
            description: concat!("Converts a value to ", $result, "."),
            fails: Fails::Texts,
            resolve: conversion,
            ..ScalarFunction::BASE
        }
    };
}

/// The four functions of one type.
macro_rules! conversions {
    ($($name:literal $type:literal)*) => {
        [$(
            conversion!($name, "", $type),
            conversion!($name, "OrNull", $type),
            conversion!($name, "OrZero", $type),
            conversion!($name, "OrDefault", $type),
        )*]
    };
}

const CONVERSIONS: [ScalarFunction; 4 * 22] = conversions! {
    "toUInt8" "UInt8" "toUInt16" "UInt16" "toUInt32" "UInt32" "toUInt64" "UInt64"
    "toInt8" "Int8" "toInt16" "Int16" "toInt32" "Int32" "toInt64" "Int64"
    "toFloat32" "Float32" "toFloat64" "Float64" "toBool" "Bool"
    "toDate" "Date" "toDate32" "Date32" "toDateTime" "DateTime" "toDateTime64" "DateTime64"
    "toDecimal32" "a Decimal of 9 digits" "toDecimal64" "a Decimal of 18 digits"
    "toDecimal128" "a Decimal of 38 digits" "toDecimal256" "a Decimal of 76 digits"
    "toUUID" "UUID" "toIPv4" "IPv4" "toIPv6" "IPv6"
};

/// The functions `toX` with their variants.
pub const FUNCTIONS: &[&[ScalarFunction]] = &[
    &CONVERSIONS,
    OTHERS,
    named::FUNCTIONS,
    &intervals::FUNCTIONS,
];

const OTHERS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "toString",
        fails: Fails::Texts,
        nulls: Nulls::Own,
        takes_variants: true,
        syntax: "toString(x[, time_zone])",
        description: "Writes a value as text.",
        resolve: to_string,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "toDateTime32",
        fails: Fails::Texts,
        nulls: Nulls::Own,
        takes_variants: true,
        syntax: "toDateTime32(x[, time_zone])",
        description: "Converts a value to DateTime.",
        resolve: |call| {
            conversion(&Call {
                name: "toDateTime",
                ..*call
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "DATE",
        case_insensitive: true,
        nulls: Nulls::Own,
        takes_variants: true,
        syntax: "DATE(x)",
        description: "Converts a value to Date.",
        resolve: |call| {
            conversion(&Call {
                name: "toDate",
                ..*call
            })
        },
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "toFixedString",
        nulls: Nulls::Own,
        syntax: "toFixedString(s, n)",
        description: "Converts a string to FixedString(n), with zeros behind it.",
        resolve: to_fixed_string,
        ..ScalarFunction::BASE
    },
];

/// Splits `toUInt8OrNull` into `UInt8` and the mode.
fn target_and_mode(name: &str) -> (&str, CastMode) {
    let target = name.strip_prefix("to").unwrap_or(name);
    let modes = [
        ("OrNull", CastMode::TextOrNull),
        ("OrZero", CastMode::OrZero),
        ("OrDefault", CastMode::OrDefault),
    ];
    for (suffix, mode) in modes {
        if let Some(target) = target.strip_suffix(suffix) {
            return (target, mode);
        }
    }
    (target, CastMode::Normal)
}

/// What the arguments behind the value say.
struct Target {
    to: DataType,
    /// The time zone argument.
    zone: Option<Tz>,
    /// Position of the default value.
    default: usize,
}

fn target(call: &Call<'_>, name: &str, mode: CastMode) -> Result<Target> {
    let has_parameter = name.starts_with("Decimal") || name == "DateTime64";
    let own = 1 + usize::from(has_parameter);
    // Dates with a default take no time zone.
    let takes_zone =
        name.starts_with("DateTime") || (name.starts_with("Date") && mode != CastMode::OrDefault);
    let zone_at = takes_zone.then_some(own);
    let default = own + usize::from(takes_zone);
    let has_scale = matches!(mode, CastMode::Normal | CastMode::OrDefault);
    let least = if name == "DateTime64" && !has_scale {
        1
    } else {
        own
    };
    call.expect_args(least..=default + usize::from(mode == CastMode::OrDefault))?;
    let zone = match zone_at {
        Some(at) if call.args.len() > at => Some(parse_time_zone(&call.constant_str(at)?)?),
        _ => None,
    };
    let to = match name {
        "DateTime" => DataType::DateTime(zone),
        "DateTime64" => DataType::DateTime64(precision(call)?, zone),
        _ if has_parameter => decimal(call, name)?,
        _ => parse_data_type(name)?,
    };
    Ok(Target { to, zone, default })
}

fn precision(call: &Call<'_>) -> Result<u8> {
    if call.args.len() < 2 {
        return Ok(3);
    }
    let precision = call.constant_i64(1)?;
    u8::try_from(precision).ok().filter(|p| *p <= 9).ok_or_else(|| {
        Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!("Scale {precision} is too large for DateTime64. Maximum is up to nanoseconds (9)"),
        )
    })
}

fn decimal(call: &Call<'_>, name: &str) -> Result<DataType> {
    let precision: u8 = match name {
        "Decimal32" => 9,
        "Decimal64" => 18,
        "Decimal128" => 38,
        _ => 76,
    };
    call.expect_type(1, DataType::is_unsigned)?;
    let scale = call.constant_i64(1)?;
    let scale = u8::try_from(scale)
        .ok()
        .filter(|s| *s <= precision)
        .ok_or_else(|| {
            Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!("Scale {scale} is out of bounds (max scale: {precision})"),
            )
        })?;
    Ok(DataType::Decimal { precision, scale })
}

/// Whether an argument can only be NULL.
fn is_null(arg: &Arg) -> bool {
    arg.data_type.is_nullable() && *arg.data_type.base() == DataType::Nothing
}

/// NULL as an argument behind the value makes NULL of every value.
fn has_null_option(call: &Call<'_>) -> bool {
    call.args.iter().skip(1).any(is_null)
}

/// The first argument behind the value is a constant, even a NULL.
fn expect_constant_null(call: &Call<'_>) -> Result<()> {
    match call.args.get(1) {
        Some(option) if is_null(option) && option.constant.is_none() => Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Argument 2 of function {} must be a constant", call.name),
        )),
        _ => Ok(()),
    }
}

fn all_null() -> Result<Resolved> {
    let null = DataType::Nothing.to_nullable();
    let physical = null.physical();
    Resolved::new(null, move |_, num_rows| {
        Ok(new_null_array(&physical, num_rows))
    })
}

fn conversion(call: &Call<'_>) -> Result<Resolved> {
    let (name, mode) = target_and_mode(call.name);
    if name == "Bool" {
        // The others of one argument count theirs behind NULLs.
        call.expect_args(1..=1)?;
    }
    if mode != CastMode::OrDefault && has_null_option(call) {
        expect_constant_null(call)?;
        return all_null();
    }
    let reads_text = matches!(mode, CastMode::TextOrNull | CastMode::OrZero);
    if reads_text
        && matches!(
            call.args.first().map(|a| &a.data_type),
            Some(DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..))
        )
    {
        return Err(call.illegal_type(0));
    }
    let mut target = target(call, name, mode)?;
    let from = call.data_type(0);
    target.to = keep_zone(from, target.to);
    let from = match target.zone {
        Some(zone) if !target.to.is_date_time() => with_zone(from, zone),
        _ => from.clone(),
    };
    let context = Context {
        time_zone: target.zone.unwrap_or(call.context.time_zone),
        ..call.context.clone()
    };
    match mode {
        CastMode::Normal => strict(&from, &target.to, context.time_zone),
        CastMode::OrDefault => or_default(call, &from, (&target.to, target.default), &context),
        _ if *from.base() == DataType::Nothing => strict(&from, &target.to, context.time_zone),
        CastMode::TextOrNull if from.is_integer() && takes_numbers(&target.to) => {
            moment_or_null(&from, &target.to, context.time_zone)
        }
        _ => {
            if !from.is_string() && !matches!(from, DataType::Variant(_)) {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    format!(
                        "Illegal type {from} of first argument of function {}: functions with OrZero or OrNull take String; accurateCastOrNull takes others",
                        call.name
                    ),
                ));
            }
            let to = if from.is_nullable() {
                target.to.to_nullable()
            } else {
                target.to
            };
            bound(cast_function(&from, &to, &context, mode)?)
        }
    }
}

/// Whether the function `…OrNull` of the type takes integers, too.
fn takes_numbers(to: &DataType) -> bool {
    matches!(
        to,
        DataType::Date | DataType::DateTime(_) | DataType::DateTime64(..)
    )
}

/// Days or seconds since 1970; a negative number is none.
fn moment_or_null(from: &DataType, to: &DataType, zone: Tz) -> Result<Resolved> {
    let result = to.clone().to_nullable();
    let cast = implicit_cast(from, &result, zone)?;
    Resolved::new(result, move |columns, num_rows| {
        let numbers = Column::new(columns[0].expand(num_rows)?);
        let moments = cast(&numbers.array)?;
        let numbers = Integers::of(&numbers)?;
        // What no 64 bits hold with a sign is read as the greatest number.
        let is_moment = |row: usize| (0..i64::MAX).contains(&numbers.value(row));
        with_nulls(&moments, Some((0..num_rows).map(is_moment).collect()))
    })
}

/// The same type, shown in another time zone.
fn with_zone(data_type: &DataType, zone: Tz) -> DataType {
    match data_type {
        DataType::DateTime(_) => DataType::DateTime(Some(zone)),
        DataType::DateTime64(precision, _) => DataType::DateTime64(*precision, Some(zone)),
        DataType::Nullable(inner) => with_zone(inner, zone).to_nullable(),
        t => t.clone(),
    }
}

/// The type a value becomes: a time that is told no zone stays in the one it has. Elements of
/// arrays, tuples and maps do not keep theirs.
pub fn keep_zone(from: &DataType, to: DataType) -> DataType {
    match (from.base(), to.base()) {
        (
            DataType::DateTime(Some(zone)) | DataType::DateTime64(_, Some(zone)),
            DataType::DateTime(None) | DataType::DateTime64(_, None),
        ) => with_zone(&to, *zone),
        _ => to,
    }
}

/// Runs the first column through a bound cast.
pub(super) fn bound(function: BoundFunction) -> Result<Resolved> {
    Resolved::new(function.return_type.clone(), move |columns, num_rows| {
        function.call(&columns[..1], num_rows)
    })
}

/// NULL becomes NULL, all else converts or is an error.
pub(super) fn strict(from: &DataType, to: &DataType, zone: Tz) -> Result<Resolved> {
    if *from.base() == DataType::Nothing && from.is_nullable() {
        let null = DataType::Nothing.to_nullable();
        return Resolved::new(null, |columns, num_rows| columns[0].expand(num_rows));
    }
    let nested = matches!(
        from.base(),
        DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..)
    );
    if nested && !to.is_string() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Illegal type {from} of argument of function to{to}"),
        ));
    }
    let to = if from.is_nullable() {
        to.clone().to_nullable()
    } else {
        to.clone()
    };
    // Where NULL is a value, it is also what bad text becomes, except of these two types.
    let is_strict = matches!(to.base(), DataType::Bool | DataType::DateTime64(..));
    let cast = if is_strict {
        strict_cast(from, &to, zone)?
    } else {
        implicit_cast(from, &to, zone)?
    };
    Resolved::new(to, move |columns, num_rows| {
        let converted = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        converted.expand(num_rows)
    })
}

fn to_string(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    if has_null_option(call) {
        return all_null();
    }
    let mut from = call.data_type(0).clone();
    if call.args.len() == 2 {
        if !from.is_date_time() {
            return call
                .expect_args(1..=1)
                .and_then(|()| Err(call.illegal_type(0)));
        }
        from = with_zone(&from, parse_time_zone(&call.constant_str(1)?)?);
    }
    strict(&from, &DataType::String, call.context.time_zone)
}

fn to_fixed_string(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    if has_null_option(call) {
        expect_constant_null(call)?;
        return all_null();
    }
    let size = call
        .constant_u64(1)
        .map_err(|e| Error::new(ErrorCode::ILLEGAL_COLUMN, e.message()))?;
    if size == 0 {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            "FixedString has at least 1 byte",
        ));
    }
    let to = parse_data_type(&format!("FixedString({size})"))?;
    strict(call.data_type(0), &to, call.context.time_zone)
}
