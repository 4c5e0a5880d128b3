//! The loops of `scalar.rs` with AVX2: the compiler keeps the lanes in eight registers.

use crate::Bitmap;
use crate::isa;
use crate::sum::scalar;

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn lanes_in_registers(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    scalar::lanes(values, validity)
}

#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn kahan_lanes_in_registers(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    scalar::kahan_lanes(values, validity)
}

/// The sum in 32 lanes.
pub(super) fn lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    if !isa::has_avx2() {
        return scalar::lanes(values, validity);
    }
    // SAFETY: (cpu) detected above. Pays in bench `sum`.
    unsafe { lanes_in_registers(values, validity) }
}

/// The compensated sum in 32 lanes.
pub(super) fn kahan_lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    if !isa::has_avx2() {
        return scalar::kahan_lanes(values, validity);
    }
    // SAFETY: (cpu) detected above. Pays in bench `sum`.
    unsafe { kahan_lanes_in_registers(values, validity) }
}
