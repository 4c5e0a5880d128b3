//! Repeats bytes of LZ4 matches with the instructions of x86 that shuffle bytes.
//!
//! A match less than a register back repeats its first `offset` bytes. `pshufb` spreads them over a
//! register in one step, by a mask for each offset; with an identity for all larger offsets, short
//! matches need no branch on the offset, which no predictor could guess. For long ones the register
//! is stored again and again, a whole number of repetitions apart, without reading what was written.

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadl_epi64, _mm_loadu_si128, _mm_shuffle_epi8, _mm_storel_epi64,
    _mm_storeu_si128, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_permutexvar_epi8,
    _mm256_shuffle_epi8, _mm256_storeu_si256,
};

use crate::error::Result;
use crate::lz4::copy::{Copier, Moves, STRIDES_8, copy, copy_back, strides};
use crate::lz4::decode::{decode, decode_moves};
use crate::padded::PaddedBuffer;

/// Masks for registers of `N` bytes that repeat the first `offset` bytes, for `offset` up to `M - 1`;
/// the mask for 0 is not used.
const fn masks<const N: usize, const M: usize>() -> [[u8; N]; M] {
    let mut masks = [[0; N]; M];
    let mut offset = 1;
    while offset < M {
        let mut at = 0;
        while at < N {
            assert!(N <= 256);
            #[expect(clippy::cast_possible_truncation, reason = "asserted, at compile time")]
            {
                masks[offset][at] = (at % offset) as u8;
            }
            at += 1;
        }
        offset += 1;
    }
    masks
}

static MASKS_16: [[u8; 16]; 17] = masks();
static LOW_MASKS_32: [[u8; 32]; 16] = masks();
static MASKS_32: [[u8; 32]; 33] = masks();
static STRIDES_16: [u8; 32] = strides(16);
static STRIDES_32: [u8; 32] = strides(32);
static DISTANCES_8: [u8; 32] = distances(8);
static DISTANCES_16: [u8; 32] = distances(16);

/// For each offset below 32 the least multiple of it that is `width` or more: so far back one may
/// copy `width` bytes at once, as soon as `width` bytes of the repetition are there.
const fn distances(width: usize) -> [u8; 32] {
    let mut distances = [0; 32];
    let mut offset = 1;
    while offset < 32 {
        let distance = width.div_ceil(offset) * offset;
        assert!(distance < 256);
        #[expect(clippy::cast_possible_truncation, reason = "asserted, at compile time")]
        {
            distances[offset] = distance as u8;
        }
        offset += 1;
    }
    distances
}

/// Loads a row of a table.
macro_rules! load_mask {
    ($load:ident, $mask:expr) => {{
        let mask = &$mask;
        $load(mask.as_ptr().cast())
    }};
}

/// 8 bytes at a time, and `pshufb`.
struct Shuffle8;

/// 16 bytes at a time, and `pshufb`.
struct Shuffle16;

/// 32 bytes at a time, and `vpshufb`, which repeats up to 16 bytes.
struct Shuffle32;

/// 32 bytes at a time, and `vpermb` of AVX-512, which repeats up to 32 bytes.
struct Permute32;

/// The 16 bytes that repeat the `offset` bytes before `to`, or are those bytes if `offset` is more.
///
/// # Safety
/// As [`Copier::short_match`]; SSSE3.
#[inline(always)]
unsafe fn repetition_16(to: *mut u8, offset: usize) -> __m128i {
    // SAFETY: (reads) 16 bytes from `offset` before `to`, of which those behind `to` are within the
    // overshoot and not used. (cpu) the caller's. Pays in bench `lz4`.
    unsafe {
        let mask = load_mask!(_mm_loadu_si128, MASKS_16[offset.min(16)]);
        _mm_shuffle_epi8(_mm_loadu_si128(to.sub(offset).cast()), mask)
    }
}

