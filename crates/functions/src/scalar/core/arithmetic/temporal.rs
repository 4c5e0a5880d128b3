//! Adds numbers and intervals to dates and times, and takes differences of dates and times.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StructArray};
use arrow::datatypes::{Decimal128Type, Int64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::calendar::{
    CivilDate, DATE32_MAX, SECONDS_PER_DAY, days_in_month, from_local_seconds, to_local_seconds,
};
use basalt_types::{DataType, IntervalUnit, Tz};

use super::BinaryOp;
use crate::scalar::core::numeric::{FromNum, Native, Num, map2, with_native};
use crate::{Arg, Column, Context, Eval, Resolved};

pub(super) fn resolve(op: BinaryOp, args: &[Arg], context: &Context) -> Result<Option<Resolved>> {
    if !matches!(op, BinaryOp::Plus | BinaryOp::Minus) {
        return Ok(None);
    }
    let (a, b) = (&args[0].data_type, &args[1].data_type);
    let minus = op == BinaryOp::Minus;
    let is_interval = |t: &DataType| matches!(t, DataType::Interval(_));
    match (a, b) {
        (DataType::Interval(x), DataType::Interval(y)) => intervals(*x, *y, minus).map(Some),
        (DataType::Interval(_), t) if t.is_date_or_time() && minus => Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            "Wrong order of arguments for function minus: argument of type Interval cannot be first",
        )),
        (t, DataType::Interval(unit)) => shifted(t, *unit, minus, context),
        (DataType::Interval(unit), t) => Ok(shifted(t, *unit, minus, context)?
            .map(swapped)
            .transpose()?),
        (t, DataType::Tuple(units))
            if t.is_date_or_time() && units.types.iter().all(is_interval) =>
        {
            by_tuple(t, &units.types, minus, context).map(Some)
        }
        (t, n) if t.is_date_or_time() && (n.is_integer() || n.is_float()) => {
            by_number(t, minus).map(Some)
        }
        (n, t) if t.is_date_or_time() && (n.is_integer() || n.is_float()) && !minus => {
            swapped(by_number(t, minus)?).map(Some)
        }
        (a, b) if minus => difference(a, b),
        _ => Ok(None),
    }
}

/// The same loop with its two arguments exchanged.
fn swapped(resolved: Resolved) -> Result<Resolved> {
    let eval = resolved.eval;
    Resolved::new(resolved.return_type, move |columns, num_rows| {
        eval(&[columns[1].clone(), columns[0].clone()], num_rows)
    })
}

fn by_number(t: &DataType, minus: bool) -> Result<Resolved> {
    let num = Num::of(t).ok_or_else(|| Error::bug("a date is a number"))?;
    let ticks = match t {
        DataType::DateTime64(precision, _) => 10_i64.pow(u32::from(*precision)),
        _ => 1,
    };
    let factor = if minus { -ticks } else { ticks };
    Resolved::new(t.clone(), move |columns, num_rows| {
        with_native!(num, T => map2::<i64, i64, T>((&columns[0], &columns[1]), num_rows, |t, n| {
            T::from_num(t.wrapping_add(n.wrapping_mul(factor)))
        }))
    })
}

fn difference(a: &DataType, b: &DataType) -> Result<Option<Resolved>> {
    let same = matches!(
        (a, b),
        (DataType::Date, DataType::Date)
            | (DataType::Date32, DataType::Date32)
            | (DataType::DateTime(_), DataType::DateTime(_))
    );
    if same {
        return Resolved::new(DataType::Int32, |columns, num_rows| {
            map2::<i64, i64, i32>((&columns[0], &columns[1]), num_rows, |a, b| (a - b) as i32)
        })
        .map(Some);
    }
    if !a.is_date_time() || !b.is_date_time() {
        return Ok(None);
    }
    let (precision_a, precision_b) = (precision_of(a), precision_of(b));
    let scale = precision_a.max(precision_b);
    let factor = |p: u8| 10_i64.pow(u32::from(scale - p));
    let (factor_a, factor_b) = (factor(precision_a), factor(precision_b));
    let result = DataType::Decimal {
        precision: 18,
        scale,
    };
    let physical = result.physical();
    Resolved::new(result, move |columns, num_rows| {
        let ticks = map2::<i64, i64, i64>((&columns[0], &columns[1]), num_rows, |a, b| {
            a.wrapping_mul(factor_a)
                .wrapping_sub(b.wrapping_mul(factor_b))
        })?;
        let ticks = ticks.as_primitive::<Int64Type>();
        let decimal = ticks.unary::<_, Decimal128Type>(i128::from);
        Ok(Arc::new(decimal.with_data_type(physical.clone())))
    })
    .map(Some)
}

