//! Carries columns over the edge: Arrow types of files and clients, to and from ours.
//!
//! | module | owns |
//! |---|---|
//! | [`declared`] | what a file's column is read as where the user declares its type |
//! | [`from_arrow`] | the type that a file's field becomes |
//! | [`into_physical`] | a file's arrays to ours |
//! | [`outward`] | our types and arrays to a file's |
//! | [`union`] | `Variant` as Arrow's union, both ways |

mod declared;
mod from_arrow;
mod into_physical;
mod outward;
mod union;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, Int64Type, TimeUnit};
use basalt_error::{Error, ErrorCode, Result};

pub use declared::{read_as, without_nulls};
pub use from_arrow::from_arrow_field;
pub use into_physical::to_physical;
pub use outward::{EdgeTypes, FileFormat};

/// Arrow's name of the extension type of UUIDs, and the key that it stands under.
pub const UUID_EXTENSION: (&str, &str) = ("ARROW:extension:name", "arrow.uuid");

fn unsupported(arrow: &ArrowType) -> Error {
    Error::new(
        ErrorCode::UNKNOWN_TYPE,
        format!("Arrow type {arrow} has no type of the dialect"),
    )
}

fn unit_precision(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

fn rescale_ticks(ticks: &ArrayRef, from: u8, to: u8) -> Result<ArrayRef> {
    let ticks = ticks.as_primitive::<Int64Type>();
    let factor = 10_i64.pow(u32::from(from.abs_diff(to)));
    if from >= to {
        return Ok(Arc::new(
            ticks.unary::<_, Int64Type>(|t| t.div_euclid(factor)),
        ));
    }
    let scaled = ticks.try_unary::<_, Int64Type, _>(|t| {
        t.checked_mul(factor)
            .ok_or_else(|| arrow::error::ArrowError::ComputeError(format!("time {t} out of range")))
    });
    Ok(Arc::new(scaled.map_err(mismatch)?))
}

fn checked_cast(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(array, to, &options).map_err(mismatch)
}

fn mismatch(e: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::TYPE_MISMATCH,
        format!("Cannot convert the column: {e}"),
    )
}
