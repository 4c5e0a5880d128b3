//! Adds, subtracts, multiplies and divides integers and floats.

use arrow::array::{ArrowNativeTypeOp, AsArray};
use arrow::datatypes::UInt8Type;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::BinaryOp;
use crate::scalar::core::numeric::{Num, map2, map2_widest, with_wide};
use crate::{Call, Column, Resolved};

/// The primitive of the result of `+`, `-`, `*`: one size wider, Float64 with floats.
pub(crate) fn wider(op: BinaryOp, a: Num, b: Num) -> Num {
    if a.is_float() || b.is_float() {
        return Num::F64;
    }
    let size_bytes = (2 * a.size_bytes().max(b.size_bytes())).min(8);
    let signed = op == BinaryOp::Minus || a.is_signed() || b.is_signed();
    Num::integer(size_bytes, signed)
}

pub(super) fn resolve(op: BinaryOp, a: &DataType, b: &DataType) -> Result<Option<Resolved>> {
    let (Some(a), Some(b)) = (Num::of_operand(a), Num::of_operand(b)) else {
        return Ok(None);
    };
    let result = wider(op, a, b);
    let divisors = matches!(op, BinaryOp::Gcd | BinaryOp::Lcm);
    if divisors && result == Num::F64 {
        return Ok(None);
    }
    let resolved = match op {
        BinaryOp::Divide => Resolved::new(DataType::Float64, |columns, num_rows| {
            map2_widest::<f64, f64, f64>((&columns[0], &columns[1]), num_rows, |a, b| a / b)
        }),
        BinaryOp::Gcd | BinaryOp::Lcm => resolve_divisors(op, a, b),
        _ => Resolved::new(result.data_type(), move |columns, num_rows| {
            let pair = (&columns[0], &columns[1]);
            with_wide!(result, T => match op {
                BinaryOp::Plus => map2_widest::<T, T, T>(pair, num_rows, |a, b| a.add_wrapping(b)),
                BinaryOp::Minus => map2_widest::<T, T, T>(pair, num_rows, |a, b| a.sub_wrapping(b)),
                BinaryOp::Multiply => map2_widest::<T, T, T>(pair, num_rows, |a, b| a.mul_wrapping(b)),
                _ => Err(Error::bug(format!("{op:?} is no sum or product"))),
            })
        }),
    };
    resolved.map(Some)
}

/// `gcd` and `lcm`: on magnitudes, in 64 bits.
fn resolve_divisors(op: BinaryOp, a: Num, b: Num) -> Result<Resolved> {
    let result = wider(op, a, b);
    let magnitude = |num: Num| {
        if num.is_signed() {
            |x: u64| (x as i64).unsigned_abs()
        } else {
            |x: u64| x
        }
    };
    let (magnitude_a, magnitude_b) = (magnitude(a), magnitude(b));
    Resolved::new(result.data_type(), move |columns, num_rows| {
        check_divisors(columns, num_rows)?;
        let pair = (&columns[0], &columns[1]);
        if result.is_signed() {
            check_least(pair, num_rows)?;
        }
        with_wide!(result, T => map2::<u64, u64, T>(pair, num_rows, |a, b| {
            let (a, b) = (magnitude_a(a), magnitude_b(b));
            let gcd = gcd(a, b);
            let value = match op {
                BinaryOp::Gcd => gcd,
                _ if gcd == 0 => 0,
                _ => (a / gcd).wrapping_mul(b),
            };
            crate::scalar::core::numeric::FromNum::from_num(value)
        }))
    })
}

/// The least number's magnitude is no signed number of 64 bits, nor is its quotient by -1.
fn check_least(pair: (&Column, &Column), num_rows: usize) -> Result<()> {
    let least = |a: i64, b: i64| match (a, b) {
        (i64::MIN, -1) | (-1, i64::MIN) => 2,
        (i64::MIN, _) | (_, i64::MIN) => 1,
        _ => 0,
    };
    let found = map2::<i64, i64, u8>(pair, num_rows, least)?;
    let found = found.as_primitive::<UInt8Type>().values().iter();
    match found.copied().find(|f| *f != 0) {
        None => Ok(()),
        Some(1) => Err(Error::new(
            ErrorCode::DECIMAL_OVERFLOW,
            "Intermediate result overflow: the magnitude of the least signed number",
        )),
        Some(_) => Err(Error::new(
            ErrorCode::ILLEGAL_DIVISION,
            "Division of minimal signed number by minus one",
        )),
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// ClickHouse divides in both directions first, so 0 is refused on either side.
fn check_divisors(columns: &[Column], num_rows: usize) -> Result<()> {
    for column in columns {
        if super::division::first_zero(column, columns, num_rows)?.is_some() {
            return Err(Error::new(ErrorCode::ILLEGAL_DIVISION, "Division by zero"));
        }
    }
    Ok(())
}

pub(super) fn min2(call: &Call<'_>) -> Result<Resolved> {
    // With a NaN it is the second one, as in ClickHouse.
    extreme(call, |a, b| if a < b { a } else { b })
}

pub(super) fn max2(call: &Call<'_>) -> Result<Resolved> {
    extreme(call, |a, b| if a > b { a } else { b })
}

fn extreme(
    call: &Call<'_>,
    pick: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static,
) -> Result<Resolved> {
    call.expect_args(2..=2)?;
    let args = super::super::math::float_arguments(call)?;
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let columns = args.columns(columns)?;
        map2::<f64, f64, f64>((&columns[0], &columns[1]), num_rows, pick)
    })
}
