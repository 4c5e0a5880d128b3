//! Times in UUIDs of version 7: their first 48 bits are milliseconds since 1970.

use basalt_error::Result;
use basalt_types::DataType;

use super::entry;
use super::moment::{Moments, Reading, zone_argument};
use crate::scalar::core::numeric::array_of;
use crate::scalar::encoding::ip::v6_array;
use crate::{Call, Purity, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    entry(
        &["UUIDv7ToDateTime"],
        "UUIDv7ToDateTime(uuid[, time_zone])",
        "The time of a UUID of version 7; 1970-01-01 for others.",
        to_time,
    ),
    ScalarFunction {
        purity: Purity::PerRow,
        ..entry(
            &["dateTimeToUUIDv7"],
            "dateTimeToUUIDv7(t)",
            "A UUID of version 7 of that time, whose other bits are random.",
            of_time,
        )
    },
];

fn to_time(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    call.expect_type(0, |t| *t == DataType::Uuid)?;
    let zone = zone_argument(call, 1)?;
    Resolved::new(DataType::DateTime64(3, zone), |columns, num_rows| {
        let uuids = columns[0].strings()?;
        let time = |row| {
            let bytes = uuids.value(row);
            let milliseconds = bytes.iter().take(6);
            let milliseconds = milliseconds.fold(0_i64, |t, b| t << 8 | i64::from(*b));
            let is_version_7 = bytes.get(6).is_some_and(|b| b >> 4 == 7);
            if is_version_7 { milliseconds } else { 0 }
        };
        Ok(array_of((0..num_rows).map(time).collect::<Vec<i64>>()))
    })
}

fn of_time(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, |t| matches!(t, DataType::DateTime(_)))?;
    let moments = Moments::of_argument(call, 0, None)?;
    Resolved::new(DataType::Uuid, move |columns, num_rows| {
        let seconds = moments.values(Reading::UtcSeconds, &columns[0], num_rows)?;
        let uuid = |seconds: &i64| {
            let mut bytes: [u8; 16] = rand::random();
            // Seconds of 32 bits give milliseconds of 42.
            let milliseconds = (seconds.wrapping_mul(1_000) as u64).to_be_bytes();
            bytes[..6].copy_from_slice(&milliseconds[2..]);
            bytes[6] = 0x70 | bytes[6] & 0x0f;
            bytes[8] = 0x80 | bytes[8] & 0x3f;
            bytes
        };
        let uuids: Vec<[u8; 16]> = seconds.iter().map(uuid).collect();
        v6_array(&uuids, None)
    })
}