/// A short match by 16 bytes and two more.
///
/// # Safety
/// As [`Copier::short_match`]; SSSE3.
#[inline(always)]
unsafe fn short_match_16(to: *mut u8, offset: usize) {
    // SAFETY: (bounds) 18 bytes are written; the last two come from a distance of 16 or more.
    // (cpu) the caller's. Pays in bench `lz4`.
    unsafe {
        _mm_storeu_si128(to.cast(), repetition_16(to, offset));
        let near = usize::from(DISTANCES_16[offset & 31]);
        let distance = if offset < 16 { near } else { offset };
        copy::<2>(to.add(16), to.add(16).sub(distance));
    }
}

impl Copier for Shuffle8 {
    const WIDTH: usize = 8;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { copy::<8>(to, from) }
    }

    #[inline(always)]
    unsafe fn short_match(to: *mut u8, offset: usize) {
        // SAFETY: the caller's; 24 bytes are written, and what comes after the first 8 comes from a
        // distance of 8 or more. Pays in bench `lz4`.
        unsafe {
            let mask = load_mask!(_mm_loadl_epi64, MASKS_16[offset.min(8)]);
            let repetition = _mm_shuffle_epi8(_mm_loadl_epi64(to.sub(offset).cast()), mask);
            _mm_storel_epi64(to.cast(), repetition);
            let near = usize::from(DISTANCES_8[offset & 31]);
            let distance = if offset < 8 { near } else { offset };
            copy::<8>(to.add(8), to.add(8).sub(distance));
            copy::<8>(to.add(16), to.add(16).sub(distance));
        }
    }

    #[inline(always)]
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize) {
        // SAFETY: the caller's; a register is stored only before `len`. Pays in bench `lz4`.
        unsafe {
            if offset >= 8 {
                return copy_back::<8>(to, offset, len);
            }
            let mask = load_mask!(_mm_loadl_epi64, MASKS_16[offset]);
            let repetition = _mm_shuffle_epi8(_mm_loadl_epi64(to.sub(offset).cast()), mask);
            let stride = usize::from(STRIDES_8[offset]);
            let mut done = 0;
            while done < len {
                _mm_storel_epi64(to.add(done).cast(), repetition);
                done += stride;
            }
        }
    }
}

impl Copier for Shuffle16 {
    const WIDTH: usize = 16;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { copy::<16>(to, from) }
    }

    #[inline(always)]
    unsafe fn short_match(to: *mut u8, offset: usize) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { short_match_16(to, offset) }
    }

    #[inline(always)]
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize) {
        // SAFETY: the caller's; a register is stored only before `len`. Pays in bench `lz4`.
        unsafe {
            if offset >= 16 {
                return copy_back::<16>(to, offset, len);
            }
            let repetition = repetition_16(to, offset);
            let stride = usize::from(STRIDES_16[offset]);
            let mut done = 0;
            while done < len {
                _mm_storeu_si128(to.add(done).cast(), repetition);
                done += stride;
            }
        }
    }
}

/// Stores a register until `len` bytes are written, each time a whole number of repetitions on.
///
/// # Safety
/// * `len + 32` bytes from `to` are valid for writes; AVX2.
#[inline(always)]
unsafe fn store_repeatedly(to: *mut u8, repetition: __m256i, offset: usize, len: usize) {
    let stride = usize::from(STRIDES_32[offset & 31]);
    let mut done = 0;
    while done < len {
        // SAFETY: (bounds) `done < len`. (cpu) the caller's. Pays in bench `lz4`.
        unsafe { _mm256_storeu_si256(to.add(done).cast(), repetition) };
        done += stride;
    }
}

impl Copier for Shuffle32 {
    const WIDTH: usize = 32;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { copy::<32>(to, from) }
    }

    #[inline(always)]
    unsafe fn short_match(to: *mut u8, offset: usize) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { short_match_16(to, offset) }
    }

    #[inline(always)]
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe {
            if offset >= 32 {
                return copy_back::<32>(to, offset, len);
            }
            if offset >= 16 {
                return copy_back::<16>(to, offset, len);
            }
            let near = _mm256_broadcastsi128_si256(_mm_loadu_si128(to.sub(offset).cast()));
            let mask = load_mask!(_mm256_loadu_si256, LOW_MASKS_32[offset]);
            store_repeatedly(to, _mm256_shuffle_epi8(near, mask), offset, len);
        }
    }
}

