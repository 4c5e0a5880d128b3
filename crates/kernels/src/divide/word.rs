//! The integers that can be divided, and those that a remainder can be cut to.

use basalt_adapt::SimdLevel;

use crate::divide::{Form, Operation, reciprocal, scalar};

#[cfg(target_arch = "x86_64")]
use crate::divide::{avx2, avx512};

/// An integer with a division by multiplication.
pub trait Word: Truncated<Self> + Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// The unsigned type of the same width.
    type Magnitude: Unsigned;

    /// The absolute value.
    fn magnitude(self) -> Self::Magnitude;

    /// A number with the sign of the product of both.
    fn sign_of_product(self, other: Self) -> Self;

    /// The number of this absolute value with the sign of `sign`.
    fn with_sign(magnitude: Self::Magnitude, sign: Self) -> Self;

    /// `self - quotient * divisor`, wrapping.
    fn minus_product(self, quotient: Self, divisor: Self) -> Self;

    /// What the processor's division gives; wraps at the end of the range.
    fn divide(self, divisor: Self) -> (Self, Self);

    /// Every form of a division of this type, the specification first, the widest last.
    fn forms<O: Operation<Self>>() -> &'static [Form<Self, O>];
}

/// An unsigned integer, in which magic numbers are found and used.
pub trait Unsigned: Copy + Eq + Send + Sync + std::fmt::Debug + 'static {
    /// Its width.
    const BITS: u32;

    /// From a number that is known to fit.
    fn from_u128(value: u128) -> Self;

    /// As a wider number.
    fn to_u128(self) -> u128;

    /// The upper half of the product.
    fn multiply_high(self, other: Self) -> Self;

    /// Shifted to the right by less than its width.
    fn shift_right(self, shift: u32) -> Self;

    /// The bits that are set in both.
    fn and(self, other: Self) -> Self;

    /// The sum, which does not overflow.
    fn plus(self, other: Self) -> Self;

    /// The difference, which is not negative.
    fn minus(self, other: Self) -> Self;
}

macro_rules! unsigned {
    ($word:ty, $wide:ty) => {
        impl Unsigned for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline(always)]
            fn from_u128(value: u128) -> Self {
                value as Self
            }

            #[inline(always)]
            fn to_u128(self) -> u128 {
                u128::from(self)
            }

            #[inline(always)]
            fn multiply_high(self, other: Self) -> Self {
                ((<$wide>::from(self) * <$wide>::from(other)) >> Self::BITS) as Self
            }

            #[inline(always)]
            fn shift_right(self, shift: u32) -> Self {
                self >> (shift % Self::BITS)
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    };
}

unsigned!(u32, u64);
unsigned!(u64, u128);

const HARDWARE: (&str, SimdLevel) = ("division", SimdLevel::Scalar);
const HARDWARE_TEXT: &str = "the processor's division";
const RECIPROCAL: (&str, SimdLevel) = ("reciprocal", SimdLevel::Scalar);
const RECIPROCAL_TEXT: &str = "multiplication by a magic number";

impl Word for u32 {
    type Magnitude = Self;

    #[inline(always)]
    fn magnitude(self) -> Self {
        self
    }

    #[inline(always)]
    fn sign_of_product(self, _other: Self) -> Self {
        self
    }

    #[inline(always)]
    fn with_sign(magnitude: Self, _sign: Self) -> Self {
        magnitude
    }

    #[inline(always)]
    fn minus_product(self, quotient: Self, divisor: Self) -> Self {
        self.wrapping_sub(quotient.wrapping_mul(divisor))
    }

    #[inline(always)]
    fn divide(self, divisor: Self) -> (Self, Self) {
        (self / divisor, self % divisor)
    }

