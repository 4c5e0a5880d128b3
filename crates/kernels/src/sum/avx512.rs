//! Adds 32 lanes in four registers of AVX-512; the bitmap's bits are the masks of the additions.

use std::arch::x86_64::{__m512d, _mm512_mask_add_pd, _mm512_setzero_pd};
use std::hint::black_box;

use crate::Bitmap;
use crate::fold::{HALF_LANES, half_rows};
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
    let half = half_rows(values.len());
    let (first, others) = values.split_at(half);
    let (second, rest) = others.split_at(half);
    let (mut low, mut high) = ([_mm512_setzero_pd(); 2], [_mm512_setzero_pd(); 2]);
    let (first_bits, second_bits) = (bits.slice(0, half), bits.slice(half, half));
    let words = first.chunks(WORD_ROWS).zip(second.chunks(WORD_ROWS));
    for (word_idx, (first, second)) in words.enumerate() {
        let (first_word, second_word) = (first_bits.word(word_idx), second_bits.word(word_idx));
        let groups = first.as_chunks().0.iter().zip(second.as_chunks().0);
        for (group, (first, second)) in groups.enumerate() {
            add_group(&mut low, first, first_word >> (group * HALF_LANES));
            add_group(&mut high, second, second_word >> (group * HALF_LANES));
        }
    }
    if !rest.is_empty() {
        let mut padded = [[0.0; HALF_LANES]; 2];
        padded.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
        let word = bits.slice(2 * half, rest.len()).word(0);
        add_group(&mut low, &padded[0], word);
        add_group(&mut high, &padded[1], word >> HALF_LANES);
    }
    let mut lanes = [0.0; NUM_LANES];
    let sums = low.into_iter().chain(high);
    for (lanes, sum) in lanes.as_chunks_mut().0.iter_mut().zip(sums) {
        isa::store_f64x8(lanes, sum);
    }
    scalar::fold(lanes)
}

/// Adds sixteen values of a half to its lanes, those whose bits are set. They are loaded first, as
/// in [`fold`](crate::fold): a processor may not read ahead for additions that load under a mask.
#[inline]
#[target_feature(enable = "avx512f")]
fn add_group(sums: &mut [__m512d; 2], values: &[f64; HALF_LANES], valid: u64) {
    let values = black_box(*values);
    let values = values.as_chunks::<REGISTER_LANES>().0.iter();
    for (register, (sum, values)) in sums.iter_mut().zip(values).enumerate() {
        let mask = (valid >> (register * REGISTER_LANES)) as u8;
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
