//! Divides with the processor's division: the specification.

use crate::divide::{Divisor, Operation, Truncated, Word};

/// One division for each value.
pub(super) fn divide<T: Word, O: Operation<T>>(
    divisor: &Divisor<T>,
    values: &[T],
    out: &mut [O::Out],
) {
    let divisor = divisor.get();
    for (value, out) in values.iter().zip(out) {
        let (quotient, remainder) = value.divide(divisor);
        *out = O::Out::truncate(if O::IS_REMAINDER { remainder } else { quotient });
    }
}
