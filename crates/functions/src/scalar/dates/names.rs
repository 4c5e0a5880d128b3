//! Names parts of dates: `dateName`, `monthName`.

use std::io::Write;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::component::day_of_year;
use super::moment::{Moments, Reading, civil, weekday, zone_argument};
use super::week::iso_year_and_week;
use super::{any_case, entry};
use crate::scalar::strings::output::StringWriter;
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    any_case(entry(
        &["dateName"],
        "dateName('part', d[, time_zone])",
        "A part of a date or time as text, months and days of the week by their names.",
        date_name,
    )),
    any_case(entry(
        &["monthName"],
        "monthName(d)",
        "English name of the month.",
        |call| {
            call.expect_args(1..=1)?;
            let moments = Moments::of_argument(call, 0, None)?;
            written(0, moments, |local, out| {
                out.extend_from_slice(month_name(local).as_bytes())
            })
        },
    )),
];

/// English names of the months.
pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// English names of the days, from Monday.
pub(super) const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

fn month_name(local: i64) -> &'static str {
    let month = civil(local.div_euclid(86_400)).month;
    MONTHS[(month as usize + 11) % 12]
}

/// A part of a time by its name; `None` for numbers of names.
type Part = fn(i64) -> i64;

const PARTS: [(&str, Part); 8] = [
    ("year", |local| {
        i64::from(civil(local.div_euclid(86_400)).year)
    }),
    ("quarter", |local| {
        i64::from(civil(local.div_euclid(86_400)).month.div_ceil(3))
    }),
    ("dayofyear", |local| {
        i64::from(day_of_year(local.div_euclid(86_400)))
    }),
    ("day", |local| {
        i64::from(civil(local.div_euclid(86_400)).day)
    }),
    ("week", |local| {
        iso_year_and_week(local.div_euclid(86_400)).1
    }),
    ("hour", |local| local.div_euclid(3600).rem_euclid(24)),
    ("minute", |local| local.div_euclid(60).rem_euclid(60)),
    ("second", |local| local.rem_euclid(60)),
];

fn date_name(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    let name = call.constant_str(0)?;
    let moments = Moments::of_argument(call, 1, zone_argument(call, 2)?)?;
    match name.as_str() {
        "month" => {
            return written(1, moments, |local, out| {
                out.extend_from_slice(month_name(local).as_bytes())
            });
        }
        "weekday" => {
            return written(1, moments, |local, out| {
                let day = weekday(local.div_euclid(86_400)) as usize;
                out.extend_from_slice(WEEKDAYS[day % 7].as_bytes());
            });
        }
        "hour" | "minute" | "second" => call.expect_type(1, DataType::is_date_time)?,
        _ => {}
    }
    let part = PARTS
        .iter()
        .find(|(part, _)| *part == name)
        .map(|(_, part)| *part);
    let part = part.ok_or_else(|| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Function {} does not know the part '{name}'", call.name),
        )
    })?;
    written(1, moments, move |local, out| {
        // Writing to a vector does not fail.
        let _ = write!(out, "{}", part(local));
    })
}

/// A column of texts of local times.
fn written(
    idx: usize,
    moments: Moments,
    write: impl Fn(i64, &mut Vec<u8>) + Send + Sync + 'static,
) -> Result<Resolved> {
    Resolved::new(DataType::String, move |columns, num_rows| {
        let times = moments.values(Reading::LocalSeconds, &columns[idx], num_rows)?;
        let mut writer = StringWriter::with_capacity(num_rows, 0);
        for local in times {
            write(local, writer.bytes());
            writer.finish_row()?;
        }
        writer.finish()
    })
}
