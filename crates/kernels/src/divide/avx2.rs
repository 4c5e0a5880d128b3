//! The loop of `reciprocal.rs` with AVX2: the compiler multiplies eight 32-bit values in two goes.

use crate::divide::{Divisor, Operation, reciprocal};
use crate::isa;

/// Values that are looked at and divided together.
const GROUP: usize = 1024;

#[target_feature(enable = "avx2,bmi1,bmi2")]
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
    if !isa::has_avx2() {
        return reciprocal::divide::<u32, O>(divisor, values, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `divide`.
    unsafe { divide_in_registers::<O>(divisor, values, out) }
}

/// Divides 64-bit values, fast where they are below 2^32: there is an instruction for products of the
/// lower halves of 64-bit lanes, but none for the upper half of a 64-bit product.
pub(super) fn divide_narrow<O: Operation<u64>>(
    divisor: &Divisor<u64>,
    values: &[u64],
    out: &mut [O::Out],
) {
    let narrow = u32::try_from(divisor.get()).ok();
    let narrow = narrow.filter(|_| isa::has_avx2());
    let Some(narrow) = narrow.and_then(Divisor::try_new) else {
        return reciprocal::divide::<u64, O>(divisor, values, out);
    };
    if narrow.is_power_of_two() {
        // SAFETY: (cpu) detected above. Pays in bench `divide`.
        return unsafe { shift_in_registers::<O>(divisor, values, out) };
    }
    // SAFETY: (cpu) detected above. Pays in bench `divide`.
    unsafe { divide_narrow_in_registers::<O>(divisor, &narrow, values, out) }
}

/// Shifts and masks, for a divisor that is a power of two.
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn shift_in_registers<O: Operation<u64>>(
    divisor: &Divisor<u64>,
    values: &[u64],
    out: &mut [O::Out],
) {
    reciprocal::divide::<u64, O>(divisor, values, out);
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn divide_narrow_in_registers<O: Operation<u64>>(
    divisor: &Divisor<u64>,
    narrow: &Divisor<u32>,
    values: &[u64],
    out: &mut [O::Out],
) {
    let (groups, last) = values.as_chunks::<GROUP>();
    let (out_groups, last_out) = out.as_chunks_mut::<GROUP>();
    for (values, out) in groups.iter().zip(out_groups) {
        if is_low(values) {
            reciprocal::divide_low_halves::<O>(narrow, values, out);
        } else {
            divide_wide::<O>(divisor, values, out);
        }
    }
    divide_wide::<O>(divisor, last, last_out);
}

/// Whether all values are below 2^32. Two of them tell for most columns of large ones.
#[inline(always)]
fn is_low(values: &[u64; GROUP]) -> bool {
    let is_low = |bits: u64| bits >> u32::BITS == 0;
    let some = values[0] | values[GROUP / 2];
    is_low(some) && is_low(values.iter().fold(0, |bits, value| bits | value))
}

/// The portable loop, never inlined: with these instructions the compiler puts the 128-bit product
/// together from four of 32 bits, which takes longer than one multiplication after the other.
#[inline(never)]
fn divide_wide<O: Operation<u64>>(divisor: &Divisor<u64>, values: &[u64], out: &mut [O::Out]) {
    reciprocal::divide::<u64, O>(divisor, values, out);
}
