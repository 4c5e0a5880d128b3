//! Compares Decimals with constants by their digits alone: where a comparison holds, the digits lie within a range.
//!
//! The value of a Decimal grows with its digits, whatever it is compared as, so the ends of the range are found once
//! for each batch of rows: by scaling the constant, or, where both are compared as floats, by looking where the floats
//! of digits pass it.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Decimal128Type, Float64Type};
use basalt_error::Result;
use basalt_kernels::widest::{Loop, widest};
use basalt_types::DataType;

use super::Op;
use crate::Column;
use crate::scalar::core::decimals::{Ticks, Width, digits, halves_of, ticks_of, to_float};
use crate::scalar::core::numeric::array_of;

/// Digits for which a comparison of a Decimal with a constant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigitsTest {
    /// The least of a range.
    pub least: i128,
    /// The greatest of it; less than the least if there are none.
    pub greatest: i128,
    /// Whether the comparison holds outside of it instead.
    pub is_outside: bool,
}

impl DigitsTest {
    /// Calls `user` with a closure that tells whether it holds for a number, whose lower half comes first: one end of the
    /// range, both, or what is outside.
    #[inline(always)]
    pub fn visit<V: TestVisitor>(self, user: V) -> V::Output {
        let (least, greatest) = (halves(self.least), halves(self.greatest));
        match self {
            Self {
                least: i128::MIN,
                is_outside: false,
                ..
            } => user.visit(|number| at_least(greatest, number)),
            Self {
                greatest: i128::MAX,
                is_outside: false,
                ..
            } => user.visit(|number| at_least(number, least)),
            Self {
                is_outside: false, ..
            } => user.visit(|number| at_least(number, least) & at_least(greatest, number)),
            Self { .. } => {
                user.visit(|number| !at_least(number, least) | !at_least(greatest, number))
            }
        }
    }
}

/// Work with a test, which is compiled for each form of it.
pub trait TestVisitor {
    /// What it gives.
    type Output;

    /// Does the work; `holds` takes numbers of 128 bits, the lower half first.
    fn visit(self, holds: impl Fn([u64; 2]) -> bool + Copy) -> Self::Output;
}

fn halves(number: i128) -> [u64; 2] {
    [number as u64, (number >> 64) as u64]
}

/// Whether a number is as great as another; without branches, so that many are compared at once.
#[inline(always)]
fn at_least([low, high]: [u64; 2], [other_low, other_high]: [u64; 2]) -> bool {
    let (high, other_high) = (high.cast_signed(), other_high.cast_signed());
    (high > other_high) | ((high == other_high) & (low >= other_low))
}

/// The digits for which one of the functions that compare holds, of a Decimal and a constant with these types;
/// `place` is that of the constant. None if other ways decide, such as the one to an error.
pub fn digits_test(
    function: &str,
    types: &[DataType],
    (place, constant): (usize, &ArrayRef),
) -> Option<DigitsTest> {
    let (op, is_swapped) = super::op_of(function)?;
    let [a, b] = types else {
        return None;
    };
    let decimal = if place == 0 { b } else { a };
    let is_constant_first = (place == 0) != is_swapped;
    let constant = Column::constant(ArrayRef::clone(constant));
    let other = if place == 0 { a } else { b };
    test(op, is_constant_first, decimal, (&constant, other))
}

/// Compares where one side is a Decimal of up to 38 digits and the other one is constant; none if neither is.
pub(super) fn compare(
    op: Op,
    columns: &[Column],
    (a, b): (&DataType, &DataType),
    num_rows: usize,
) -> Result<Option<ArrayRef>> {
    let (column, test) = match (columns[0].is_const, columns[1].is_const) {
        (false, true) => (&columns[0], test(op, false, a, (&columns[1], b))),
        (true, false) => (&columns[1], test(op, true, b, (&columns[0], a))),
        _ => return Ok(None),
    };
    let numbers = column.array.as_primitive_opt::<Decimal128Type>();
    let (Some(test), Some(numbers)) = (test, numbers) else {
        return Ok(None);
    };
    let numbers = halves_of(numbers);
    debug_assert_eq!(numbers.len(), num_rows);
    Ok(Some(array_of(test.visit(Flags(numbers)))))
}