fn intervals(a: IntervalUnit, b: IntervalUnit, minus: bool) -> Result<Resolved> {
    let sign = if minus { -1 } else { 1 };
    if a == b {
        return Resolved::new(DataType::Interval(a), move |columns, num_rows| {
            map2::<i64, i64, i64>((&columns[0], &columns[1]), num_rows, |a, b| {
                a.wrapping_add(b.wrapping_mul(sign))
            })
        });
    }
    let result = DataType::tuple(vec![DataType::Interval(a), DataType::Interval(b)]);
    let arrow::datatypes::DataType::Struct(fields) = result.physical() else {
        return Err(Error::bug("a tuple is a struct"));
    };
    Resolved::new(result, move |columns, num_rows| {
        let first = columns[0].expand(num_rows)?;
        let second = map2::<i64, i64, i64>((&columns[1], &columns[1]), num_rows, |b, _| {
            b.wrapping_mul(sign)
        })?;
        let tuple = StructArray::try_new(fields.clone(), vec![first, second], None);
        Ok(Arc::new(tuple.map_err(|e| Error::bug(e.to_string()))?) as ArrayRef)
    })
}

/// Adds the intervals of a tuple one after the other.
fn by_tuple(t: &DataType, units: &[DataType], minus: bool, context: &Context) -> Result<Resolved> {
    let mut current = t.clone();
    let mut steps: Vec<Eval> = Vec::new();
    for unit in units {
        let DataType::Interval(unit) = unit else {
            return Err(Error::bug("a tuple of intervals"));
        };
        let step = shifted(&current, *unit, minus, context)?
            .ok_or_else(|| Error::bug("a date takes intervals"))?;
        current = step.return_type;
        steps.push(step.eval);
    }
    Resolved::new(current, move |columns, num_rows| {
        let tuple = columns[1].array.as_struct();
        let mut value = columns[0].clone();
        for (idx, step) in steps.iter().enumerate() {
            let amount = Column {
                array: Arc::clone(tuple.column(idx)),
                is_const: columns[1].is_const,
            };
            value = Column::new(step(&[value, amount], num_rows)?);
        }
        value.expand(num_rows)
    })
}

fn precision_of(t: &DataType) -> u8 {
    match t {
        DataType::DateTime64(precision, _) => *precision,
        _ => 0,
    }
}

/// Ticks of 10^-precision seconds in one unit, for units of fixed length up to an hour.
fn unit_nanoseconds(unit: IntervalUnit) -> Option<i64> {
    Some(match unit {
        IntervalUnit::Nanosecond => 1,
        IntervalUnit::Microsecond => 1_000,
        IntervalUnit::Millisecond => 1_000_000,
        IntervalUnit::Second => 1_000_000_000,
        IntervalUnit::Minute => 60_000_000_000,
        IntervalUnit::Hour => 3_600_000_000_000,
        _ => return None,
    })
}

fn unit_precision(unit: IntervalUnit) -> u8 {
    match unit {
        IntervalUnit::Nanosecond => 9,
        IntervalUnit::Microsecond => 6,
        IntervalUnit::Millisecond => 3,
        _ => 0,
    }
}

