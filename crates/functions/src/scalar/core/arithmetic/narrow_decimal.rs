//! Adds, subtracts, multiplies and divides Decimals of up to 18 digits in 64 bits.
//!
//! Their digits lie in 128 bits, of which the upper half tells nothing. A loop without branches notes whether any number
//! or result leaves 64 bits (or 32, for up to 9 digits); then another way starts anew, which knows what that means.

use std::borrow::Cow;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::Decimal128Type;
use basalt_error::Result;
use basalt_kernels::widest::{Loop, widest};

use super::BinaryOp;
use super::decimal::Plan;
use crate::Column;
use crate::scalar::core::decimals::{Width, decimal_array, halves_of, ticks_of};

/// Rows of one side.
enum Side<'a> {
    Constant(i64),
    /// Lower and upper halves.
    Rows(Cow<'a, [[u64; 2]]>),
}

/// The results for all rows; none if numbers are not all so narrow, or the operation is another one.
pub(super) fn run(plan: &Plan, columns: &[Column], num_rows: usize) -> Result<Option<ArrayRef>> {
    let is_simple = matches!(
        plan.op,
        BinaryOp::Plus | BinaryOp::Minus | BinaryOp::Multiply | BinaryOp::Divide
    );
    if !is_simple || !plan.checks || plan.width > Width::W64 {
        return Ok(None);
    }
    let [a, b] = [&columns[0], &columns[1]].map(|column| side(column, plan.width));
    let (Some(a), Some(b)) = (a?, b?) else {
        return Ok(None);
    };
    let digits = match (&a, &b) {
        (Side::Rows(a), Side::Rows(b)) => {
            let (a, b) = (&a[..num_rows], &b[..num_rows]);
            results(plan, num_rows, |row| (a[row], b[row]))
        }
        (Side::Rows(a), Side::Constant(b)) => {
            let (a, b) = (&a[..num_rows], halves(*b));
            results(plan, num_rows, |row| (a[row], b))
        }
        (Side::Constant(a), Side::Rows(b)) => {
            let (a, b) = (halves(*a), &b[..num_rows]);
            results(plan, num_rows, |row| (a, b[row]))
        }
        (Side::Constant(_), Side::Constant(_)) => None,
    };
    let array = digits.map(|digits| decimal_array(digits, &plan.result, None));
    array.transpose()
}

fn side(column: &Column, width: Width) -> Result<Option<Side<'_>>> {
    if column.is_const {
        let ticks = ticks_of::<i128>(column, width)?;
        let ticks = ticks.first().copied().and_then(|t| i64::try_from(t).ok());
        return Ok(ticks.map(Side::Constant));
    }
    Ok(Some(Side::Rows(
        match column.array.as_primitive_opt::<Decimal128Type>() {
            Some(digits) => Cow::Borrowed(halves_of(digits)),
            None => {
                let ticks = ticks_of::<i128>(column, width)?;
                let split = |tick: i128| [tick as u64, (tick >> 64) as u64];
                Cow::Owned(ticks.into_iter().map(split).collect())
            }
        },
    )))
}

/// A number of 64 bits as one of 128.
#[inline(always)]
fn halves(number: i64) -> [u64; 2] {
    [number.cast_unsigned(), (number >> 63).cast_unsigned()]
}

