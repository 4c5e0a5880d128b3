//! Dispatches on Arrow's primitive types, so that each function is written once for all of them.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowNativeTypeOp, DataType as ArrowType, Decimal128Type, Decimal256Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, i256,
};
use basalt_error::{Error, Result};

/// What aggregate functions ask of a primitive value besides Arrow's arithmetic.
pub(crate) trait Value: ArrowNativeTypeOp {
    /// The accumulator that sums of these values go to.
    type Sum: Primitive;

    /// The value as a float, rounded where it has more than 53 bits.
    fn to_f64(self) -> f64;

    /// The value in the accumulator of its sums.
    fn widen(self) -> <Self::Sum as ArrowPrimitiveType>::Native;

    /// Bits of the value; two values are the same if their bits are.
    fn key(self) -> u128;

    /// Whether the value is a float's NaN.
    #[expect(clippy::eq_op, reason = "only a NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
}

/// A primitive Arrow type whose values are [`Value`]s.
pub(crate) trait Primitive: ArrowPrimitiveType<Native: Value> + fmt::Debug {}

impl<T: ArrowPrimitiveType<Native: Value> + fmt::Debug> Primitive for T {}

/// Implements [`Value`] for native types: the type of their sums and how their bits are taken.
macro_rules! values {
    ($($native:ty => $sum:ty, |$x:ident| $key:expr;)*) => {$(
        impl Value for $native {
            type Sum = $sum;

            fn to_f64(self) -> f64 {
                self as f64
            }

            fn widen(self) -> <$sum as ArrowPrimitiveType>::Native {
                self as <$sum as ArrowPrimitiveType>::Native
            }

            fn key(self) -> u128 {
                let $x = self;
                $key
            }
        }
    )*};
}

values! {
    u8 => UInt64Type, |x| u128::from(x);
    u16 => UInt64Type, |x| u128::from(x);
    u32 => UInt64Type, |x| u128::from(x);
    u64 => UInt64Type, |x| u128::from(x);
    i8 => Int64Type, |x| u128::from(i64::from(x) as u64);
    i16 => Int64Type, |x| u128::from(i64::from(x) as u64);
    i32 => Int64Type, |x| u128::from(i64::from(x) as u64);
    i64 => Int64Type, |x| u128::from(x as u64);
    f32 => Float64Type, |x| u128::from(x.to_bits());
    f64 => Float64Type, |x| u128::from(x.to_bits());
    i128 => Decimal128Type, |x| x as u128;
}

impl Value for i256 {
    type Sum = Decimal256Type;

    fn to_f64(self) -> f64 {
        let (low, high) = self.to_parts();
        high as f64 * 2f64.powi(128) + low as f64
    }

    fn widen(self) -> i256 {
        self
    }

    fn key(self) -> u128 {
        xxhash_rust::xxh3::xxh3_128(&self.to_le_bytes())
    }
}

/// Work that is generic over the primitive type.
pub(crate) trait PrimitiveVisitor {
    /// What the work gives.
    type Output;

    /// Does the work for `T`.
    fn visit<T: Primitive>(self) -> Self::Output;
}

/// Runs `visitor` for the primitive type `arrow`; `None` if it is no primitive type.
pub(crate) fn visit_primitive<V: PrimitiveVisitor>(
    arrow: &ArrowType,
    visitor: V,
) -> Option<V::Output> {
    Some(match arrow {
        ArrowType::UInt8 => visitor.visit::<UInt8Type>(),
        ArrowType::UInt16 => visitor.visit::<UInt16Type>(),
        ArrowType::UInt32 => visitor.visit::<UInt32Type>(),
        ArrowType::UInt64 => visitor.visit::<UInt64Type>(),
        ArrowType::Int8 => visitor.visit::<Int8Type>(),
        ArrowType::Int16 => visitor.visit::<Int16Type>(),
        ArrowType::Int32 => visitor.visit::<Int32Type>(),
        ArrowType::Int64 => visitor.visit::<Int64Type>(),
        ArrowType::Float32 => visitor.visit::<Float32Type>(),
        ArrowType::Float64 => visitor.visit::<Float64Type>(),
        ArrowType::Decimal128(..) => visitor.visit::<Decimal128Type>(),
        ArrowType::Decimal256(..) => visitor.visit::<Decimal256Type>(),
        _ => return None,
    })
}

/// The array as an array of `T`.
///
/// # Errors
/// `LOGICAL_ERROR` if it has another type.
pub(crate) fn primitive<T: ArrowPrimitiveType>(array: &dyn Array) -> Result<&PrimitiveArray<T>> {
    array
        .as_primitive_opt::<T>()
        .ok_or_else(|| wrong_array(array))
}

/// The error for an array of an unexpected type.
pub(crate) fn wrong_array(array: &dyn Array) -> Error {
    Error::bug(format!("unexpected array of type {}", array.data_type()))
}

/// Argument or state column `idx`.
///
/// # Errors
/// `LOGICAL_ERROR` if there are fewer.
pub(crate) fn column(arrays: &[ArrayRef], idx: usize) -> Result<&ArrayRef> {
    arrays
        .get(idx)
        .ok_or_else(|| Error::bug(format!("column {idx} of {} is missing", arrays.len())))
}

/// An array of `values` with the Arrow type `arrow` (for the digits of a decimal).
pub(crate) fn primitive_array<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    nulls: Option<NullBuffer>,
    arrow: &ArrowType,
) -> ArrayRef {
    let array = PrimitiveArray::<T>::new(values.into(), nulls);
    if array.data_type() == arrow {
        Arc::new(array)
    } else {
        Arc::new(array.with_data_type(arrow.clone()))
    }
}

struct ToF64<'a>(&'a ArrayRef);

impl PrimitiveVisitor for ToF64<'_> {
    type Output = Result<Vec<f64>>;

    fn visit<T: Primitive>(self) -> Result<Vec<f64>> {
        let scale = match self.0.data_type() {
            ArrowType::Decimal128(_, scale) | ArrowType::Decimal256(_, scale) => {
                10f64.powi(i32::from(*scale))
            }
            _ => 1.0,
        };
        let values = primitive::<T>(self.0)?.values().iter();
        Ok(values.map(|v| v.to_f64() / scale).collect())
    }
}

/// The values of a primitive array as floats, those of decimals with their scale.
///
/// # Errors
/// `LOGICAL_ERROR` if the array is not primitive.
pub(crate) fn to_floats(array: &ArrayRef) -> Result<Vec<f64>> {
    visit_primitive(array.data_type(), ToF64(array)).ok_or_else(|| wrong_array(array))?
}
