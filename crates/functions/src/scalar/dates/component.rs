//! Takes dates and times apart: year, month, hour, numbers of units since the epoch.

use basalt_error::Result;
use basalt_types::DataType;
use basalt_types::calendar::{days_in_month, utc_offset_seconds};

use super::moment::{Moments, Reading, civil, day_of, weekday, zone_argument};
use super::{any_case, entry};
use crate::scalar::core::numeric::Native;
use crate::{Call, Resolved, ScalarFunction};

/// Functions that take a date or time apart.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["toYear", "YEAR"],
        "toYear(d[, time_zone])",
        "Year of a date or time.",
        |call| of_day(call, |day| civil(day).year as u16),
    )),
    any_case(entry(
        &["toQuarter", "QUARTER"],
        "toQuarter(d[, time_zone])",
        "Quarter of the year, 1 to 4.",
        |call| of_day(call, |day| (civil(day).month as u8).div_ceil(3)),
    )),
    any_case(entry(
        &["toMonth", "MONTH"],
        "toMonth(d[, time_zone])",
        "Month of the year, 1 to 12.",
        |call| of_day(call, |day| civil(day).month as u8),
    )),
    any_case(entry(
        &["toDayOfMonth", "DAY", "DAYOFMONTH"],
        "toDayOfMonth(d[, time_zone])",
        "Day of the month, 1 to 31.",
        |call| of_day(call, |day| civil(day).day as u8),
    )),
    any_case(entry(
        &["toDayOfYear", "DAYOFYEAR"],
        "toDayOfYear(d[, time_zone])",
        "Day of the year, 1 to 366.",
        |call| of_day(call, day_of_year),
    )),
    entry(
        &["toDaysInMonth"],
        "toDaysInMonth(d[, time_zone])",
        "Number of days of the month that a date or time is in.",
        |call| {
            of_day(call, |day| {
                let date = civil(day);
                days_in_month(date.year, date.month) as u8
            })
        },
    ),
    entry(
        &["toYearNumSinceEpoch"],
        "toYearNumSinceEpoch(d[, time_zone])",
        "Number of years since 1970.",
        |call| of_day(call, |day| (civil(day).year - 1970).clamp(0, 0xFFFF) as u16),
    ),
    entry(
        &["toMonthNumSinceEpoch"],
        "toMonthNumSinceEpoch(d[, time_zone])",
        "Number of months since January of 1970.",
        |call| {
            of_day(call, |day| {
                (month_number(day) - 1970 * 12 - 1).max(0) as u32
            })
        },
    ),
    any_case(entry(
        &["toHour", "HOUR"],
        "toHour(t[, time_zone])",
        "Hour of the day, 0 to 23.",
        |call| of_second(call, |local| (local.div_euclid(3600).rem_euclid(24)) as u8),
    )),
    any_case(entry(
        &["toMinute", "MINUTE"],
        "toMinute(t[, time_zone])",
        "Minute of the hour, 0 to 59.",
        |call| of_second(call, |local| (local.div_euclid(60).rem_euclid(60)) as u8),
    )),
    any_case(entry(
        &["toSecond", "SECOND"],
        "toSecond(t[, time_zone])",
        "Second of the minute, 0 to 59.",
        |call| of_second(call, |local| local.rem_euclid(60) as u8),
    )),
    any_case(entry(
        &["toMillisecond", "MILLISECOND"],
        "toMillisecond(t[, time_zone])",
        "Milliseconds of the second.",
        |call| of_fraction::<u16>(call, 1_000),
    )),
    any_case(entry(
        &["toMicrosecond", "MICROSECOND"],
        "toMicrosecond(t[, time_zone])",
        "Microseconds of the second.",
        |call| of_fraction::<u32>(call, 1_000_000),
    )),
    any_case(entry(
        &["toNanosecond", "NANOSECOND"],
        "toNanosecond(t[, time_zone])",
        "Nanoseconds of the second.",
        |call| of_fraction::<u32>(call, 1_000_000_000),
    )),
    entry(
        &["toYYYYMM"],
        "toYYYYMM(d[, time_zone])",
        "Year and month as a number: year * 100 + month.",
        |call| {
            of_day(call, |day| {
                let date = civil(day);
                (date.year as u32)
                    .wrapping_mul(100)
                    .wrapping_add(date.month)
            })
        },
    ),
    entry(
        &["toYYYYMMDD"],
        "toYYYYMMDD(d[, time_zone])",
        "Date as a number: year * 10000 + month * 100 + day.",
        |call| of_day(call, |day| date_number(day) as u32),
    ),
    entry(
        &["toYYYYMMDDhhmmss"],
        "toYYYYMMDDhhmmss(d[, time_zone])",
        "Date and time as a number of 14 digits.",
        |call| of(call, Reading::LocalSeconds, time_number),
    ),
    entry(
        &["toRelativeYearNum"],
        "toRelativeYearNum(d[, time_zone])",
        "Number of the year.",
        |call| of_day(call, |day| civil(day).year as u16),
    ),
    entry(
        &["toRelativeQuarterNum"],
        "toRelativeQuarterNum(d[, time_zone])",
        "Number of the quarter, counted from year 0.",
        |call| of_day(call, |day| quarter_number(day) as u32),
    ),
    entry(
        &["toRelativeMonthNum"],
        "toRelativeMonthNum(d[, time_zone])",
        "Number of the month, counted from year 0.",
        |call| of_day(call, |day| month_number(day) as u32),
    ),
    entry(
        &["toRelativeWeekNum"],
        "toRelativeWeekNum(d[, time_zone])",
        "Number of the week, counted from 1970.",
        |call| of_day(call, |day| week_number(day).max(0) as u32),
    ),
    entry(
        &["toRelativeDayNum"],
        "toRelativeDayNum(d[, time_zone])",
        "Number of the day, counted from 1970-01-01.",
        |call| of_day(call, |day| day.clamp(0, i64::from(u16::MAX)) as u32),
    ),
    entry(
        &["toRelativeHourNum"],
        "toRelativeHourNum(d[, time_zone])",
        "Number of the hour, counted from 1970.",
        |call| {
            let shift = hour_shift(&moments(call)?);
            of(call, Reading::UtcSeconds, move |t| {
                seconds_u32((t + shift).div_euclid(3600))
            })
        },
    ),
    entry(
        &["toRelativeMinuteNum"],
        "toRelativeMinuteNum(d[, time_zone])",
        "Number of the minute, counted from 1970.",
        |call| of(call, Reading::UtcSeconds, |t| seconds_u32(t.div_euclid(60))),
    ),
    entry(
        &["toRelativeSecondNum"],
        "toRelativeSecondNum(d[, time_zone])",
        "Number of the second, counted from 1970.",
        |call| of(call, Reading::UtcSeconds, seconds_u32),
    ),
    any_case(entry(
        &["toDaysSinceYearZero", "TO_DAYS"],
        "toDaysSinceYearZero(d[, time_zone])",
        "Days since 0000-01-01.",
        since_year_zero,
    )),
];

