//! Tells the present moment, and the time zones of values and sessions.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arrow::array::{Array, ArrayRef, BinaryViewArray};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::time::ticks_per_second;
use basalt_types::{DataType, Tz};

use super::interval::own_zone;
use super::moment::{Moments, Reading, ZoneClock, zone_argument};
use super::{any_case, entry};
use crate::scalar::core::numeric::{Native, array_of};
use crate::{Call, Purity, Resolved, ScalarFunction};

/// Functions of the present and of time zones.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        check_null: |call| call.expect_type(0, DataType::is_string),
        ..per_query(any_case(entry(
            &["now", "current_timestamp", "localtimestamp"],
            "now([time_zone])",
            "The moment when the query began.",
            now,
        )))
    },
    per_query(any_case(entry(
        &["now64"],
        "now64([precision[, time_zone]])",
        "The moment when the query began, with parts of the second.",
        now64,
    ))),
    ScalarFunction {
        purity: Purity::PerRow,
        ..entry(
            &["nowInBlock"],
            "nowInBlock([time_zone])",
            "The moment when a block of rows is processed.",
            now_in_block,
        )
    },
    per_query(any_case(entry(
        &["today", "curdate", "current_date"],
        "today()",
        "The date when the query began.",
        |call| day(call, 0),
    ))),
    per_query(entry(
        &["yesterday"],
        "yesterday()",
        "The date before the one when the query began.",
        |call| day(call, -1),
    )),
    per_query(any_case(entry(
        &["UTCTimestamp", "UTC_timestamp"],
        "UTCTimestamp()",
        "The moment when the query began, in UTC.",
        |call| {
            call.expect_args(0..=0)?;
            constant(DataType::DateTime(Some(Tz::UTC)), now_seconds(call) as u32)
        },
    ))),
    per_query(any_case(entry(
        &["timezone", "timeZone"],
        "timezone()",
        "Name of the session's time zone.",
        |call| zone_name(call, call.context.time_zone),
    ))),
    per_query(entry(
        &["serverTimezone", "serverTimeZone"],
        "serverTimezone()",
        "Name of the server's time zone, whatever the session's is.",
        |call| zone_name(call, Tz::UTC),
    )),
    any_case(entry(
        &["toTimezone", "toTimeZone"],
        "toTimezone(t, time_zone)",
        "The same moment, shown in another time zone.",
        to_time_zone,
    )),
    entry(
        &["timezoneOf", "timeZoneOf"],
        "timezoneOf(t)",
        "Name of the time zone that a time is shown in.",
        |call| {
            call.expect_args(1..=1)?;
            call.expect_type(0, DataType::is_date_time)?;
            let zone = own_zone(call.data_type(0)).unwrap_or(call.context.time_zone);
            text(zone.name())
        },
    ),
    entry(
        &["timezoneOffset", "timeZoneOffset"],
        "timezoneOffset(t)",
        "Seconds that the time zone of a time is ahead of UTC at that moment.",
        offset,
    ),
    entry(
        &["toUTCTimestamp", "to_utc_timestamp"],
        "toUTCTimestamp(t, time_zone)",
        "The time in UTC at which the clock of a zone shows t.",
        |call| converted(call, true),
    ),
    entry(
        &["fromUTCTimestamp", "from_utc_timestamp"],
        "fromUTCTimestamp(t, time_zone)",
        "What the clock of a zone shows when it is t in UTC.",
        |call| converted(call, false),
    ),
];

const fn per_query(function: ScalarFunction) -> ScalarFunction {
    ScalarFunction {
        purity: Purity::PerQuery,
        ..function
    }
}

fn now_seconds(call: &Call<'_>) -> i64 {
    call.context.now_ns.div_euclid(1_000_000_000)
}

fn constant<T: Native>(data_type: DataType, value: T) -> Result<Resolved> {
    Resolved::new(data_type, move |_, num_rows| {
        Ok(array_of(vec![value; num_rows]))
    })
}

/// The same text in every row.
pub(crate) fn text(value: &str) -> Result<Resolved> {
    let value = value.as_bytes().to_vec();
    Resolved::new(DataType::String, move |_, num_rows| {
        let rows = std::iter::repeat_n(value.as_slice(), num_rows);
        Ok(Arc::new(BinaryViewArray::from_iter_values(rows)))
    })
}

