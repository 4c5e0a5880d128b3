//! Rounds dates and times down to whole units: `toStartOfInterval`, `dateTrunc`, `toStartOfMonth`.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::time::ticks_per_second;
use basalt_types::{DataType, IntervalUnit, Tz};

use super::component::hour_shift;
use super::moment::{Moments, Reading, ZoneClock, civil, day_of, is_utc, weekday, zone_argument};
use super::{any_case, fallible_entry as entry, origin};
use crate::scalar::core::numeric::Native;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions that round down to any unit.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["toStartOfInterval", "date_bin", "time_bucket"],
        "toStartOfInterval(t, INTERVAL n unit[, origin][, time_zone])",
        "Start of the interval of n units that a date or time is in.",
        to_start_of_interval,
    )),
    ScalarFunction {
        check_null: |call| named_unit(call).map(drop),
        ..any_case(entry(
            &["dateTrunc", "DATE_TRUNC"],
            "dateTrunc('unit', t[, time_zone])",
            "Start of the unit that a date or time is in.",
            date_trunc,
        ))
    },
];

/// Seconds of a day.
const DAY: i64 = 86_400;

/// Units to round down to, and what becomes of results that the narrow types do not hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounding {
    pub(super) unit: IntervalUnit,
    pub(super) amount: i64,
    /// Whether wide types stay wide (`Date32`, `DateTime64`).
    pub(super) is_extended: bool,
    /// Whether days outside `Date` wrap around instead of becoming its first or last.
    pub(super) wraps: bool,
    /// Precision of `DateTime64` results; `None` for the unit's own.
    pub(super) precision: Option<u8>,
}

impl Rounding {
    /// One unit, narrow results.
    pub(super) fn to(unit: IntervalUnit, amount: i64) -> Self {
        Self {
            unit,
            amount,
            is_extended: false,
            wraps: false,
            precision: None,
        }
    }

    /// Resolves rounding argument `idx`, shown in `zone` if one is given.
    pub(super) fn resolve(self, call: &Call<'_>, idx: usize, zone: Option<Tz>) -> Result<Resolved> {
        call.expect_type(idx, DataType::is_date_or_time)?;
        let from = call.data_type(idx).clone();
        let moments = Moments::of_argument(call, idx, zone)?;
        let zone = zone.or(own_zone(&from));
        let is_wide = matches!(from, DataType::Date32 | DataType::DateTime64(..));
        let extended = self.is_extended && is_wide;
        match self.unit {
            IntervalUnit::Year
            | IntervalUnit::Quarter
            | IntervalUnit::Month
            | IntervalUnit::Week => {
                let to = if extended {
                    DataType::Date32
                } else {
                    DataType::Date
                };
                let wraps = self.wraps && from == DataType::Date32;
                let (unit, n) = (self.unit, self.amount);
                rounded_days((idx, moments), to, wraps, move |day| {
                    start_of_days(unit, n, day)
                })
            }
            IntervalUnit::Nanosecond | IntervalUnit::Microsecond | IntervalUnit::Millisecond => {
                self.fraction(call, idx, zone)
            }
            _ if moments.is_date && self.unit != IntervalUnit::Day => Err(call.illegal_type(idx)),
            _ => {
                let precision = self.precision.unwrap_or(0);
                let to = if extended {
                    DataType::DateTime64(precision, zone)
                } else {
                    DataType::DateTime(zone)
                };
                let wraps = self.wraps && from == DataType::Date32;
                let step = TimeStep::of(self.unit, self.amount, &moments);
                let output = TimeOutput {
                    extended,
                    wraps,
                    ticks: ticks_per_second(precision),
                };
                Resolved::new(to, move |columns, num_rows| {
                    step.round(&moments, &columns[idx], num_rows, output)
                })
            }
        }
    }

    /// Rounds ticks to units below the second.
    fn fraction(self, call: &Call<'_>, idx: usize, zone: Option<Tz>) -> Result<Resolved> {
        let DataType::DateTime64(precision, _) = *call.data_type(idx) else {
            return Err(call.illegal_type(idx));
        };
        let unit_precision = match self.unit {
            IntervalUnit::Millisecond => 3,
            IntervalUnit::Microsecond => 6,
            _ => 9,
        };
        // The step in the finer of both precisions, then to the result's.
        let fine = precision.max(unit_precision);
        let result = self.precision.unwrap_or(unit_precision).max(unit_precision);
        let widen = ticks_per_second(fine - precision);
        let step = self
            .amount
            .saturating_mul(ticks_per_second(fine - unit_precision));
        let narrow = ticks_per_second(fine - result.min(fine));
        let moments = Moments::of_argument(call, idx, zone)?;
        Resolved::new(
            DataType::DateTime64(result.min(fine), zone),
            move |columns, num_rows| {
                moments.map(Reading::Ticks, &columns[idx], num_rows, |t| {
                    let ticks = t.wrapping_mul(widen);
                    ticks
                        .wrapping_sub(ticks.rem_euclid(step))
                        .div_euclid(narrow)
                })
            },
        )
    }
}

