//! Holds decoded bytes, aligned, with room behind them for copies that overshoot.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::word::Word;

/// Bytes behind the last one that a decoder may overwrite: what LZ4 needs at most, see
/// `lz4::decode`.
pub const PADDING: usize = 64;

/// What memory is taken in: a line of a cache, and the alignment that Arrow asks for.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes that begin at a multiple of 64 and have [`PADDING`] more behind them.
///
/// All of the memory is initialised, the padding too, so whatever a decoder leaves there is no
/// undefined value. The padding is invisible: the buffer derefs to its `len` bytes.
#[derive(Clone, Default)]
pub struct PaddedBuffer {
    lines: Vec<Line>,
    len: usize,
}

impl PaddedBuffer {
    /// A buffer of `len` zeros.
    pub fn zeroed(len: usize) -> Self {
        let lines = vec![Line([0; 64]); num_lines(len)];
        Self { lines, len }
    }

    /// A copy of `bytes`.
    pub fn copied(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        buffer.copy_from_slice(bytes);
        buffer
    }

    /// Makes it `len` bytes long. What it holds afterwards is unspecified, but initialised.
    pub fn reset(&mut self, len: usize) {
        let num_lines = num_lines(len);
        if num_lines > self.lines.len() {
            self.lines.resize(num_lines, Line([0; 64]));
        }
        self.len = len;
    }

    /// The bytes as words of `T`; what is left of an incomplete last word is left out.
    pub fn as_words<T: Word>(&self) -> &[T] {
        let len = self.len / size_of::<T>();
        // SAFETY: (bounds) `len` words are at most `self.len` bytes, which `lines` holds by the
        // invariant of `reset`. (alignment) a line is aligned to 64, no word to more.
        // (validity) `Word` is sealed and has integers only, for which all bits are valid.
        // (lifetime) borrowed from `self`. Pays in bench `encodings`: decoders write in place.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), len) }
    }

    /// The bytes as words of `T` that can be written.
    pub fn as_words_mut<T: Word>(&mut self) -> &mut [T] {
        let len = self.len / size_of::<T>();
        // SAFETY: as in `as_words`; (exclusive) borrowed from `&mut self`. Pays in bench `encodings`.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), len) }
    }

    /// The bytes together with the padding behind them, which are [`PADDING`] bytes or more.
    pub(crate) fn with_padding_mut(&mut self) -> &mut [u8] {
        let len = self.lines.len() * size_of::<Line>();
        // SAFETY: (bounds) all lines. (validity) lines are bytes. (exclusive) borrowed from
        // `&mut self`. Pays in bench `lz4`.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), len) }
    }
}

/// Lines that hold `len` bytes and the padding.
fn num_lines(len: usize) -> usize {
    len.div_ceil(size_of::<Line>()) + PADDING / size_of::<Line>()
}

impl Deref for PaddedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_words()
    }
}

impl DerefMut for PaddedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.as_words_mut()
    }
}

impl AsRef<[u8]> for PaddedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for PaddedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PaddedBuffer({} bytes)", self.len)
    }
}

impl PartialEq for PaddedBuffer {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

#[cfg(test)]
mod tests {
    use super::{PADDING, PaddedBuffer};

    #[test]
    fn buffers_are_aligned_and_have_padding() {
        let mut buffer = PaddedBuffer::default();
        for len in (0..300).chain([65_535, 65_536, 65_537, 1]) {
            buffer.reset(len);
            assert_eq!(buffer.len(), len);
            assert_eq!(buffer.as_words::<u64>().len(), len / 8);
            assert!(buffer.with_padding_mut().len() >= len + PADDING);
            assert_eq!(buffer.as_ptr() as usize % 64, 0);
        }
    }

    #[test]
    fn words_are_the_bytes() {
        let mut buffer = PaddedBuffer::copied(&[1, 0, 2, 0, 9]);
        assert_eq!(buffer.as_words::<u16>(), [1_u16.to_le(), 2_u16.to_le()]);
        buffer.as_words_mut::<u16>()[1] = 3_u16.to_le();
        assert_eq!(*buffer, [1, 0, 3, 0, 9]);
    }
}
