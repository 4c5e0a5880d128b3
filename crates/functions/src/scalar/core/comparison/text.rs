//! Compares strings byte by byte.
//!
//! Equality looks at a view's length and first bytes before it touches the string itself; strings
//! of up to 12 bytes lie in their views and are equal if the views are.

use std::cmp::Ordering;

use arrow::array::{ArrayRef, AsArray, BinaryViewArray};
use basalt_error::{Error, Result};

use super::Op;
use super::number::holds;
use crate::Column;
use crate::scalar::core::cast::trim_zeros;
use crate::scalar::core::numeric::array_of;

/// Bytes of a string that lie in its view.
const INLINE_LEN: usize = 12;

/// Compares two columns of bytes; `trims` drops zeros at the end, as FixedString wants it.
pub(super) fn compare(
    op: Op,
    (a, b): (&Column, &Column),
    num_rows: usize,
    trims: bool,
) -> Result<ArrayRef> {
    if !trims
        && matches!(op, Op::Equal | Op::NotEqual)
        && let (Some(x), Some(y)) = (a.array.as_binary_view_opt(), b.array.as_binary_view_opt())
    {
        let equal = match (a.is_const, b.is_const) {
            (false, true) => with_constant(x, y.value(0)),
            (true, false) => with_constant(y, x.value(0)),
            (false, false) => views(x, y),
            (true, true) => vec![u8::from(x.value(0) == y.value(0)); num_rows],
        };
        return Ok(array_of(finish(op, equal)));
    }
    let (x, y) = (a.strings()?, b.strings()?);
    let out = if trims {
        orderings(op, num_rows, |row| {
            trim_zeros(x.value(row)).cmp(trim_zeros(y.value(row)))
        })
    } else {
        orderings(op, num_rows, |row| x.value(row).cmp(y.value(row)))
    };
    Ok(array_of(out))
}

/// Compares UUIDs as ClickHouse does: the second half of the text first.
pub(super) fn uuids(op: Op, (a, b): (&Column, &Column), num_rows: usize) -> Result<ArrayRef> {
    let (x, y) = (uuids_of(a)?, uuids_of(b)?);
    let key = |bytes: &[u8; 16]| u128::from_be_bytes(*bytes).rotate_left(64);
    let compared = match (op, a.is_const, b.is_const) {
        (Op::Equal | Op::NotEqual, false, true) => finish(op, equal_uuids(x, &y[0])),
        (Op::Equal | Op::NotEqual, true, false) => finish(op, equal_uuids(y, &x[0])),
        _ => orderings(op, num_rows, |row| {
            key(&x[a.row(row)]).cmp(&key(&y[b.row(row)]))
        }),
    };
    Ok(array_of(compared))
}

fn uuids_of(column: &Column) -> Result<&[[u8; 16]]> {
    let array = column.array.as_fixed_size_binary_opt();
    let array = array.filter(|array| array.value_length() == 16);
    let array = array.ok_or_else(|| Error::bug("a UUID has 16 bytes"))?;
    Ok(array.value_data().as_chunks().0)
}

fn equal_uuids(uuids: &[[u8; 16]], constant: &[u8; 16]) -> Vec<u8> {
    let constant = u128::from_ne_bytes(*constant);
    let equal = |uuid: &[u8; 16]| u8::from(u128::from_ne_bytes(*uuid) == constant);
    uuids.iter().map(equal).collect()
}

fn finish(op: Op, mut equal: Vec<u8>) -> Vec<u8> {
    if op == Op::NotEqual {
        equal.iter_mut().for_each(|e| *e ^= 1);
    }
    equal
}

fn orderings(op: Op, num_rows: usize, order: impl Fn(usize) -> Ordering) -> Vec<u8> {
    (0..num_rows)
        .map(|row| holds(op, Some(order(row))))
        .collect()
}

fn with_constant(array: &BinaryViewArray, constant: &[u8]) -> Vec<u8> {
    let views = array.views();
    if constant.is_empty() {
        // The length is the view's low 32 bits.
        return views
            .iter()
            .map(|view| u8::from(*view as u32 == 0))
            .collect();
    }
    let mut head = [0_u8; 16];
    let inline = constant.len() <= INLINE_LEN;
    let head_len = if inline { constant.len() } else { 4 };
    head[..4].copy_from_slice(&(constant.len() as u32).to_le_bytes());
    head[4..4 + head_len].copy_from_slice(&constant[..head_len]);
    let wanted = u128::from_le_bytes(head);
    if inline {
        return views.iter().map(|view| u8::from(*view == wanted)).collect();
    }
    let equal = |(row, view): (usize, &u128)| {
        u8::from(*view as u64 == wanted as u64 && array.value(row) == constant)
    };
    views.iter().enumerate().map(equal).collect()
}

fn views(a: &BinaryViewArray, b: &BinaryViewArray) -> Vec<u8> {
    let pairs = a.views().iter().zip(b.views().iter()).enumerate();
    let equal = |(row, (x, y)): (usize, (&u128, &u128))| {
        u8::from(if *x as u32 <= INLINE_LEN as u32 {
            x == y
        } else {
            *x as u64 == *y as u64 && a.value(row) == b.value(row)
        })
    };
    pairs.map(equal).collect()
}