/// The type of a date or time plus an interval.
fn shifted_type(t: &DataType, unit: IntervalUnit) -> Result<Option<DataType>> {
    let precision = unit_precision(unit);
    if t.is_date() && precision > 0 {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("add{unit:?}s cannot be used with {t}"),
        ));
    }
    let with_time = unit <= IntervalUnit::Hour;
    Ok(Some(match t {
        DataType::Date if with_time => DataType::DateTime(None),
        DataType::Date32 if with_time => DataType::DateTime64(3, None),
        DataType::Date | DataType::Date32 => t.clone(),
        DataType::DateTime(zone) if precision > 0 => DataType::DateTime64(precision, *zone),
        DataType::DateTime(_) => t.clone(),
        DataType::DateTime64(p, zone) => DataType::DateTime64((*p).max(precision), *zone),
        DataType::String => DataType::DateTime64(3.max(precision), None),
        _ => return Ok(None),
    }))
}

/// How one row is shifted.
#[derive(Clone, Copy)]
enum Step {
    /// Days of a date.
    Days(i64),
    /// Months of a date.
    Months(i64),
    /// Ticks of a time.
    Ticks(i64),
    /// Days of the calendar in a time zone.
    LocalDays(i64),
    /// Months of the calendar in a time zone.
    LocalMonths(i64),
}

/// How a moment lies in memory.
#[derive(Clone, Copy)]
struct Clock {
    zone: Tz,
    ticks_per_second: i64,
    /// Whether the calendar ends with the years 0 and 9999, not by wrapping behind 2299.
    is_wide: bool,
}

/// A date or time (or its text) plus or minus a column of intervals of one unit.
pub(crate) fn shifted(
    t: &DataType,
    unit: IntervalUnit,
    minus: bool,
    context: &Context,
) -> Result<Option<Resolved>> {
    let Some(result) = shifted_type(t, unit)? else {
        return Ok(None);
    };
    let zone = match &result {
        DataType::DateTime(Some(zone)) | DataType::DateTime64(_, Some(zone)) => *zone,
        _ => context.time_zone,
    };
    let clock = Clock {
        zone,
        ticks_per_second: 10_i64.pow(u32::from(precision_of(&result))),
        is_wide: matches!(result, DataType::Date32 | DataType::DateTime64(..)),
    };
    let step = step_of(&result, unit, clock);
    let cast = crate::scalar::core::cast::array_cast(t, &result, context)?;
    let num = Num::of(&result).ok_or_else(|| Error::bug("a time is a number"))?;
    let clamps = matches!(result, DataType::Date | DataType::DateTime(_));
    let sign = if minus { -1 } else { 1 };
    Resolved::new(result, move |columns, num_rows| {
        let moments = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        with_native!(num, T => shift_column::<T>((&moments, &columns[1]), num_rows, |value, amount| {
            let moved = shift(step, clock, value, amount.wrapping_mul(sign));
            if clamps && matches!(step, Step::Months(_) | Step::LocalMonths(_)) {
                moved.max(0)
            } else {
                moved
            }
        }))
    })
    .map(Some)
}

fn shift_column<T: Native>(
    pair: (&Column, &Column),
    num_rows: usize,
    op: impl Fn(i64, i64) -> i64,
) -> Result<ArrayRef> {
    map2::<i64, i64, T>(pair, num_rows, |value, amount| {
        T::from_num(op(value, amount))
    })
}

fn step_of(result: &DataType, unit: IntervalUnit, clock: Clock) -> Step {
    if let Some(nanoseconds) = unit_nanoseconds(unit) {
        // The result's precision is at least the unit's, so nothing is lost.
        let nanoseconds_per_tick = 1_000_000_000 / clock.ticks_per_second;
        return Step::Ticks(nanoseconds / nanoseconds_per_tick);
    }
    let is_date = result.is_date();
    let days = |n| {
        if is_date {
            Step::Days(n)
        } else {
            Step::LocalDays(n)
        }
    };
    let months = |n| {
        if is_date {
            Step::Months(n)
        } else {
            Step::LocalMonths(n)
        }
    };
    match unit {
        IntervalUnit::Week => days(7),
        IntervalUnit::Month => months(1),
        IntervalUnit::Quarter => months(3),
        IntervalUnit::Year => months(12),
        _ => days(1),
    }
}

