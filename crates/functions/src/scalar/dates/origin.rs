//! Rounds dates and times down to intervals that are counted from a moment of origin.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::time::ticks_per_second;
use basalt_types::{DataType, IntervalUnit, Tz};

use super::interval::{Rounding, TimeStep, own_zone};
use super::moment::{Moments, Reading, ZoneClock, civil};
use crate::scalar::core::numeric::{FromNum, Num, array_of, with_native};
use crate::{Call, Resolved};

/// Resolves `toStartOfInterval(t, interval, origin)`.
pub(super) fn resolve(call: &Call<'_>, rounding: Rounding, zone: Option<Tz>) -> Result<Resolved> {
    let from = call.data_type(0).clone();
    if from.is_date() && zone.is_some() || !same_kind(&from, call.data_type(2)) {
        return Err(call.illegal_type(2));
    }
    let moments = Moments::of_argument(call, 0, zone)?;
    let scale = Scale::of(&from, rounding.unit);
    let step = Step::of(rounding, &moments, scale).ok_or_else(|| call.illegal_type(0))?;
    let to = match &from {
        DataType::DateTime(own) => DataType::DateTime(zone.or(*own)),
        DataType::DateTime64(_, own) => DataType::DateTime64(scale.result, zone.or(*own)),
        date => date.clone(),
    };
    let num = Num::of(&to).ok_or_else(|| Error::bug("a time is a number"))?;
    let (widen, narrow) = scale.factors();
    let per_second = ticks_per_second(scale.fine);
    Resolved::new(to, move |columns, num_rows| {
        let mut values = moments.values(Reading::Ticks, &columns[0], num_rows)?;
        let origins = moments.values(Reading::Ticks, &columns[2], num_rows)?;
        let mut clock = ZoneClock::new(moments.zone);
        for (value, origin) in values.iter_mut().zip(origins) {
            if origin > *value {
                return Err(origin_is_later());
            }
            let pair = (value.wrapping_mul(widen), origin.wrapping_mul(widen));
            *value = step.round(pair, &mut clock, per_second).div_euclid(narrow);
        }
        Ok(with_native!(num, T => {
            array_of(values.into_iter().map(<T as FromNum<i64>>::from_num).collect::<Vec<T>>())
        }))
    })
}

/// Precisions that ticks of one call have.
#[derive(Clone, Copy)]
struct Scale {
    stored: u8,
    fine: u8,
    result: u8,
}

impl Scale {
    /// Units below the second give results of their own precision, as without an origin.
    fn of(from: &DataType, unit: IntervalUnit) -> Self {
        let stored = match from {
            DataType::DateTime64(precision, _) => *precision,
            _ => 0,
        };
        let result = match unit {
            IntervalUnit::Millisecond => 3,
            IntervalUnit::Microsecond => 6,
            IntervalUnit::Nanosecond => 9,
            _ => stored,
        };
        Self {
            stored,
            fine: stored.max(result),
            result,
        }
    }

    fn factors(self) -> (i64, i64) {
        (
            ticks_per_second(self.fine - self.stored),
            ticks_per_second(self.fine - self.result),
        )
    }
}

fn same_kind(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::DateTime(_), DataType::DateTime(_)) => true,
        (DataType::DateTime64(p, _), DataType::DateTime64(q, _)) => p == q,
        _ => a == b && own_zone(a).is_none(),
    }
}

fn origin_is_later() -> Error {
    Error::new(
        ErrorCode::BAD_ARGUMENTS,
        "The origin of an interval must not be later than the rounded date or time",
    )
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Days of a date, or ticks of parts of a second.
    Ticks(i64),
    /// Seconds to days, rounded in the zone as if the time since the origin were a moment.
    Seconds(TimeStep),
    /// Months of a date.
    Months(i64),
    /// Months of the local calendar.
    LocalMonths(i64),
}

impl Step {
    /// `None` for units that the type does not know.
    fn of(rounding: Rounding, moments: &Moments, scale: Scale) -> Option<Self> {
        let (unit, n) = (rounding.unit, rounding.amount);
        let months = match unit {
            IntervalUnit::Month => 1,
            IntervalUnit::Quarter => 3,
            IntervalUnit::Year => 12,
            IntervalUnit::Week if moments.is_date => return Some(Step::Ticks(n.saturating_mul(7))),
            IntervalUnit::Day if moments.is_date => return Some(Step::Ticks(n)),
            _ if moments.is_date => return None,
            unit if unit >= IntervalUnit::Second => {
                return Some(Step::Seconds(TimeStep::of(unit, n, moments)));
            }
            _ => {
                return (scale.stored > 0)
                    .then(|| Step::Ticks(n.saturating_mul(scale.factors().1)));
            }
        };
        let months = n.saturating_mul(months);
        Some(if moments.is_date {
            Step::Months(months)
        } else {
            Step::LocalMonths(months)
        })
    }

    fn round(self, (value, origin): (i64, i64), clock: &mut ZoneClock, ticks: i64) -> i64 {
        let since = value.wrapping_sub(origin);
        match self {
            Step::Ticks(step) => value.wrapping_sub(since.rem_euclid(step)),
            Step::Seconds(step) => {
                let start = step.floor(since.div_euclid(ticks), clock);
                origin.wrapping_add(start.wrapping_mul(ticks))
            }
            Step::Months(step) => months_later(origin, months_between(origin, value, step)),
            Step::LocalMonths(step) => {
                let (from, to) = (
                    clock.local(origin.div_euclid(ticks)),
                    clock.local(value.div_euclid(ticks)),
                );
                let (day, time) = (from.div_euclid(DAY), from.rem_euclid(DAY));
                // Days decide, as in ClickHouse: the result may be later on the same day.
                let months = months_between(day, to.div_euclid(DAY), step);
                let start = clock.utc(months_later(day, months) * DAY + time);
                start
                    .wrapping_mul(ticks)
                    .wrapping_add(origin.rem_euclid(ticks))
            }
        }
    }
}

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Whole months from one day to a later one, rounded down to a multiple of `step`.
fn months_between(from: i64, to: i64, step: i64) -> i64 {
    let number = |day: i64| {
        let date = civil(day);
        i64::from(date.year) * 12 + i64::from(date.month)
    };
    let mut months = number(to) - number(from);
    if months_later(from, months) > to {
        months -= 1;
    }
    months - months.rem_euclid(step)
}

/// The day some months later; days that the month does not have become its last.
fn months_later(day: i64, months: i64) -> i64 {
    crate::scalar::core::arithmetic::temporal::add_months(day, months)
}