    fn forms<O: Operation<Self>>() -> &'static [Form<Self, O>] {
        const {
            &[
                Form::new(HARDWARE, HARDWARE_TEXT, scalar::divide::<Self, O>),
                Form::new(RECIPROCAL, RECIPROCAL_TEXT, reciprocal::divide::<Self, O>),
                #[cfg(target_arch = "x86_64")]
                Form::new(
                    ("reciprocal_avx2", SimdLevel::Avx2),
                    RECIPROCAL_TEXT,
                    avx2::divide::<O>,
                ),
                #[cfg(target_arch = "x86_64")]
                Form::new(
                    ("reciprocal_avx512", SimdLevel::Avx512),
                    RECIPROCAL_TEXT,
                    avx512::divide::<O>,
                ),
            ]
        }
    }
}

impl Word for u64 {
    type Magnitude = Self;

    #[inline(always)]
    fn magnitude(self) -> Self {
        self
    }

    #[inline(always)]
    fn sign_of_product(self, _other: Self) -> Self {
        self
    }

    #[inline(always)]
    fn with_sign(magnitude: Self, _sign: Self) -> Self {
        magnitude
    }

    #[inline(always)]
    fn minus_product(self, quotient: Self, divisor: Self) -> Self {
        self.wrapping_sub(quotient.wrapping_mul(divisor))
    }

    #[inline(always)]
    fn divide(self, divisor: Self) -> (Self, Self) {
        (self / divisor, self % divisor)
    }

    fn forms<O: Operation<Self>>() -> &'static [Form<Self, O>] {
        const {
            &[
                Form::new(HARDWARE, HARDWARE_TEXT, scalar::divide::<Self, O>),
                Form::new(RECIPROCAL, RECIPROCAL_TEXT, reciprocal::divide::<Self, O>),
                #[cfg(target_arch = "x86_64")]
                Form::new(
                    ("reciprocal_low_avx2", SimdLevel::Avx2),
                    "32-bit multiplication of values below 2^32, else reciprocal",
                    avx2::divide_narrow::<O>,
                ),
                #[cfg(target_arch = "x86_64")]
                Form::new(
                    ("reciprocal_ifma", SimdLevel::Avx512),
                    "52-bit multiplication of values below 2^51, else reciprocal_low_avx2",
                    avx512::divide_narrow::<O>,
                ),
            ]
        }
    }
}

impl Word for i64 {
    type Magnitude = u64;

    #[inline(always)]
    fn magnitude(self) -> u64 {
        self.unsigned_abs()
    }

    #[inline(always)]
    fn sign_of_product(self, other: Self) -> Self {
        self ^ other
    }

    #[inline(always)]
    fn with_sign(magnitude: u64, sign: Self) -> Self {
        // All ones if negative; flips and adds one, which negates.
        let sign = sign >> 63;
        (magnitude.cast_signed() ^ sign).wrapping_sub(sign)
    }

    #[inline(always)]
    fn minus_product(self, quotient: Self, divisor: Self) -> Self {
        self.wrapping_sub(quotient.wrapping_mul(divisor))
    }

    #[inline(always)]
    fn divide(self, divisor: Self) -> (Self, Self) {
        (self.wrapping_div(divisor), self.wrapping_rem(divisor))
    }

    fn forms<O: Operation<Self>>() -> &'static [Form<Self, O>] {
        const {
            &[
                Form::new(HARDWARE, HARDWARE_TEXT, scalar::divide::<Self, O>),
                Form::new(RECIPROCAL, RECIPROCAL_TEXT, reciprocal::divide::<Self, O>),
            ]
        }
    }
}

/// A number that is cut to its low bits.
pub trait Truncated<T>: Copy + Default + Send + Sync + std::fmt::Debug + 'static {
    /// The low bits of `value`.
    fn truncate(value: T) -> Self;
}

macro_rules! truncated {
    ($from:ty, $to:ty) => {
        impl Truncated<$from> for $to {
            #[inline(always)]
            fn truncate(value: $from) -> Self {
                value as Self
            }
        }
    };
}

truncated!(u32, u8);
truncated!(u32, u16);
truncated!(u32, u32);
truncated!(u64, u8);
truncated!(u64, u16);
truncated!(u64, u32);
truncated!(u64, u64);
truncated!(i64, i8);
truncated!(i64, i16);
truncated!(i64, i32);
truncated!(i64, i64);
