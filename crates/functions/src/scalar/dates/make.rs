//! Makes dates and times from numbers: their parts, their digits, days since some year.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::time::ticks_per_second;
use basalt_types::{DataType, Tz};

use super::moment::{ZoneClock, day_of, zone_argument};
use super::now::checked_precision;
use super::{any_case, fallible_entry as entry};
use crate::scalar::core::cast::{ArrayCast, array_cast};
use crate::scalar::core::decimals::math_overflow;
use crate::scalar::core::numeric::{array_of, map1, values};
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions that make dates and times of numbers.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["makeDate"],
        "makeDate(year, month, day) or makeDate(year, day_of_year)",
        "The Date of its parts; 1970-01-01 if there is none.",
        |call| make_date(call, DataType::Date),
    )),
    any_case(entry(
        &["makeDate32"],
        "makeDate32(year, month, day) or makeDate32(year, day_of_year)",
        "The Date32 of its parts; 1970-01-01 if there is none.",
        |call| make_date(call, DataType::Date32),
    )),
    any_case(entry(
        &["makeDateTime"],
        "makeDateTime(year, month, day, hour, minute, second[, time_zone])",
        "The DateTime of its parts.",
        make_date_time,
    )),
    any_case(entry(
        &["makeDateTime64"],
        "makeDateTime64(year, month, day, hour, minute, second[, fraction[, precision[, time_zone]]])",
        "The DateTime64 of its parts.",
        make_date_time64,
    )),
    any_case(entry(
        &["YYYYMMDDToDate"],
        "YYYYMMDDToDate(number)",
        "The Date whose digits a number has.",
        |call| date_of_digits(call, DataType::Date),
    )),
    any_case(entry(
        &["YYYYMMDDToDate32"],
        "YYYYMMDDToDate32(number)",
        "The Date32 whose digits a number has.",
        |call| date_of_digits(call, DataType::Date32),
    )),
    any_case(entry(
        &["YYYYMMDDhhmmssToDateTime"],
        "YYYYMMDDhhmmssToDateTime(number[, time_zone])",
        "The DateTime whose digits a number has.",
        time_of_digits,
    )),
    entry(
        &["YYYYMMDDhhmmssToDateTime64"],
        "YYYYMMDDhhmmssToDateTime64(number[, precision[, time_zone]])",
        "The DateTime64 whose digits a number has.",
        time64_of_digits,
    ),
    any_case(entry(
        &["fromDaysSinceYearZero", "FROM_DAYS"],
        "fromDaysSinceYearZero(days)",
        "The Date some days after 0000-01-01.",
        |call| from_days(call, DataType::Date),
    )),
    entry(
        &["fromDaysSinceYearZero32"],
        "fromDaysSinceYearZero32(days)",
        "The Date32 some days after 0000-01-01.",
        |call| from_days(call, DataType::Date32),
    ),
];

/// Days from 0000-01-01 to 1970-01-01.
pub(super) const DAYS_TO_1970: i64 = 719_528;

/// Day of 9999-12-31, the last that a `Date32` becomes.
const LAST_DAY: i64 = 2_932_896;

/// First and last second of the years 1900 to 2299, outside of which no `DateTime64` is made.
const TIME64_SECONDS: (i64, i64) = (-2_208_988_800, 10_413_791_999);

/// Integer columns, read row by row.
struct Numbers {
    columns: Vec<(ArrayRef, bool)>,
}

impl Numbers {
    fn new(columns: &[Column], casts: &[ArrayCast]) -> Result<Self> {
        let columns = columns.iter().zip(casts);
        let columns = columns.map(|(c, cast)| Ok((cast(&c.array)?, c.is_const)));
        Ok(Self {
            columns: columns.collect::<Result<Vec<_>>>()?,
        })
    }

    /// The numbers of each column.
    fn slices(&self) -> Result<Vec<(&[i64], bool)>> {
        let columns = self.columns.iter();
        columns
            .map(|(array, is_const)| Ok((values::<i64>(array.as_ref())?, *is_const)))
            .collect()
    }
}

/// The loop over `N` numbers of each row.
fn each_row<const N: usize>(
    columns: &[Column],
    casts: &[ArrayCast],
    num_rows: usize,
    mut op: impl FnMut([i64; N]),
) -> Result<()> {
    let numbers = Numbers::new(&columns[..N], casts)?;
    let slices = numbers.slices()?;
    for row in 0..num_rows {
        op(std::array::from_fn(|i| {
            let (slice, is_const) = slices[i];
            slice[if is_const { 0 } else { row }]
        }));
    }
    Ok(())
}

/// Casts of the first `count` arguments, which must be numbers, to Int64.
fn integer_casts(call: &Call<'_>, count: usize) -> Result<Vec<ArrayCast>> {
    (0..count)
        .map(|idx| {
            call.expect_type(idx, DataType::is_number)?;
            if call.data_type(idx).is_float() {
                return Ok(Arc::new(whole_part) as ArrayCast);
            }
            array_cast(call.data_type(idx), &DataType::Int64, call.context)
        })
        .collect()
}

