//! The loop of `reciprocal.rs` with AVX2: the compiler multiplies eight 32-bit values in two goes.

use crate::divide::{Divisor, Operation, reciprocal};
use crate::isa;

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
