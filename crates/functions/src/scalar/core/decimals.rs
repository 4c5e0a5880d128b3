//! Reads decimal columns, whatever their width, as 128-bit or 256-bit numbers of ticks.
//!
//! ClickHouse keeps decimals of up to 9, 18, 38 and 76 digits in 32, 64, 128 and 256 bits, and
//! its overflows are those of that width, which is why a [`Width`] goes along with every value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowNativeTypeOp, ArrowPrimitiveType, AsArray, PrimitiveArray,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType as ArrowType, Decimal128Type, Decimal256Type, i256};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::numeric::{Numbers, Source};
use crate::Column;

/// The width in which ClickHouse computes with a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    /// Up to 9 digits.
    W32,
    /// Up to 18 digits.
    W64,
    /// Up to 38 digits.
    W128,
    /// Up to 76 digits.
    W256,
}

impl Width {
    /// The width for a number of digits.
    pub(crate) fn of(precision: u8) -> Self {
        match precision {
            0..=9 => Width::W32,
            10..=18 => Width::W64,
            19..=38 => Width::W128,
            _ => Width::W256,
        }
    }

    /// The most digits of that width.
    pub(crate) fn precision(self) -> u8 {
        match self {
            Width::W32 => 9,
            Width::W64 => 18,
            Width::W128 => 38,
            Width::W256 => 76,
        }
    }
}

/// Precision and scale of a decimal type.
pub(crate) fn digits(data_type: &DataType) -> Option<(u8, u8)> {
    match data_type.base() {
        DataType::Decimal { precision, scale } => Some((*precision, *scale)),
        _ => None,
    }
}

/// Ticks of a decimal: `i128` or `i256`.
pub(crate) trait Ticks: ArrowNativeTypeOp + PartialOrd + Send + Sync + 'static {
    type Arrow: ArrowPrimitiveType<Native = Self>;
    fn from_i128(value: i128) -> Self;
    /// The ticks of a narrower or equally wide decimal array.
    fn of_array(array: &dyn Array) -> Result<Vec<Self>>;
    /// Whether the value is one of that width.
    fn fits(self, width: Width) -> bool;
    /// The low bits of the value as one of that width.
    fn wrapped(self, width: Width) -> Self;
    fn to_f64(self) -> f64;
    /// The value if it fits 128 bits.
    fn to_i128(self) -> Option<i128>;
    /// The low 64 bits.
    fn low_bits(self) -> i64;

    /// 10 to the power of `exponent`, if it fits.
    fn power_of_ten(exponent: u32) -> Option<Self> {
        Self::from_i128(10).pow_checked(exponent).ok()
    }
}

impl Ticks for i128 {
    type Arrow = Decimal128Type;

    #[inline(always)]
    fn from_i128(value: i128) -> Self {
        value
    }

    fn of_array(array: &dyn Array) -> Result<Vec<Self>> {
        let array = array
            .as_primitive_opt::<Decimal128Type>()
            .ok_or_else(|| Error::bug(format!("no Decimal128: {}", array.data_type())))?;
        Ok(array.values().to_vec())
    }

    #[inline(always)]
    fn fits(self, width: Width) -> bool {
        match width {
            Width::W32 => i32::try_from(self).is_ok(),
            Width::W64 => i64::try_from(self).is_ok(),
            Width::W128 | Width::W256 => true,
        }
    }

    #[inline(always)]
    fn wrapped(self, width: Width) -> Self {
        match width {
            Width::W32 => i128::from(self as i32),
            Width::W64 => i128::from(self as i64),
            Width::W128 | Width::W256 => self,
        }
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        // Rounded alike, and by one instruction.
        match i64::try_from(self) {
            Ok(narrow) => narrow as f64,
            Err(_) => self as f64,
        }
    }

    fn to_i128(self) -> Option<i128> {
        Some(self)
    }

    #[inline(always)]
    fn low_bits(self) -> i64 {
        self as i64
    }
}

impl Ticks for i256 {
    type Arrow = Decimal256Type;

    fn from_i128(value: i128) -> Self {
        i256::from_i128(value)
    }

    fn of_array(array: &dyn Array) -> Result<Vec<Self>> {
        if let Some(array) = array.as_primitive_opt::<Decimal256Type>() {
            return Ok(array.values().to_vec());
        }
        let narrow = <i128 as Ticks>::of_array(array)?;
        Ok(narrow.into_iter().map(i256::from_i128).collect())
    }

