//! Lists the bits of integers, and makes strings from the numbers of their bytes.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use crate::scalar::strings::output::{list_of, offset_of};
use crate::scalar::strings::shapes::write_rows;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "bitPositionsToArray",
        syntax: "bitPositionsToArray(n)",
        description: "Numbers of the bits that are one, from 0.",
        resolve: resolve_positions,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmaskToArray",
        syntax: "bitmaskToArray(n)",
        description: "The powers of two whose sum the number is.",
        resolve: resolve_powers,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "bitmaskToList",
        syntax: "bitmaskToList(n)",
        description: "The powers of two whose sum the number is, with commas between them.",
        resolve: resolve_list,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "char",
        case_insensitive: true,
        syntax: "char(n, …)",
        description: "The string whose bytes have these numbers.",
        resolve: resolve_char,
        ..ScalarFunction::BASE
    },
];

/// The bits of integers, those of signed ones sign-extended only as far as their type goes.
fn bits_of(column: &Column, width: usize) -> Result<Vec<u64>> {
    let wrap = |e: arrow::error::ArrowError| Error::bug(e.to_string());
    let mask = u64::MAX >> (64 - 8 * width);
    let bits = if column.array.data_type().is_signed_integer() {
        let values = arrow::compute::cast(&column.array, &ArrowType::Int64).map_err(wrap)?;
        let values = arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(&values);
        values.values().iter().map(|v| *v as u64 & mask).collect()
    } else {
        let values = arrow::compute::cast(&column.array, &ArrowType::UInt64).map_err(wrap)?;
        let values = arrow::array::AsArray::as_primitive::<arrow::datatypes::UInt64Type>(&values);
        values.values().to_vec()
    };
    Ok(bits)
}

/// Positions of the ones.
fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let position = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(position)
    })
}

fn integer_width(call: &Call<'_>) -> Result<usize> {
    call.expect_args(1..=1)?;
    call.expect_type(0, DataType::is_integer)?;
    call.data_type(0)
        .fixed_size_bytes()
        .ok_or_else(|| call.illegal_type(0))
}

/// Lists the ones of each row; `values` makes the elements from their positions.
fn lists(
    column: &Column,
    num_rows: usize,
    width: usize,
    values: impl FnOnce(Vec<u32>) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let bits = bits_of(column, width)?;
    let (mut positions, mut offsets) = (Vec::new(), vec![0]);
    for row in 0..num_rows {
        positions.extend(ones(bits[column.row(row)]));
        offsets.push(offset_of(positions.len())?);
    }
    list_of(values(positions)?, offsets)
}

fn resolve_positions(call: &Call<'_>) -> Result<Resolved> {
    let width = integer_width(call)?;
    Resolved::new(
        DataType::array(DataType::UInt64),
        move |columns, num_rows| {
            lists(&columns[0], num_rows, width, |positions| {
                let positions = positions.into_iter().map(u64::from);
                Ok(Arc::new(UInt64Array::from_iter_values(positions)))
            })
        },
    )
}

/// A power of two as a number of `width` bytes, the highest one negative if `signed`.
fn power(position: u32, width: usize, signed: bool) -> i128 {
    let power = 1i128 << position;
    if signed && position as usize == width * 8 - 1 {
        -power
    } else {
        power
    }
}

fn resolve_powers(call: &Call<'_>) -> Result<Resolved> {
    let width = integer_width(call)?;
    let element = call.data_type(0).clone();
    let (signed, physical) = (element.is_signed(), element.physical());
    Resolved::new(DataType::array(element), move |columns, num_rows| {
        lists(&columns[0], num_rows, width, |positions| {
            let powers = positions.into_iter().map(|p| power(p, width, signed));
            // The casts wrap nothing: the powers are those of the narrower type.
            let powers: ArrayRef = if signed {
                Arc::new(Int64Array::from_iter_values(powers.map(|p| p as i64)))
            } else {
                Arc::new(UInt64Array::from_iter_values(powers.map(|p| p as u64)))
            };
            arrow::compute::cast(&powers, &physical).map_err(|e| Error::bug(e.to_string()))
        })
    })
}

fn resolve_list(call: &Call<'_>) -> Result<Resolved> {
    let width = integer_width(call)?;
    let signed = call.data_type(0).is_signed();
    Resolved::new(DataType::String, move |columns, num_rows| {
        let bits = bits_of(&columns[0], width)?;
        write_rows(columns, num_rows, |row, out| {
            for (i, position) in ones(bits[columns[0].row(row)]).enumerate() {
                if i > 0 {
                    out.push(b',');
                }
                let number = power(position, width, signed);
                out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            Ok(())
        })
    })
}

fn resolve_char(call: &Call<'_>) -> Result<Resolved> {
    if call.args.is_empty() {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            "Function char takes at least 1 argument",
        ));
    }
    for idx in 0..call.args.len() {
        call.expect_type(idx, |t| t.is_integer() || t.is_float())?;
    }
    Resolved::new(DataType::String, move |columns, num_rows| {
        let bytes = columns.iter().map(low_bytes).collect::<Result<Vec<_>>>()?;
        write_rows(columns, num_rows, |row, out| {
            let row_bytes = bytes.iter().zip(columns).map(|(b, c)| b[c.row(row)]);
            out.extend(row_bytes);
            Ok(())
        })
    })
}

/// The lowest byte of each number, after cutting it to an integer.
fn low_bytes(column: &Column) -> Result<Vec<u8>> {
    if !column.array.data_type().is_floating() {
        return Ok(bits_of(column, 8)?.into_iter().map(|b| b as u8).collect());
    }
    let numbers = arrow::compute::cast(&column.array, &ArrowType::Float64);
    let numbers = numbers.map_err(|e| Error::bug(e.to_string()))?;
    let numbers = arrow::array::AsArray::as_primitive::<arrow::datatypes::Float64Type>(&numbers);
    Ok(numbers.values().iter().map(|n| *n as i64 as u8).collect())
}
