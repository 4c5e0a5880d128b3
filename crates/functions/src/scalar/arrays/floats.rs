//! Reads elements as floats, whatever numbers they are.

use std::sync::Arc;

use arrow::array::ArrayRef;
use basalt_error::{Error, Result};

use crate::Column;
use crate::scalar::core::decimals::to_float;
use crate::scalar::core::numeric::{self, Native, Num, with_native};

/// The values of an array of numbers or decimals as floats.
pub(crate) fn to_floats<F: Float>(values: &ArrayRef) -> Result<Vec<F>> {
    let column = Column::new(Arc::clone(values));
    let floats = if values.data_type().is_decimal() {
        to_float(&column)?.array
    } else {
        column.array
    };
    let num = Num::of_arrow(floats.data_type());
    let num = num.ok_or_else(|| Error::bug(format!("no numbers: {}", floats.data_type())))?;
    with_native!(num, T => {
        let values = numeric::values::<T>(floats.as_ref())?;
        Ok(values.iter().map(|v| F::from_num(*v)).collect())
    })
}

/// The two widths of floats.
pub(crate) trait Float:
    Native + std::ops::Add<Output = Self> + std::ops::Sub<Output = Self> + std::ops::Mul<Output = Self>
{
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn powf(self, exponent: Self) -> Self;
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Float for f32 {
    fn abs(self) -> Self {
        f32::abs(self)
    }

    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    fn powf(self, exponent: Self) -> Self {
        f32::powf(self, exponent)
    }

    fn of(value: f64) -> Self {
        value as f32
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Float for f64 {
    fn abs(self) -> Self {
        f64::abs(self)
    }

    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    fn powf(self, exponent: Self) -> Self {
        f64::powf(self, exponent)
    }

    fn of(value: f64) -> Self {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }
}
