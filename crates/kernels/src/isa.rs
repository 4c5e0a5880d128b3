//! Tells whether wide instructions may be called, and loads registers from arrays.
//!
//! Kernels for wide instructions are safe functions with `#[target_feature]`. What calls them asks
//! here first: that is the `(cpu)` of the SAFETY comments. Detection is cached by std and costs one
//! load, so it is done for every call of a kernel instead of being passed around as a promise.

use std::arch::x86_64::{
    __m256i, __m512d, __m512i, _mm256_loadu_si256, _mm512_loadu_pd, _mm512_loadu_si512,
    _mm512_storeu_pd, _mm512_storeu_si512,
};

/// Whether functions with `avx2,bmi1,bmi2,popcnt,lzcnt` may be called.
#[inline]
pub(crate) fn has_avx2() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("bmi1") && has!("bmi2") && has!("popcnt") && has!("lzcnt")
}

/// Whether functions with `avx512f,avx512bw,avx512dq,avx512vl` and those of [`has_avx2`] may be called.
#[inline]
pub(crate) fn has_avx512() -> bool {
    use std::arch::is_x86_feature_detected as has;
    let has_avx512 = has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
    has_avx512 && has_avx2()
}

/// Whether, beyond [`has_avx512`], functions with `avx512ifma` may be called.
#[inline]
pub(crate) fn has_avx512_ifma() -> bool {
    has_avx512() && std::arch::is_x86_feature_detected!("avx512ifma")
}

/// Whether, beyond [`has_avx512`], functions with `avx512vbmi2` may be called.
#[inline]
pub(crate) fn has_avx512_vbmi2() -> bool {
    has_avx512() && std::arch::is_x86_feature_detected!("avx512vbmi2")
}

#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn load_bytes_256(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: (bounds) the array has 32 bytes; any alignment is fine. Pays in bench `average`.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_bytes_512(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: (bounds) the array has 64 bytes; any alignment is fine. Pays in bench `average`.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_f64x8(values: &[f64; 8]) -> __m512d {
    // SAFETY: (bounds) the array has 64 bytes; any alignment is fine. Pays in benches `average`, `sum`.
    unsafe { _mm512_loadu_pd(values.as_ptr()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_f64x8(values: &mut [f64; 8], register: __m512d) {
    // SAFETY: (bounds) the array has 64 bytes; any alignment is fine. Pays in benches `average`, `sum`.
    unsafe { _mm512_storeu_pd(values.as_mut_ptr(), register) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_u64x8(words: &[u64; 8]) -> __m512i {
    // SAFETY: (bounds) the array has 64 bytes; any alignment is fine. Pays in bench `divide`.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_u64x8(words: &mut [u64; 8], register: __m512i) {
    // SAFETY: (bounds) the array has 64 bytes; any alignment is fine. Pays in bench `divide`.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), register) }
}
