//! Bit operations on strings, seen as numbers whose highest byte is the first.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::scalar::strings::reverse::fixed_array;
use crate::scalar::strings::shapes::{Ints, write_rows};
use crate::{Call, Column, Resolved};

/// Combines two FixedStrings of one size byte by byte; `None` for other types.
pub(super) fn combine(call: &Call<'_>, op: fn(u8, u8) -> u8) -> Result<Option<Resolved>> {
    let [a, b] = call.args else {
        return Ok(None);
    };
    let (DataType::FixedString(size), true) = (&a.data_type, a.data_type == b.data_type) else {
        return Ok(None);
    };
    let size = *size as usize;
    Resolved::new(a.data_type.clone(), move |columns, num_rows| {
        let (a, b) = (columns[0].strings()?, columns[1].strings()?);
        let rows = (0..num_rows).flat_map(|row| a.value(row).iter().zip(b.value(row)));
        fixed_array(size, rows.map(|(a, b)| op(*a, *b)).collect())
    })
    .map(Some)
}

/// Inverts the bytes of a string; `None` for other types.
pub(super) fn invert(call: &Call<'_>) -> Result<Option<Resolved>> {
    let data_type = call.data_type(0).clone();
    if !data_type.is_string() {
        return Ok(None);
    }
    Resolved::new(data_type.clone(), move |columns, num_rows| {
        of_type(&data_type, columns, num_rows, |value, _, out| {
            out.extend(value.iter().map(|b| !b));
        })
    })
    .map(Some)
}

/// Shifts a string by a number of bits; `None` for other types.
///
/// A String grows or shrinks with it, a FixedString keeps its size.
pub(super) fn shift(call: &Call<'_>, to_left: bool) -> Result<Option<Resolved>> {
    let data_type = call.data_type(0).clone();
    if !data_type.is_string() {
        return Ok(None);
    }
    call.expect_type(1, DataType::is_integer)?;
    let keeps_size = data_type != DataType::String;
    Resolved::new(data_type.clone(), move |columns, num_rows| {
        let places = Ints::new(&columns[1])?;
        if (0..num_rows).any(|row| places.value(row) < 0) {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                "The number of shift positions needs to be a non-negative value",
            ));
        }
        of_type(&data_type, columns, num_rows, |value, row, out| {
            let num_bits = value.len() * 8;
            let places = usize::try_from(places.value(row)).unwrap_or(usize::MAX);
            let start = out.len();
            if places < num_bits && to_left {
                push_left(value, places, out);
            } else if places < num_bits {
                push_right(value, places, out);
            }
            if keeps_size {
                fit(out, start, value.len());
            }
        })
    })
    .map(Some)
}

/// Cuts or fills up what was written from `start` on at its front.
fn fit(out: &mut Vec<u8>, start: usize, len: usize) {
    let written = out.len() - start;
    if written > len {
        out.drain(start..start + written - len);
    } else {
        out.splice(start..start, std::iter::repeat_n(0, len - written));
    }
}

fn push_left(value: &[u8], places: usize, out: &mut Vec<u8>) {
    let (bytes, bits) = (places / 8, places % 8);
    let shifted = |high: u8, low: u8| ((u16::from(high) << 8 | u16::from(low)) << bits >> 8) as u8;
    if bits > 0 {
        out.push(shifted(0, value.first().copied().unwrap_or(0)));
    }
    for (i, byte) in value.iter().enumerate() {
        out.push(shifted(*byte, value.get(i + 1).copied().unwrap_or(0)));
    }
    out.resize(out.len() + bytes, 0);
}

fn push_right(value: &[u8], places: usize, out: &mut Vec<u8>) {
    let (bytes, bits) = (places / 8, places % 8);
    let mut high = 0_u8;
    for byte in &value[..value.len() - bytes] {
        out.push(((u16::from(high) << 8 | u16::from(*byte)) >> bits) as u8);
        high = *byte;
    }
}

/// A column of the same type, each value appended by `push`.
fn of_type(
    data_type: &DataType,
    columns: &[Column],
    num_rows: usize,
    mut push: impl FnMut(&[u8], usize, &mut Vec<u8>),
) -> Result<ArrayRef> {
    let strings = columns[0].strings()?;
    if let DataType::FixedString(size) = data_type {
        let mut bytes = Vec::with_capacity(num_rows * *size as usize);
        (0..num_rows).for_each(|row| push(strings.value(row), row, &mut bytes));
        return fixed_array(*size as usize, bytes);
    }
    write_rows(columns, num_rows, |row, out| {
        let mut value = Vec::new();
        push(strings.value(row), row, &mut value);
        out.append(&mut value);
        Ok(())
    })
}
