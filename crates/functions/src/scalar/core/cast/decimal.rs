//! Converts decimals from and to numbers, times and each other.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::{BaseCast, Failures, unsupported};
use crate::Column;
use crate::scalar::core::decimals::{Ticks, Width, decimal_array, digits, ticks_of, to_float};
use crate::scalar::core::numeric::{Native, Num, array_of, values, with_native};

pub(super) fn cast(from: &DataType, to: &DataType) -> Result<BaseCast> {
    match (digits(from), digits(to)) {
        (Some((_, scale)), Some(_)) => rescaled(from, to, scale),
        (None, Some(_)) => to_decimal(from, to),
        (Some(_), None) => from_decimal(from, to),
        (None, None) => Err(unsupported(from, to)),
    }
}

pub(super) fn convert_overflow() -> Error {
    Error::new(ErrorCode::DECIMAL_OVERFLOW, "Decimal convert overflow")
}

fn target(to: &DataType) -> Result<(Width, u8)> {
    let (precision, scale) = digits(to).ok_or_else(|| Error::bug("no decimal"))?;
    Ok((Width::of(precision), scale))
}

/// From integers, times (as decimals of their precision) and floats.
fn to_decimal(from: &DataType, to: &DataType) -> Result<BaseCast> {
    if from.is_float() {
        let to = to.clone();
        return Ok(Arc::new(move |array, failures| {
            floats(array, failures, &to)
        }));
    }
    match from {
        DataType::DateTime64(precision, _) => rescaled(from, to, *precision),
        DataType::Ipv4 => Err(unsupported(from, to)),
        t if Num::of(t).is_some() => rescaled(from, to, 0),
        _ => Err(unsupported(from, to)),
    }
}

fn floats(array: &ArrayRef, failures: &mut Failures, to: &DataType) -> Result<ArrayRef> {
    let (width, scale) = target(to)?;
    let floats = to_float(&Column::new(Arc::clone(array)))?;
    let floats = values::<f64>(floats.array.as_ref())?;
    let unit = 10_f64.powi(i32::from(scale));
    if width == Width::W256 {
        let ticks = |v: f64| i256::from_f64((v * unit).trunc());
        return collect(floats, failures, to, |v: f64| {
            if v.is_finite() { ticks(v) } else { None }
        });
    }
    collect(floats, failures, to, |v: f64| {
        let ticks = (v * unit).trunc();
        let fits = ticks.is_finite() && ticks.abs() < 1.7e38;
        fits.then_some(ticks as i128)
            .filter(|t| Ticks::fits(*t, width))
    })
}

/// Converts value by value; `None` is an overflow.
fn collect<S: Copy, T: Ticks>(
    from: &[S],
    failures: &mut Failures,
    to: &DataType,
    convert: impl Fn(S) -> Option<T>,
) -> Result<ArrayRef> {
    let mut out = Vec::with_capacity(from.len());
    for (row, value) in from.iter().enumerate() {
        match convert(*value) {
            Some(ticks) => out.push(ticks),
            None => {
                failures.fail(row, convert_overflow())?;
                out.push(T::from_i128(0));
            }
        }
    }
    decimal_array(out, to, None)
}

/// From ticks of one scale to another; digits that are lost are cut off.
fn rescaled(from: &DataType, to: &DataType, scale: u8) -> Result<BaseCast> {
    let (width, new_scale) = target(to)?;
    let source_width = digits(from).map_or(Width::W128, |(precision, _)| Width::of(precision));
    let to = to.clone();
    Ok(Arc::new(move |array, failures| {
        if width.max(source_width) == Width::W256 {
            rescale::<i256>(array, failures, &to, (scale, new_scale))
        } else {
            rescale::<i128>(array, failures, &to, (scale, new_scale))
        }
    }))
}