/// The time zone that a type names.
pub(super) fn own_zone(data_type: &DataType) -> Option<Tz> {
    match data_type {
        DataType::DateTime(zone) | DataType::DateTime64(_, zone) => *zone,
        _ => None,
    }
}

/// A loop from the days of argument `idx` to a `Date` or `Date32`.
pub(super) fn rounded_days(
    (idx, moments): (usize, Moments),
    to: DataType,
    wraps: bool,
    op: impl Fn(i64) -> i64 + Send + Sync + 'static,
) -> Result<Resolved> {
    let is_wide = to == DataType::Date32;
    Resolved::new(to, move |columns, num_rows| {
        let column = &columns[idx];
        if is_wide {
            return moments.map(Reading::LocalDays, column, num_rows, |d| op(d) as i32);
        }
        if wraps {
            return moments.map(Reading::LocalDays, column, num_rows, |d| op(d) as u16);
        }
        moments.map(Reading::LocalDays, column, num_rows, |d| {
            op(d).clamp(0, i64::from(u16::MAX)) as u16
        })
    })
}

/// First day of the `n` units that `day` is in; weeks begin on Monday.
pub(super) fn start_of_days(unit: IntervalUnit, n: i64, day: i64) -> i64 {
    /// The first Monday of the epoch, where multiples of weeks begin.
    const FIRST_MONDAY: i64 = 4;
    match unit {
        IntervalUnit::Year if n == 1 => day_of(civil(day).year, 1, 1),
        IntervalUnit::Year => {
            let year = i64::from(civil(day).year);
            day_of((year - year.rem_euclid(n)) as i32, 1, 1)
        }
        IntervalUnit::Quarter => start_of_months(n.saturating_mul(3), day),
        IntervalUnit::Month => start_of_months(n, day),
        IntervalUnit::Week if n == 1 => day - weekday(day),
        IntervalUnit::Week => {
            let since = day.wrapping_sub(FIRST_MONDAY);
            day.wrapping_sub(since.rem_euclid(n.saturating_mul(7)))
        }
        _ => day.wrapping_sub(day.rem_euclid(n)),
    }
}

fn start_of_months(n: i64, day: i64) -> i64 {
    let date = civil(day);
    if n == 1 {
        return day - i64::from(date.day) + 1;
    }
    /// The year that multiples of months are counted from.
    const FIRST_YEAR: i64 = 1900;
    let months = (i64::from(date.year) - FIRST_YEAR) * 12 + i64::from(date.month) - 1;
    let start = months - months.rem_euclid(n);
    let year = start.div_euclid(12) + FIRST_YEAR;
    day_of(
        year.clamp(-1_000_000, 1_000_000) as i32,
        start.rem_euclid(12) as u32 + 1,
        1,
    )
}

/// How results of seconds are stored.
#[derive(Clone, Copy)]
struct TimeOutput {
    /// As ticks of a `DateTime64`, not as a `DateTime`.
    extended: bool,
    wraps: bool,
    ticks: i64,
}

/// Steps that moments are rounded down to.
#[derive(Clone, Copy, Debug)]
pub(super) enum TimeStep {
    /// Days of the local calendar, from 1970-01-01.
    Days(i64),
    /// Seconds since local midnight.
    SinceMidnight(i64),
    /// Seconds since 1970 in UTC.
    SinceEpoch(i64),
}

impl TimeStep {
    /// The step of some units from a day to a second.
    pub(super) fn of(unit: IntervalUnit, amount: i64, moments: &Moments) -> Self {
        let odd_seconds = amount % 60 != 0 && amount != 1;
        match unit {
            IntervalUnit::Week => TimeStep::Days(amount.saturating_mul(7)),
            IntervalUnit::Day => TimeStep::Days(amount),
            IntervalUnit::Hour => TimeStep::SinceMidnight(amount.saturating_mul(3600)),
            IntervalUnit::Minute => TimeStep::SinceEpoch(amount.saturating_mul(60)),
            // So does ClickHouse where hours of the zone's clock do not begin with those of UTC.
            _ if odd_seconds && hour_shift(moments) != 0 => TimeStep::SinceMidnight(amount),
            _ => TimeStep::SinceEpoch(amount),
        }
    }

