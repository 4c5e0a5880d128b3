//! Functions that are there for their effect: waiting, and ending the query.

use std::time::Duration;

use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::entry;
use crate::scalar::core::numeric::{array_of, map1, values};
use crate::scalar::strings::shapes::validity_of;
use crate::{Call, Purity, Resolved, ScalarFunction, interrupt};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["sleep"],
        Purity::PerRow,
        (
            "sleep(seconds)",
            "Waits for each block, at most 3 seconds; returns 0.",
        ),
        |call| wait(call, false),
    ),
    entry(
        &["sleepEachRow"],
        Purity::PerRow,
        (
            "sleepEachRow(seconds)",
            "Waits for each row, at most 3 seconds for a block; returns 0.",
        ),
        |call| wait(call, true),
    ),
    entry(
        &["throwIf"],
        Purity::PerRow,
        (
            "throwIf(x[, message])",
            "Ends the query with an error if x is not 0; returns 0.",
        ),
        throw_if,
    ),
];

/// Longest time that one block waits.
const MAX_SECONDS: f64 = 3.0;

fn wait(call: &Call<'_>, each_row: bool) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| t.is_unsigned() || t.is_float())?;
    let seconds = call.constant_f64(0)?;
    if !seconds.is_finite() || seconds < 0.0 {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "Cannot sleep infinite or negative time",
        ));
    }
    Resolved::new(DataType::UInt8, move |_, num_rows| {
        let total = if each_row {
            seconds * num_rows as f64
        } else {
            seconds
        };
        if total > MAX_SECONDS {
            return Err(Error::new(
                ErrorCode::TOO_SLOW,
                format!(
                    "The maximum sleep time is 3 seconds. Requested: {total} seconds per block"
                ),
            ));
        }
        if num_rows > 0 {
            interrupt::sleep(Duration::from_secs_f64(total))?;
        }
        Ok(array_of(vec![0_u8; num_rows]))
    })
}

fn throw_if(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    let message = match call.args.len() {
        1 => "Value passed to 'throwIf' function is non-zero".to_owned(),
        _ => call.constant_str(1)?,
    };
    Resolved::new(DataType::UInt8, move |columns, num_rows| {
        // The bits of a float decide, so that fractions count.
        let flags = map1::<f64, u8>(&columns[0], num_rows, |v| u8::from(v != 0.0))?;
        let flags = values::<u8>(flags.as_ref())?;
        let validity = validity_of(&columns[..1], num_rows);
        let is_valid = |row: usize| validity.as_ref().is_none_or(|v| v.is_valid(row));
        if flags
            .iter()
            .enumerate()
            .any(|(row, flag)| *flag != 0 && is_valid(row))
        {
            return Err(Error::new(
                ErrorCode::FUNCTION_THROW_IF_VALUE_IS_NON_ZERO,
                message.clone(),
            ));
        }
        Ok(array_of(vec![0_u8; num_rows]))
    })
}
