//! Converts numbers to dates and times, and dates and times to each other and to numbers.

use std::cell::Cell;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Int64Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::calendar::{OffsetCache, SECONDS_PER_DAY, from_local_seconds_forward};
use basalt_types::{DataType, Tz};

use super::{BaseCast, Failures, How, decimal, number, unsupported};
use crate::Column;
use crate::scalar::core::decimals::to_float;
use crate::scalar::core::numeric::{Native, Num, array_of, map1, values, with_native};

/// Day of 9999-12-31, the last that a number becomes.
const MAX_DAY: i64 = 2_932_896;
/// Last second of that day.
const MAX_SECOND: i64 = 253_402_300_799;
/// First second of the year 0.
const MIN_SECOND: i64 = -62_167_219_200;

pub(super) fn cast(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let from_time = from.is_date_or_time();
    if *from == DataType::Ipv4 && !matches!(to, DataType::DateTime64(..)) {
        return number::cast(from, to, how);
    }
    match to {
        _ if from_time && to.is_date_or_time() => between(from, to, how.zone),
        DataType::DateTime64(precision, _) => to_ticks(from, *precision),
        _ if to.is_date_or_time() => from_number(from, to, how),
        _ => to_number(from, to, how),
    }
}

/// The zone whose calendar a type's days are of.
fn zone_of(data_type: &DataType, zone: Tz) -> Tz {
    match data_type {
        DataType::DateTime(Some(own)) | DataType::DateTime64(_, Some(own)) => *own,
        _ => zone,
    }
}

fn precision_of(data_type: &DataType) -> u8 {
    match data_type {
        DataType::DateTime64(precision, _) => *precision,
        _ => 0,
    }
}

fn power(precision: u8) -> i64 {
    10_i64.pow(u32::from(precision))
}

/// Applies `op` to each value, read as `i64`.
fn each<T: Native>(array: &ArrayRef, mut op: impl FnMut(i64) -> i64) -> Result<ArrayRef> {
    let wide: Vec<i64> = crate::scalar::core::numeric::Numbers::converted(array.as_ref())?;
    Ok(array_of(
        wide.into_iter()
            .map(|v| T::from_num(op(v)))
            .collect::<Vec<T>>(),
    ))
}

fn between(from: &DataType, to: &DataType, zone: Tz) -> Result<BaseCast> {
    let num = Num::of(to).ok_or_else(|| Error::bug("a time is a number"))?;
    let (ticks, new_ticks) = (power(precision_of(from)), power(precision_of(to)));
    let days_in = zone_of(from, zone);
    let midnight_in = zone_of(to, zone);
    let (from_date, to_date) = (from.is_date(), to.is_date());
    let to_ticks = matches!(to, DataType::DateTime64(..));
    let to_unsigned_days = *to == DataType::Date;
    Ok(Arc::new(move |array, failures| {
        let overflow = Cell::new(false);
        let scale = |seconds: i64, fraction: i64| {
            let scaled = if new_ticks >= ticks {
                let fraction = fraction * (new_ticks / ticks);
                seconds
                    .checked_mul(new_ticks)
                    .and_then(|s| s.checked_add(fraction))
            } else {
                seconds
                    .checked_mul(new_ticks)
                    .map(|s| s.saturating_add(fraction / (ticks / new_ticks)))
            };
            overflow.set(overflow.get() | scaled.is_none());
            scaled.unwrap_or(0)
        };
        let mut offsets = OffsetCache::new(days_in);
        let mut midnights = Midnights::new(midnight_in);
        let converted = with_native!(num, T => each::<T>(array, |value| match (from_date, to_date) {
            (true, true) => value,
            (true, false) if to_ticks => {
                let second = midnights.seconds(value);
                nearest_ticks(i128::from(second) * i128::from(new_ticks), new_ticks)
            }
            (true, false) => scale(midnights.seconds(value), 0),
            (false, true) => {
                // A Date cuts digits off towards zero, a Date32 towards the past.
                let second = if to_unsigned_days { value / ticks } else { value.div_euclid(ticks) };
                offsets.to_local_seconds(second).div_euclid(SECONDS_PER_DAY)
            }
            // Between ticks digits are cut off towards zero.
            (false, false) if to_ticks && new_ticks < ticks => value / (ticks / new_ticks),
            (false, false) => scale(value.div_euclid(ticks), value.rem_euclid(ticks)),
        }))?;
        if overflow.get() && to_ticks {
            // Rows of NULL hold times that fit.
            failures.fail(0, super::super::decimals::math_overflow())?;
        }
        Ok(converted)
    }))
}

