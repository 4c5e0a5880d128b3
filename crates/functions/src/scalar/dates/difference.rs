//! Counts units of time between two dates or times: `dateDiff`, `age`.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{DataType, IntervalUnit};

use super::component::{hour_shift, month_number, quarter_number, week_number};
use super::moment::{Moments, Reading, civil, zone_argument};
use super::{any_case, entry};
use crate::scalar::core::numeric::array_of;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions of two moments.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &[
            "dateDiff",
            "date_diff",
            "DATE_DIFF",
            "timestampDiff",
            "timestamp_diff",
            "TIMESTAMP_DIFF",
        ],
        "dateDiff('unit', from, to[, time_zone])",
        "Number of boundaries of the unit between two dates or times.",
        |call| resolve(call, boundaries),
    )),
    any_case(entry(
        &["age"],
        "age('unit', from, to[, time_zone])",
        "Number of whole units between two dates or times.",
        |call| resolve(call, whole_units),
    )),
    entry(
        &["timeDiff"],
        "timeDiff(from, to)",
        "Number of seconds between two dates or times.",
        time_diff,
    ),
];

fn time_diff(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let moments = [
        Moments::of_argument(call, 0, None)?,
        Moments::of_argument(call, 1, None)?,
    ];
    Resolved::new(DataType::Int64, move |columns, num_rows| {
        let pair = Pair {
            unit: IntervalUnit::Second,
            moments,
            columns: [&columns[0], &columns[1]],
            num_rows,
        };
        boundaries(&pair).map(array_of)
    })
}

/// Names of a unit: singular, plural is with an s, and abbreviations.
const UNITS: [(IntervalUnit, &[&str]); 11] = [
    (IntervalUnit::Nanosecond, &["nanosecond", "ns"]),
    (IntervalUnit::Microsecond, &["microsecond", "us", "u"]),
    (IntervalUnit::Millisecond, &["millisecond", "ms"]),
    (IntervalUnit::Second, &["second", "ss", "s"]),
    (IntervalUnit::Minute, &["minute", "mi", "n"]),
    (IntervalUnit::Hour, &["hour", "hh", "h"]),
    (IntervalUnit::Day, &["day", "dd", "d"]),
    (IntervalUnit::Week, &["week", "ww", "wk"]),
    (IntervalUnit::Month, &["month", "mm", "m"]),
    (IntervalUnit::Quarter, &["quarter", "qq", "q"]),
    (IntervalUnit::Year, &["year", "yyyy", "yy"]),
];

fn unit_of(call: &Call<'_>) -> Result<IntervalUnit> {
    let name = call.constant_str(0)?.to_ascii_lowercase();
    let is_it = |names: &[&str]| {
        names.contains(&name.as_str()) || name.strip_suffix('s').is_some_and(|n| n == names[0])
    };
    let unit = UNITS.iter().find(|(_, names)| is_it(names));
    unit.map(|(unit, _)| *unit).ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Function {} does not support the unit '{name}'", call.name),
        )
    })
}

/// Two columns of moments, how to read them, and the unit.
struct Pair<'a> {
    unit: IntervalUnit,
    moments: [Moments; 2],
    columns: [&'a Column; 2],
    num_rows: usize,
}

fn resolve(call: &Call<'_>, count: fn(&Pair<'_>) -> Result<Vec<i64>>) -> Result<Resolved> {
    call.expect_args(3..=4)?;
    let unit = unit_of(call)?;
    let zone = zone_argument(call, 3)?;
    let moments = [
        Moments::of_argument(call, 1, zone)?,
        Moments::of_argument(call, 2, zone)?,
    ];
    Resolved::new(DataType::Int64, move |columns, num_rows| {
        let pair = Pair {
            unit,
            moments,
            columns: [&columns[1], &columns[2]],
            num_rows,
        };
        count(&pair).map(array_of)
    })
}

impl Pair<'_> {
    /// Both columns, read alike.
    fn read(&self, reading: Reading) -> Result<[Vec<i64>; 2]> {
        let read = |i: usize| self.moments[i].values(reading, self.columns[i], self.num_rows);
        Ok([read(0)?, read(1)?])
    }

    /// Both columns as ticks of `per_second`, cut down to them.
    fn ticks(&self, per_second: i64) -> Result<[Vec<i64>; 2]> {
        let read = |i: usize| -> Result<Vec<i64>> {
            let moments = &self.moments[i];
            if moments.is_date || moments.ticks_per_second == 1 {
                let mut seconds =
                    moments.values(Reading::UtcSeconds, self.columns[i], self.num_rows)?;
                seconds
                    .iter_mut()
                    .for_each(|s| *s = s.wrapping_mul(per_second));
                return Ok(seconds);
            }
            let mut ticks = moments.values(Reading::Ticks, self.columns[i], self.num_rows)?;
            let has = moments.ticks_per_second;
            if has >= per_second {
                ticks
                    .iter_mut()
                    .for_each(|t| *t = t.div_euclid(has / per_second));
            } else {
                ticks
                    .iter_mut()
                    .for_each(|t| *t = t.wrapping_mul(per_second / has));
            }
            Ok(ticks)
        };
        Ok([read(0)?, read(1)?])
    }
}

