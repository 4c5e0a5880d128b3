//! Adds 32 lanes in four registers of AVX-512; the bitmap's bits are the masks of the additions.

use std::arch::x86_64::{__m512d, _mm512_mask_add_pd, _mm512_setzero_pd};

use crate::Bitmap;
use crate::isa;
use crate::sum::{NUM_LANES, scalar};

/// Lanes of a register.
const REGISTER_LANES: usize = 8;

/// Rows of a bitmap's word.
const WORD_ROWS: usize = 64;

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
fn dense_in_registers(values: &[f64]) -> f64 {
    scalar::lanes(values, None)
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
fn masked_in_registers(values: &[f64], bits: Bitmap<'_>) -> f64 {
    let mut sums = [_mm512_setzero_pd(); NUM_LANES / REGISTER_LANES];
    let (words, last) = values.as_chunks::<WORD_ROWS>();
    for (word_idx, values) in words.iter().enumerate() {
        add_word(&mut sums, values, bits.word(word_idx));
    }
    if !last.is_empty() {
        let mut padded = [0.0; WORD_ROWS];
        padded[..last.len()].copy_from_slice(last);
        add_word(&mut sums, &padded, bits.word(words.len()));
    }
    let mut lanes = [0.0; NUM_LANES];
    for (lanes, sum) in lanes.as_chunks_mut().0.iter_mut().zip(sums) {
        isa::store_f64x8(lanes, sum);
    }
    scalar::fold(lanes)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_word(
    sums: &mut [__m512d; NUM_LANES / REGISTER_LANES],
    values: &[f64; WORD_ROWS],
    valid: u64,
) {
    for (group, values) in values.as_chunks::<REGISTER_LANES>().0.iter().enumerate() {
        let sum = &mut sums[group % (NUM_LANES / REGISTER_LANES)];
        let mask = (valid >> (group * REGISTER_LANES)) as u8;
        *sum = _mm512_mask_add_pd(*sum, mask, *sum, isa::load_f64x8(values));
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,bmi1,bmi2,popcnt")]
fn kahan_lanes_in_registers(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    scalar::kahan_lanes(values, validity)
}

/// The sum in 32 lanes.
pub(super) fn lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    if !isa::has_avx512() {
        return scalar::lanes(values, validity);
    }
    match validity {
        // SAFETY: (cpu) detected above. Pays in bench `sum`.
        None => unsafe { dense_in_registers(values) },
        // SAFETY: (cpu) detected above. Pays in bench `sum`, missing values.
        Some(bits) => unsafe { masked_in_registers(values, bits) },
    }
}

/// The compensated sum in 32 lanes.
pub(super) fn kahan_lanes(values: &[f64], validity: Option<Bitmap<'_>>) -> f64 {
    if !isa::has_avx512() {
        return scalar::kahan_lanes(values, validity);
    }
    // SAFETY: (cpu) detected above. Pays in bench `sum`.
    unsafe { kahan_lanes_in_registers(values, validity) }
}