fn shift(step: Step, clock: Clock, value: i64, amount: i64) -> i64 {
    match step {
        // As in ClickHouse, of the number of days 32 bits count.
        Step::Days(n) if clock.is_wide => {
            days_later(value, i64::from(amount.wrapping_mul(n) as i32))
        }
        Step::Days(n) | Step::Ticks(n) => value.wrapping_add(amount.wrapping_mul(n)),
        Step::Months(n) => months_later(clock, value, (amount, n)).0,
        Step::LocalDays(n) => at_local_days(clock, value, |days| {
            let days_more = amount.saturating_mul(n);
            if clock.is_wide {
                (days_later(days, days_more), None)
            } else {
                (days.saturating_add(days_more), None)
            }
        }),
        Step::LocalMonths(n) => {
            at_local_days(clock, value, |days| months_later(clock, days, (amount, n)))
        }
    }
}

/// Day of 0000-01-01, where sums of wide types stop.
const FIRST_DAY: i64 = -719_528;

/// Day of 9999-12-31, where sums of wide types stop.
const LAST_DAY: i64 = 2_932_896;

fn days_later(days: i64, more: i64) -> i64 {
    days.saturating_add(more).clamp(FIRST_DAY, LAST_DAY)
}

/// A day some times `unit` months later; also the second of the day if the calendar's end sets it.
///
/// As in ClickHouse years that end at its edge keep month and day, while months go to the very
/// first or last second.
fn months_later(clock: Clock, days: i64, (amount, unit): (i64, i64)) -> (i64, Option<i64>) {
    let moved = add_months(days, amount.saturating_mul(unit));
    if !clock.is_wide {
        return (moved.min(i64::from(DATE32_MAX)), None);
    }
    let is_before = moved < FIRST_DAY;
    if !is_before && moved <= LAST_DAY {
        return (moved, None);
    }
    if unit == 12 {
        let date = CivilDate::from_days(days.clamp(FIRST_DAY, LAST_DAY) as i32);
        let year = if is_before { 0 } else { 9999 };
        let day = date.day.min(days_in_month(year, date.month));
        let edge = CivilDate { year, day, ..date };
        return (i64::from(edge.to_days()), None);
    }
    if is_before {
        (FIRST_DAY, Some(0))
    } else {
        (LAST_DAY, Some(SECONDS_PER_DAY - 1))
    }
}

/// Far outside the calendar, where sums with offsets of time zones still do not overflow.
const MAX_SECONDS: i64 = 1 << 55;

/// Changes the day of a moment, keeping the time on the clock unless the change sets its second.
fn at_local_days(clock: Clock, value: i64, change: impl Fn(i64) -> (i64, Option<i64>)) -> i64 {
    let seconds = value.div_euclid(clock.ticks_per_second);
    let fraction = value.rem_euclid(clock.ticks_per_second);
    let local = to_local_seconds(clock.zone, seconds.clamp(-MAX_SECONDS, MAX_SECONDS));
    let days = local.div_euclid(SECONDS_PER_DAY);
    let (days, second) = change(days);
    let local = days
        .saturating_mul(SECONDS_PER_DAY)
        .saturating_add(second.unwrap_or(local.rem_euclid(SECONDS_PER_DAY)));
    let local = local.clamp(-MAX_SECONDS, MAX_SECONDS);
    from_local_seconds(clock.zone, local)
        .wrapping_mul(clock.ticks_per_second)
        .wrapping_add(fraction)
}

/// A day number some months later; days that the month does not have become its last.
pub(crate) fn add_months(days: i64, months: i64) -> i64 {
    /// Two million years, within what a day number of 32 bits holds.
    const MAX_MONTHS: i64 = 24_000_000;
    let days = days.clamp(-700_000_000, 700_000_000) as i32;
    let date = CivilDate::from_days(days);
    let total = i64::from(date.year) * 12 + i64::from(date.month) - 1;
    let total = total.saturating_add(months).clamp(-MAX_MONTHS, MAX_MONTHS);
    let (year, month) = (total.div_euclid(12) as i32, total.rem_euclid(12) as u32 + 1);
    let day = date.day.min(days_in_month(year, month));
    i64::from(CivilDate { year, month, day }.to_days())
}
