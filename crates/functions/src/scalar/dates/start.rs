//! Rounds dates and times to the start or end of one unit: `toStartOfMonth`, `toLastDayOfWeek`.

use basalt_error::{Error, Result};
use basalt_types::calendar::days_in_month;
use basalt_types::{DataType, IntervalUnit};

use super::interval::{Rounding, own_zone, rounded_days};
use super::moment::{Moments, Reading, civil, zone_argument};
use super::week::{start_of_iso_year, start_of_week};
use super::{any_case, entry};
use crate::{Call, Resolved, ScalarFunction};

/// Functions that round to one unit.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["toStartOfYear"],
        "toStartOfYear(d[, time_zone])",
        "First day of the year.",
        of_name,
    ),
    entry(
        &["toStartOfQuarter"],
        "toStartOfQuarter(d[, time_zone])",
        "First day of the quarter.",
        of_name,
    ),
    entry(
        &["toStartOfMonth"],
        "toStartOfMonth(d[, time_zone])",
        "First day of the month.",
        of_name,
    ),
    entry(
        &["toStartOfDay"],
        "toStartOfDay(d[, time_zone])",
        "Midnight of the day.",
        of_name,
    ),
    entry(
        &["toStartOfHour"],
        "toStartOfHour(t[, time_zone])",
        "Start of the hour.",
        of_name,
    ),
    entry(
        &["toStartOfMinute"],
        "toStartOfMinute(t[, time_zone])",
        "Start of the minute.",
        of_name,
    ),
    entry(
        &["toStartOfSecond"],
        "toStartOfSecond(t[, time_zone])",
        "Start of the second of a DateTime64.",
        of_name,
    ),
    entry(
        &["toStartOfMillisecond"],
        "toStartOfMillisecond(t[, time_zone])",
        "Start of the millisecond of a DateTime64.",
        of_name,
    ),
    entry(
        &["toStartOfMicrosecond"],
        "toStartOfMicrosecond(t[, time_zone])",
        "Start of the microsecond of a DateTime64.",
        of_name,
    ),
    entry(
        &["toStartOfNanosecond"],
        "toStartOfNanosecond(t[, time_zone])",
        "Start of the nanosecond of a DateTime64.",
        of_name,
    ),
    entry(
        &["toStartOfFiveMinutes", "toStartOfFiveMinute"],
        "toStartOfFiveMinutes(t[, time_zone])",
        "Start of the five minutes.",
        |call| of_units(call, IntervalUnit::Minute, 5),
    ),
    entry(
        &["toStartOfTenMinutes"],
        "toStartOfTenMinutes(t[, time_zone])",
        "Start of the ten minutes.",
        |call| of_units(call, IntervalUnit::Minute, 10),
    ),
    entry(
        &["toStartOfFifteenMinutes"],
        "toStartOfFifteenMinutes(t[, time_zone])",
        "Start of the quarter of an hour.",
        |call| of_units(call, IntervalUnit::Minute, 15),
    ),
    entry(
        &["timeSlot"],
        "timeSlot(t[, time_zone])",
        "Start of the half hour.",
        |call| of_units(call, IntervalUnit::Minute, 30),
    ),
    entry(
        &["toStartOfISOYear"],
        "toStartOfISOYear(d[, time_zone])",
        "First day of the ISO 8601 year.",
        |call| to_day(call, start_of_iso_year),
    ),
    entry(
        &["toMonday"],
        "toMonday(d[, time_zone])",
        "Monday of the week.",
        |call| to_day(call, |day| start_of_week(day, 1)),
    ),
    any_case(entry(
        &["toLastDayOfMonth", "LAST_DAY"],
        "toLastDayOfMonth(d[, time_zone])",
        "Last day of the month.",
        |call| to_day(call, last_of_month),
    )),
    entry(
        &["toStartOfWeek"],
        "toStartOfWeek(d[, mode[, time_zone]])",
        "First day of the week: Sunday, with an odd mode Monday.",
        |call| to_day_of_week(call, 0),
    ),
    entry(
        &["toLastDayOfWeek"],
        "toLastDayOfWeek(d[, mode[, time_zone]])",
        "Last day of the week: Saturday, with an odd mode Sunday.",
        |call| to_day_of_week(call, 6),
    ),
    entry(
        &["toTimeWithFixedDate"],
        "toTimeWithFixedDate(t[, time_zone])",
        "The time of day on 1970-01-02.",
        to_fixed_date,
    ),
    entry(
        &["toTime"],
        "toTime(t[, time_zone])",
        "The time of day; with the setting use_legacy_to_time as a DateTime on 1970-01-02.",
        to_time,
    ),
];