/// Moments of midnights of one time zone, fast for days that lie close together.
struct Midnights {
    zone: Tz,
    is_utc: bool,
    last: Option<(i64, i64)>,
}

impl Midnights {
    fn new(zone: Tz) -> Self {
        let is_utc = zone == Tz::UTC || zone == Tz::Etc__UTC;
        Self {
            zone,
            is_utc,
            last: None,
        }
    }

    fn seconds(&mut self, day: i64) -> i64 {
        if self.is_utc {
            return day * SECONDS_PER_DAY;
        }
        match self.last {
            Some((last, seconds)) if last == day => seconds,
            _ => {
                let seconds = from_local_seconds_forward(self.zone, day * SECONDS_PER_DAY);
                self.last = Some((day, seconds));
                seconds
            }
        }
    }
}

/// Numbers as `i64`, what is beyond its range at its ends.
fn saturated(array: &ArrayRef, from: &DataType) -> Result<ArrayRef> {
    let column = Column::new(Arc::clone(array));
    match Num::of(from) {
        Some(Num::I64) => Ok(Arc::clone(array)),
        Some(Num::U64) => map1::<u64, i64>(&column, array.len(), |v| {
            i64::try_from(v).unwrap_or(i64::MAX)
        }),
        Some(num) if num.is_float() => map1::<f64, i64>(&column, array.len(), |v| v as i64),
        Some(_) => map1::<i64, i64>(&column, array.len(), |v| v),
        None => Err(Error::bug(format!("{from} is no number"))),
    }
}

fn is_plain_number(from: &DataType) -> bool {
    from.is_integer() || from.is_float() || from.is_enum()
}

fn from_number(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    if !is_plain_number(from) {
        return Err(unsupported(from, to));
    }
    let (from, to) = (from.clone(), to.clone());
    let zone = zone_of(&to, how.zone);
    Ok(Arc::new(move |array, failures| {
        let mut numbers = saturated(array, &from)?;
        if how.accurate {
            numbers = only_moments(array, &numbers, &to, failures)?;
        } else if from.is_float() && to != DataType::Date32 {
            number::check_finite(array, failures)?;
        }
        let mut offsets = OffsetCache::new(zone);
        let mut day_of = |seconds: i64| {
            offsets
                .to_local_seconds(seconds)
                .div_euclid(SECONDS_PER_DAY)
        };
        let max_moment = i64::from(u32::MAX);
        match to {
            // Numbers too great for a day are seconds.
            DataType::Date => each::<u16>(&numbers, |v| match v {
                ..0 => 0,
                0..=65_535 => v,
                _ => day_of(v.min(max_moment)),
            }),
            DataType::Date32 => each::<i32>(&numbers, |v| {
                if v <= MAX_DAY {
                    v.max(MIN_SECOND / SECONDS_PER_DAY)
                } else {
                    day_of(v.min(MAX_SECOND))
                }
            }),
            _ => each::<u32>(&numbers, |v| v.clamp(0, max_moment)),
        }
    }))
}

