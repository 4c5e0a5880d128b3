//! Rounds floats to a power of ten.

use arrow::array::ArrayRef;
use basalt_error::Result;

use super::Mode;
use crate::Column;
use crate::scalar::core::numeric::{Native, map1};

/// The floats, with roundings that need no instruction beyond the baseline.
pub(super) trait Float:
    Native
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Add<Output = Self>
{
    /// From this size on every float is whole; adding it drops the fraction.
    const WHOLE: Self;
    const UNIT: Self;
    fn magnitude(self) -> Self;
    fn with_sign_of(self, other: Self) -> Self;
    fn finite(self) -> bool;
}

macro_rules! float {
    ($float:ty, $whole:expr) => {
        impl Float for $float {
            const WHOLE: Self = $whole;
            const UNIT: Self = 1.0;

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn with_sign_of(self, other: Self) -> Self {
                self.copysign(other)
            }

            #[inline(always)]
            fn finite(self) -> bool {
                self.is_finite()
            }
        }
    };
}

float!(f32, 8_388_608.0);
float!(f64, 4_503_599_627_370_496.0);

/// To the nearest whole number, halves to the even one.
#[inline(always)]
fn nearest<F: Float>(x: F) -> F {
    let magnitude = x.magnitude();
    let rounded = (magnitude + F::WHOLE - F::WHOLE).with_sign_of(x);
    if magnitude < F::WHOLE { rounded } else { x }
}

#[inline(always)]
fn down<F: Float>(x: F) -> F {
    let rounded = nearest(x);
    if rounded > x {
        rounded - F::UNIT
    } else {
        rounded
    }
}

#[inline(always)]
fn up<F: Float>(x: F) -> F {
    let rounded = nearest(x);
    if rounded < x {
        (rounded + F::UNIT).with_sign_of(x)
    } else {
        rounded
    }
}

#[inline(always)]
fn cut<F: Float>(x: F) -> F {
    down(x.magnitude()).with_sign_of(x)
}

pub(super) fn float<F: Float>(
    column: &Column,
    num_rows: usize,
    mode: Mode,
    digits: i32,
) -> Result<ArrayRef> {
    match mode {
        Mode::Nearest | Mode::Bankers => scaled(column, num_rows, digits, nearest::<F>),
        Mode::Floor => scaled(column, num_rows, digits, down::<F>),
        Mode::Ceil => scaled(column, num_rows, digits, up::<F>),
        Mode::Trunc => scaled(column, num_rows, digits, cut::<F>),
    }
}

fn scaled<F: Float>(
    column: &Column,
    num_rows: usize,
    digits: i32,
    round: impl Fn(F) -> F,
) -> Result<ArrayRef> {
    // ClickHouse keeps the power as an integer, which ends at 2^64.
    let power = match digits {
        ..-19 => u64::MAX as f64,
        _ => 10_f64.powi(digits.abs()),
    };
    let power = F::from_num(power);
    match digits {
        0 => map1::<F, F>(column, num_rows, round),
        1.. => map1::<F, F>(column, num_rows, |x| {
            let rounded = round(x * power) / power;
            // A number too great for the multiplication has no digits to round.
            if rounded.finite() { rounded } else { x }
        }),
        _ => map1::<F, F>(column, num_rows, |x| round(x / power) * power),
    }
}
