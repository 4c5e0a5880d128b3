//! Reads which rows have a value from a bitmap, 64 rows at a time.

use crate::widest::{Loop, widest};

/// Bits in Arrow's order: row `i` is bit `(offset + i) % 8` of byte `(offset + i) / 8`.
#[derive(Clone, Copy, Debug)]
pub struct Bitmap<'a> {
    bytes: &'a [u8],
    offset: usize,
    len: usize,
}

impl<'a> Bitmap<'a> {
    /// The bits of `len` rows that begin at bit `offset`; `None` if the bytes are too few.
    pub fn try_new(bytes: &'a [u8], offset: usize, len: usize) -> Option<Self> {
        let num_bits = offset.checked_add(len)?;
        let is_inside = num_bits.div_ceil(8) <= bytes.len();
        is_inside.then_some(Self { bytes, offset, len })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits of `len` rows from `first` on.
    ///
    /// # Panics
    /// If there are no such rows.
    #[inline]
    pub fn slice(&self, first: usize, len: usize) -> Self {
        assert!(first <= self.len && len <= self.len - first);
        Self {
            bytes: self.bytes,
            offset: self.offset + first,
            len,
        }
    }

    /// Whether the row has a value.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row_idx: usize) -> bool {
        assert!(row_idx < self.len);
        let bit = self.offset + row_idx;
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// Number of rows that have a value.
    #[inline]
    pub fn count_ones(&self) -> usize {
        widest(Ones(*self))
    }

    /// Bits of the 64 rows from `64 * word_idx` on, the first row lowest; rows beyond the end are 0.
    #[inline]
    pub fn word(&self, word_idx: usize) -> u64 {
        let row_idx = word_idx * 64;
        if row_idx >= self.len {
            return 0;
        }
        let start = (self.offset + row_idx) / 8;
        let shift = (self.offset + row_idx) % 8;
        let bytes = &self.bytes[start..];
        let word = match bytes.first_chunk::<9>() {
            Some(&[low @ .., high]) => {
                // Shifting twice keeps a shift by 64 out of it when `shift` is 0.
                u64::from_le_bytes(low) >> shift | u64::from(high) << 1 << (63 - shift)
            }
            None => last_word(bytes) >> shift,
        };
        let num_left = self.len - row_idx;
        if num_left >= 64 {
            word
        } else {
            word & ((1 << num_left) - 1)
        }
    }
}

/// Counts the ones of all bytes, and takes off those of other rows.
struct Ones<'a>(Bitmap<'a>);

impl Loop for Ones<'_> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Bitmap { bytes, offset, len } = self.0;
        let end = offset + len;
        let bytes = &bytes[offset / 8..end.div_ceil(8)];
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
            return 0;
        };
        let before = first & ((1 << (offset % 8)) - 1);
        let behind = if end % 8 == 0 { 0 } else { last >> (end % 8) };
        let (words, rest) = bytes.as_chunks();
        let in_words = words
            .iter()
            .map(|word| u64::from_le_bytes(*word).count_ones() as usize);
        let in_rest = rest.iter().map(|byte| byte.count_ones() as usize);
        let outside = before.count_ones() + behind.count_ones();
        in_words.sum::<usize>() + in_rest.sum::<usize>() - outside as usize
    }
}

/// The word of the last eight bytes or fewer.
#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let mut padded = [0; 8];
    padded[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(padded)
}

#[cfg(test)]
mod tests {
    use super::Bitmap;

    #[test]
    fn words_agree_with_single_bits() {
        let bytes: Vec<u8> = (0..40_u32).map(|i| ((i * i * 37) >> 3) as u8).collect();
        for offset in 0..19 {
            for len in 0..=(bytes.len() * 8 - offset) {
                let bitmap = Bitmap::try_new(&bytes, offset, len).unwrap();
                for word_idx in 0..=len / 64 {
                    let rows = word_idx * 64..len.min(word_idx * 64 + 64);
                    let bits = rows
                        .rev()
                        .fold(0, |w, row| w << 1 | u64::from(bitmap.get(row)));
                    assert_eq!(bitmap.word(word_idx), bits, "{offset} {len} {word_idx}");
                }
                let part = bitmap.slice(len / 3, len / 2);
                let num_ones = (0..len).filter(|row| bitmap.get(*row)).count();
                assert_eq!(bitmap.count_ones(), num_ones, "{offset} {len}");
                assert!((0..len / 2).all(|row| part.get(row) == bitmap.get(len / 3 + row)));
            }
        }
    }

    #[test]
    fn too_few_bytes_are_refused() {
        assert!(Bitmap::try_new(&[0], 1, 8).is_none());
        assert!(Bitmap::try_new(&[0], 1, 7).is_some());
        assert!(Bitmap::try_new(&[0], usize::MAX, 2).is_none());
        assert!(Bitmap::try_new(&[], 0, 0).is_some_and(|bitmap| bitmap.is_empty()));
    }
}
