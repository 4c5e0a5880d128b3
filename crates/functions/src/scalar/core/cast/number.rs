//! Converts between integers, floats and `Bool`, and whatever else is one of them in memory.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, PrimitiveArray};
use arrow::buffer::{Buffer, ScalarBuffer};
use arrow::datatypes::{ArrowPrimitiveType, UInt32Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::{BaseCast, Failures, How, unsupported};
use crate::Column;
use crate::scalar::core::numeric::{Native, Num, Numbers, array_of, map1, values, with_native};

pub(super) fn cast(from: &DataType, to: &DataType, how: How) -> Result<BaseCast> {
    let (Some(source), Some(target)) = (Num::of(from), Num::of(to)) else {
        return Err(unsupported(from, to));
    };
    let from_number = matches!(
        from,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64
    );
    // An address is the number of 32 bits that it is, and no other.
    let to_number = matches!(to, DataType::UInt32 | DataType::UInt64 | DataType::Bool);
    if (*to == DataType::Ipv4 && !from_number) || (*from == DataType::Ipv4 && !to_number) {
        return Err(Error::not_implemented(format!(
            "Conversion from {from} to {to}"
        )));
    }
    if *to == DataType::Bool {
        return Ok(Arc::new(move |array, _| to_bool(array, source)));
    }
    if how.accurate {
        let names = (from.to_string(), to.to_string());
        return Ok(Arc::new(
            move |array, failures| with_native!(target, T => accurate::<T>(array, failures, &names)),
        ));
    }
    Ok(Arc::new(move |array, failures| {
        if source.is_float() && !target.is_float() {
            check_finite(array, failures)?;
        }
        with_native!(target, T => convert::<T>(array))
    }))
}

/// Converts numbers as ClickHouse does: integers wrap, floats lose their fraction.
pub(super) fn convert<T: Native>(array: &ArrayRef) -> Result<ArrayRef> {
    if let Some(same) = array.as_primitive_opt::<T::Arrow>() {
        let values = same.values().clone();
        return Ok(Arc::new(PrimitiveArray::<T::Arrow>::new(values, None)));
    }
    if let Some(values) = with_same_bits::<T>(array) {
        return Ok(Arc::new(PrimitiveArray::<T::Arrow>::new(values, None)));
    }
    Ok(array_of(Numbers::converted::<T>(array.as_ref())?))
}

/// The values of integers as those of another type of the same width, which wrap without a change of their bits.
fn with_same_bits<T: Native>(array: &ArrayRef) -> Option<ScalarBuffer<T>> {
    let (from, to) = (array.data_type(), T::Arrow::DATA_TYPE);
    let same_width = from.primitive_width() == to.primitive_width();
    if !from.is_integer() || !to.is_integer() || !same_width {
        return None;
    }
    let data = array.to_data();
    let buffer = data.buffers().first()?.clone();
    Some(ScalarBuffer::new(buffer, data.offset(), data.len()))
}

fn to_bool(array: &ArrayRef, source: Num) -> Result<ArrayRef> {
    let column = Column::new(Arc::clone(array));
    with_native!(source, S => map1::<S, u8>(&column, array.len(), |x| {
        u8::from(x != <S as Default>::default())
    }))
}

/// Refuses NaN and infinities.
pub(super) fn check_finite(array: &ArrayRef, failures: &mut Failures) -> Result<()> {
    let column = Column::new(Arc::clone(array));
    let floats = super::super::decimals::to_float(&column)?;
    let floats = values::<f64>(floats.array.as_ref())?;
    // Without a branch in the loop first: nearly all columns are finite.
    if floats.iter().fold(true, |all, v| all & v.is_finite()) {
        return Ok(());
    }
    for (row, value) in floats.iter().enumerate() {
        if !value.is_finite() {
            failures.fail(row, not_finite())?;
        }
    }
    Ok(())
}

fn not_finite() -> Error {
    Error::new(
        ErrorCode::CANNOT_CONVERT_TYPE,
        "Unexpected inf or nan to integer conversion",
    )
}

/// Refuses values that are not the same afterwards.
fn accurate<T: Native>(
    array: &ArrayRef,
    failures: &mut Failures,
    (from, to): &(String, String),
) -> Result<ArrayRef> {
    let numbers = Numbers::of(array.as_ref())?;
    let mut out: Vec<T> = Numbers::converted(array.as_ref())?;
    let same = same_values(&numbers, &out);
    for (row, same) in same.into_iter().enumerate() {
        if !same {
            out[row] = T::default();
            failures.fail(
                row,
                Error::new(
                    ErrorCode::CANNOT_CONVERT_TYPE,
                    format!("Value in column {from} cannot be safely converted into type {to}"),
                ),
            )?;
        }
    }
    Ok(array_of(out))
}

/// A number of either kind, exactly.
#[derive(Clone, Copy, PartialEq)]
enum Exact {
    Integer(i128),
    Float(f64),
}

fn exact(numbers: &Numbers<'_>, row: usize) -> Exact {
    match numbers {
        Numbers::U8(v) => Exact::Integer(v[row].into()),
        Numbers::U16(v) => Exact::Integer(v[row].into()),
        Numbers::U32(v) => Exact::Integer(v[row].into()),
        Numbers::U64(v) => Exact::Integer(v[row].into()),
        Numbers::I8(v) => Exact::Integer(v[row].into()),
        Numbers::I16(v) => Exact::Integer(v[row].into()),
        Numbers::I32(v) => Exact::Integer(v[row].into()),
        Numbers::I64(v) => Exact::Integer(v[row].into()),
        Numbers::F32(v) => Exact::Float(v[row].into()),
        Numbers::F64(v) => Exact::Float(v[row]),
    }
}

fn same_values<T: Native>(from: &Numbers<'_>, to: &[T]) -> Vec<bool> {
    let target = array_of(to.to_vec());
    let Ok(target) = Numbers::of(target.as_ref()) else {
        return vec![false; to.len()];
    };
    let same = |row: usize| match (exact(from, row), exact(&target, row)) {
        (Exact::Integer(a), Exact::Integer(b)) => a == b,
        (Exact::Float(a), Exact::Float(b)) => a == b || (a.is_nan() && b.is_nan()),
        (Exact::Integer(i), Exact::Float(f)) | (Exact::Float(f), Exact::Integer(i)) => {
            // Floats of 2^127 and more have no equal among 64-bit integers.
            f.is_finite() && f.trunc() == f && f.abs() < 1e38 && f as i128 == i
        }
    };
    (0..to.len()).map(same).collect()
}

/// `::ffff:a.b.c.d` is the address of IPv4 in IPv6.
const MAPPED_PREFIX: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF];

