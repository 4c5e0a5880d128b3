//! Copies matches of LZ4 with nothing but moves of 8, 16 or 32 bytes.

/// Longest match whose length fits into a token.
pub(super) const SHORT_MATCH: usize = 18;

/// Bytes that a copier may write behind the end of what it has to write, at most.
pub(super) const MAX_OVERSHOOT: usize = 32;

/// A way to copy: so many bytes at a time, and with or without instructions that shuffle bytes.
///
/// A match of `offset` bytes back may overlap what it writes: then its bytes repeat. Implementations
/// call nothing that is not inlined, so that their loops are compiled for the caller's instructions.
pub(super) trait Copier {
    /// Bytes of a copy.
    const WIDTH: usize;

    /// Copies `WIDTH` bytes, all read before any is written.
    ///
    /// # Safety
    /// * `from` is valid for reads and `to` for writes of `WIDTH` bytes.
    /// * The processor has the implementation's instructions.
    unsafe fn copy(to: *mut u8, from: *const u8);

    /// Writes at least [`SHORT_MATCH`] bytes that repeat those `offset` back, at most
    /// [`MAX_OVERSHOOT`].
    ///
    /// # Safety
    /// * `offset` is not 0, and so many bytes before `to` are valid for reads.
    /// * `MAX_OVERSHOOT` bytes from `to` are valid for reads and writes.
    /// * The processor has the implementation's instructions.
    unsafe fn short_match(to: *mut u8, offset: usize);

    /// Writes at least `len` bytes that repeat those `offset` back, and fewer than
    /// [`MAX_OVERSHOOT`] behind.
    ///
    /// # Safety
    /// * `offset` is not 0, and so many bytes before `to` are valid for reads.
    /// * `len + MAX_OVERSHOOT` bytes from `to` are valid for reads and writes.
    /// * The processor has the implementation's instructions.
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize);
}

/// Moves `N` bytes through registers.
///
/// # Safety
/// `from` is valid for reads and `to` for writes of `N` bytes; they may overlap.
#[inline(always)]
pub(super) unsafe fn copy<const N: usize>(to: *mut u8, from: *const u8) {
    // SAFETY: the caller's. A move of so few bytes is not a call. Pays in bench `lz4`.
    unsafe { std::ptr::copy(from, to, N) }
}

/// Copies `len` bytes from `distance` back, `N` at a time.
///
/// # Safety
/// * `distance` is at least `N`, and so many bytes before `to` are valid for reads.
/// * `len + N` bytes from `to` are valid for writes.
#[inline(always)]
pub(super) unsafe fn copy_back<const N: usize>(to: *mut u8, distance: usize, len: usize) {
    debug_assert!(distance >= N);
    let mut done = 0;
    while done < len {
        // SAFETY: (bounds) `done < len`, so less than `len + N` is touched; what is read ends before
        // `to + done`, because `distance` is at least `N`. Pays in bench `lz4`.
        unsafe {
            let at = to.add(done);
            copy::<N>(at, at.sub(distance));
        }
        done += N;
    }
}

/// For each offset up to `width` the largest multiple of it that is at most `width`: so far apart a
/// register of `width` bytes is stored again to go on with a repetition.
pub(super) const fn strides(width: usize) -> [u8; 32] {
    let mut strides = [0; 32];
    let mut offset = 1;
    while offset <= width && offset < 32 {
        assert!(width < 256);
        #[expect(clippy::cast_possible_truncation, reason = "asserted, at compile time")]
        {
            strides[offset] = (width - width % offset) as u8;
        }
        offset += 1;
    }
    strides
}

pub(super) static STRIDES_8: [u8; 32] = strides(8);

/// For each offset below 8 the mask of so many bytes, and the number whose bytes at multiples of the
/// offset are 1: a product with it repeats those bytes.
static SPREADS: [(u64, u64); 8] = {
    let mut spreads = [(0, 0); 8];
    let mut offset = 1;
    while offset < 8 {
        let mut at = 0;
        while at < 8 {
            spreads[offset].1 |= 1 << (8 * at);
            at += offset;
        }
        spreads[offset].0 = (1 << (8 * offset)) - 1;
        offset += 1;
    }
    spreads
};

/// The 8 bytes that repeat the `offset` bytes before `to`, for an offset of 1 to 7.
///
/// # Safety
/// `offset` bytes before `to` and 8 from `to` are valid for reads.
#[inline(always)]
unsafe fn repetition_8(to: *mut u8, offset: usize) -> [u8; 8] {
    debug_assert!(0 < offset && offset < 8);
    // SAFETY: the caller's; what lies behind `to` is masked off. Pays in bench `lz4`.
    let bytes = unsafe { to.sub(offset).cast::<[u8; 8]>().read_unaligned() };
    let (mask, ones) = SPREADS[offset & 7];
    ((u64::from_le_bytes(bytes) & mask).wrapping_mul(ones)).to_le_bytes()
}

/// Writes `len` bytes that repeat those `offset` back, by moves of at most `N` bytes.
///
/// # Safety
/// As [`Copier::long_match`].
#[inline(always)]
unsafe fn repeat<const N: usize>(to: *mut u8, offset: usize, len: usize) {
    // SAFETY: the caller's; each way copies less than the distance at once, and begins no write
    // behind `len`. Pays in bench `lz4`.
    unsafe {
        if offset >= N {
            copy_back::<N>(to, offset, len);
        } else if N > 16 && offset >= 16 {
            copy_back::<16>(to, offset, len);
        } else if N > 8 && offset >= 8 {
            copy_back::<8>(to, offset, len);
        } else {
            let repetition = repetition_8(to, offset);
            let stride = usize::from(STRIDES_8[offset & 7]);
            let mut done = 0;
            while done < len {
                to.add(done).cast::<[u8; 8]>().write_unaligned(repetition);
                done += stride;
            }
        }
    }
}

/// Moves of `N` bytes, which is 8, 16 or 32. What overlaps is copied by narrower ones, and what is
/// nearer than 8 bytes is repeated by a multiplication.
pub(super) struct Moves<const N: usize>;

impl<const N: usize> Copier for Moves<N> {
    const WIDTH: usize = N;

    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { copy::<N>(to, from) }
    }

    #[inline(always)]
    unsafe fn short_match(to: *mut u8, offset: usize) {
        // SAFETY: the caller's; at most 32 bytes are written. Pays in bench `lz4`.
        unsafe { repeat::<N>(to, offset, SHORT_MATCH) }
    }

    #[inline(always)]
    unsafe fn long_match(to: *mut u8, offset: usize, len: usize) {
        // SAFETY: the caller's. Pays in bench `lz4`.
        unsafe { repeat::<N>(to, offset, len) }
    }
}
