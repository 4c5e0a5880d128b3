//! Numbers weeks: ISO 8601 and the ten modes of MySQL's `WEEK`.

use basalt_error::Result;
use basalt_types::calendar::is_leap_year;
use basalt_types::{DataType, Tz};

use super::moment::{Moments, Reading, civil, day_of, weekday, zone_argument};
use super::{any_case, entry};
use crate::scalar::core::cast::array_cast;
use crate::scalar::core::numeric::Native;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions of weeks and days of the week.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["toDayOfWeek", "DAYOFWEEK"],
        "toDayOfWeek(d[, mode[, time_zone]])",
        "Day of the week: Monday 1 to Sunday 7, by mode also Monday 0, Sunday 0 or Sunday 1.",
        |call| {
            let mode = mode_argument(call)?;
            of_day(call, move |day| day_of_week(day, mode))
        },
    )),
    any_case(entry(
        &["toWeek", "week"],
        "toWeek(d[, mode[, time_zone]])",
        "Number of the week in the year, counted as the mode says.",
        |call| {
            let mode = mode_argument(call)?;
            of_day(call, move |day| year_and_week(day, mode).1 as u8)
        },
    )),
    any_case(entry(
        &["toYearWeek", "yearweek"],
        "toYearWeek(d[, mode[, time_zone]])",
        "Year of the week and its number: year * 100 + week.",
        |call| {
            let mode = mode_argument(call)? | WEEK_HAS_YEAR;
            of_day(call, move |day| {
                let (year, week) = year_and_week(day, mode);
                (year as u32).wrapping_mul(100).wrapping_add(week as u32)
            })
        },
    )),
    entry(
        &["toISOYear"],
        "toISOYear(d[, time_zone])",
        "Year of the ISO 8601 week.",
        |call| of_iso(call, |day| iso_year_and_week(day).0 as u16),
    ),
    entry(
        &["toISOWeek"],
        "toISOWeek(d[, time_zone])",
        "Number of the ISO 8601 week, 1 to 53.",
        |call| of_iso(call, |day| iso_year_and_week(day).1 as u8),
    ),
];

/// Weeks begin on Monday, not on Sunday.
const MONDAY_FIRST: u64 = 1;
/// Days before week 1 belong to the last week of the year before, not to week 0.
const WEEK_HAS_YEAR: u64 = 2;
/// Week 1 is the first one that begins in the year, not the first with four days in it.
const FIRST_WEEKDAY: u64 = 4;
/// Week 1 is the one with the first of January in it.
const NEW_YEARS_DAY: u64 = 8;

/// The optional mode in argument 1.
fn mode_argument(call: &Call<'_>) -> Result<u64> {
    call.expect_args(1..=3)?;
    if call.args.len() < 2 {
        return Ok(0);
    }
    // Only the low bits mean something.
    call.constant_i64(1).map(|mode| mode as u64)
}

/// A function of the day of argument 0, also of its text, in the zone of argument 2.
fn of_day<O: Native>(
    call: &Call<'_>,
    op: impl Fn(i64) -> O + Send + Sync + 'static,
) -> Result<Resolved> {
    let zone = zone_argument(call, 2)?;
    let text_type = DataType::DateTime64(3, None);
    let from = call.data_type(0);
    let is_text = from.is_string();
    let read_as = if is_text { &text_type } else { from };
    let moments = moments_of(call, read_as, zone)?;
    let cast = array_cast(from, read_as, call.context)?;
    Resolved::new(O::NUM.data_type(), move |columns, num_rows| {
        let column = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        moments.map(Reading::LocalDays, &column, num_rows, &op)
    })
}

fn moments_of(call: &Call<'_>, read_as: &DataType, zone: Option<Tz>) -> Result<Moments> {
    let session = zone.unwrap_or(call.context.time_zone);
    let moments = Moments::of(read_as, session).ok_or_else(|| call.illegal_type(0))?;
    Ok(Moments {
        zone: zone.unwrap_or(moments.zone),
        ..moments
    })
}

