//! Packs numbers into as many bits as the largest needs, in groups whose loops vectorise.
//!
//! A group has up to 1024 numbers of `BITS` bits. It is seen as rows of 1024 bits, so as
//! `1024 / BITS` lanes; number `i` stands in row `i / lanes`, lane `i % lanes`. Each lane packs its
//! numbers one behind the other, and the packed words of all lanes are interleaved:
//!
//! ```text
//! row  lane 0    lane 1    lane 2   …       packed to 3 bits     lane 0             lane 1   …
//! 0    n[0]      n[1]      n[2]             word 0               …n[2L] n[L] n[0]   …n[L+1] n[1]
//! 1    n[L]      n[L+1]    n[L+2]           word 1               …                  …
//! ```
//!
//! So all lanes of a row take the same shift and the same word, and a row is two registers of
//! AVX-512 whatever the number of bits: no loop is written for a certain one (the layout of
//! FastLanes without its order of rows, which serves to add deltas up; see `delta`). Rows that a
//! short last group lacks are not stored.
//!
//! Tests: `tests.rs`; bench: `encodings`.

use crate::error::{DecodeError, Result};
use crate::word::{ROW_BYTES, Word};

/// Numbers of a full group.
pub const GROUP_LEN: usize = 1024;

/// Numbers of a row.
const fn num_lanes<T: Word>() -> usize {
    ROW_BYTES / size_of::<T>()
}

/// Bytes that a group of `len` numbers of `num_bits` bits takes.
pub(crate) fn packed_bytes<T: Word>(len: usize, num_bits: u32) -> usize {
    let num_rows = len.div_ceil(num_lanes::<T>());
    let lane_bits = num_rows * num_bits as usize;
    lane_bits.div_ceil(T::BITS as usize) * ROW_BYTES
}

/// Where a row begins in its lanes: the word's bytes, and bits of the word before it.
#[inline(always)]
fn position<T: Word>(row: usize, num_bits: u32) -> (usize, u32) {
    let first_bit = row * num_bits as usize;
    let word = first_bit / T::BITS as usize;
    let shift = u32::truncated(first_bit as u64) % T::BITS;
    (word * ROW_BYTES, shift)
}

/// Packs how far `numbers` are above `reference`, which no distance of more than `num_bits` may be.
///
/// There are at most [`GROUP_LEN`].
#[inline(always)]
pub(crate) fn pack<T: Word>(numbers: &[T], reference: T, num_bits: u32, out: &mut Vec<u8>) {
    debug_assert!(numbers.len() <= GROUP_LEN && num_bits <= T::BITS);
    if num_bits == 0 {
        return;
    }
    let lanes = num_lanes::<T>();
    let mut packed = [T::default(); GROUP_LEN];
    for (row, numbers) in numbers.chunks(lanes).enumerate() {
        let (first_byte, shift) = position::<T>(row, num_bits);
        let first = first_byte / size_of::<T>();
        for (word, number) in packed[first..first + lanes].iter_mut().zip(numbers) {
            *word = *word | number.wrapping_sub(reference) << shift;
        }
        if shift + num_bits > T::BITS {
            let next = first + lanes;
            for (word, number) in packed[next..next + lanes].iter_mut().zip(numbers) {
                *word = *word | number.wrapping_sub(reference) >> (T::BITS - shift);
            }
        }
    }
    let size_bytes = packed_bytes::<T>(numbers.len(), num_bits);
    let words = &packed[..size_bytes / size_of::<T>()];
    out.extend_from_slice(crate::word::bytes_of(words));
}

/// Undoes [`pack`]; `packed` has the bytes that [`packed_bytes`] says for `out.len()` numbers.
#[inline(always)]
pub(crate) fn unpack<T: Word>(
    packed: &[u8],
    reference: T,
    num_bits: u32,
    out: &mut [T],
) -> Result<()> {
    if out.len() > GROUP_LEN || num_bits > T::BITS {
        return Err(DecodeError::BadHeader("bits of a group"));
    }
    if num_bits == 0 {
        out.fill(reference);
        return Ok(());
    }
    let lanes = num_lanes::<T>();
    let mut rows = out.chunks_exact_mut(lanes);
    let num_full_rows = rows.len();
    for (row, out) in rows.by_ref().enumerate() {
        unpack_row(packed, row, (reference, num_bits), out)?;
    }
    let rest = rows.into_remainder();
    if !rest.is_empty() {
        let mut row = [T::default(); ROW_BYTES];
        unpack_row(
            packed,
            num_full_rows,
            (reference, num_bits),
            &mut row[..lanes],
        )?;
        rest.copy_from_slice(&row[..rest.len()]);
    }
    Ok(())
}

/// Unpacks a whole row.
#[inline(always)]
fn unpack_row<T: Word>(
    packed: &[u8],
    row: usize,
    (reference, num_bits): (T, u32),
    out: &mut [T],
) -> Result<()> {
    let mask = T::mask(num_bits);
    let (first_byte, shift) = position::<T>(row, num_bits);
    let words = packed.get(first_byte..).unwrap_or_default();
    let low = T::row(words.first_chunk().ok_or(DecodeError::Truncated)?);
    // The number of lanes is a constant to the compiler only if it is said here.
    let out = &mut out[..num_lanes::<T>()];
    if shift + num_bits <= T::BITS {
        for (number, low) in out.iter_mut().zip(low.as_ref()) {
            *number = (*low >> shift & mask).wrapping_add(reference);
        }
        return Ok(());
    }
    let high = words[ROW_BYTES..].first_chunk();
    let high = T::row(high.ok_or(DecodeError::Truncated)?);
    for ((number, low), high) in out.iter_mut().zip(low.as_ref()).zip(high.as_ref()) {
        let bits = *low >> shift | *high << (T::BITS - shift);
        *number = (bits & mask).wrapping_add(reference);
    }
    Ok(())
}
