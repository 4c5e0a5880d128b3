//! Asks the processor for memory ahead of its use.
//!
//! Tables larger than the caches answer a search after several waits for memory, one after the other. Where
//! the same step is done for a few hundred rows before the next, the waits of all rows overlap.

/// Bytes that the processor loads at once.
pub const LINE_BYTES: usize = 64;

/// Starts to load the line that `slice[index]` lies in; does nothing visible, whatever the index.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    let address = slice.as_ptr().wrapping_add(index);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is a hint, which the processor drops if there is no memory at the address; SSE, which
        // it is part of, is in every x86-64 processor. Pays in bench `intern`, parts `phrases` and `partitions`.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::hint::black_box(address);
}