    /// The start of the step that a moment is in.
    #[inline(always)]
    pub(super) fn floor(self, t: i64, clock: &mut ZoneClock) -> i64 {
        match self {
            TimeStep::Days(n) => {
                let day = clock.local(t).div_euclid(DAY);
                clock.start((day - day.rem_euclid(n)).wrapping_mul(DAY))
            }
            TimeStep::SinceMidnight(step) => {
                let local = clock.local(t);
                let behind = local.rem_euclid(DAY) % step;
                let (start, shown) = (t - behind, local - behind);
                // Where the clock was not changed in between, also the second of two equal hours.
                if clock.local(start) == shown {
                    return start;
                }
                clock.start(shown)
            }
            TimeStep::SinceEpoch(step) => floor(t, step),
        }
    }

    fn round(
        self,
        moments: &Moments,
        column: &Column,
        num_rows: usize,
        output: TimeOutput,
    ) -> Result<ArrayRef> {
        // Divisors known to the compiler become multiplications.
        let apply = Apply {
            moments,
            column,
            num_rows,
            output,
        };
        let utc = is_utc(moments.zone);
        match self {
            TimeStep::Days(1) if utc => apply.of(|t| floor(t, DAY)),
            TimeStep::SinceMidnight(3600) if utc => apply.of(|t| floor(t, 3600)),
            TimeStep::SinceEpoch(1) => apply.of(|t| t),
            TimeStep::SinceEpoch(60) => apply.of(|t| floor(t, 60)),
            TimeStep::SinceEpoch(300) => apply.of(|t| floor(t, 300)),
            TimeStep::SinceEpoch(600) => apply.of(|t| floor(t, 600)),
            TimeStep::SinceEpoch(900) => apply.of(|t| floor(t, 900)),
            step => {
                let mut clock = ZoneClock::new(moments.zone);
                apply.of(|t| step.floor(t, &mut clock))
            }
        }
    }
}

#[inline(always)]
fn floor(t: i64, step: i64) -> i64 {
    t.wrapping_sub(t.rem_euclid(step))
}

/// A column that is being rounded.
struct Apply<'a> {
    moments: &'a Moments,
    column: &'a Column,
    num_rows: usize,
    output: TimeOutput,
}

impl Apply<'_> {
    fn of(&self, mut op: impl FnMut(i64) -> i64) -> Result<ArrayRef> {
        let output = self.output;
        if output.extended {
            return self.map(|t| op(t).saturating_mul(output.ticks));
        }
        if output.wraps {
            return self.map(|t| op(t) as u32);
        }
        self.map(|t| op(t).clamp(0, i64::from(u32::MAX)) as u32)
    }

    fn map<O: Native>(&self, op: impl FnMut(i64) -> O) -> Result<ArrayRef> {
        self.moments
            .map(Reading::UtcSeconds, self.column, self.num_rows, op)
    }
}

fn to_start_of_interval(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=4)?;
    call.expect_type(0, DataType::is_date_or_time)?;
    let DataType::Interval(unit) = *call.data_type(1) else {
        return Err(call.illegal_type(1));
    };
    let amount = arrow::compute::cast(call.constant(1)?, &arrow::datatypes::DataType::Int64);
    let amount = amount.map_err(|_| call.illegal_type(1))?;
    let amount =
        arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(&amount).value(0);
    if amount <= 0 {
        return Err(Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!(
                "Value for argument 2 of function {} must be positive",
                call.name
            ),
        ));
    }
    let rounding = Rounding {
        is_extended: call
            .context
            .flag("enable_extended_results_for_datetime_functions"),
        wraps: true,
        ..Rounding::to(unit, amount)
    };
    let has_origin = call.args.len() > 2 && call.data_type(2).is_date_or_time();
    if has_origin {
        return origin::resolve(call, rounding, zone_argument(call, 3)?);
    }
    call.expect_args(2..=3)?;
    rounding.resolve(call, 0, zone_argument(call, 2)?)
}

/// The unit that the first argument names.
fn named_unit(call: &Call<'_>) -> Result<IntervalUnit> {
    call.expect_type(0, DataType::is_string)?;
    if call.args[0].constant.is_none() {
        return Err(call.illegal_type(0));
    }
    let name = call.constant_str(0)?.to_ascii_lowercase();
    let unit = IntervalUnit::ALL
        .into_iter()
        .find(|unit| format!("{unit:?}").eq_ignore_ascii_case(&name));
    unit.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!(
                "{name} is no unit of time (second, minute, hour, day, week, month, quarter, year)"
            ),
        )
    })
}

fn date_trunc(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let rounding = Rounding {
        is_extended: true,
        ..Rounding::to(named_unit(call)?, 1)
    };
    rounding.resolve(call, 1, zone_argument(call, 2)?)
}
