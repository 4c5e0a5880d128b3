//! Decodes LZ4 blocks with copies that overshoot.
//!
//! ```text
//! while at least INPUT_MARGIN bytes of input are left:
//!     stop with an error if more was written than fits
//!     copy 16 literals; for a longer run check both ends, copy WIDTH at a time
//!     read the offset, check that it lies within what was written
//!     copy a short match without any check; for a longer one check the end
//! decode what is left by the specification, which checks every byte
//! ```
//!
//! 1. A token's own lengths, without bytes that follow, are at most 14 literals and a match of 18.
//!    Together with what a copier overshoots they end less than [`PADDING`] behind the last byte, so
//!    one check for each sequence, after the fact, is enough.
//! 2. Input has no padding, because it may be a mapped file: near its end the specification decodes.
//!    So it does when a long run of literals ends there: the sequence is begun again.
//! 3. The rules for the last bytes of a block (five literals at least, no match in the last twelve)
//!    are not needed here and not checked.

use crate::error::{DecodeError, Result};
use crate::lz4::copy::{Copier, MAX_OVERSHOOT, Moves, SHORT_MATCH, copy};
use crate::lz4::scalar::{self, LENGTH_FOLLOWS, MIN_MATCH};
use crate::padded::{PADDING, PaddedBuffer};

/// Input that a sequence without long literals reads before its end is checked: the token, the copy
/// of 16 literals, of which 14 are followed by an offset.
const INPUT_MARGIN: usize = 1 + 16;

const _: () = assert!(LENGTH_FOLLOWS - 1 + SHORT_MATCH + MAX_OVERSHOOT <= PADDING);

/// Decodes `src` into `out`, which it must fill exactly.
///
/// # Safety
/// The processor has the instructions of `C`.
#[inline(always)]
pub(super) unsafe fn decode<C: Copier>(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    let len = out.len();
    let padded = out.with_padding_mut();
    if padded.len() < len + PADDING {
        // A buffer that was never given a length.
        return scalar::decode(src, out, 0);
    }
    let start = padded.as_mut_ptr();
    // SAFETY: see `decode_sequences`. Pays in bench `lz4`.
    let (num_read, num_written) = unsafe { decode_sequences::<C>(src, start, len)? };
    scalar::decode(&src[num_read..], out, num_written)
}

/// Decodes `src` into `out` by moves of `N` bytes that every processor can do.
pub(super) fn decode_moves<const N: usize>(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    // SAFETY: (cpu) moves need no instructions of their own. Pays in bench `lz4`.
    unsafe { decode::<Moves<N>>(src, out) }
}

/// Decodes all sequences but the last ones; returns what was read and written.
///
/// # Safety
/// * `len + PADDING` bytes from `start` are valid for reads and writes.
/// * The processor has the instructions of `C`.
#[inline(always)]
unsafe fn decode_sequences<C: Copier>(
    src: &[u8],
    start: *mut u8,
    len: usize,
) -> Result<(usize, usize)> {
    let mut read = 0;
    let mut written = 0;
    while src.len() - read >= INPUT_MARGIN {
        if written > len {
            return Err(DecodeError::TooLong);
        }
        let sequence = read;
        // SAFETY: (reads) `INPUT_MARGIN` bytes from `read` are input; `literals` runs of more are
        // checked, with what their copy overshoots and the offset behind them. (writes) `written`
        // is at most `len` above, then 14 more, and the match at most 18: the sum and the
        // overshoot are within `PADDING`; longer runs and matches are checked to end within `len`.
        // (offset) checked to be within what was written. Pays in bench `lz4`.
        unsafe {
            let token = *src.as_ptr().add(read);
            read += 1;
            let literals = usize::from(token >> 4);
            if literals < LENGTH_FOLLOWS {
                copy::<16>(start.add(written), src.as_ptr().add(read));
                read += literals;
                written += literals;
            } else {
                let literals = long_length(src, &mut read)?;
                if literals > len - written {
                    return Err(DecodeError::TooLong);
                }
                if literals + C::WIDTH + 2 > src.len() - read {
                    return Ok((sequence, written));
                }
                copy_literals::<C>(start.add(written), src.as_ptr().add(read), literals);
                read += literals;
                written += literals;
            }
            let offset = offset_at(src.as_ptr().add(read));
            read += 2;
            // Also true for 0.
            if offset.wrapping_sub(1) >= written {
                return Err(DecodeError::BadOffset);
            }
            let matched = usize::from(token & 15);
            if matched < LENGTH_FOLLOWS {
                C::short_match(start.add(written), offset);
                written += matched + MIN_MATCH;
            } else {
                let matched = long_length(src, &mut read)?.saturating_add(MIN_MATCH);
                if written > len || matched > len - written {
                    return Err(DecodeError::TooLong);
                }
                C::long_match(start.add(written), offset, matched);
                written += matched;
            }
        }
    }
    if written > len {
        return Err(DecodeError::TooLong);
    }
    Ok((read, written))
}

/// The offset of a match.
///
/// # Safety
/// Two bytes at `from` are valid for reads.
#[inline(always)]
unsafe fn offset_at(from: *const u8) -> usize {
    // SAFETY: the caller's. Pays in bench `lz4`.
    usize::from(u16::from_le_bytes(unsafe {
        from.cast::<[u8; 2]>().read_unaligned()
    }))
}

/// The length that a nibble of 15 and the bytes from `read` on make.
#[inline(always)]
fn long_length(src: &[u8], read: &mut usize) -> Result<usize> {
    let mut length = LENGTH_FOLLOWS;
    loop {
        let more = *src.get(*read).ok_or(DecodeError::Truncated)?;
        *read += 1;
        length = length.saturating_add(usize::from(more));
        if more != u8::MAX {
            return Ok(length);
        }
    }
}

/// Copies a run of literals.
///
/// # Safety
/// * `len + WIDTH` bytes are valid for reads at `from` and for writes at `to`; they do not overlap.
/// * The processor has the instructions of `C`.
#[inline(always)]
unsafe fn copy_literals<C: Copier>(to: *mut u8, from: *const u8, len: usize) {
    let mut done = 0;
    while done < len {
        // SAFETY: `done < len`, the rest is the caller's. Pays in bench `lz4`.
        unsafe { C::copy(to.add(done), from.add(done)) };
        done += C::WIDTH;
    }
}
