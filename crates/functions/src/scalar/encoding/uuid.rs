//! Converts UUIDs between texts and their 16 bytes.

use arrow::array::ArrayRef;
use basalt_error::Result;
use basalt_types::DataType;

use super::ip::v6_array;
use crate::scalar::strings::shapes::{bad_arguments, write_rows};
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "UUIDStringToNum",
        syntax: "UUIDStringToNum(s[, variant])",
        description: "The bytes of the UUID that a text is; zeros for other texts.",
        resolve: resolve_bytes,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "UUIDNumToString",
        syntax: "UUIDNumToString(x[, variant])",
        description: "The 16 bytes of a UUID as text.",
        resolve: resolve_text,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "UUIDToNum",
        syntax: "UUIDToNum(x[, variant])",
        description: "The bytes of a UUID.",
        resolve: resolve_of_uuid,
        ..ScalarFunction::BASE
    },
];

/// Whether the first three groups have their bytes reversed, as Microsoft has them.
fn is_mixed_endian(call: &Call<'_>) -> Result<bool> {
    call.expect_args(1..=2)?;
    match call.args.get(1).map(|_| call.constant_i64(1)).transpose()? {
        None | Some(1) => Ok(false),
        Some(2) => Ok(true),
        Some(other) => Err(bad_arguments(format!(
            "Variant {other} of function {} must be 1 or 2",
            call.name
        ))),
    }
}

fn reorder(mut bytes: [u8; 16], mixed: bool) -> [u8; 16] {
    if mixed {
        bytes[0..4].reverse();
        bytes[4..6].reverse();
        bytes[6..8].reverse();
    }
    bytes
}

fn fixed_rows(
    column: &Column,
    num_rows: usize,
    bytes: impl Fn(&[u8]) -> [u8; 16],
) -> Result<ArrayRef> {
    let values = column.strings()?;
    let rows: Vec<[u8; 16]> = (0..num_rows).map(|row| bytes(values.value(row))).collect();
    v6_array(&rows, None)
}

fn sixteen(bytes: &[u8]) -> [u8; 16] {
    bytes.try_into().unwrap_or_default()
}

fn resolve_bytes(call: &Call<'_>) -> Result<Resolved> {
    let mixed = is_mixed_endian(call)?;
    call.expect_type(0, |t| {
        matches!(t, DataType::String | DataType::FixedString(36))
    })?;
    Resolved::new(DataType::FixedString(16), move |columns, num_rows| {
        fixed_rows(&columns[0], num_rows, |text| {
            // Only the form with dashes counts.
            let uuid = uuid::Uuid::try_parse_ascii(text)
                .ok()
                .filter(|_| text.len() == 36);
            uuid.map_or([0; 16], |uuid| reorder(uuid.into_bytes(), mixed))
        })
    })
}

fn resolve_text(call: &Call<'_>) -> Result<Resolved> {
    let mixed = is_mixed_endian(call)?;
    call.expect_type(0, |t| *t == DataType::FixedString(16))?;
    Resolved::new(DataType::String, move |columns, num_rows| {
        let values = columns[0].strings()?;
        write_rows(columns, num_rows, |row, out| {
            let uuid = uuid::Uuid::from_bytes(reorder(sixteen(values.value(row)), mixed));
            out.extend_from_slice(uuid.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
            Ok(())
        })
    })
}

fn resolve_of_uuid(call: &Call<'_>) -> Result<Resolved> {
    let mixed = is_mixed_endian(call)?;
    call.expect_type(0, |t| *t == DataType::Uuid)?;
    Resolved::new(DataType::FixedString(16), move |columns, num_rows| {
        fixed_rows(&columns[0], num_rows, |bytes| {
            reorder(sixteen(bytes), mixed)
        })
    })
}
