//! Converts times to and from Unix times of any precision and snowflake identifiers.

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::text::time::ticks_per_second;

use super::fallible_entry as entry;
use super::moment::{Moments, Reading, zone_argument};
use crate::scalar::core::cast::array_cast;
use crate::scalar::core::decimals::math_overflow;
use crate::scalar::core::numeric::map1;
use crate::{Call, Column, Resolved, ScalarFunction};

/// Functions of Unix times.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["toUnixTimestamp"],
        "toUnixTimestamp(t[, time_zone])",
        "Seconds since 1970 of a date, a time or its text.",
        to_unix,
    ),
    entry(
        &["toUnixTimestamp64Second"],
        "toUnixTimestamp64Second(t)",
        "Seconds since 1970 of a DateTime64.",
        |call| to_unix64(call, 0),
    ),
    entry(
        &["toUnixTimestamp64Milli"],
        "toUnixTimestamp64Milli(t)",
        "Milliseconds since 1970 of a DateTime64.",
        |call| to_unix64(call, 3),
    ),
    entry(
        &["toUnixTimestamp64Micro"],
        "toUnixTimestamp64Micro(t)",
        "Microseconds since 1970 of a DateTime64.",
        |call| to_unix64(call, 6),
    ),
    entry(
        &["toUnixTimestamp64Nano"],
        "toUnixTimestamp64Nano(t)",
        "Nanoseconds since 1970 of a DateTime64.",
        |call| to_unix64(call, 9),
    ),
    entry(
        &["fromUnixTimestamp64Second"],
        "fromUnixTimestamp64Second(seconds[, time_zone])",
        "The DateTime64 of seconds since 1970.",
        |call| from_unix64(call, 0),
    ),
    entry(
        &["fromUnixTimestamp64Milli"],
        "fromUnixTimestamp64Milli(milliseconds[, time_zone])",
        "The DateTime64 of milliseconds since 1970.",
        |call| from_unix64(call, 3),
    ),
    entry(
        &["fromUnixTimestamp64Micro"],
        "fromUnixTimestamp64Micro(microseconds[, time_zone])",
        "The DateTime64 of microseconds since 1970.",
        |call| from_unix64(call, 6),
    ),
    entry(
        &["fromUnixTimestamp64Nano"],
        "fromUnixTimestamp64Nano(nanoseconds[, time_zone])",
        "The DateTime64 of nanoseconds since 1970.",
        |call| from_unix64(call, 9),
    ),
    entry(
        &["dateTimeToSnowflakeID"],
        "dateTimeToSnowflakeID(t[, epoch])",
        "The first snowflake identifier of a second.",
        |call| {
            call.expect_args(1..=2)?;
            call.expect_type(0, |t| matches!(t, DataType::DateTime(_)))?;
            to_snowflake(call)
        },
    ),
    entry(
        &["dateTime64ToSnowflakeID"],
        "dateTime64ToSnowflakeID(t[, epoch])",
        "The first snowflake identifier of a millisecond.",
        |call| {
            call.expect_args(1..=2)?;
            call.expect_type(0, |t| matches!(t, DataType::DateTime64(..)))?;
            to_snowflake(call)
        },
    ),
    entry(
        &["snowflakeIDToDateTime"],
        "snowflakeIDToDateTime(id[, epoch[, time_zone]])",
        "The second that a snowflake identifier was made in.",
        |call| from_snowflake(call, false),
    ),
    entry(
        &["snowflakeIDToDateTime64"],
        "snowflakeIDToDateTime64(id[, epoch[, time_zone]])",
        "The millisecond that a snowflake identifier was made in.",
        |call| from_snowflake(call, true),
    ),
];

