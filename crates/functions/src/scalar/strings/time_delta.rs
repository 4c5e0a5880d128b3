//! Writes spans of time for people.

use basalt_error::Result;
use basalt_types::DataType;

use super::readable::Floats;
use super::shapes::{bad_arguments, write_rows};
use crate::{Call, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[ScalarFunction {
    name: "formatReadableTimeDelta",
    syntax: "formatReadableTimeDelta(seconds[, maximum_unit[, minimum_unit]])",
    description: "A number of seconds for people: `1 minute and 40 seconds`.",
    resolve: resolve_time_delta,
    ..ScalarFunction::BASE
}];

/// Names of the units in the singular and their lengths in nanoseconds; a month has 30.5 days.
const UNITS: [(&str, u128); 9] = [
    ("year", 31_536_000_000_000_000),
    ("month", 2_635_200_000_000_000),
    ("day", 86_400_000_000_000),
    ("hour", 3_600_000_000_000),
    ("minute", 60_000_000_000),
    ("second", 1_000_000_000),
    ("millisecond", 1_000_000),
    ("microsecond", 1_000),
    ("nanosecond", 1),
];

const SECONDS: usize = 5;

fn unit_of(call: &Call<'_>, idx: usize) -> Result<usize> {
    let name = call.constant_str(idx)?;
    let singular = name.strip_suffix('s');
    let found = UNITS.iter().position(|(unit, _)| Some(*unit) == singular);
    found.ok_or_else(|| {
        let units: Vec<String> = UNITS.iter().map(|(unit, _)| format!("'{unit}s'")).collect();
        bad_arguments(format!(
            "Unknown unit '{name}' for function {}, the units are {}",
            call.name,
            units.join(", ")
        ))
    })
}

fn resolve_time_delta(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=3)?;
    call.expect_type(0, DataType::is_number)?;
    let largest = match call.args.get(1) {
        Some(_) => unit_of(call, 1)?,
        None => 0,
    };
    let smallest = match call.args.get(2) {
        Some(_) => unit_of(call, 2)?,
        None => SECONDS.max(largest),
    };
    if smallest < largest {
        return Err(bad_arguments(format!(
            "The minimum unit of function {} must not be greater than the maximum unit",
            call.name
        )));
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let numbers = Floats::new(&columns[0])?;
        write_rows(columns, num_rows, |row, out| {
            push_delta(out, numbers.value(row), largest, smallest);
            Ok(())
        })
    })
}

fn push_delta(out: &mut Vec<u8>, seconds: f64, largest: usize, smallest: usize) {
    if !seconds.is_finite() {
        let text = if seconds.is_nan() { "nan" } else { "inf" };
        let sign = if seconds == f64::NEG_INFINITY {
            "-"
        } else {
            ""
        };
        return out.extend_from_slice(format!("{sign}{text}").as_bytes());
    }
    if seconds < 0.0 {
        out.push(b'-');
    }
    let seconds = seconds.abs();
    let whole = seconds.floor();
    // The parts below a second apart from the rest, which they would drown in.
    let mut rest = whole as u128 * 1_000_000_000 + ((seconds - whole) * 1e9).round() as u128;
    let mut parts = Vec::new();
    for (idx, (name, length)) in UNITS.iter().enumerate().take(smallest + 1).skip(largest) {
        let count = rest / length;
        rest %= length;
        let is_shown = count > 0 || idx == SECONDS && parts.is_empty();
        if is_shown {
            let plural = if count == 1 { "" } else { "s" };
            parts.push(format!("{count} {name}{plural}"));
        }
    }
    let text = match parts.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => parts.concat(),
    };
    out.extend_from_slice(text.as_bytes());
}
