//! Replaces one part of a date or time: `changeYear`, `changeHour` and kin.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::entry;
use super::interval::own_zone;
use super::moment::{Moments, Reading, ZoneClock, civil, day_of};
use crate::scalar::core::numeric::{array_of, map1, values};
use crate::{Call, Resolved, ScalarFunction};

macro_rules! parts {
    ($($name:literal $part:ident;)*) => {
        /// The functions of this file.
        pub const FUNCTIONS: &[ScalarFunction] = &[$(entry(
            &[$name],
            concat!($name, "(t, value)"),
            "The date or time with one part replaced; its least value if there is no such moment.",
            |call| resolve(call, Part::$part),
        ),)*];
    };
}

parts! {
    "changeYear" Year;
    "changeMonth" Month;
    "changeDay" Day;
    "changeHour" Hour;
    "changeMinute" Minute;
    "changeSecond" Second;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// Days and seconds of the years that the wide types hold.
const WIDE_DAYS: (i64, i64) = (-719_528, 2_932_896);
const WIDE_SECONDS: (i64, i64) = (WIDE_DAYS.0 * 86_400, WIDE_DAYS.1 * 86_400 + 86_399);

fn resolve(call: &Call<'_>, part: Part) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let moments = Moments::of_argument(call, 0, None)?;
    call.expect_type(1, DataType::is_integer)?;
    let from = call.data_type(0);
    let to = match from {
        DataType::Date if part >= Part::Hour => DataType::DateTime(None),
        DataType::Date32 if part >= Part::Hour => DataType::DateTime64(3, None),
        other => other.clone(),
    };
    let zone = own_zone(&to).unwrap_or(call.context.time_zone);
    let result = to.clone();
    Resolved::new(result, move |columns, num_rows| {
        let parts = map1::<i64, i64>(&columns[1], num_rows, |v| v)?;
        let parts = values::<i64>(parts.as_ref())?;
        let locals = moments.values(Reading::LocalSeconds, &columns[0], num_rows)?;
        let changed = locals.iter().zip(parts);
        let changed: Vec<Option<i64>> = changed.map(|(l, p)| replace(*l, part, *p)).collect();
        if to.is_date() {
            return Ok(dates(&changed, &to));
        }
        let ticks = moments.values(Reading::Ticks, &columns[0], num_rows)?;
        let times = Times {
            changed,
            ticks,
            moments,
            clock: ZoneClock::new(zone),
        };
        Ok(times.array(&to))
    })
}

/// The local time with a part replaced; `None` if no part has such a value.
fn replace(local: i64, part: Part, value: i64) -> Option<i64> {
    let date = civil(local.div_euclid(86_400));
    let time = local.rem_euclid(86_400);
    let mut parts = [
        i64::from(date.year),
        i64::from(date.month),
        i64::from(date.day),
        time / 3600,
        time / 60 % 60,
        time % 60,
    ];
    let (at, range) = match part {
        Part::Year => (0, 0..=i64::MAX),
        Part::Month => (1, 1..=12),
        Part::Day => (2, 1..=31),
        Part::Hour => (3, 0..=23),
        Part::Minute => (4, 0..=59),
        Part::Second => (5, 0..=59),
    };
    if !range.contains(&value) {
        return None;
    }
    // Later years are out of the range of every type all the same.
    parts[at] = value.min(100_000);
    let [year, month, day, hour, minute, second] = parts;
    // A day behind the end of its month is one of the next.
    let day = day_of(year as i32, month as u32, day as u32);
    Some(day * 86_400 + hour * 3600 + minute * 60 + second)
}

fn dates(changed: &[Option<i64>], to: &DataType) -> ArrayRef {
    let (min, max) = match to {
        DataType::Date => (0, i64::from(u16::MAX)),
        _ => WIDE_DAYS,
    };
    let days = changed.iter().map(|local| {
        let day = local.map_or(min, |local| local.div_euclid(86_400));
        day.clamp(min, max)
    });
    match to {
        DataType::Date => array_of(days.map(|d| d as u16).collect::<Vec<u16>>()),
        _ => array_of(days.map(|d| d as i32).collect::<Vec<i32>>()),
    }
}

struct Times {
    changed: Vec<Option<i64>>,
    /// The moments before.
    ticks: Vec<i64>,
    moments: Moments,
    clock: ZoneClock,
}

impl Times {
    fn array(mut self, to: &DataType) -> ArrayRef {
        let changed = std::mem::take(&mut self.changed).into_iter();
        if !matches!(to, DataType::DateTime64(..)) {
            let times = changed.map(|local| {
                let seconds = local.map_or(0, |local| self.clock.utc(local));
                seconds.clamp(0, i64::from(u32::MAX)) as u32
            });
            return array_of(times.collect::<Vec<u32>>());
        }
        let own = if self.moments.is_date {
            1_000
        } else {
            self.moments.ticks_per_second
        };
        let (min, max) = WIDE_SECONDS;
        let times = changed.zip(&self.ticks).map(|(local, ticks)| {
            let fraction = if self.moments.is_date {
                0
            } else {
                ticks.rem_euclid(own)
            };
            let seconds = match local {
                None => return min.saturating_mul(own),
                Some(local) if local > max => {
                    return max.saturating_mul(own).saturating_add(own - 1);
                }
                Some(local) => self.clock.utc(local.max(min)),
            };
            seconds.saturating_mul(own).saturating_add(fraction)
        });
        array_of(times.collect::<Vec<i64>>())
    }
}
