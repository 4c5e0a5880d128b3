//! Makes intervals: `toIntervalDay(n)` and its kin, and intervals of one unit from those of another.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, IntervalUnit};

use super::functions::strict;
use crate::{Call, Nulls, Resolved, ScalarFunction};

macro_rules! intervals {
    ($($name:literal)*) => {
        [$(ScalarFunction {
            name: $name,
            nulls: Nulls::Own,
            syntax: concat!($name, "(n)"),
            description: "Makes an interval of n units of time.",
            resolve: interval,
            ..ScalarFunction::BASE
        },)*
        ScalarFunction {
            name: "toInterval",
            nulls: Nulls::Own,
            syntax: "toInterval(n, unit)",
            description: "Makes an interval of n units, such as 'day'.",
            resolve: to_interval,
            ..ScalarFunction::BASE
        },
        ]
    };
}

/// The functions of this file.
pub(super) const FUNCTIONS: [ScalarFunction; 12] = intervals! {
    "toIntervalNanosecond" "toIntervalMicrosecond" "toIntervalMillisecond" "toIntervalSecond"
    "toIntervalMinute" "toIntervalHour" "toIntervalDay" "toIntervalWeek" "toIntervalMonth"
    "toIntervalQuarter" "toIntervalYear"
};

fn interval(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let unit = call
        .name
        .strip_prefix("toInterval")
        .and_then(IntervalUnit::from_name);
    to_unit(call, unit.ok_or_else(|| Error::bug("no unit of time"))?)
}

fn to_interval(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let name = call.constant_str(1)?.to_ascii_lowercase();
    let unit = IntervalUnit::ALL
        .into_iter()
        .find(|u| format!("{u:?}").to_ascii_lowercase() == name);
    let unit = unit.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Unknown unit of time '{name}'"),
        )
    })?;
    to_unit(call, unit)
}

fn to_unit(call: &Call<'_>, unit: IntervalUnit) -> Result<Resolved> {
    let from = call.data_type(0);
    if let DataType::Interval(old) = from {
        return between_units(*old, unit);
    }
    strict(from, &DataType::Interval(unit), call.context.time_zone)
}

/// Whole units of one length in another; months do not divide into days.
pub(crate) fn between_units(old: IntervalUnit, new: IntervalUnit) -> Result<Resolved> {
    let sizes = (unit_size(old), unit_size(new));
    let ((months_old, old_size), (months_new, new_size)) = sizes;
    if months_old != months_new {
        return Err(Error::new(
            ErrorCode::CANNOT_CONVERT_TYPE,
            format!("Cannot convert Interval{old:?} to Interval{new:?}"),
        ));
    }
    Resolved::new(DataType::Interval(new), move |columns, num_rows| {
        crate::scalar::core::numeric::map1::<i64, i64>(&columns[0], num_rows, |n| {
            if old_size >= new_size {
                n.wrapping_mul(old_size / new_size)
            } else {
                n / (new_size / old_size)
            }
        })
    })
}

/// Whether a unit counts months, and its size in months or nanoseconds.
pub(crate) fn unit_size(unit: IntervalUnit) -> (bool, i64) {
    match unit {
        IntervalUnit::Nanosecond => (false, 1),
        IntervalUnit::Microsecond => (false, 1_000),
        IntervalUnit::Millisecond => (false, 1_000_000),
        IntervalUnit::Second => (false, 1_000_000_000),
        IntervalUnit::Minute => (false, 60_000_000_000),
        IntervalUnit::Hour => (false, 3_600_000_000_000),
        IntervalUnit::Day => (false, 86_400_000_000_000),
        IntervalUnit::Week => (false, 604_800_000_000_000),
        IntervalUnit::Month => (true, 1),
        IntervalUnit::Quarter => (true, 3),
        IntervalUnit::Year => (true, 12),
    }
}