/// Reads the first argument in the zone of the optional second one.
fn moments(call: &Call<'_>) -> Result<Moments> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_date_or_time)?;
    Moments::of_argument(call, 0, zone_argument(call, 1)?)
}

fn of<O: Native>(
    call: &Call<'_>,
    reading: Reading,
    op: impl Fn(i64) -> O + Send + Sync + 'static,
) -> Result<Resolved> {
    let moments = moments(call)?;
    Resolved::new(O::NUM.data_type(), move |columns, num_rows| {
        moments.map(reading, &columns[0], num_rows, &op)
    })
}

fn of_day<O: Native>(
    call: &Call<'_>,
    op: impl Fn(i64) -> O + Send + Sync + 'static,
) -> Result<Resolved> {
    of(call, Reading::LocalDays, op)
}

fn of_second<O: Native>(
    call: &Call<'_>,
    op: impl Fn(i64) -> O + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_date_time)?;
    of(call, Reading::LocalSeconds, op)
}

/// ClickHouse checks the zone here, but counts days of the type's own one.
fn since_year_zero(call: &Call<'_>) -> Result<Resolved> {
    moments(call)?;
    let own = Moments::of_argument(call, 0, None)?;
    Resolved::new(DataType::UInt32, move |columns, num_rows| {
        own.map(Reading::LocalDays, &columns[0], num_rows, |day| {
            day.wrapping_add(super::make::DAYS_TO_1970) as u32
        })
    })
}

/// Parts of the second in units of `per_second`.
fn of_fraction<O: Native + TryFrom<i64>>(call: &Call<'_>, per_second: i64) -> Result<Resolved> {
    let moments = moments(call)?;
    call.expect_type(0, DataType::is_date_time)?;
    let ticks = moments.ticks_per_second;
    Resolved::new(O::NUM.data_type(), move |columns, num_rows| {
        moments.map(Reading::Ticks, &columns[0], num_rows, |t| {
            let fraction = t.rem_euclid(ticks);
            let units = if per_second >= ticks {
                fraction * (per_second / ticks)
            } else {
                fraction / (ticks / per_second)
            };
            // A fraction is less than `per_second`, which fits the type.
            O::try_from(units).unwrap_or_default()
        })
    })
}

pub(super) fn day_of_year(day: i64) -> u16 {
    (day - day_of(civil(day).year, 1, 1) + 1) as u16
}

/// `YYYYMMDD`.
fn date_number(day: i64) -> i64 {
    let date = civil(day);
    i64::from(date.year) * 10_000 + i64::from(date.month) * 100 + i64::from(date.day)
}

fn time_number(local: i64) -> u64 {
    let days = local.div_euclid(86_400);
    let second = local.rem_euclid(86_400);
    let time = second / 3600 * 10_000 + second / 60 % 60 * 100 + second % 60;
    date_number(days).wrapping_mul(1_000_000).wrapping_add(time) as u64
}

pub(super) fn quarter_number(day: i64) -> i64 {
    let date = civil(day);
    i64::from(date.year) * 4 + i64::from((date.month - 1) / 3)
}

pub(super) fn month_number(day: i64) -> i64 {
    let date = civil(day);
    i64::from(date.year) * 12 + i64::from(date.month)
}

/// Number of the week, which begins on Monday.
pub(super) fn week_number(day: i64) -> i64 {
    (day - weekday(day) + 8).div_euclid(7)
}

/// What to add to moments so that hours of the zone's clock begin at multiples of 3600.
///
/// Zones that were whole hours ahead of UTC in 1970 count hours of UTC.
pub(super) fn hour_shift(moments: &Moments) -> i64 {
    let offset = utc_offset_seconds(moments.zone, 0);
    if offset % 3600 == 0 {
        0
    } else {
        86_400 - offset
    }
}

fn seconds_u32(value: i64) -> u32 {
    value.clamp(0, i64::from(u32::MAX)) as u32
}
