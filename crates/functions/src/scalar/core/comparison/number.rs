//! Compares integers and floats of any sizes and signs, exactly.

use std::cmp::Ordering;

use arrow::array::ArrayRef;
use basalt_error::{Error, Result};

use super::Op;
use crate::Column;
use crate::scalar::core::numeric::{FromNum, Native, Num, Numbers, Source, map2, with_native};

pub(super) fn compare(
    op: Op,
    pair: (&Column, &Column),
    nums: (Num, Num),
    num_rows: usize,
) -> Result<ArrayRef> {
    let (a, b) = nums;
    if let Some(num) = type_of_column(pair, nums)? {
        return with_native!(num, T => compare_as::<T>(op, pair, num_rows));
    }
    let narrow = |num: Num| num.size_bytes() <= 4;
    match (a.is_float(), b.is_float()) {
        (true, true) => compare_as::<f64>(op, pair, num_rows),
        (false, false) => integers(op, pair, nums, num_rows),
        // Float64 holds every integer of 32 bits.
        (true, false) if narrow(b) => compare_as::<f64>(op, pair, num_rows),
        (false, true) if narrow(a) => compare_as::<f64>(op, pair, num_rows),
        (false, true) if a == Num::U64 => map2::<u64, f64, u8>(pair, num_rows, |a, b| {
            holds(op, with_float(i128::from(a), b))
        }),
        (false, true) => map2::<i64, f64, u8>(pair, num_rows, |a, b| {
            holds(op, with_float(i128::from(a), b))
        }),
        (true, false) if b == Num::U64 => map2::<f64, u64, u8>(pair, num_rows, |a, b| {
            holds(op, with_float(i128::from(b), a).map(Ordering::reverse))
        }),
        (true, false) => map2::<f64, i64, u8>(pair, num_rows, |a, b| {
            holds(op, with_float(i128::from(b), a).map(Ordering::reverse))
        }),
    }
}

/// The type in which nothing needs to be widened: both have it, or the other is a constant of it.
fn type_of_column((a, b): (&Column, &Column), nums: (Num, Num)) -> Result<Option<Num>> {
    Ok(match (a.is_const, b.is_const) {
        _ if nums.0 == nums.1 => Some(nums.0),
        (false, true) if constant_fits(b, nums.1, nums.0)? => Some(nums.0),
        (true, false) if constant_fits(a, nums.0, nums.1)? => Some(nums.1),
        _ => None,
    })
}

/// Whether an integer constant is also a value of the type `to`.
fn constant_fits(constant: &Column, from: Num, to: Num) -> Result<bool> {
    if from.is_float() || to.is_float() {
        return Ok(false);
    }
    let wide = |column: &Column, num: Num| -> Result<i128> {
        Ok(
            match (
                num,
                Source::<u64>::new(column)?,
                Source::<i64>::new(column)?,
            ) {
                (Num::U64, Source::Scalar(value), _) => i128::from(value),
                (_, _, Source::Scalar(value)) => i128::from(value),
                _ => return Err(Error::bug("a constant is a scalar")),
            },
        )
    };
    let value = wide(constant, from)?;
    Ok(with_native!(to, T => {
        let one: Vec<T> = Numbers::converted(constant.array.as_ref())?;
        if to.is_signed() {
            i128::from(i64::from_num(one[0])) == value
        } else {
            i128::from(u64::from_num(one[0])) == value
        }
    }))
}

fn integers(
    op: Op,
    pair: (&Column, &Column),
    (a, b): (Num, Num),
    num_rows: usize,
) -> Result<ArrayRef> {
    let size = |num: Num| num.size_bytes() + usize::from(!num.is_signed());
    match (a.is_signed(), b.is_signed()) {
        (false, false) if a.size_bytes().max(b.size_bytes()) <= 4 => {
            compare_as::<u32>(op, pair, num_rows)
        }
        (false, false) => compare_as::<u64>(op, pair, num_rows),
        _ if size(a).max(size(b)) <= 4 => compare_as::<i32>(op, pair, num_rows),
        _ if a == Num::U64 => map2::<u64, i64, u8>(pair, num_rows, |a, b| {
            holds(op, Some(i128::from(a).cmp(&i128::from(b))))
        }),
        _ if b == Num::U64 => map2::<i64, u64, u8>(pair, num_rows, |a, b| {
            holds(op, Some(i128::from(a).cmp(&i128::from(b))))
        }),
        _ => compare_as::<i64>(op, pair, num_rows),
    }
}

/// Both columns as `T`, with the operator outside the loop.
fn compare_as<T: Native>(op: Op, pair: (&Column, &Column), num_rows: usize) -> Result<ArrayRef> {
    match op {
        Op::Equal => map2::<T, T, u8>(pair, num_rows, |a, b| u8::from(a == b)),
        Op::NotEqual => map2::<T, T, u8>(pair, num_rows, |a, b| u8::from(a != b)),
        Op::Less => map2::<T, T, u8>(pair, num_rows, |a, b| u8::from(a < b)),
        Op::LessOrEqual => map2::<T, T, u8>(pair, num_rows, |a, b| u8::from(a <= b)),
    }
}

/// Whether the comparison holds; NaN is ordered with nothing and unequal to everything.
#[inline(always)]
pub(super) fn holds(op: Op, ordering: Option<Ordering>) -> u8 {
    u8::from(match op {
        Op::Equal => ordering == Some(Ordering::Equal),
        Op::NotEqual => ordering != Some(Ordering::Equal),
        Op::Less => ordering == Some(Ordering::Less),
        Op::LessOrEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
    })
}

/// The order of an integer and a float, without rounding the integer.
fn with_float(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Beyond these every float is beyond every 64-bit integer.
    if float >= 18_446_744_073_709_551_616.0 {
        return Some(Ordering::Less);
    }
    if float < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    let ordering = integer.cmp(&(whole as i128));
    Some(match ordering {
        Ordering::Equal if float > whole => Ordering::Less,
        Ordering::Equal if float < whole => Ordering::Greater,
        other => other,
    })
}