fn of_iso<O: Native>(
    call: &Call<'_>,
    op: impl Fn(i64) -> O + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let moments = Moments::of_argument(call, 0, zone_argument(call, 1)?)?;
    Resolved::new(O::NUM.data_type(), move |columns, num_rows| {
        moments.map(Reading::LocalDays, &columns[0], num_rows, &op)
    })
}

fn day_of_week(day: i64, mode: u64) -> u8 {
    let from_monday = weekday(day) as u8;
    match mode & 3 {
        0 => from_monday + 1,
        1 => from_monday,
        2 => (from_monday + 1) % 7,
        _ => (from_monday + 1) % 7 + 1,
    }
}

/// The ISO 8601 year and week: the week belongs to the year of its Thursday.
pub(super) fn iso_year_and_week(day: i64) -> (i32, i64) {
    let thursday = day - weekday(day) + 3;
    let year = civil(thursday).year;
    (year, (thursday - day_of(year, 1, 1)) / 7 + 1)
}

/// Monday of the first ISO 8601 week of the year of `day`'s week.
pub(super) fn start_of_iso_year(day: i64) -> i64 {
    let (year, _) = iso_year_and_week(day);
    // The 4th of January is always in week 1.
    let fourth = day_of(year, 1, 4);
    fourth - weekday(fourth)
}

/// First day of the week of `day`; weeks begin on Sunday unless the mode has its lowest bit.
pub(super) fn start_of_week(day: i64, mode: u64) -> i64 {
    let monday_first = mode & MONDAY_FIRST != 0;
    day - days_into_week(day, monday_first)
}

fn days_into_week(day: i64, monday_first: bool) -> i64 {
    if monday_first {
        weekday(day)
    } else {
        (weekday(day) + 1) % 7
    }
}

fn days_in_year(year: i32) -> i64 {
    if is_leap_year(year) { 366 } else { 365 }
}

/// Year and number of the week as MySQL's modes 0 to 7 and ClickHouse's 8 and 9 count it.
fn year_and_week(day: i64, mode: u64) -> (i32, i64) {
    let mode = mode & 15;
    let monday_first = mode & MONDAY_FIRST != 0;
    if mode & NEW_YEARS_DAY != 0 {
        return new_years_week(day, monday_first);
    }
    let mut has_year = mode & WEEK_HAS_YEAR != 0;
    // MySQL's numbering of the modes flips this bit for weeks that begin on Sunday.
    let first_weekday = (mode & FIRST_WEEKDAY != 0) == monday_first;
    let date = civil(day);
    let mut year = date.year;
    let mut first = day_of(year, 1, 1);
    let mut into_week = days_into_week(first, monday_first);
    let begins_late = |into_week: i64| {
        if first_weekday {
            into_week != 0
        } else {
            into_week >= 4
        }
    };
    if date.month == 1 && i64::from(date.day) <= 7 - into_week {
        if !has_year && begins_late(into_week) {
            return (year, 0);
        }
        if begins_late(into_week) {
            has_year = true;
            year -= 1;
            first -= days_in_year(year);
            into_week = days_into_week(first, monday_first);
        }
    }
    let start = if begins_late(into_week) {
        first + 7 - into_week
    } else {
        first - into_week
    };
    let days = day - start;
    if has_year && days >= 52 * 7 {
        let next = days_into_week(first + days_in_year(year), monday_first);
        if !begins_late(next) {
            return (year + 1, 1);
        }
    }
    (year, days.div_euclid(7) + 1)
}

/// The year's week 1 is the one that has the first of January in it, whole.
fn new_years_week(day: i64, monday_first: bool) -> (i32, i64) {
    let start = day - days_into_week(day, monday_first);
    let year = civil(start + 6).year;
    let first = day_of(year, 1, 1);
    let first_week = first - days_into_week(first, monday_first);
    (year, (start - first_week) / 7 + 1)
}