/// Refuses numbers that are no day or second of the type, and puts 0 in their places.
fn only_moments(
    array: &ArrayRef,
    numbers: &ArrayRef,
    to: &DataType,
    failures: &mut Failures,
) -> Result<ArrayRef> {
    let range = match to {
        DataType::Date32 => MIN_SECOND / SECONDS_PER_DAY..=MAX_SECOND,
        _ => 0..=i64::from(u32::MAX),
    };
    let given = to_float(&Column::new(Arc::clone(array)))?;
    let given = values::<f64>(given.array.as_ref())?;
    let mut moments = values::<i64>(numbers.as_ref())?.to_vec();
    for (row, moment) in moments.iter_mut().enumerate() {
        let is_whole = array.data_type().is_integer() || given[row].fract() == 0.0;
        if !range.contains(moment) || !is_whole {
            *moment = 0;
            let text = format!(
                "Value {} cannot be safely converted into type {to}",
                given[row]
            );
            failures.fail(row, Error::new(ErrorCode::CANNOT_CONVERT_TYPE, text))?;
        }
    }
    Ok(array_of(moments))
}

/// Seconds since 1970, with their fraction, to ticks.
fn to_ticks(from: &DataType, precision: u8) -> Result<BaseCast> {
    if !is_plain_number(from) {
        return Err(unsupported(from, &DataType::DateTime64(precision, None)));
    }
    let ticks = power(precision);
    let is_float = from.is_float();
    let from = from.clone();
    Ok(Arc::new(move |array, failures| {
        let mut out = Vec::with_capacity(array.len());
        if is_float {
            let floats = to_float(&Column::new(Arc::clone(array)))?;
            for (row, v) in values::<f64>(floats.array.as_ref())?.iter().enumerate() {
                if v.is_nan() {
                    failures.fail(
                        row,
                        Error::new(
                            ErrorCode::DECIMAL_OVERFLOW,
                            "DateTime64 convert overflow: NaN is no time",
                        ),
                    )?;
                }
                out.push(nearest_ticks((v * ticks as f64) as i128, ticks));
            }
        } else {
            let seconds = saturated(array, &from)?;
            let seconds = values::<i64>(seconds.as_ref())?.iter();
            out.extend(seconds.map(|v| nearest_ticks(i128::from(*v) * i128::from(ticks), ticks)));
        }
        Ok(array_of(out))
    }))
}

/// Ticks of a moment that there is, the nearest one.
fn nearest_ticks(value: i128, ticks: i64) -> i64 {
    let last = i128::from(MAX_SECOND) * i128::from(ticks) + i128::from(ticks - 1);
    let first = i128::from(MIN_SECOND) * i128::from(ticks);
    let value = value.clamp(first, last);
    i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX })
}

fn to_number(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    if matches!(
        to,
        DataType::Ipv4 | DataType::Enum8(_) | DataType::Enum16(_)
    ) {
        return Err(unsupported(from, to));
    }
    let DataType::DateTime64(precision, _) = from else {
        return number::cast(from, to, how);
    };
    let ticks = power(*precision);
    if to.is_float() {
        let num = Num::of(to).ok_or_else(|| Error::bug("a float is a number"))?;
        return Ok(Arc::new(move |array, _| {
            let floats = array.as_primitive::<Int64Type>().values();
            let floats: Vec<f64> = floats.iter().map(|t| *t as f64 / ticks as f64).collect();
            with_native!(num, T => number::convert::<T>(&array_of(floats)))
        }));
    }
    if matches!(to, DataType::Interval(_)) {
        return Err(unsupported(from, to));
    }
    let how = How {
        accurate: false,
        ..how
    };
    let seconds = number::cast(&DataType::Int64, to, how)?;
    let limits = (*to != DataType::Bool).then(|| Num::of(to)).flatten();
    Ok(Arc::new(move |array, failures| {
        // Whole seconds are cut off towards zero.
        let whole = each::<i64>(array, |t| t / ticks)?;
        if let Some(num) = limits {
            let whole = values::<i64>(whole.as_ref())?.iter().enumerate();
            let fits = |second: i64| with_native!(num, T => decimal::fits::<T>(second.into()));
            if whole
                .into_iter()
                .any(|(row, s)| !failures.is_null(row) && !fits(*s))
            {
                // No default takes its place, whatever the mode.
                return Err(decimal::convert_overflow());
            }
        }
        seconds(&whole, failures)
    }))
}