/// Floats without their fraction; NaN is 0, and infinity no part of any date.
fn whole_part(floats: &ArrayRef) -> Result<ArrayRef> {
    let num_rows = floats.len();
    map1::<f64, i64>(&Column::new(Arc::clone(floats)), num_rows, |v| v as i64)
}

/// The day of parts that may lie a little behind the end of their month.
fn lenient_day(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_date =
        (0..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| day_of(year as i32, month as u32, day as u32))
}

/// The day of a year; `None` if the year has no such day.
fn day_in_year(year: i64, number: i64) -> Option<i64> {
    let first = lenient_day(year, 1, 1)?;
    let last = lenient_day(year, 12, 31)?;
    let day = first.checked_add(number)? - 1;
    (first..=last).contains(&day).then_some(day)
}

/// The days as `Date` or `Date32`; what the type does not hold is 1970-01-01.
fn dates(days: Vec<Option<i64>>, to: &DataType) -> ArrayRef {
    let days = days.into_iter();
    if *to == DataType::Date {
        let fitting = days.map(|d| d.and_then(|d| u16::try_from(d).ok()).unwrap_or(0));
        return array_of(fitting.collect::<Vec<u16>>());
    }
    // Years of four digits fit.
    array_of(
        days.map(|d| d.unwrap_or(0).min(LAST_DAY) as i32)
            .collect::<Vec<i32>>(),
    )
}

fn make_date(call: &Call<'_>, to: DataType) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let has_month = call.args.len() == 3;
    let casts = integer_casts(call, call.args.len())?;
    let result = to.clone();
    Resolved::new(result, move |columns, num_rows| {
        let mut days = Vec::with_capacity(num_rows);
        if has_month {
            each_row(columns, &casts, num_rows, |[y, m, d]| {
                days.push(lenient_day(y, m, d))
            })?;
        } else {
            each_row(columns, &casts, num_rows, |[y, d]| {
                days.push(day_in_year(y, d))
            })?;
        }
        Ok(dates(days, &to))
    })
}

/// Seconds of the local clock; `None` for parts that no time has.
fn local_seconds([year, month, day, hour, minute, second]: [i64; 6]) -> Option<i64> {
    let two_digits = [hour, minute, second].iter().all(|p| (0..=99).contains(p));
    let day = lenient_day(year.clamp(0, 9999), month, day)?;
    two_digits.then(|| day * 86_400 + hour * 3600 + minute * 60 + second)
}

fn narrow_time(clock: &mut ZoneClock, local: Option<i64>) -> u32 {
    let seconds = local.map_or(0, |l| clock.utc(l));
    seconds.clamp(0, i64::from(u32::MAX)) as u32
}

fn make_date_time(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(6..=7)?;
    let casts = integer_casts(call, 6)?;
    let zone = zone_argument(call, 6)?;
    let session = call.context.time_zone;
    Resolved::new(DataType::DateTime(zone), move |columns, num_rows| {
        let mut clock = ZoneClock::new(zone.unwrap_or(session));
        let mut out = Vec::with_capacity(num_rows);
        each_row(columns, &casts, num_rows, |parts| {
            out.push(narrow_time(&mut clock, local_seconds(parts)));
        })?;
        Ok(array_of(out))
    })
}

/// Ticks of a local time, moved into the years that a `DateTime64` is made in.
struct WideTime {
    clock: ZoneClock,
    ticks_per_second: i64,
    /// Whether times after the last become its last tick, not the first of its second.
    fills_fraction: bool,
    overflows: bool,
}

impl WideTime {
    fn new(zone: Tz, precision: u8, fills_fraction: bool) -> Self {
        Self {
            clock: ZoneClock::new(zone),
            ticks_per_second: ticks_per_second(precision),
            fills_fraction,
            overflows: false,
        }
    }

    fn ticks(&mut self, local: Option<i64>, fraction: i64) -> i64 {
        let (first, last) = TIME64_SECONDS;
        let last_fraction = self.ticks_per_second - 1;
        let (seconds, fraction) = match local {
            Some(local) if local > last => {
                let fraction = if self.fills_fraction {
                    last_fraction
                } else {
                    0
                };
                (self.clock.utc(last), fraction)
            }
            Some(local) if local >= first => {
                (self.clock.utc(local), fraction.clamp(0, last_fraction))
            }
            _ => (self.clock.utc(first), 0),
        };
        let ticks = seconds.checked_mul(self.ticks_per_second);
        let ticks = ticks.and_then(|t| t.checked_add(fraction));
        self.overflows |= ticks.is_none();
        ticks.unwrap_or(0)
    }

    fn check(&self) -> Result<()> {
        if self.overflows {
            Err(math_overflow())
        } else {
            Ok(())
        }
    }
}