fn rescale<T: Ticks>(
    array: &ArrayRef,
    failures: &mut Failures,
    to: &DataType,
    (from_scale, to_scale): (u8, u8),
) -> Result<ArrayRef> {
    let (width, _) = target(to)?;
    let ticks = ticks_of::<T>(&Column::new(Arc::clone(array)), Width::W128)?;
    let factor = T::power_of_ten(u32::from(from_scale.abs_diff(to_scale)));
    let convert = |t: T| {
        let scaled = if to_scale >= from_scale {
            t.mul_checked(factor?).ok()?
        } else {
            factor
                .map_or(Ok(T::from_i128(0)), |factor| t.div_checked(factor))
                .ok()?
        };
        scaled.fits(width).then_some(scaled)
    };
    if width == Width::W256 {
        return collect(&ticks, failures, to, convert);
    }
    collect(&ticks, failures, to, |t| convert(t)?.to_i128())
}

fn from_decimal(from: &DataType, to: &DataType) -> Result<BaseCast> {
    let (precision, scale) = digits(from).ok_or_else(|| Error::bug("no decimal"))?;
    let wide = Width::of(precision) == Width::W256;
    if let DataType::DateTime64(p, _) = to {
        let decimal = DataType::Decimal {
            precision: 38,
            scale: *p,
        };
        let rescaled = rescaled(from, &decimal, scale)?;
        return Ok(Arc::new(move |array, failures| {
            let ticks = ticks_of::<i128>(&Column::new(rescaled(array, failures)?), Width::W128)?;
            Ok(array_of(
                ticks.into_iter().map(Ticks::low_bits).collect::<Vec<i64>>(),
            ))
        }));
    }
    if to.is_date_or_time() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!("Illegal column {from} of a conversion to {to}; cast it to an integer first"),
        ));
    }
    if matches!(to, DataType::Interval(_)) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Cast the {from} to an integer first: it does not become an {to}"),
        ));
    }
    let Some(num) = Num::of(to) else {
        return Err(unsupported(from, to));
    };
    let is_bool = *to == DataType::Bool;
    Ok(Arc::new(move |array, failures| {
        if num.is_float() {
            let floats = to_float(&Column::new(Arc::clone(array)))?;
            let floats = super::without_nulls(&floats.array)?;
            return with_native!(num, T => super::number::convert::<T>(&floats));
        }
        let plan = Whole { scale, is_bool };
        with_native!(num, R => if wide {
            whole::<i256, R>(array, failures, plan)
        } else {
            whole::<i128, R>(array, failures, plan)
        })
    }))
}

/// How ticks become integers.
#[derive(Clone, Copy)]
struct Whole {
    scale: u8,
    is_bool: bool,
}

fn whole<T: Ticks, R: Native>(
    array: &ArrayRef,
    failures: &mut Failures,
    plan: Whole,
) -> Result<ArrayRef> {
    let ticks = T::of_array(array.as_ref())?;
    let factor = T::power_of_ten(u32::from(plan.scale)).ok_or_else(|| Error::bug("scale"))?;
    let zero = T::from_i128(0);
    let convert = |t: T| -> Option<R> {
        if plan.is_bool {
            return Some(R::from_num(u8::from(t != zero)));
        }
        let value = t.div_checked(factor).ok()?;
        let value = value.to_i128()?;
        let out = if R::NUM.is_signed() {
            R::from_num(i64::try_from(value).ok()?)
        } else {
            R::from_num(u64::try_from(value).ok()?)
        };
        fits::<R>(value).then_some(out)
    };
    let mut out = Vec::with_capacity(ticks.len());
    for (row, ticks) in ticks.into_iter().enumerate() {
        match convert(ticks) {
            Some(value) => out.push(value),
            None => {
                failures.fail(
                    row,
                    Error::new(ErrorCode::DECIMAL_OVERFLOW, "Convert overflow"),
                )?;
                out.push(R::default());
            }
        }
    }
    Ok(array_of(out))
}

/// Whether an integer type has the value.
pub(super) fn fits<R: Native>(value: i128) -> bool {
    let bits = 8 * R::NUM.size_bytes() as u32;
    let (min, max) = if R::NUM.is_signed() {
        (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)
    } else {
        (0, (1_i128 << bits) - 1)
    };
    (min..=max).contains(&value)
}
