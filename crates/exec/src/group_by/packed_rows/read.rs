//! Takes words and strings out of rows.

use arrow::array::{Array, BinaryViewArray};
use basalt_hashtable::Word;
use basalt_hashtable::views::INLINE_LEN;

use super::LEN_BYTES;

/// The word of which these are the lowest bytes.
#[inline]
pub(super) fn word_of<W: Word>(bytes: &[u8]) -> W {
    let mut word = W::default();
    for (piece, shift) in bytes.chunks(8).zip((0..).step_by(64)) {
        let mut padded = [0; 8];
        padded[..piece.len()].copy_from_slice(piece);
        word = word.union(W::place(u64::from_le_bytes(padded), shift));
    }
    word
}

/// The strings of rows, as views into the rows' buffers: a vector for each column of strings.
pub(super) fn strings_of(
    rows: &BinaryViewArray,
    fixed_bytes: usize,
    num_strings: usize,
) -> Vec<Vec<u128>> {
    let mut columns = vec![Vec::with_capacity(rows.len()); num_strings];
    for (i, row) in rows.views().iter().enumerate() {
        let bytes: &[u8] = rows.value(i);
        let mut start = fixed_bytes;
        for (j, column) in columns.iter_mut().enumerate() {
            let mut len = bytes.len() - start;
            if j + 1 < num_strings {
                let prefix = bytes[start..].first_chunk::<LEN_BYTES>();
                len = prefix.map_or(0, |len| u32::from_le_bytes(*len) as usize);
                start += LEN_BYTES;
            }
            column.push(view_of(*row, start, &bytes[start..start + len]));
            start += len;
        }
    }
    columns
}

/// The view of `string`, which starts at `start` in the row that `row` is the view of.
fn view_of(row: u128, start: usize, string: &[u8]) -> u128 {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(string.len() as u32).to_le_bytes());
    if string.len() <= INLINE_LEN {
        view[4..4 + string.len()].copy_from_slice(string);
        return u128::from_le_bytes(view);
    }
    // A row that holds such a string is no inline one: buffer and offset follow the prefix.
    view[4..8].copy_from_slice(&string[..4]);
    let offset = (row >> 96) + start as u128;
    let buffer = (row >> 64) as u32;
    u128::from_le_bytes(view) | u128::from(buffer) << 64 | offset << 96
}
