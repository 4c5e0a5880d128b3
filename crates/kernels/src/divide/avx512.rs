//! Divides eight 64-bit or sixteen 32-bit values at a time.
//!
//! There is no instruction for the upper half of 64-bit products, but one for 52-bit numbers. It
//! serves values below 2^51, which most are: with `l` the bits of `divisor - 1`,
//! `magic = ceil(2^(51 + l) / divisor)` has at most 52 bits and is exact for them, and the quotient
//! is the product's upper part, shifted by `l - 1`. Values are looked at
//! [`GROUP`] at a time: whether all of them are so small costs a hundredth of the division then.

use std::arch::x86_64::{
    __m512i, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_srlv_epi64, _mm512_sub_epi64,
};

use crate::divide::reciprocal::{self, ceil_log2};
use crate::divide::{Divisor, Operation, Truncated, avx2};
use crate::isa;

/// Values that are looked at and divided together.
const GROUP: usize = 1024;

/// Values of this many bits are divided in registers.
const NARROW_BITS: u32 = 51;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2")]
fn divide_in_registers<O: Operation<u32>>(
    divisor: &Divisor<u32>,
    values: &[u32],
    out: &mut [O::Out],
) {
    reciprocal::divide::<u32, O>(divisor, values, out);
}

/// Divides 32-bit values.
pub(super) fn divide<O: Operation<u32>>(
    divisor: &Divisor<u32>,
    values: &[u32],
    out: &mut [O::Out],
) {
    if !isa::has_avx512() {
        return reciprocal::divide::<u32, O>(divisor, values, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `divide`.
    unsafe { divide_in_registers::<O>(divisor, values, out) }
}

/// Divides 64-bit values, fast where they are below 2^51.
pub(super) fn divide_narrow<O: Operation<u64>>(
    divisor: &Divisor<u64>,
    values: &[u64],
    out: &mut [O::Out],
) {
    let is_narrow = divisor.get() < 1 << (NARROW_BITS - 1);
    if !is_narrow || divisor.is_power_of_two() || !isa::has_avx512_ifma() {
        return avx2::divide_narrow::<O>(divisor, values, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `divide`.
    unsafe { divide_narrow_in_registers::<O>(divisor, values, out) }
}

/// The divisor in registers.
struct Magic {
    magic: __m512i,
    shift: __m512i,
    divisor: __m512i,
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,bmi1,bmi2")]
fn divide_narrow_in_registers<O: Operation<u64>>(
    divisor: &Divisor<u64>,
    values: &[u64],
    out: &mut [O::Out],
) {
    let number = u128::from(divisor.get());
    let log2 = ceil_log2(number);
    // At most 52 bits, see above.
    let magic = (1_u128 << (NARROW_BITS + log2)).div_ceil(number) as u64;
    let magic = Magic {
        magic: _mm512_set1_epi64(magic.cast_signed()),
        shift: _mm512_set1_epi64(i64::from(log2) - 1),
        divisor: _mm512_set1_epi64(divisor.get().cast_signed()),
    };
    let (groups, last) = values.as_chunks::<GROUP>();
    let (out_groups, last_out) = out.as_chunks_mut::<GROUP>();
    for (values, out) in groups.iter().zip(out_groups) {
        let all_bits = values.iter().fold(0, |bits, value| bits | value);
        if all_bits >> NARROW_BITS == 0 {
            divide_group::<O>(&magic, values, out);
        } else {
            divide_wide::<O>(divisor, values, out);
        }
    }
    divide_wide::<O>(divisor, last, last_out);
}

/// The portable loop, as it is without these instructions.
///
/// Never inlined: the compiler would put the 128-bit product together from four of 32 bits, which
/// takes nearly twice as long as one multiplication after the other.
#[inline(never)]
fn divide_wide<O: Operation<u64>>(divisor: &Divisor<u64>, values: &[u64], out: &mut [O::Out]) {
    reciprocal::divide::<u64, O>(divisor, values, out);
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma")]
fn divide_group<O: Operation<u64>>(
    magic: &Magic,
    values: &[u64; GROUP],
    out: &mut [O::Out; GROUP],
) {
    let zero = _mm512_setzero_si512();
    let octets = values
        .as_chunks::<8>()
        .0
        .iter()
        .zip(out.as_chunks_mut::<8>().0);
    for (values, out) in octets {
        let values = isa::load_u64x8(values);
        let high = _mm512_madd52hi_epu64(zero, values, magic.magic);
        let mut results = _mm512_srlv_epi64(high, magic.shift);
        if O::IS_REMAINDER {
            let product = _mm512_madd52lo_epu64(zero, results, magic.divisor);
            results = _mm512_sub_epi64(values, product);
        }
        let mut stored = [0; 8];
        isa::store_u64x8(&mut stored, results);
        *out = stored.map(O::Out::truncate);
    }
}
