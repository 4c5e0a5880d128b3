//! Reads times whatever their layout: `parseDateTimeBestEffort` and its variants, `timestamp`.

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::text::best_effort::{BestEffort, DateOrder, read_best_effort};
use basalt_types::text::parse_number::parse_whole;
use basalt_types::text::parse_time::{LocalClock, to_date_time, to_ticks};
use basalt_types::{DataType, Tz};

use super::moment::zone_argument;
use super::now::checked_precision;
use super::{any_case, entry};
use crate::function::with_nulls;
use crate::scalar::core::cast::array_cast;
use crate::scalar::core::numeric::array_of;
use crate::scalar::strings::shapes::validity_of;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions that read times of any layout.
pub const FUNCTIONS: &[&[ScalarFunction]] = &[&BEST_EFFORT, TIMESTAMP];

macro_rules! best_effort {
    ($($name:literal)*) => {
        [$(
            variant(&[$name], concat!($name, "(s[, precision][, time_zone])")),
            variant(&[concat!($name, "OrNull")], concat!($name, "OrNull(s[, precision][, time_zone])")),
            variant(&[concat!($name, "OrZero")], concat!($name, "OrZero(s[, precision][, time_zone])")),
        )*]
    };
}

const fn variant(names: &'static [&'static str], syntax: &'static str) -> ScalarFunction {
    entry(
        names,
        syntax,
        "Reads a time whatever its layout; what is none is an error, NULL or 1970-01-01.",
        resolve,
    )
}

const BEST_EFFORT: [ScalarFunction; 15] = best_effort! {
    "parseDateTimeBestEffort" "parseDateTimeBestEffortUS" "parseDateTime64BestEffort"
    "parseDateTime64BestEffortUS" "parseDateTime32BestEffort"
};

const TIMESTAMP: &[ScalarFunction] = &[any_case(entry(
    &["timestamp"],
    "timestamp(s[, time])",
    "Reads a DateTime64(6) and adds the time of day of the second argument.",
    timestamp,
))];

/// What becomes of texts that are no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnError {
    Fail,
    Null,
    Zero,
}

impl OnError {
    /// The way that a function's name ends with, and the rest of the name.
    pub(super) fn of_name(name: &str) -> (&str, Self) {
        if let Some(name) = name.strip_suffix("OrNull") {
            (name, OnError::Null)
        } else if let Some(name) = name.strip_suffix("OrZero") {
            (name, OnError::Zero)
        } else {
            (name, OnError::Fail)
        }
    }

    /// The type of results of type `data_type`.
    pub(super) fn result(self, data_type: DataType) -> DataType {
        if self == OnError::Null {
            data_type.to_nullable()
        } else {
            data_type
        }
    }
}

/// Reads every text of argument 0 as ticks; `precision` is `None` for a `DateTime`.
pub(super) fn read_rows(
    columns: &[Column],
    num_rows: usize,
    (precision, on_error): (Option<u8>, OnError),
    mut read: impl FnMut(&[u8]) -> Result<(i64, i64)>,
) -> Result<ArrayRef> {
    let strings = columns[0].strings()?;
    let validity = validity_of(&columns[..1], num_rows);
    let mut times = Vec::with_capacity(num_rows);
    let mut valid = Vec::new();
    for row in 0..num_rows {
        let is_null = validity.as_ref().is_some_and(|v| v.is_null(row));
        let time = if is_null {
            Ok(0)
        } else {
            read(strings.value(row)).and_then(|(seconds, nanoseconds)| match precision {
                Some(precision) => to_ticks(seconds, nanoseconds, precision),
                None => Ok(i64::from(to_date_time(seconds))),
            })
        };
        if on_error == OnError::Fail {
            times.push(time?);
            continue;
        }
        valid.push(time.is_ok());
        times.push(time.unwrap_or(0));
    }
    let array = match precision {
        Some(_) => array_of(times),
        // `to_date_time` gave 32 bits.
        None => array_of(times.into_iter().map(|t| t as u32).collect::<Vec<u32>>()),
    };
    match on_error {
        OnError::Null => with_nulls(&array, Some(NullBuffer::from(valid))),
        _ => Ok(array),
    }
}

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    let (name, on_error) = OnError::of_name(call.name);
    let is_wide = name.starts_with("parseDateTime64");
    call.expect_args(1..=if is_wide { 3 } else { 2 })?;
    call.expect_type(0, DataType::is_string)?;
    let precision = match (is_wide, call.args.len()) {
        (false, _) => None,
        (true, 1) => Some(3),
        (true, _) => Some(checked_precision(call.constant_i64(1)?)?),
    };
    let zone = zone_argument(call, if is_wide { 2 } else { 1 })?;
    let clock_zone: Tz = zone.unwrap_or(call.context.time_zone);
    let how = BestEffort {
        order: if name.ends_with("US") {
            DateOrder::MonthFirst
        } else {
            DateOrder::DayFirst
        },
        fractions: is_wide,
    };
    let data_type = match precision {
        Some(precision) => DataType::DateTime64(precision, zone),
        None => DataType::DateTime(zone),
    };
    Resolved::new(on_error.result(data_type), move |columns, num_rows| {
        let mut clock = LocalClock::new(clock_zone);
        read_rows(columns, num_rows, (precision, on_error), |text| {
            parse_whole(text, "DateTime", |cursor| {
                read_best_effort(cursor, how, &mut clock)
            })
        })
    })
}

fn timestamp(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    for idx in 0..call.args.len() {
        call.expect_type(idx, DataType::is_string)?;
    }
    let result = DataType::DateTime64(6, None);
    let cast = array_cast(call.data_type(0), &result, call.context)?;
    Resolved::new(result, move |columns, num_rows| {
        let moments = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        let moments = moments.expand(num_rows)?;
        let Some(times) = columns.get(1) else {
            return Ok(moments);
        };
        let times = times.strings()?;
        let moments = crate::scalar::core::numeric::values::<i64>(moments.as_ref())?.iter();
        let sums = moments
            .enumerate()
            .map(|(row, moment)| Ok(moment.wrapping_add(time_of_day(times.value(row))?)));
        Ok(array_of(sums.collect::<Result<Vec<i64>>>()?))
    })
}

/// Microseconds of `[-]hh:mm:ss[.f]`; a text of another layout is 0, as in ClickHouse.
fn time_of_day(text: &[u8]) -> Result<i64> {
    if text.is_empty() {
        return Err(Error::new(
            ErrorCode::ATTEMPT_TO_READ_AFTER_EOF,
            "Attempt to read after eof: an empty text is no time of day",
        ));
    }
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let [h1, h2, b':', m1, m2, b':', s1, s2, fraction @ ..] = text else {
        return Ok(0);
    };
    let digits = [h1, h2, m1, m2, s1, s2];
    if !digits.iter().all(|d| d.is_ascii_digit()) {
        return Ok(0);
    }
    let two = |a: &u8, b: &u8| i64::from(a - b'0') * 10 + i64::from(b - b'0');
    let mut microseconds = (two(h1, h2) * 3600 + two(m1, m2) * 60 + two(s1, s2)) * 1_000_000;
    if let [b'.', digits @ ..] = fraction {
        let mut unit = 100_000;
        for digit in digits.iter().take_while(|d| d.is_ascii_digit()) {
            microseconds += i64::from(digit - b'0') * unit;
            unit /= 10;
        }
    }
    Ok(if negative {
        -microseconds
    } else {
        microseconds
    })
}