/// The 32 bytes that repeat the `offset` bytes before `to`, or are those bytes if `offset` is more.
///
/// # Safety
/// As [`Copier::short_match`]; AVX2, AVX-512 VL and VBMI.
#[inline(always)]
unsafe fn repetition_32(to: *mut u8, offset: usize) -> __m256i {
    // SAFETY: (reads) 32 bytes from `offset` before `to`, of which those behind `to` are within the
    // overshoot and not used. (cpu) the caller's. Pays in bench `lz4`.
    unsafe {
        let mask = load_mask!(_mm256_loadu_si256, MASKS_32[offset.min(32)]);
        _mm256_permutexvar_epi8(mask, _mm256_loadu_si256(to.sub(offset).cast()))
    }
}

impl Copier for Permute32 {
    const WIDTH: usize = 32;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { copy::<32>(to, from) }
    }

    #[inline(always)]
    unsafe fn short_match(to: *mut u8, offset: usize) {
        // SAFETY: the caller's; 32 bytes are written. Pays in bench `lz4`.
        unsafe { _mm256_storeu_si256(to.cast(), repetition_32(to, offset)) }
    }

    #[inline(always)]
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe {
            if offset >= 32 {
                return copy_back::<32>(to, offset, len);
            }
            store_repeatedly(to, repetition_32(to, offset), offset, len);
        }
    }
}

/// Whether [`decode_shuffle8`] and [`decode_shuffle16`] decode as their names say.
pub(super) fn has_ssse3() -> bool {
    std::arch::is_x86_feature_detected!("ssse3")
}

/// Whether [`decode_moves32`] and [`decode_shuffle32`] decode as their names say.
pub(super) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// Whether [`decode_permute32`] decodes as its name says.
pub(super) fn has_vbmi() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has_avx2() && has!("avx512vl") && has!("avx512vbmi")
}

#[target_feature(enable = "ssse3")]
fn with_ssse3<C: Copier>(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    // SAFETY: (cpu) called below with copiers of SSSE3 only. Pays in bench `lz4`.
    unsafe { decode::<C>(src, out) }
}

#[target_feature(enable = "avx2")]
fn with_avx2<C: Copier>(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    // SAFETY: (cpu) called below with copiers of AVX2 only. Pays in bench `lz4`.
    unsafe { decode::<C>(src, out) }
}

#[target_feature(enable = "avx2,avx512f,avx512bw,avx512vl,avx512vbmi")]
fn with_vbmi<C: Copier>(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    // SAFETY: (cpu) called below with copiers of VBMI only. Pays in bench `lz4`.
    unsafe { decode::<C>(src, out) }
}

/// 8 bytes at a time, with `pshufb` if there is one.
pub(super) fn decode_shuffle8(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    if !has_ssse3() {
        return decode_moves::<8>(src, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `lz4`.
    unsafe { with_ssse3::<Shuffle8>(src, out) }
}

/// 16 bytes at a time, with `pshufb` if there is one.
pub(super) fn decode_shuffle16(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    if !has_ssse3() {
        return decode_moves::<16>(src, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `lz4`.
    unsafe { with_ssse3::<Shuffle16>(src, out) }
}

/// 32 bytes at a time, in one register if there is such a wide one.
pub(super) fn decode_moves32(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    if !has_avx2() {
        return decode_moves::<32>(src, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `lz4`.
    unsafe { with_avx2::<Moves<32>>(src, out) }
}

/// 32 bytes at a time, with `vpshufb` if there is one.
pub(super) fn decode_shuffle32(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    if !has_avx2() {
        return decode_moves::<32>(src, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `lz4`.
    unsafe { with_avx2::<Shuffle32>(src, out) }
}

/// 32 bytes at a time, with `vpermb` if there is one.
pub(super) fn decode_permute32(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    if !has_vbmi() {
        return decode_moves32(src, out);
    }
    // SAFETY: (cpu) detected above. Pays in bench `lz4`.
    unsafe { with_vbmi::<Permute32>(src, out) }
}