fn to_unix(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    if call.args.len() > 1 {
        call.expect_type(1, DataType::is_string)?;
    }
    let from = call.data_type(0);
    // The time zone is that of a text; dates and times have theirs.
    if let Some(moments) = Moments::of(from, call.context.time_zone) {
        let is_wide = matches!(from, DataType::DateTime64(..));
        return Resolved::new(DataType::UInt32, move |columns, num_rows| {
            let mut fits = true;
            let seconds = moments.map(Reading::UtcSeconds, &columns[0], num_rows, |t| {
                fits &= !is_wide || u32::try_from(t).is_ok();
                t as u32
            })?;
            if fits { Ok(seconds) } else { Err(overflow()) }
        });
    }
    let through = match from {
        t if t.is_string() => DataType::DateTime(zone_argument(call, 1)?),
        t if t.is_number() => DataType::UInt32,
        _ => return Err(call.illegal_type(0)),
    };
    let cast = array_cast(from, &through, call.context)?;
    Resolved::new(DataType::UInt32, move |columns, num_rows| {
        let seconds = Column {
            array: cast(&columns[0].array)?,
            is_const: columns[0].is_const,
        };
        seconds.expand(num_rows)
    })
}

fn overflow() -> Error {
    Error::new(
        ErrorCode::DECIMAL_OVERFLOW,
        "Convert overflow: a time before 1970 or after 2106 has no Unix time of 32 bits",
    )
}

fn to_unix64(call: &Call<'_>, precision: u8) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let DataType::DateTime64(from, _) = *call.data_type(0) else {
        return Err(call.illegal_type(0));
    };
    let narrow = ticks_per_second(from.saturating_sub(precision));
    let widen = ticks_per_second(precision.saturating_sub(from));
    Resolved::new(DataType::Int64, move |columns, num_rows| {
        let overflows = std::cell::Cell::new(false);
        let ticks = map1::<i64, i64>(&columns[0], num_rows, |t| {
            // Cut off towards zero, as ClickHouse does.
            (t / narrow).checked_mul(widen).unwrap_or_else(|| {
                overflows.set(true);
                0
            })
        })?;
        if overflows.get() {
            Err(math_overflow())
        } else {
            Ok(ticks)
        }
    })
}

fn from_unix64(call: &Call<'_>, precision: u8) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, DataType::is_integer)?;
    if call.args.len() > 1 && !call.data_type(1).is_string() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_COLUMN,
            format!(
                "Argument 2 of function {} must be the name of a time zone",
                call.name
            ),
        ));
    }
    let zone = zone_argument(call, 1)?;
    Resolved::new(
        DataType::DateTime64(precision, zone),
        |columns, num_rows| map1::<i64, i64>(&columns[0], num_rows, |n| n),
    )
}

/// Bits of a snowflake identifier below its milliseconds.
const SNOWFLAKE_BITS: u32 = 22;

/// The optional moment that milliseconds of identifiers count from.
fn epoch_argument(call: &Call<'_>) -> Result<i64> {
    if call.args.len() < 2 {
        return Ok(0);
    }
    call.constant_i64(1)
}

fn to_snowflake(call: &Call<'_>) -> Result<Resolved> {
    let epoch = epoch_argument(call)?;
    let moments = Moments::of_argument(call, 0, None)?;
    let ticks = moments.ticks_per_second;
    let (widen, narrow) = if ticks <= 1000 {
        (1000 / ticks, 1)
    } else {
        (1, ticks / 1000)
    };
    Resolved::new(DataType::UInt64, move |columns, num_rows| {
        moments.map(Reading::Ticks, &columns[0], num_rows, |t| {
            let milliseconds = t.wrapping_mul(widen) / narrow;
            (milliseconds.wrapping_sub(epoch) as u64) << SNOWFLAKE_BITS
        })
    })
}

fn from_snowflake(call: &Call<'_>, is_wide: bool) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    call.expect_type(0, |t| *t == DataType::UInt64)?;
    let epoch = epoch_argument(call)?;
    let zone = zone_argument(call, 2)?;
    let milliseconds = move |id: u64| ((id >> SNOWFLAKE_BITS) as i64).wrapping_add(epoch);
    let to = if is_wide {
        DataType::DateTime64(3, zone)
    } else {
        DataType::DateTime(zone)
    };
    Resolved::new(to, move |columns, num_rows| {
        if is_wide {
            return map1::<u64, i64>(&columns[0], num_rows, milliseconds);
        }
        map1::<u64, u32>(&columns[0], num_rows, |id| (milliseconds(id) / 1000) as u32)
    })
}