fn make_date_time64(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(6..=9)?;
    let num_numbers = call.args.len().min(7);
    let casts = integer_casts(call, num_numbers)?;
    let precision = if call.args.len() > 7 {
        call.constant_f64(7)? as i64
    } else {
        3
    };
    let precision = checked_precision(precision)?;
    let zone = zone_argument(call, 8)?;
    let session = call.context.time_zone;
    Resolved::new(
        DataType::DateTime64(precision, zone),
        move |columns, num_rows| {
            let mut time = WideTime::new(zone.unwrap_or(session), precision, true);
            let mut out = Vec::with_capacity(num_rows);
            if num_numbers == 7 {
                each_row(columns, &casts, num_rows, |[y, m, d, h, i, s, fraction]| {
                    out.push(time.ticks(local_seconds([y, m, d, h, i, s]), fraction));
                })?;
            } else {
                each_row(columns, &casts, num_rows, |parts| {
                    out.push(time.ticks(local_seconds(parts), 0));
                })?;
            }
            time.check()?;
            Ok(array_of(out))
        },
    )
}

/// Casts argument 0, a number, to Float64.
fn float_cast(call: &Call<'_>) -> Result<ArrayCast> {
    call.expect_type(0, DataType::is_number)?;
    array_cast(call.data_type(0), &DataType::Float64, call.context)
}

/// Takes the column of argument 0 as floats, which must have digits.
fn floats(columns: &[Column], cast: &ArrayCast) -> Result<Column> {
    let column = Column {
        array: cast(&columns[0].array)?,
        is_const: columns[0].is_const,
    };
    let validity = column.validity(column.array.len());
    let numbers = values::<f64>(column.array.as_ref())?.iter().enumerate();
    let mut valid = numbers.filter(|(row, _)| validity.as_ref().is_none_or(|v| v.is_valid(*row)));
    if valid.any(|(_, n)| !n.is_finite()) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "A date or time cannot be made of nan or inf",
        ));
    }
    Ok(column)
}

fn date_of_digits(call: &Call<'_>, to: DataType) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let cast = float_cast(call)?;
    let result = to.clone();
    Resolved::new(result, move |columns, num_rows| {
        let digits = map1::<f64, i64>(&floats(columns, &cast)?, num_rows, |v| v.round() as i64)?;
        let digits = values::<i64>(digits.as_ref())?.iter();
        let days = digits.map(|n| lenient_day(n / 10_000, n / 100 % 100, n % 100));
        Ok(dates(days.collect(), &to))
    })
}

/// The parts of a number of the digits `YYYYMMDDhhmmss`.
fn split_digits(n: i64) -> Option<i64> {
    let (date, time) = (n / 1_000_000, n % 1_000_000);
    local_seconds([
        date / 10_000,
        date / 100 % 100,
        date % 100,
        time / 10_000,
        time / 100 % 100,
        time % 100,
    ])
}

fn time_of_digits(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let cast = float_cast(call)?;
    let zone = zone_argument(call, 1)?;
    let session = call.context.time_zone;
    Resolved::new(DataType::DateTime(zone), move |columns, num_rows| {
        let mut clock = ZoneClock::new(zone.unwrap_or(session));
        let digits = map1::<f64, i64>(&floats(columns, &cast)?, num_rows, |v| v.round() as i64)?;
        let digits = values::<i64>(digits.as_ref())?.iter();
        let times = digits.map(|n| narrow_time(&mut clock, split_digits(*n)));
        Ok(array_of(times.collect::<Vec<u32>>()))
    })
}

fn time64_of_digits(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    let cast = float_cast(call)?;
    let precision = if call.args.len() > 1 {
        call.constant_f64(1)? as i64
    } else {
        3
    };
    let precision = checked_precision(precision)?;
    let zone = zone_argument(call, 2)?;
    let session = call.context.time_zone;
    Resolved::new(
        DataType::DateTime64(precision, zone),
        move |columns, num_rows| {
            let mut time = WideTime::new(zone.unwrap_or(session), precision, false);
            let digits = floats(columns, &cast)?.expand(num_rows)?;
            let digits = values::<f64>(digits.as_ref())?.iter();
            let times = digits.map(|n| {
                let fraction = (n - n.floor()) * time.ticks_per_second as f64;
                time.ticks(split_digits(n.floor() as i64), fraction as i64)
            });
            let times = times.collect::<Vec<i64>>();
            time.check()?;
            Ok(array_of(times))
        },
    )
}

fn from_days(call: &Call<'_>, to: DataType) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    let is_signed = call.data_type(0).is_signed();
    let result = to.clone();
    Resolved::new(result, move |columns, num_rows| {
        let days = map1::<i64, i64>(&columns[0], num_rows, |d| d)?;
        let days = values::<i64>(days.as_ref())?;
        if is_signed && days.iter().any(|d| *d < 0) {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                "Expected a non-negative integer, got a negative one",
            ));
        }
        let days = days.iter().map(|d| d.wrapping_sub(DAYS_TO_1970));
        if to == DataType::Date {
            return Ok(array_of(days.map(|d| d as u16).collect::<Vec<u16>>()));
        }
        let in_range = days.map(|d| d.clamp(-DAYS_TO_1970, LAST_DAY) as i32);
        Ok(array_of(in_range.collect::<Vec<i32>>()))
    })
}
