//! Appends the values of selected rows, or their numbers, to a vector.
//!
//! ```text
//! make room for all selected rows and a window of 64 places
//! for each word of 64 bits, with the window behind the places written so far:
//!   few ones, or the last rows: write the value of each
//!   else: write the values of the ones to the first places of the window, and anything to the others
//! ```
//!
//! 1. No branch depends on a single row, so that the time hardly depends on what is selected. With AVX2 the bits of
//!    eight rows are an index into a table of permutations, with AVX-512 they are the mask of one instruction.
//! 2. Wide forms move numbers of Rust's own types. Other types may have bytes without a value, which no register
//!    may hold: they take the portable form, and so do those of 16 bytes, of which a register has few.
//!
//! Tests: `tests.rs`; bench: `filter`.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod wide;

use std::mem::MaybeUninit;

use crate::Bitmap;

/// Rows of a bitmap's word, and places of a window.
const WORD_ROWS: usize = 64;

/// Places from the first that is not written yet on; each word may write to all of them.
type Window<T> = [MaybeUninit<T>; WORD_ROWS];

/// Appends the values of the rows whose bit is set, in their order.
///
/// # Panics
/// If the bitmap has another number of rows.
pub fn append_selected<T: Copy + 'static>(values: &[T], bits: Bitmap<'_>, out: &mut Vec<T>) {
    assert_eq!(values.len(), bits.len());
    append(bits, out, |places| {
        #[cfg(target_arch = "x86_64")]
        if let Some(num_written) = wide::values(values, bits, places) {
            return num_written;
        }
        scalar::values(values, bits, places)
    });
}

/// Appends the numbers of the rows whose bit is set, in their order; the first row's number is `first_row`.
///
/// # Panics
/// If the last row's number does not fit.
pub fn append_selected_rows(bits: Bitmap<'_>, first_row: u32, out: &mut Vec<u32>) {
    let end = u64::from(first_row) + bits.len() as u64;
    assert!(end <= 1 << u32::BITS, "too many rows");
    append(bits, out, |places| {
        #[cfg(target_arch = "x86_64")]
        if let Some(num_written) = wide::numbers(bits, first_row, places) {
            return num_written;
        }
        scalar::numbers(bits, first_row, places)
    });
}

/// Appends what `write` writes to the first of the places that it gets: so many values as it gives.
fn append<T>(
    bits: Bitmap<'_>,
    out: &mut Vec<T>,
    write: impl FnOnce(&mut [MaybeUninit<T>]) -> usize,
) {
    out.reserve(bits.count_ones() + WORD_ROWS);
    let num_written = write(out.spare_capacity_mut());
    // SAFETY: (bounds) (init) every form writes the first `num_written` of the vector's free places, in bounds:
    //         see `for_words`. Pays in bench `filter`.
    unsafe { out.set_len(out.len() + num_written) };
}

/// Writes the rows whose bit is set; gives how many.
///
/// Rows of words of `few` ones or less, and those behind the last whole word, are written as `value` gives them; other
/// words by `compact_word`, which gets the word's number and must write as many of the first places as it has ones.
///
/// # Panics
/// If there are fewer than [`WORD_ROWS`] places behind those that are written.
#[inline(always)]
fn for_words<T>(
    bits: Bitmap<'_>,
    places: &mut [MaybeUninit<T>],
    few: usize,
    value: impl Fn(usize) -> T,
    compact_word: impl Fn(usize, u64, &mut Window<T>),
) -> usize {
    let num_whole = bits.len() / WORD_ROWS;
    let mut num_written = 0;
    for word_idx in 0..bits.len().div_ceil(WORD_ROWS) {
        let word = bits.word(word_idx);
        if word == 0 {
            continue;
        }
        let num_ones = word.count_ones() as usize;
        let window: &mut Window<T> = window(places, num_written);
        if num_ones <= few || word_idx == num_whole {
            let mut left = word;
            for place in &mut window[..num_ones] {
                place.write(value(word_idx * WORD_ROWS + left.trailing_zeros() as usize));
                left &= left - 1;
            }
        } else {
            compact_word(word_idx, word, window);
        }
        num_written += num_ones;
    }
    num_written
}

/// `N` places from `start` on.
#[inline(always)]
fn window<T, const N: usize>(
    places: &mut [MaybeUninit<T>],
    start: usize,
) -> &mut [MaybeUninit<T>; N] {
    &mut places[start..].as_chunks_mut().0[0]
}

#[cfg(test)]
mod tests;
