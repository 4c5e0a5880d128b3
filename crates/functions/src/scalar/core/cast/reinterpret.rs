//! Reads the bytes of a value as a value of another type.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewBuilder};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::{ColumnBuilder, DataType, parse_data_type};

use super::write_text::trim_zeros;
use crate::scalar::core::numeric::{Num, Numbers, values};
use crate::{Call, Column, Resolved, ScalarFunction};

macro_rules! reinterpretations {
    ($($name:literal)*) => {
        [$(ScalarFunction {
            name: $name,
            syntax: concat!($name, "(x)"),
            description: "Reads the bytes of a value, in little-endian order, as another type.",
            resolve: by_name,
            ..ScalarFunction::BASE
        },)*]
    };
}

const BY_NAME: [ScalarFunction; 15] = reinterpretations! {
    "reinterpretAsUInt8" "reinterpretAsUInt16" "reinterpretAsUInt32" "reinterpretAsUInt64"
    "reinterpretAsInt8" "reinterpretAsInt16" "reinterpretAsInt32" "reinterpretAsInt64"
    "reinterpretAsFloat32" "reinterpretAsFloat64" "reinterpretAsDate" "reinterpretAsDateTime"
    "reinterpretAsString" "reinterpretAsFixedString" "reinterpretAsUUID"
};

/// The functions `reinterpretAsX` and `reinterpret`.
pub const FUNCTIONS: &[&[ScalarFunction]] = &[
    &BY_NAME,
    &[ScalarFunction {
        name: "reinterpret",
        syntax: "reinterpret(x, 'Type')",
        description: "Reads the bytes of a value, in little-endian order, as the given type.",
        resolve: by_type,
        ..ScalarFunction::BASE
    }],
];

fn by_name(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    let name = call.name.strip_prefix("reinterpretAs").unwrap_or_default();
    let from = call.data_type(0);
    let to = match (name, from.fixed_size_bytes()) {
        ("FixedString", Some(size)) => {
            DataType::FixedString(u32::try_from(size).unwrap_or(u32::MAX))
        }
        ("FixedString", None) => return Err(call.illegal_type(0)),
        _ => parse_data_type(name)?,
    };
    reinterpret(call, to)
}

fn by_type(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    reinterpret(call, parse_data_type(&call.constant_str(1)?)?)
}

fn reinterpret(call: &Call<'_>, to: DataType) -> Result<Resolved> {
    let from = call.data_type(0).clone();
    call.expect_type(0, |t| t.is_string() || t.fixed_size_bytes().is_some())?;
    let opaque = |t: &DataType| t.is_enum() || matches!(t, DataType::Ipv4 | DataType::Ipv6);
    if !to.is_string() && (opaque(&from) || opaque(&to)) {
        return Err(call.illegal_type(0));
    }
    if !to.is_string() && to.fixed_size_bytes().is_none() {
        return Err(Error::new(
            ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
            format!("Cannot reinterpret {from} as {to}"),
        ));
    }
    let result = to.clone();
    Resolved::new(result, move |columns, num_rows| {
        let converted = Column {
            array: convert(&columns[0].array, &from, &to)?,
            is_const: columns[0].is_const,
        };
        converted.expand(num_rows)
    })
}

fn convert(array: &ArrayRef, from: &DataType, to: &DataType) -> Result<ArrayRef> {
    let mut bytes = Vec::with_capacity(32);
    if *to == DataType::String {
        let mut builder = BinaryViewBuilder::with_capacity(array.len());
        for row in 0..array.len() {
            bytes.clear();
            write_bytes(array, row, from, &mut bytes)?;
            let text: &[u8] = if from.is_string() {
                &bytes
            } else {
                trim_zeros(&bytes)
            };
            builder.append_value(text);
        }
        return Ok(Arc::new(builder.finish()));
    }
    let size = to.fixed_size_bytes().unwrap_or(0);
    let width = if to.is_decimal() { size.max(16) } else { size };
    let mut builder = ColumnBuilder::new(to, array.len())?;
    for row in 0..array.len() {
        bytes.clear();
        write_bytes(array, row, from, &mut bytes)?;
        bytes.resize(size, 0);
        extend_sign(&mut bytes, width);
        if *to == DataType::Uuid {
            swap_halves(&mut bytes);
        }
        builder.append_raw(&bytes)?;
    }
    builder.finish()
}

/// Decimals are wider here than ClickHouse's.
fn extend_sign(bytes: &mut Vec<u8>, width: usize) {
    let fill = if bytes.last().is_some_and(|b| b & 0x80 != 0) {
        0xFF
    } else {
        0
    };
    bytes.resize(width, fill);
}

/// ClickHouse keeps a UUID as two little-endian words; here its bytes are in the order of its text.
fn swap_halves(bytes: &mut [u8]) {
    for half in bytes.chunks_mut(8) {
        half.reverse();
    }
}

fn write_bytes(array: &ArrayRef, row: usize, from: &DataType, out: &mut Vec<u8>) -> Result<()> {
    if let Some(strings) = array.as_binary_view_opt() {
        out.extend_from_slice(strings.value(row));
        return Ok(());
    }
    if let Some(fixed) = array.as_fixed_size_binary_opt() {
        out.extend_from_slice(fixed.value(row));
        if *from == DataType::Uuid {
            swap_halves(out);
        }
        return Ok(());
    }
    if from.is_decimal() {
        return decimal_bytes(array, row, from, out);
    }
    let Some(num) = Num::of(from) else {
        return Err(Error::bug(format!("{from} has no bytes")));
    };
    match num {
        Num::F32 => out.extend_from_slice(&values::<f32>(array.as_ref())?[row].to_le_bytes()),
        Num::F64 => out.extend_from_slice(&values::<f64>(array.as_ref())?[row].to_le_bytes()),
        _ => {
            let mut wide: Vec<u64> = Vec::with_capacity(1);
            Numbers::of(array.as_ref())?.append(row..row + 1, &mut wide);
            out.extend_from_slice(&wide[0].to_le_bytes()[..num.size_bytes()]);
        }
    }
    Ok(())
}

fn decimal_bytes(array: &ArrayRef, row: usize, from: &DataType, out: &mut Vec<u8>) -> Result<()> {
    use arrow::datatypes::{Decimal128Type, Decimal256Type};
    let size = from.fixed_size_bytes().unwrap_or(16);
    if let Some(narrow) = array.as_primitive_opt::<Decimal128Type>() {
        out.extend_from_slice(&narrow.value(row).to_le_bytes()[..size.min(16)]);
    } else if let Some(wide) = array.as_primitive_opt::<Decimal256Type>() {
        out.extend_from_slice(&wide.value(row).to_le_bytes());
    }
    Ok(())
}