/// Whether a test holds for each number, as 1 or 0.
struct Flags<'a>(&'a [[u64; 2]]);

impl TestVisitor for Flags<'_> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn visit(self, holds: impl Fn([u64; 2]) -> bool + Copy) -> Vec<u8> {
        widest(Test {
            numbers: self.0,
            holds,
        })
    }
}

/// Tests numbers one by one.
struct Test<'a, F> {
    numbers: &'a [[u64; 2]],
    holds: F,
}

impl<F: Fn([u64; 2]) -> bool> Loop for Test<'_, F> {
    type Output = Vec<u8>;

    #[inline(always)]
    fn run(self) -> Vec<u8> {
        let flag = |number: &[u64; 2]| u8::from((self.holds)(*number));
        self.numbers.iter().map(flag).collect()
    }
}

fn test(
    op: Op,
    is_constant_first: bool,
    decimal: &DataType,
    (constant, data_type): (&Column, &DataType),
) -> Option<DigitsTest> {
    let (precision, scale) = digits(decimal).filter(|(precision, _)| *precision <= 38)?;
    if constant.array.is_empty() || constant.array.is_null(0) {
        return None;
    }
    let (equal, above) = match data_type.base().is_float() {
        true => float_places(scale, constant)?,
        false => exact_places((precision, scale), constant, data_type)?,
    };
    // What lies before the least number is nothing.
    let up_to = |least, end: i128, is_outside| DigitsTest {
        least: if end == i128::MIN { 0 } else { least },
        greatest: end.checked_sub(1).unwrap_or(-1),
        is_outside,
    };
    let from = |least| DigitsTest {
        least,
        greatest: i128::MAX,
        is_outside: false,
    };
    Some(match (op, is_constant_first) {
        (Op::Equal, _) => up_to(equal, above, false),
        (Op::NotEqual, _) => up_to(equal, above, true),
        (Op::Less, false) => up_to(i128::MIN, equal, false),
        (Op::LessOrEqual, false) => up_to(i128::MIN, above, false),
        (Op::Less, true) => from(above),
        (Op::LessOrEqual, true) => from(equal),
    })
}

/// The first digits that are not less than a constant without fraction or another Decimal, and the first ones above;
/// none if the digits would have to be scaled, or the constant cannot be.
fn exact_places(
    (precision, scale): (u8, u8),
    constant: &Column,
    data_type: &DataType,
) -> Option<(i128, i128)> {
    let (own_precision, own_scale) = digits(data_type).unwrap_or((20, 0));
    if own_precision > 38 {
        return None;
    }
    let ticks = *ticks_of::<i128>(constant, Width::W128).ok()?.first()?;
    let factor = <i128 as Ticks>::power_of_ten(u32::from(scale.checked_sub(own_scale)?))?;
    let scaled = ticks.checked_mul(factor)?;
    let width = Width::of(precision).max(super::other::width_of(data_type));
    (scaled.fits(width) && scaled < i128::MAX).then_some((scaled, scaled + 1))
}

/// The same of a float.
fn float_places(scale: u8, constant: &Column) -> Option<(i128, i128)> {
    let constant = to_float(constant).ok()?;
    let constant = constant.array.as_primitive_opt::<Float64Type>()?.value(0);
    let unit = 10_f64.powi(i32::from(scale));
    let first = |is_before: &dyn Fn(f64) -> bool| {
        let (mut first, mut end) = (i128::MIN, i128::MAX);
        while first < end {
            // Rounded down, so that it is never the end.
            let half = (end.wrapping_sub(first)).cast_unsigned() >> 1;
            let middle = first.wrapping_add(half.cast_signed());
            match is_before(middle.to_f64() / unit) {
                true => first = middle + 1,
                false => end = middle,
            }
        }
        first
    };
    let is_number = !constant.is_nan();
    is_number.then(|| (first(&|x| x < constant), first(&|x| x <= constant)))
}