/// The results for all rows; none if a number or a result is too wide.
fn results(
    plan: &Plan,
    num_rows: usize,
    pair: impl Fn(usize) -> ([u64; 2], [u64; 2]) + Copy,
) -> Option<Vec<i128>> {
    let factor = |exponent: u32| 10_i64.checked_pow(exponent);
    let (factor_a, factor_b) = (factor(plan.exponents.0)?, factor(plan.exponents.1)?);
    let is_narrow = plan.width == Width::W32;
    let scaled_pair = |row: usize| {
        let (a, b) = pair(row);
        (
            scaled(a, factor_a, is_narrow),
            scaled(b, factor_b, is_narrow),
        )
    };
    let is_scaled = factor_a != 1 || factor_b != 1;
    let digits = match (plan.op, is_scaled) {
        (BinaryOp::Plus, false) => each(num_rows, pair, sum),
        (BinaryOp::Plus, true) => each(num_rows, scaled_pair, sum),
        (BinaryOp::Minus, false) => each(num_rows, pair, difference),
        (BinaryOp::Minus, true) => each(num_rows, scaled_pair, difference),
        (BinaryOp::Divide, false) => each(num_rows, pair, quotient),
        (BinaryOp::Divide, true) => each(num_rows, scaled_pair, quotient),
        _ => each(num_rows, pair, product),
    };
    let fits = |digits: &i128| i32::try_from(*digits).is_ok();
    digits.filter(|digits| !is_narrow || digits.iter().all(fits))
}

/// A result, and bits of which some are set if it does not fit.
type Checked = (i64, u64);

#[inline(always)]
fn sum(x: i64, y: i64) -> Checked {
    let sum = x.wrapping_add(y);
    // Of another sign than both.
    (sum, ((x ^ sum) & (y ^ sum)).cast_unsigned() >> 63)
}

#[inline(always)]
fn difference(x: i64, y: i64) -> Checked {
    let difference = x.wrapping_sub(y);
    (
        difference,
        ((x ^ y) & (x ^ difference)).cast_unsigned() >> 63,
    )
}

#[inline(always)]
fn quotient(x: i64, y: i64) -> Checked {
    match x.checked_div(y) {
        Some(quotient) => (quotient, 0),
        None => (0, 1),
    }
}

#[inline(always)]
fn product(x: i64, y: i64) -> Checked {
    let product = i128::from(x) * i128::from(y);
    let [low, high] = [product as u64, (product >> 64) as u64];
    (low.cast_signed(), high ^ halves(low.cast_signed())[1])
}

/// A number times a factor; one of more than 64 bits if it is too wide.
#[inline(always)]
fn scaled([low, high]: [u64; 2], factor: i64, is_narrow: bool) -> [u64; 2] {
    let number = low.cast_signed();
    let product = i128::from(number) * i128::from(factor);
    let has_room = !is_narrow || i32::try_from(product).is_ok();
    match high == halves(number)[1] && has_room {
        true => [product as u64, (product >> 64) as u64],
        false => [0, 1],
    }
}

/// What an operation gives for each pair; none if a number or a result does not fit 64 bits.
fn each(
    num_rows: usize,
    pair: impl Fn(usize) -> ([u64; 2], [u64; 2]),
    operation: impl Fn(i64, i64) -> Checked,
) -> Option<Vec<i128>> {
    widest(Each {
        num_rows,
        pair,
        operation,
    })
}

/// The loop over all pairs.
struct Each<P, O> {
    num_rows: usize,
    pair: P,
    operation: O,
}

/// Rows that are computed before their results are put behind the others.
const CHUNK: usize = 64;

impl<P, O> Loop for Each<P, O>
where
    P: Fn(usize) -> ([u64; 2], [u64; 2]),
    O: Fn(i64, i64) -> Checked,
{
    type Output = Option<Vec<i128>>;

    #[inline(always)]
    fn run(self) -> Option<Vec<i128>> {
        let mut digits = Vec::with_capacity(self.num_rows);
        let mut is_wide = 0;
        let mut chunk = [0; CHUNK];
        for start in (0..self.num_rows).step_by(CHUNK) {
            let len = CHUNK.min(self.num_rows - start);
            for (i, result) in chunk[..len].iter_mut().enumerate() {
                let (a, b) = (self.pair)(start + i);
                let [x, y] = [a, b].map(|[low, _]| low.cast_signed());
                let (number, bits) = (self.operation)(x, y);
                is_wide |= bits | (a[1] ^ halves(x)[1]) | (b[1] ^ halves(y)[1]);
                *result = i128::from(number);
            }
            digits.extend_from_slice(&chunk[..len]);
        }
        (is_wide == 0).then_some(digits)
    }
}
