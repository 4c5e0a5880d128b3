//! Finds magic numbers, and divides by multiplying with them.
//!
//! With `l` the bits of `divisor - 1` and `n` the width, `magic = ceil(2^(n + l) / divisor)` has
//! `n + 1` bits. Often a smaller shift gives one of `n` bits that is as exact; if not, its top bit is
//! known to be 1 and is multiplied by hand, without overflow:
//! `((value - high) / 2 + high) >> (l - 1)`, where `high` is the upper half of the product with the
//! low `n` bits.

use crate::divide::word::Unsigned;
use crate::divide::{Operation, Truncated, Word};

/// A divisor that is not 0, with what multiplies instead of dividing.
#[derive(Clone, Copy, Debug)]
pub struct Divisor<T: Word> {
    divisor: T,
    method: Method<T::Magnitude>,
}

#[derive(Clone, Copy, Debug)]
enum Method<M> {
    /// A power of two.
    Shift(u32),
    /// The upper half of the product, shifted.
    Multiply { magic: M, shift: u32 },
    /// The same with a magic number of one bit more.
    MultiplyLong { magic: M, shift: u32 },
}

impl<T: Word> Divisor<T> {
    /// The divisor; `None` for 0.
    pub fn try_new(divisor: T) -> Option<Self> {
        let magnitude = divisor.magnitude().to_u128();
        (magnitude != 0).then(|| Self {
            divisor,
            method: method(magnitude),
        })
    }

    /// The number to divide by.
    pub fn get(&self) -> T {
        self.divisor
    }

    /// Whether its absolute value is a power of two.
    pub fn is_power_of_two(&self) -> bool {
        matches!(self.method, Method::Shift(_))
    }
}

/// Bits of the largest number below `divisor`.
pub(super) fn ceil_log2(divisor: u128) -> u32 {
    u128::BITS - (divisor - 1).leading_zeros()
}

fn method<M: Unsigned>(divisor: u128) -> Method<M> {
    let log2 = ceil_log2(divisor);
    if divisor.is_power_of_two() {
        return Method::Shift(log2);
    }
    // Exact for all values if the magic number is too large by at most 2^shift / 2^n of itself.
    for shift in 0..log2 {
        let power = 1_u128 << (M::BITS + shift);
        let magic = power.div_ceil(divisor);
        let excess = magic * divisor - power;
        if excess <= 1 << shift && magic >> M::BITS == 0 {
            let magic = M::from_u128(magic);
            return Method::Multiply { magic, shift };
        }
    }
    // 2^(n + log2) / divisor without its top bit: (2^log2 - divisor) * 2^n / divisor, rounded up.
    let low_part = (((1_u128 << log2) - divisor) << M::BITS) / divisor + 1;
    Method::MultiplyLong {
        magic: M::from_u128(low_part),
        shift: log2 - 1,
    }
}

/// Multiplies for each value; the case is decided once.
#[inline(always)]
pub(super) fn divide<T: Word, O: Operation<T>>(
    divisor: &Divisor<T>,
    values: &[T],
    out: &mut [O::Out],
) {
    match divisor.method {
        Method::Shift(shift) if O::IS_REMAINDER => {
            let mask = T::Magnitude::from_u128((1 << shift) - 1);
            for (&value, out) in values.iter().zip(out) {
                *out = O::Out::truncate(T::with_sign(value.magnitude().and(mask), value));
            }
        }
        Method::Shift(shift) => {
            apply::<T, O>(divisor.divisor, values, out, |value| {
                value.shift_right(shift)
            });
        }
        Method::Multiply { magic, shift } => {
            apply::<T, O>(divisor.divisor, values, out, |value| {
                value.multiply_high(magic).shift_right(shift)
            });
        }
        Method::MultiplyLong { magic, shift } => {
            apply::<T, O>(divisor.divisor, values, out, |value| {
                let high = value.multiply_high(magic);
                let half = value.minus(high).shift_right(1).plus(high);
                half.shift_right(shift)
            });
        }
    }
}

/// Divides 64-bit values of which the upper halves are zero, with products of 32-bit numbers only.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn divide_low_halves<O: Operation<u64>>(
    divisor: &Divisor<u32>,
    values: &[u64],
    out: &mut [O::Out],
) {
    let number = u64::from(divisor.divisor);
    match divisor.method {
        Method::Shift(shift) => {
            apply_low_halves::<O>(number, values, out, |value| value >> (shift % u64::BITS));
        }
        Method::Multiply { magic, shift } => {
            let (magic, shift) = (u64::from(magic), (u32::BITS + shift) % u64::BITS);
            apply_low_halves::<O>(number, values, out, |value| {
                value.wrapping_mul(magic) >> shift
            });
        }
        Method::MultiplyLong { magic, shift } => {
            let (magic, shift) = (u64::from(magic), shift % u64::BITS);
            apply_low_halves::<O>(number, values, out, |value| {
                let high = value.wrapping_mul(magic) >> u32::BITS;
                ((value.wrapping_sub(high) >> 1).wrapping_add(high)) >> shift
            });
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn apply_low_halves<O: Operation<u64>>(
    divisor: u64,
    values: &[u64],
    out: &mut [O::Out],
    quotient: impl Fn(u64) -> u64,
) {
    // Masks tell the compiler that a product of halves is enough.
    let low = |word: u64| word & u64::from(u32::MAX);
    for (value, out) in values.iter().zip(out) {
        let value = low(*value);
        let quotient = low(quotient(value));
        *out = O::Out::truncate(if O::IS_REMAINDER {
            value.wrapping_sub(quotient.wrapping_mul(divisor))
        } else {
            quotient
        });
    }
}

#[inline(always)]
fn apply<T: Word, O: Operation<T>>(
    divisor: T,
    values: &[T],
    out: &mut [O::Out],
    quotient: impl Fn(T::Magnitude) -> T::Magnitude,
) {
    for (&value, out) in values.iter().zip(out) {
        let quotient = T::with_sign(quotient(value.magnitude()), value.sign_of_product(divisor));
        *out = O::Out::truncate(if O::IS_REMAINDER {
            value.minus_product(quotient, divisor)
        } else {
            quotient
        });
    }
}