/// The zone in argument `idx`; a type other than a string is illegal.
fn zone_of(call: &Call<'_>, idx: usize) -> Result<Option<Tz>> {
    if call.args.len() > idx {
        call.expect_type(idx, DataType::is_string)?;
    }
    zone_argument(call, idx)
}

fn now(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    constant(
        DataType::DateTime(zone_of(call, 0)?),
        now_seconds(call) as u32,
    )
}

fn now64(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=2)?;
    let precision = if call.args.is_empty() {
        3
    } else {
        call.constant_i64(0)?
    };
    let precision = checked_precision(precision)?;
    let ticks = call
        .context
        .now_ns
        .div_euclid(1_000_000_000 / ticks_per_second(precision));
    constant(DataType::DateTime64(precision, zone_of(call, 1)?), ticks)
}

/// A precision that `DateTime64` has.
pub(super) fn checked_precision(precision: i64) -> Result<u8> {
    u8::try_from(precision)
        .ok()
        .filter(|p| *p <= 9)
        .ok_or_else(|| {
            Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!("Scale {precision} is out of bounds (0 to 9)"),
            )
        })
}

fn now_in_block(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(0..=1)?;
    Resolved::new(DataType::DateTime(zone_of(call, 0)?), |_, num_rows| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = since.map_or(0, |s| s.as_secs());
        Ok(array_of(vec![seconds as u32; num_rows]))
    })
}

fn day(call: &Call<'_>, days_later: i64) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    let local = ZoneClock::new(call.context.time_zone).local(now_seconds(call));
    constant(
        DataType::Date,
        (local.div_euclid(86_400) + days_later) as u16,
    )
}

fn zone_name(call: &Call<'_>, zone: Tz) -> Result<Resolved> {
    call.expect_args(0..=0)?;
    text(zone.name())
}

fn to_time_zone(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let to = match (call.data_type(0), zone_name_argument(call, 1)?) {
        (DataType::DateTime(_), zone) => DataType::DateTime(Some(zone)),
        (DataType::DateTime64(precision, _), zone) => DataType::DateTime64(*precision, Some(zone)),
        _ => return Err(call.illegal_type(0)),
    };
    Resolved::new(to, |columns, num_rows| columns[0].expand(num_rows))
}

/// The zone in argument `idx`, which must be a constant string.
fn zone_name_argument(call: &Call<'_>, idx: usize) -> Result<Tz> {
    let constant = call.constant(idx)?;
    if !call.data_type(idx).is_string() || constant.is_null(0) {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Argument {} of function {} must be the name of a time zone",
                idx + 1,
                call.name
            ),
        ));
    }
    zone_argument(call, idx)?.ok_or_else(|| call.illegal_type(idx))
}

fn offset(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_date_time)?;
    let moments = Moments::of_argument(call, 0, None)?;
    Resolved::new(DataType::Int32, move |columns, num_rows| {
        let mut clock = ZoneClock::new(moments.zone);
        moments.map(Reading::UtcSeconds, &columns[0], num_rows, |t| {
            (clock.local(t) - t) as i32
        })
    })
}

/// Moves times from the clock of a zone to UTC, or back.
fn converted(call: &Call<'_>, to_utc: bool) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let data_type = call.data_type(0).clone();
    let is_plain = matches!(
        data_type,
        DataType::DateTime(None) | DataType::DateTime64(_, None)
    );
    if !is_plain {
        return Err(call.illegal_type(0));
    }
    let zone = zone_name_argument(call, 1)?;
    let moments = Moments::of_argument(call, 0, None)?;
    let ticks = moments.ticks_per_second;
    let is_wide = matches!(data_type, DataType::DateTime64(..));
    Resolved::new(data_type, move |columns, num_rows| -> Result<ArrayRef> {
        let mut clock = ZoneClock::new(zone);
        let mut moved = |t: i64| {
            let seconds = t.div_euclid(ticks);
            let seconds = if to_utc {
                clock.utc(seconds)
            } else {
                clock.local(seconds)
            };
            seconds
                .wrapping_mul(ticks)
                .wrapping_add(t.rem_euclid(ticks))
        };
        let column = &columns[0];
        if is_wide {
            moments.map(Reading::Ticks, column, num_rows, moved)
        } else {
            moments.map(Reading::Ticks, column, num_rows, |t| moved(t) as u32)
        }
    })
}