/// Differences of the numbers that `number` gives to the values.
fn differences([from, to]: [Vec<i64>; 2], number: impl Fn(i64) -> i64) -> Vec<i64> {
    let pairs = from.into_iter().zip(to);
    pairs
        .map(|(a, b)| number(b).wrapping_sub(number(a)))
        .collect()
}

fn boundaries(pair: &Pair<'_>) -> Result<Vec<i64>> {
    let days = |number: fn(i64) -> i64| Ok(differences(pair.read(Reading::LocalDays)?, number));
    match pair.unit {
        IntervalUnit::Year => days(|day| i64::from(civil(day).year)),
        IntervalUnit::Quarter => days(quarter_number),
        IntervalUnit::Month => days(month_number),
        IntervalUnit::Week => days(week_number),
        IntervalUnit::Day => days(|day| day),
        IntervalUnit::Hour => {
            let [from, to] = pair.read(Reading::UtcSeconds)?;
            let shifts = [hour_shift(&pair.moments[0]), hour_shift(&pair.moments[1])];
            let hour = |t: i64, shift: i64| t.wrapping_add(shift).div_euclid(3600);
            let pairs = from.into_iter().zip(to);
            Ok(pairs
                .map(|(a, b)| hour(b, shifts[1]) - hour(a, shifts[0]))
                .collect())
        }
        IntervalUnit::Minute => Ok(differences(pair.read(Reading::UtcSeconds)?, |t| {
            t.div_euclid(60)
        })),
        IntervalUnit::Second => Ok(differences(pair.read(Reading::UtcSeconds)?, |t| t)),
        unit => Ok(differences(pair.ticks(parts_of_second(unit))?, |t| t)),
    }
}

fn parts_of_second(unit: IntervalUnit) -> i64 {
    match unit {
        IntervalUnit::Millisecond => 1_000,
        IntervalUnit::Microsecond => 1_000_000,
        _ => 1_000_000_000,
    }
}

fn whole_units(pair: &Pair<'_>) -> Result<Vec<i64>> {
    let finest = pair.moments[0]
        .ticks_per_second
        .max(pair.moments[1].ticks_per_second);
    let seconds = match pair.unit {
        IntervalUnit::Hour => 3600,
        IntervalUnit::Minute => 60,
        IntervalUnit::Second => 1,
        unit if unit < IntervalUnit::Second => {
            return Ok(differences(pair.ticks(parts_of_second(unit))?, |t| t));
        }
        _ => return calendar_units(pair, finest),
    };
    let unit_ticks = finest.saturating_mul(seconds);
    let [from, to] = pair.ticks(finest)?;
    let pairs = from.into_iter().zip(to);
    Ok(pairs.map(|(a, b)| b.wrapping_sub(a) / unit_ticks).collect())
}

/// Whole days or months, divided by the number of them in the unit.
fn calendar_units(pair: &Pair<'_>, finest: i64) -> Result<Vec<i64>> {
    let [from, to] = pair.read(Reading::LocalSeconds)?;
    let [from_ticks, to_ticks] = pair.ticks(finest)?;
    let (per_unit, is_days) = match pair.unit {
        IntervalUnit::Day => (1, true),
        IntervalUnit::Week => (7, true),
        IntervalUnit::Month => (1, false),
        IntervalUnit::Quarter => (3, false),
        _ => (12, false),
    };
    let whole = |(a, a_ticks): (i64, i64), (b, b_ticks): (i64, i64)| {
        let day = |local: i64| local.div_euclid(86_400);
        let time = |local: i64, ticks: i64| (local.rem_euclid(86_400), ticks.rem_euclid(finest));
        let (later_a, later_b) = (time(a, a_ticks), time(b, b_ticks));
        if is_days {
            return day(b) - day(a) - i64::from(later_b < later_a);
        }
        let day_of_month = |local: i64| civil(day(local)).day;
        let is_earlier = (day_of_month(b), later_b) < (day_of_month(a), later_a);
        month_number(day(b)) - month_number(day(a)) - i64::from(is_earlier)
    };
    let froms = from.into_iter().zip(from_ticks);
    let tos = to.into_iter().zip(to_ticks);
    Ok(froms
        .zip(tos)
        .map(|(a, b)| {
            let units = if (a.0, a.1) <= (b.0, b.1) {
                whole(a, b)
            } else {
                -whole(b, a)
            };
            units / per_unit
        })
        .collect())
}
