//! Names the primitives that hold numbers, and converts between them as ClickHouse does.

use arrow::array::{ArrowNativeTypeOp, ArrowPrimitiveType};
use arrow::datatypes::{
    DataType as ArrowType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use basalt_types::DataType;

/// One of the primitives that hold numbers, dates, times and enums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the primitives' names")]
pub(crate) enum Num {
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Num {
    /// The primitive that holds values of the type, if one does (decimals are none).
    pub(crate) fn of(data_type: &DataType) -> Option<Num> {
        Num::of_arrow(&data_type.physical())
    }

    /// The primitive of an Arrow type.
    pub(crate) fn of_arrow(arrow: &ArrowType) -> Option<Num> {
        Some(match arrow {
            ArrowType::UInt8 => Num::U8,
            ArrowType::UInt16 => Num::U16,
            ArrowType::UInt32 => Num::U32,
            ArrowType::UInt64 => Num::U64,
            ArrowType::Int8 => Num::I8,
            ArrowType::Int16 => Num::I16,
            ArrowType::Int32 => Num::I32,
            ArrowType::Int64 => Num::I64,
            ArrowType::Float32 => Num::F32,
            ArrowType::Float64 => Num::F64,
            _ => return None,
        })
    }

    /// The primitive of what sums and bits are computed of: a number or an IPv4 address.
    pub(crate) fn of_operand(data_type: &DataType) -> Option<Num> {
        match data_type {
            DataType::Ipv4 => Some(Num::U32),
            other => Num::of_number(other),
        }
    }

    /// The primitive of a number (`Bool` counts as such), not of dates, enums and addresses.
    pub(crate) fn of_number(data_type: &DataType) -> Option<Num> {
        let is_number = data_type.is_integer() || data_type.is_float();
        if is_number { Num::of(data_type) } else { None }
    }

    /// Size of a value.
    pub(crate) fn size_bytes(self) -> usize {
        match self {
            Num::U8 | Num::I8 => 1,
            Num::U16 | Num::I16 => 2,
            Num::U32 | Num::I32 | Num::F32 => 4,
            Num::U64 | Num::I64 | Num::F64 => 8,
        }
    }

    /// Whether a float.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Num::F32 | Num::F64)
    }

    /// Whether values may be negative.
    pub(crate) fn is_signed(self) -> bool {
        !matches!(self, Num::U8 | Num::U16 | Num::U32 | Num::U64)
    }

    /// The integer of that size.
    pub(crate) fn integer(size_bytes: usize, signed: bool) -> Num {
        match (size_bytes, signed) {
            (1, false) => Num::U8,
            (2, false) => Num::U16,
            (4, false) => Num::U32,
            (_, false) => Num::U64,
            (1, true) => Num::I8,
            (2, true) => Num::I16,
            (4, true) => Num::I32,
            (_, true) => Num::I64,
        }
    }

    /// The dialect's type of that primitive.
    pub(crate) fn data_type(self) -> DataType {
        match self {
            Num::U8 => DataType::UInt8,
            Num::U16 => DataType::UInt16,
            Num::U32 => DataType::UInt32,
            Num::U64 => DataType::UInt64,
            Num::I8 => DataType::Int8,
            Num::I16 => DataType::Int16,
            Num::I32 => DataType::Int32,
            Num::I64 => DataType::Int64,
            Num::F32 => DataType::Float32,
            Num::F64 => DataType::Float64,
        }
    }
}

/// Runs `$body` with `$t` as the Rust type of a [`Num`].
macro_rules! with_native {
    ($num:expr, $t:ident => $body:expr) => {
        match $num {
            $crate::scalar::core::num::Num::U8 => {
                type $t = u8;
                $body
            }
            $crate::scalar::core::num::Num::U16 => {
                type $t = u16;
                $body
            }
            $crate::scalar::core::num::Num::U32 => {
                type $t = u32;
                $body
            }
            $crate::scalar::core::num::Num::U64 => {
                type $t = u64;
                $body
            }
            $crate::scalar::core::num::Num::I8 => {
                type $t = i8;
                $body
            }
            $crate::scalar::core::num::Num::I16 => {
                type $t = i16;
                $body
            }
            $crate::scalar::core::num::Num::I32 => {
                type $t = i32;
                $body
            }
            $crate::scalar::core::num::Num::I64 => {
                type $t = i64;
                $body
            }
            $crate::scalar::core::num::Num::F32 => {
                type $t = f32;
                $body
            }
            $crate::scalar::core::num::Num::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}
pub(crate) use with_native;

/// As [`with_native`] for the types that sums, differences and products have.
macro_rules! with_wide {
    ($num:expr, $t:ident => $body:expr) => {
        match $num {
            Num::U16 => {
                type $t = u16;
                $body
            }
            Num::U32 => {
                type $t = u32;
                $body
            }
            Num::U64 => {
                type $t = u64;
                $body
            }
            Num::I16 => {
                type $t = i16;
                $body
            }
            Num::I32 => {
                type $t = i32;
                $body
            }
            Num::F64 => {
                type $t = f64;
                $body
            }
            _ => {
                type $t = i64;
                $body
            }
        }
    };
}
pub(crate) use with_wide;

/// As [`with_native`] for the integers of one sign: the first four types or the last four.
macro_rules! with_sized {
    ($num:expr, [$a:ty, $b:ty, $c:ty, $d:ty], $t:ident => $body:expr) => {
        match $num.size_bytes() {
            1 => {
                type $t = $a;
                $body
            }
            2 => {
                type $t = $b;
                $body
            }
            4 => {
                type $t = $c;
                $body
            }
            _ => {
                type $t = $d;
                $body
            }
        }
    };
}
pub(crate) use with_sized;

/// Converts a number as ClickHouse does: integers wrap, floats lose their fraction.
pub(crate) trait FromNum<S>: Sized {
    fn from_num(value: S) -> Self;
}

/// A primitive that holds numbers.
pub(crate) trait Native:
    ArrowNativeTypeOp
    + PartialOrd
    + Send
    + Sync
    + 'static
    + FromNum<u8>
    + FromNum<u16>
    + FromNum<u32>
    + FromNum<u64>
    + FromNum<i8>
    + FromNum<i16>
    + FromNum<i32>
    + FromNum<i64>
    + FromNum<f32>
    + FromNum<f64>
{
    type Arrow: ArrowPrimitiveType<Native = Self>;
    const NUM: Num;
}

macro_rules! native {
    ($native:ty, $arrow:ty, $num:ident) => {
        impl Native for $native {
            type Arrow = $arrow;
            const NUM: Num = Num::$num;
        }
        from_num!($native, u8 u16 u32 u64 i8 i16 i32 i64);
    };
}

macro_rules! from_num {
    ($to:ty, $($from:ty)*) => {
        $(impl FromNum<$from> for $to {
            #[inline(always)]
            fn from_num(value: $from) -> Self {
                value as $to
            }
        })*
    };
}

native!(u8, UInt8Type, U8);
native!(u16, UInt16Type, U16);
native!(u32, UInt32Type, U32);
native!(u64, UInt64Type, U64);
native!(i8, Int8Type, I8);
native!(i16, Int16Type, I16);
native!(i32, Int32Type, I32);
native!(i64, Int64Type, I64);
native!(f32, Float32Type, F32);
native!(f64, Float64Type, F64);
from_num!(f32, f32 f64);
from_num!(f64, f32 f64);

/// Floats to integers as x86 does it: what does not fit the intermediate integer is its minimum,
/// then the low bits are taken.
macro_rules! from_float {
    ($through:ident, $($to:ty)*) => {
        $(impl FromNum<f32> for $to {
            #[inline(always)]
            fn from_num(value: f32) -> Self {
                $through(f64::from(value)) as $to
            }
        }
        impl FromNum<f64> for $to {
            #[inline(always)]
            fn from_num(value: f64) -> Self {
                $through(value) as $to
            }
        })*
    };
}

from_float!(truncate_i32, i8 i16 i32 u8 u16);
from_float!(truncate_i64, i64 u32);
from_float!(truncate_u64, u64);

#[inline(always)]
fn truncate_i32(value: f64) -> i32 {
    if value > -2_147_483_649.0 && value < 2_147_483_648.0 {
        value as i32
    } else {
        i32::MIN
    }
}

const TWO_POW_63: f64 = 9_223_372_036_854_775_808.0;

#[inline(always)]
fn truncate_i64(value: f64) -> i64 {
    if (-TWO_POW_63..TWO_POW_63).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

#[inline(always)]
fn truncate_u64(value: f64) -> u64 {
    let low = truncate_i64(value);
    let high = truncate_i64(value - TWO_POW_63);
    (low | (high & (low >> 63))) as u64
}
