//! Compacts by permutations: the bits of eight rows are an index into a table of where their ones are.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi8, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128,
    _mm_set1_epi16, _mm_shuffle_epi8, _mm_storeu_si128, _mm_unpacklo_epi8, _mm256_add_epi32,
    _mm256_cvtepu8_epi32, _mm256_loadu_si256, _mm256_permutevar8x32_epi32, _mm256_set1_epi32,
    _mm256_storeu_si256,
};
use std::mem::MaybeUninit;

use crate::Bitmap;
use crate::filter::wide::{FEW, Lane};
use crate::filter::{WORD_ROWS, for_words, window};

/// The places of the ones of each number of eight bits, the lowest first; 0 behind them.
static ONES: [[u8; 8]; 256] = ones();

/// The same of four bits, each as the two halves of a lane of 64 bits.
static HALVES_OF_ONES: [[u8; 8]; 16] = halves_of_ones();

const fn ones() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut place, mut num_ones) = (0, 0);
        while place < 8 {
            if bits >> place & 1 == 1 {
                table[bits][num_ones] = place;
                num_ones += 1;
            }
            place += 1;
        }
        bits += 1;
    }
    table
}

const fn halves_of_ones() -> [[u8; 8]; 16] {
    let mut table = [[0; 8]; 16];
    let mut bits = 0;
    while bits < 16 {
        let mut i = 0;
        while i < 8 {
            table[bits][i] = ones()[bits][i / 2] * 2 + (i % 2) as u8;
            i += 1;
        }
        bits += 1;
    }
    table
}

/// Writes selected numbers of one byte.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn bytes(values: &[u8], bits: Bitmap<'_>, places: &mut [MaybeUninit<u8>]) -> usize {
    for_steps(values, bits, places, |values, bits, places| {
        let values = _mm_cvtsi64_si128(i64::from_le_bytes(*values));
        let moved = _mm_shuffle_epi8(values, places_of(&ONES, bits));
        places.write_copy_of_slice(&_mm_cvtsi128_si64(moved).to_le_bytes());
    })
}

/// Writes selected numbers of two bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn shorts(values: &[u16], bits: Bitmap<'_>, places: &mut [MaybeUninit<u16>]) -> usize {
    for_steps(values, bits, places, |values: &[u16; 8], bits, places| {
        let ones = places_of(&ONES, bits);
        // Place `i` is that of bytes `2 * i` and `2 * i + 1`.
        let pairs = _mm_unpacklo_epi8(ones, ones);
        let pairs = _mm_add_epi8(_mm_add_epi8(pairs, pairs), _mm_set1_epi16(0x0100));
        // SAFETY: (bounds) the array has 16 bytes; any alignment is fine. Pays in bench `filter`.
        let values = unsafe { _mm_loadu_si128(values.as_ptr().cast()) };
        let moved = _mm_shuffle_epi8(values, pairs);
        // SAFETY: (bounds) the array has 16 bytes; any alignment is fine. Pays in bench `filter`.
        unsafe { _mm_storeu_si128(places.as_mut_ptr().cast(), moved) };
    })
}

/// Writes selected numbers of four bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn words(values: &[u32], bits: Bitmap<'_>, places: &mut [MaybeUninit<u32>]) -> usize {
    for_steps(values, bits, places, |values: &[u32; 8], bits, places| {
        permute(values, places_of(&ONES, bits), places);
    })
}

/// Writes selected numbers of eight bytes.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn longs(values: &[u64], bits: Bitmap<'_>, places: &mut [MaybeUninit<u64>]) -> usize {
    for_steps(values, bits, places, |values: &[u64; 4], bits, places| {
        permute(values, places_of(&HALVES_OF_ONES, bits), places);
    })
}

/// Writes the numbers of selected rows.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
pub(super) fn numbers(bits: Bitmap<'_>, first_row: u32, places: &mut [MaybeUninit<u32>]) -> usize {
    let number = |row: usize| first_row + row as u32;
    for_words(bits, places, FEW, number, |i, word, places| {
        let mut num_written = 0;
        for octet in 0..8 {
            let first = number(i * WORD_ROWS + octet * 8);
            let bits = (word >> (octet * 8)) as u8;
            let ones = _mm256_cvtepu8_epi32(places_of(&ONES, usize::from(bits)));
            let numbers = _mm256_add_epi32(ones, _mm256_set1_epi32(first.cast_signed()));
            store(numbers, window::<_, 8>(places, num_written));
            num_written += bits.count_ones() as usize;
        }
    })
}

/// Calls `step` for `N` values after the other of words with many ones, with their bits and the places.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,lzcnt")]
fn for_steps<L: Lane, const N: usize>(
    values: &[L],
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<L>],
    step: impl Fn(&[L; N], usize, &mut [MaybeUninit<L>; N]),
) -> usize {
    let (groups, _) = values.as_chunks::<WORD_ROWS>();
    for_words(
        bits,
        places,
        FEW,
        |row| values[row],
        |i, word, places| {
            if word == u64::MAX {
                places.write_copy_of_slice(&groups[i]);
                return;
            }
            let mut num_written = 0;
            for (i, values) in groups[i].as_chunks().0.iter().enumerate() {
                let bits = (word >> (i * N)) as usize % (1 << N);
                step(values, bits, window(places, num_written));
                num_written += bits.count_ones() as usize;
            }
        },
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn places_of<const N: usize>(table: &[[u8; 8]; N], bits: usize) -> __m128i {
    _mm_cvtsi64_si128(i64::from_le_bytes(table[bits % N]))
}

/// Writes the pieces of four bytes that stand at `from` in a register.
#[inline]
#[target_feature(enable = "avx2")]
fn permute<L: Lane, const N: usize>(
    values: &[L; N],
    from: __m128i,
    places: &mut [MaybeUninit<L>; N],
) {
    const { assert!(size_of::<[L; N]>() == size_of::<__m256i>()) };
    // SAFETY: (bounds) the array has 32 bytes, see above; any alignment is fine. Pays in bench `filter`.
    let values = unsafe { _mm256_loadu_si256(values.as_ptr().cast()) };
    store(
        _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(from)),
        places,
    );
}

#[inline]
#[target_feature(enable = "avx2")]
fn store<L: Lane, const N: usize>(register: __m256i, places: &mut [MaybeUninit<L>; N]) {
    const { assert!(size_of::<[L; N]>() == size_of::<__m256i>()) };
    // SAFETY: (bounds) the array has 32 bytes, see above; any alignment is fine. Pays in bench `filter`.
    unsafe { _mm256_storeu_si256(places.as_mut_ptr().cast(), register) };
}