    fn fits(self, width: Width) -> bool {
        match self.to_i128() {
            Some(narrow) => Ticks::fits(narrow, width),
            None => width == Width::W256,
        }
    }

    fn wrapped(self, width: Width) -> Self {
        match width {
            Width::W256 => self,
            narrow => i256::from_i128(Ticks::wrapped(self.as_i128(), narrow)),
        }
    }

    fn to_f64(self) -> f64 {
        if self.is_negative() {
            return -(self.wrapping_neg().to_parts().0 as f64
                + self.wrapping_neg().to_parts().1 as f64 * 2_f64.powi(128));
        }
        let (low, high) = self.to_parts();
        high as f64 * 2_f64.powi(128) + low as f64
    }

    fn to_i128(self) -> Option<i128> {
        i256::to_i128(self)
    }

    fn low_bits(self) -> i64 {
        self.to_parts().0 as i64
    }
}

/// The ticks of a column of decimals, or of integers (scale 0) wrapped to `width`.
pub(crate) fn ticks_of<T: Ticks>(column: &Column, width: Width) -> Result<Vec<T>> {
    let array = column.array.as_ref();
    match array.data_type() {
        ArrowType::Decimal128(..) | ArrowType::Decimal256(..) => T::of_array(array),
        ArrowType::UInt64 if width >= Width::W128 => {
            let values = super::numeric::values::<u64>(array)?;
            Ok(values
                .iter()
                .map(|v| T::from_i128(i128::from(*v)))
                .collect())
        }
        _ => {
            let wide: Vec<i64> = Numbers::converted(array)?;
            let narrow = |v: i64| {
                if width == Width::W32 {
                    i64::from(v as i32)
                } else {
                    v
                }
            };
            Ok(wide
                .into_iter()
                .map(|v| T::from_i128(i128::from(narrow(v))))
                .collect())
        }
    }
}

/// Lower and upper halves of the ticks of decimals of up to 38 digits.
pub fn halves_of(array: &PrimitiveArray<Decimal128Type>) -> &[[u64; 2]] {
    let words = array.values().inner().typed_data::<u64>();
    words.as_chunks().0
}

/// The array of a decimal type that holds `ticks`.
pub(crate) fn decimal_array<T: Ticks>(
    ticks: Vec<T>,
    data_type: &DataType,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let physical = data_type.physical();
    if physical == <T::Arrow as ArrowPrimitiveType>::DATA_TYPE
        || matches!(
            (&physical, &<T::Arrow as ArrowPrimitiveType>::DATA_TYPE),
            (ArrowType::Decimal128(..), ArrowType::Decimal128(..))
                | (ArrowType::Decimal256(..), ArrowType::Decimal256(..))
        )
    {
        let array = PrimitiveArray::<T::Arrow>::new(ticks.into(), nulls);
        return Ok(Arc::new(array.with_data_type(physical)));
    }
    Err(Error::bug(format!(
        "{data_type} is not held by {}",
        T::Arrow::DATA_TYPE
    )))
}

/// A number column (decimal or not) as Float64, of as many rows as the column's array.
pub(crate) fn to_float(column: &Column) -> Result<Column> {
    fn scaled<T: Ticks>(array: &dyn Array, scale: i8) -> Result<Vec<f64>> {
        let unit = 10_f64.powi(i32::from(scale));
        Ok(T::of_array(array)?
            .into_iter()
            .map(|t| t.to_f64() / unit)
            .collect())
    }
    let array = column.array.as_ref();
    let values = match array.data_type() {
        ArrowType::Decimal128(_, scale) => scaled::<i128>(array, *scale)?,
        ArrowType::Decimal256(_, scale) => scaled::<i256>(array, *scale)?,
        ArrowType::Float64 => return Ok(column.clone()),
        _ => match Source::<f64>::new(column)? {
            Source::Scalar(value) => vec![value],
            Source::Slice(values) => values.to_vec(),
            Source::Convert(_) => Numbers::converted(array)?,
        },
    };
    let nulls = array.logical_nulls();
    let values = PrimitiveArray::<arrow::datatypes::Float64Type>::new(values.into(), nulls);
    Ok(Column {
        array: Arc::new(values),
        is_const: column.is_const,
    })
}

/// The error of a result that does not fit its width.
pub(crate) fn math_overflow() -> Error {
    Error::new(ErrorCode::DECIMAL_OVERFLOW, "Decimal math overflow")
}