fn is_extended(call: &Call<'_>) -> bool {
    call.context
        .flag("enable_extended_results_for_datetime_functions")
}

/// The function whose name ends with its unit.
fn of_name(call: &Call<'_>) -> Result<Resolved> {
    let unit = call
        .name
        .strip_prefix("toStartOf")
        .and_then(IntervalUnit::from_name);
    let unit = unit.ok_or_else(|| Error::bug(format!("{} names no unit", call.name)))?;
    of_units(call, unit, 1)
}

fn of_units(call: &Call<'_>, unit: IntervalUnit, amount: i64) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_date_or_time)?;
    let zone = zone_argument(call, 1)?;
    if zone.is_some() && call.data_type(0).is_date() && unit > IntervalUnit::Day {
        return Err(call.illegal_type(0));
    }
    let is_fraction = unit <= IntervalUnit::Second && amount == 1;
    if is_fraction && !matches!(call.data_type(0), DataType::DateTime64(..)) {
        return Err(call.illegal_type(0));
    }
    let precision = match call.data_type(0) {
        DataType::DateTime64(precision, _) => *precision,
        _ => 3,
    };
    let rounding = Rounding {
        is_extended: is_fraction || is_extended(call),
        precision: Some(precision),
        ..Rounding::to(unit, amount)
    };
    rounding.resolve(call, 0, zone)
}

fn to_day(call: &Call<'_>, op: impl Fn(i64) -> i64 + Send + Sync + 'static) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    day_result(call, 1, op)
}

/// A loop over days; a zone in argument `zone_idx` goes with times only.
fn day_result(
    call: &Call<'_>,
    zone_idx: usize,
    op: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> Result<Resolved> {
    let zone = zone_argument(call, zone_idx)?;
    let moments = Moments::of_argument(call, 0, zone)?;
    if zone.is_some() && moments.is_date {
        return Err(call.illegal_type(0));
    }
    let is_wide = matches!(
        call.data_type(0),
        DataType::Date32 | DataType::DateTime64(..)
    );
    let to = if is_wide && is_extended(call) {
        DataType::Date32
    } else {
        DataType::Date
    };
    rounded_days((0, moments), to, false, op)
}

fn to_day_of_week(call: &Call<'_>, days_later: i64) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    let mode = match call.args.len() {
        1 => 0,
        // Only the lowest bit means something.
        _ => call.constant_i64(1)? as u64,
    };
    day_result(call, 2, move |day| start_of_week(day, mode) + days_later)
}

fn last_of_month(day: i64) -> i64 {
    let date = civil(day);
    day + i64::from(days_in_month(date.year, date.month)) - i64::from(date.day)
}

fn to_fixed_date(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_date_time)?;
    let zone = zone_argument(call, 1)?;
    let moments = Moments::of_argument(call, 0, zone)?;
    let own = zone.or(own_zone(call.data_type(0)));
    // The second day, as its local midnight is not before 1970 in any zone.
    let midnight = super::moment::ZoneClock::new(moments.zone).utc(86_400);
    Resolved::new(DataType::DateTime(own), move |columns, num_rows| {
        moments.map(Reading::LocalSeconds, &columns[0], num_rows, |local| {
            (midnight + local.rem_euclid(86_400)) as u32
        })
    })
}

fn to_time(call: &Call<'_>) -> Result<Resolved> {
    if call.context.flag("use_legacy_to_time") {
        return to_fixed_date(call);
    }
    Err(Error::not_implemented(
        "Type Time (use toTimeWithFixedDate, or the setting use_legacy_to_time = 1)",
    ))
}
