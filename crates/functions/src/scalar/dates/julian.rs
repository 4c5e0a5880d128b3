//! Converts texts of dates to modified Julian days and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::calendar::CivilDate;
use basalt_types::text::time::write_date;

use super::fallible_entry as entry;
use crate::function::with_nulls;
use crate::scalar::core::numeric::map1;
use crate::scalar::strings::output::StringWriter;
use crate::scalar::strings::shapes::validity_of;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["toModifiedJulianDay"],
        "toModifiedJulianDay('YYYY-MM-DD')",
        "Days from 1858-11-17 to the date of a text.",
        |call| to_julian(call, false),
    ),
    entry(
        &["toModifiedJulianDayOrNull"],
        "toModifiedJulianDayOrNull('YYYY-MM-DD')",
        "Days from 1858-11-17 to the date of a text; NULL if it is none.",
        |call| to_julian(call, true),
    ),
    entry(
        &["fromModifiedJulianDay"],
        "fromModifiedJulianDay(days)",
        "Text of the date some days after 1858-11-17.",
        |call| from_julian(call, false),
    ),
    entry(
        &["fromModifiedJulianDayOrNull"],
        "fromModifiedJulianDayOrNull(days)",
        "Text of the date some days after 1858-11-17; NULL outside the years 0 to 9999.",
        |call| from_julian(call, true),
    ),
];

/// Days from 1858-11-17 to 1970-01-01.
const DAYS_TO_1970: i64 = 40_587;
/// Modified Julian days of 0000-01-01 and 9999-12-31.
const RANGE: std::ops::RangeInclusive<i64> = -678_941..=2_973_483;

/// Reads exactly `YYYY-MM-DD`.
fn read_day(text: &[u8]) -> Result<i32> {
    let layout = || {
        Error::new(
            ErrorCode::CANNOT_PARSE_INPUT_ASSERTION_FAILED,
            format!(
                "Cannot parse '{}' as a date YYYY-MM-DD",
                String::from_utf8_lossy(text)
            ),
        )
    };
    let is_layout = text.len() == 10
        && text.iter().enumerate().all(|(i, b)| match i {
            4 | 7 => *b == b'-',
            _ => b.is_ascii_digit(),
        });
    if !is_layout {
        return Err(layout());
    }
    let number = |range: std::ops::Range<usize>| {
        text[range]
            .iter()
            .fold(0, |n, b| n * 10 + u32::from(b - b'0'))
    };
    let date = CivilDate {
        // Four digits fit.
        year: number(0..4) as i32,
        month: number(5..7),
        day: number(8..10),
    };
    if !date.is_valid() {
        return Err(Error::new(
            ErrorCode::CANNOT_PARSE_DATE,
            format!("There is no date {}", String::from_utf8_lossy(text)),
        ));
    }
    Ok(date.to_days() + DAYS_TO_1970 as i32)
}

fn to_julian(call: &Call<'_>, or_null: bool) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_string)?;
    let result = if or_null {
        DataType::Int32.to_nullable()
    } else {
        DataType::Int32
    };
    Resolved::new(result, move |columns, num_rows| {
        let strings = columns[0].strings()?;
        let validity = validity_of(columns, num_rows);
        let mut days = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let is_null = validity.as_ref().is_some_and(|v| v.is_null(row));
            match read_day(strings.value(row)) {
                Ok(day) => days.push(Some(day)),
                Err(_) if or_null || is_null => days.push(None),
                Err(e) => return Err(e),
            }
        }
        if or_null {
            return Ok(Arc::new(Int32Array::from(days)));
        }
        let days = days.into_iter().map(Option::unwrap_or_default);
        Ok(Arc::new(Int32Array::from_iter_values(days)))
    })
}

fn from_julian(call: &Call<'_>, or_null: bool) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    let result = if or_null {
        DataType::String.to_nullable()
    } else {
        DataType::String
    };
    Resolved::new(result, move |columns, num_rows| {
        let days = map1::<i64, i64>(&columns[0], num_rows, |d| d)?;
        let days = crate::scalar::core::numeric::values::<i64>(days.as_ref())?;
        texts(days, columns, or_null)
    })
}

fn texts(days: &[i64], columns: &[Column], or_null: bool) -> Result<ArrayRef> {
    let validity = validity_of(columns, days.len());
    let mut writer = StringWriter::with_capacity(days.len(), 0);
    for (row, day) in days.iter().enumerate() {
        if RANGE.contains(day) {
            // The range is far inside 32 bits.
            write_date((day - DAYS_TO_1970) as i32, writer.bytes());
        } else if !or_null && validity.as_ref().is_none_or(|v| v.is_valid(row)) {
            return Err(Error::new(
                ErrorCode::CANNOT_FORMAT_DATETIME,
                "Value cannot be represented as date because it's out of range",
            ));
        }
        writer.finish_row()?;
    }
    let array = writer.finish()?;
    if !or_null {
        return Ok(array);
    }
    let valid: NullBuffer = days.iter().map(|d| RANGE.contains(d)).collect();
    with_nulls(&array, Some(valid))
}