pub(super) fn between_addresses(from: &DataType) -> Result<BaseCast> {
    if *from == DataType::Ipv4 {
        return Ok(Arc::new(|array, _| {
            let mut bytes = Vec::with_capacity(array.len() * 16);
            for address in values::<u32>(array.as_ref())? {
                bytes.extend_from_slice(&MAPPED_PREFIX);
                bytes.extend_from_slice(&address.to_be_bytes());
            }
            let array = FixedSizeBinaryArray::try_new(16, Buffer::from_vec(bytes), None);
            Ok(Arc::new(array.map_err(|e| Error::bug(e.to_string()))?))
        }));
    }
    Ok(Arc::new(|array, failures| {
        let addresses = array
            .as_fixed_size_binary_opt()
            .ok_or_else(|| Error::bug("IPv6 is binary"))?;
        let mut out = vec![0_u32; array.len()];
        for (row, out) in out.iter_mut().enumerate() {
            match addresses.value(row).split_at(12) {
                (prefix, &[a, b, c, d]) if prefix == MAPPED_PREFIX => {
                    *out = u32::from_be_bytes([a, b, c, d]);
                }
                _ => failures.fail(
                    row,
                    Error::new(
                        ErrorCode::CANNOT_CONVERT_TYPE,
                        "IPv6 address is not in the IPv4 mapping block",
                    ),
                )?,
            }
        }
        Ok(Arc::new(PrimitiveArray::<UInt32Type>::new(
            out.into(),
            None,
        )))
    }))
}
