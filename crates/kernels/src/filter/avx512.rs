//! Compacts a register with one instruction, whose mask are the bits.
//!
//! Registers are stored whole: the form of the instruction that stores the selected lanes only takes many times as long
//! on some processors (Zen 4).

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_loadu_si512, _mm512_maskz_compress_epi8,
    _mm512_maskz_compress_epi16, _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64,
    _mm512_set1_epi32, _mm512_setr_epi32, _mm512_storeu_si512,
};
use std::mem::MaybeUninit;

use crate::Bitmap;
use crate::filter::wide::{FEW, Lane};
use crate::filter::{WORD_ROWS, for_words, window};

/// Writes selected numbers of one byte.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn bytes(values: &[u8], bits: Bitmap<'_>, places: &mut [MaybeUninit<u8>]) -> usize {
    for_registers::<_, 64>(values, bits, places, |values, mask| {
        _mm512_maskz_compress_epi8(mask, values)
    })
}

/// Writes selected numbers of two bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn shorts(values: &[u16], bits: Bitmap<'_>, places: &mut [MaybeUninit<u16>]) -> usize {
    for_registers::<_, 32>(values, bits, places, |values, mask| {
        _mm512_maskz_compress_epi16(mask as u32, values)
    })
}

/// Writes selected numbers of four bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn words(values: &[u32], bits: Bitmap<'_>, places: &mut [MaybeUninit<u32>]) -> usize {
    for_registers::<_, 16>(values, bits, places, |values, mask| {
        _mm512_maskz_compress_epi32(mask as u16, values)
    })
}

/// Writes selected numbers of eight bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn longs(values: &[u64], bits: Bitmap<'_>, places: &mut [MaybeUninit<u64>]) -> usize {
    for_registers::<_, 8>(values, bits, places, |values, mask| {
        _mm512_maskz_compress_epi64(mask as u8, values)
    })
}

/// Writes the numbers of selected rows.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn numbers(bits: Bitmap<'_>, first_row: u32, places: &mut [MaybeUninit<u32>]) -> usize {
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let number = |row: usize| first_row + row as u32;
    for_words(bits, places, FEW, number, |i, word, places| {
        let mut num_written = 0;
        for start in (0..WORD_ROWS).step_by(16) {
            let first = _mm512_set1_epi32(number(i * WORD_ROWS + start).cast_signed());
            let mask = (word >> start) as u16;
            let ones = _mm512_maskz_compress_epi32(mask, _mm512_add_epi32(lanes, first));
            store(ones, window::<_, 16>(places, num_written));
            num_written += mask.count_ones() as usize;
        }
    })
}

/// Writes what `compacted` makes of the `N` values in a register; their bits are the lowest of the mask, others may be
/// set.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn for_registers<L: Lane, const N: usize>(
    values: &[L],
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<L>],
    compacted: impl Fn(__m512i, u64) -> __m512i,
) -> usize {
    let (groups, _) = values.as_chunks::<WORD_ROWS>();
    for_words(
        bits,
        places,
        FEW,
        |row| values[row],
        |i, word, places| {
            let mut num_written = 0;
            for (i, values) in groups[i].as_chunks::<N>().0.iter().enumerate() {
                let mask = word >> (i * N);
                store(
                    compacted(load(values), mask),
                    window::<_, N>(places, num_written),
                );
                num_written += (mask & (u64::MAX >> (64 - N))).count_ones() as usize;
            }
        },
    )
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load<L: Lane, const N: usize>(values: &[L; N]) -> __m512i {
    const { assert!(size_of::<[L; N]>() == size_of::<__m512i>()) };
    // SAFETY: (bounds) the array has 64 bytes, see above; any alignment is fine. Pays in bench `filter`.
    unsafe { _mm512_loadu_si512(values.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store<L: Lane, const N: usize>(register: __m512i, places: &mut [MaybeUninit<L>; N]) {
    const { assert!(size_of::<[L; N]>() == size_of::<__m512i>()) };
    // SAFETY: (bounds) the array has 64 bytes, see above; any alignment is fine. Pays in bench `filter`.
    unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), register) };
}
