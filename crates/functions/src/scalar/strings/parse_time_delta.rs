//! `parseTimeDelta`: seconds of a span of time that a person wrote.

use arrow::datatypes::Float64Type;
use basalt_error::{Error, Result};
use basalt_types::DataType;

use super::shapes::{bad_arguments, number_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The function of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "parseTimeDelta",
    syntax: "parseTimeDelta(s)",
    description: "The seconds of a span of time such as `1h 30m`.",
    resolve,
    ..ScalarFunction::BASE
}];

/// Names of the units and their seconds; a month has 30.5 days.
const UNITS: [(&[&str], f64); 10] = [
    (&["years", "year", "yr", "y"], 31_536_000.0),
    (&["months", "month", "mo"], 2_635_200.0),
    (&["weeks", "week", "w"], 604_800.0),
    (&["days", "day", "d"], 86_400.0),
    (&["hours", "hour", "hr", "h"], 3_600.0),
    (&["minutes", "minute", "min", "m"], 60.0),
    (&["seconds", "second", "sec", "s"], 1.0),
    (&["milliseconds", "millisecond", "millisec", "ms"], 1e-3),
    (
        &["microseconds", "microsecond", "microsec", "μs", "µs", "us"],
        1e-6,
    ),
    (&["nanoseconds", "nanosecond", "nanosec", "ns"], 1e-9),
];

fn resolve(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| *t == DataType::String)?;
    Resolved::new(DataType::Float64, |columns, num_rows| {
        let strings = columns[0].strings()?;
        number_rows::<Float64Type>(columns, num_rows, |row| {
            let value = strings.value(row);
            seconds(value).map_err(|what| {
                let shown = String::from_utf8_lossy(value);
                invalid(&format!("{what} in \"{shown}\""))
            })
        })
    })
}

fn invalid(what: &str) -> Error {
    bad_arguments(format!(
        "Invalid argument of function parseTimeDelta, {what}"
    ))
}

/// The sum of all numbers times their units.
fn seconds(value: &[u8]) -> std::result::Result<f64, &'static str> {
    let text = std::str::from_utf8(value).map_err(|_| "no UTF-8")?;
    let mut rest = text.trim_start_matches(' ');
    if rest.is_empty() {
        return Err("no valid characters");
    }
    let mut sum = 0.0;
    while !rest.is_empty() {
        let whole = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let fraction = rest[whole..].strip_prefix('.').map_or(0, |f| {
            let len = f.find(|c: char| !c.is_ascii_digit()).unwrap_or(f.len());
            if len > 0 { len + 1 } else { 0 }
        });
        let number = rest.get(..whole + fraction).filter(|_| whole > 0);
        let number = number.and_then(|n| n.parse::<f64>().ok());
        let number = number.ok_or("number not found")?;
        rest = rest[whole + fraction..].trim_start_matches(' ');
        let is_end = |c: char| c.is_ascii_digit() || " ;-+,:.".contains(c);
        let unit_len = rest.find(is_end).unwrap_or(rest.len());
        let unit = &rest[..unit_len];
        let found = UNITS.iter().find(|(names, _)| names.contains(&unit));
        sum += number * found.ok_or("unknown unit")?.1;
        rest = rest[unit_len..].trim_start_matches(' ');
        rest = rest.strip_prefix([';', '-', '+', ',', ':']).unwrap_or(rest);
        rest = rest.trim_start_matches(' ');
    }
    Ok(sum)
}
