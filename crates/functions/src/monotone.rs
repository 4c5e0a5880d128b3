//! Says which calls keep the order of an argument, so that its bounds tell the bounds of the results.

use std::ops::RangeInclusive;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType as ArrowType, Int64Type};
use basalt_types::{DataType, IntervalUnit, Tz};

use crate::{Arg, Context};

/// How the results of a call follow its only argument that is no constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Monotone {
    /// Which argument.
    pub arg: usize,
    /// Whether larger arguments have smaller results, or equal ones.
    pub is_falling: bool,
    /// Where that is so, in numbers of the argument's physical type.
    pub domain: RangeInclusive<i128>,
    /// An argument that is smaller by no more than that may have a larger result all the same.
    pub slack: i128,
}

const SECONDS_PER_DAY: i128 = 86_400;

/// Days that all types of dates and times hold, with more than a year to spare, so that no result is out of its range.
const DAYS: RangeInclusive<i128> = SPARE_DAYS..=49_709 - SPARE_DAYS;

/// Days of the longest unit that moments are rounded to.
const SPARE_DAYS: i128 = 400;

/// Clocks were set back by less since 1970; a test looks at all time zones.
const MAX_SET_BACK_SECONDS: i128 = 4 * 3_600;

/// Functions of dates and times.
const OF_MOMENTS: &[&str] = &[
    "timeSlot",
    "toDate",
    "toDate32",
    "toDateTime",
    "toISOYear",
    "toLastDayOfMonth",
    "toLastDayOfWeek",
    "toMonday",
    "toRelativeDayNum",
    "toRelativeHourNum",
    "toRelativeMinuteNum",
    "toRelativeMonthNum",
    "toRelativeQuarterNum",
    "toRelativeSecondNum",
    "toRelativeWeekNum",
    "toRelativeYearNum",
    "toStartOfDay",
    "toStartOfFifteenMinutes",
    "toStartOfFiveMinutes",
    "toStartOfHour",
    "toStartOfISOYear",
    "toStartOfInterval",
    "toStartOfMinute",
    "toStartOfMonth",
    "toStartOfQuarter",
    "toStartOfSecond",
    "toStartOfTenMinutes",
    "toStartOfWeek",
    "toStartOfYear",
    "toUnixTimestamp",
    "toYYYYMM",
    "toYYYYMMDD",
    "toYYYYMMDDhhmmss",
    "toYear",
    "toYearWeek",
];

/// The one of them whose first argument is the unit.
const DATE_TRUNC: &str = "dateTrunc";

/// Conversions to integers.
const TO_INTEGERS: &[&str] = &[
    "CAST", "_CAST", "toInt8", "toInt16", "toInt32", "toInt64", "toUInt8", "toUInt16", "toUInt32",
    "toUInt64",
];

/// How a call with these arguments and this type of result follows one of them.
pub(crate) fn monotone(
    function: &str,
    args: &[Arg],
    return_type: &DataType,
    context: &Context,
) -> Option<Monotone> {
    let mut open = args
        .iter()
        .enumerate()
        .filter(|(_, a)| a.constant.is_none());
    let (Some((arg, open)), None) = (open.next(), open.next()) else {
        return None;
    };
    let (from, to) = (open.data_type.base(), return_type.base());
    if from.is_date_or_time() {
        let place = usize::from(function == DATE_TRUNC);
        let is_known = function == DATE_TRUNC || OF_MOMENTS.contains(&function);
        let names_zone = args.iter().skip(place + 1).any(|a| a.data_type.is_string());
        let is_short = args.iter().all(|a| interval_days(a) <= SPARE_DAYS);
        return match is_known && is_short && arg == place {
            true => of_moments(arg, from, (!names_zone).then_some(context.time_zone)),
            false => None,
        };
    }
    let domain = integers(from)?;
    let range = integers(to)?;
    let widens = range.contains(domain.start()) && range.contains(domain.end());
    let is_falling = match function {
        name if TO_INTEGERS.contains(&name) => widens.then_some(false)?,
        "negate" => (domain.end() < range.end()).then_some(true)?,
        "plus" | "minus" => {
            let other = args.get(1 - arg.min(1)).filter(|_| args.len() == 2)?;
            let (least, greatest) = range.into_inner();
            // The sum of two numbers that take half of the range each stays in it.
            let has_room =
                |d: &RangeInclusive<i128>| *d.start() >= least / 2 && *d.end() <= greatest / 2;
            let fits = has_room(&domain) && has_room(&integers(other.data_type.base())?);
            fits.then_some(function == "minus" && arg == 1)?
        }
        "intDiv" => {
            let divisor = args.get(1).filter(|_| arg == 0 && args.len() == 2)?;
            let number = divisor.constant.as_ref().and_then(integer)?;
            // A divisor that the dividend's type does not have may become another number.
            let is_divisor = number > 0 && domain.contains(&number.into());
            (is_divisor && widens).then_some(false)?
        }
        _ => return None,
    };
    Some(Monotone {
        arg,
        is_falling,
        domain,
        slack: 0,
    })
}

/// A function of moments in `zone`, if they do not name one; without it, in any zone.
fn of_moments(arg: usize, from: &DataType, zone: Option<Tz>) -> Option<Monotone> {
    let default = zone;
    let (unit, zone) = match from {
        DataType::Date | DataType::Date32 => (None, None),
        DataType::DateTime(zone) => (Some(1), *zone),
        DataType::DateTime64(digits, zone) => (Some(10_i128.pow(u32::from(*digits))), *zone),
        _ => return None,
    };
    let day = unit.map_or(1, |unit| unit * SECONDS_PER_DAY);
    let set_back = match default.map(|default| zone.unwrap_or(default)) {
        Some(Tz::UTC) => 0,
        _ => MAX_SET_BACK_SECONDS,
    };
    Some(Monotone {
        arg,
        is_falling: false,
        domain: DAYS.start() * day..=DAYS.end() * day,
        slack: unit.map_or(0, |unit| unit * set_back),
    })
}

/// Days of a constant interval at most; 0 of what is none.
fn interval_days(arg: &Arg) -> i128 {
    let days = match arg.data_type {
        DataType::Interval(IntervalUnit::Week) => 7,
        DataType::Interval(IntervalUnit::Month) => 31,
        DataType::Interval(IntervalUnit::Quarter) => 92,
        DataType::Interval(IntervalUnit::Year) => 366,
        // Of shorter units a day and less.
        DataType::Interval(_) => 1,
        _ => 0,
    };
    let number = arg.constant.as_ref().and_then(integer);
    days * i128::from(number.unwrap_or(i64::MAX))
}

/// The values of an integer type.
fn integers(data_type: &DataType) -> Option<RangeInclusive<i128>> {
    Some(match data_type {
        DataType::UInt8 => 0..=u8::MAX.into(),
        DataType::UInt16 => 0..=u16::MAX.into(),
        DataType::UInt32 => 0..=u32::MAX.into(),
        DataType::UInt64 => 0..=u64::MAX.into(),
        DataType::Int8 => i8::MIN.into()..=i8::MAX.into(),
        DataType::Int16 => i16::MIN.into()..=i16::MAX.into(),
        DataType::Int32 => i32::MIN.into()..=i32::MAX.into(),
        DataType::Int64 => i64::MIN.into()..=i64::MAX.into(),
        _ => return None,
    })
}

/// The value of a constant integer.
pub(crate) fn integer(constant: &ArrayRef) -> Option<i64> {
    let wide = cast(constant, &ArrowType::Int64).ok()?;
    wide.as_primitive::<Int64Type>().iter().flatten().next()
}
