//! Describes the integers that encodings work on.

use std::fmt::Debug;
use std::ops::{BitAnd, BitOr, BitXor, Shl, Shr};

use crate::padded::PaddedBuffer;

/// Bytes that encodings work on at once: two registers of AVX-512.
pub const ROW_BYTES: usize = 128;

/// An unsigned integer of 8, 16, 32 or 64 bits. Signed integers and floats are taken by their bits.
///
/// Sealed: buffers hand out memory as words, which is sound for these four only.
pub trait Word:
    sealed::Sealed
    + Copy
    + Ord
    + Debug
    + Default
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    /// Words of [`ROW_BYTES`] bytes: an array, so that loops over it have a fixed length.
    type Row: Copy + AsRef<[Self]>;

    /// Bits of a word.
    const BITS: u32;
    /// All bits set.
    const MAX: Self;
    /// The bit that is the sign of a signed integer.
    const SIGN: Self;

    /// Reads a word from as many bytes as it has, and nothing from fewer or more.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Reads a row.
    fn row(bytes: &[u8; ROW_BYTES]) -> Self::Row;

    /// Writes the word at the end of `out`.
    fn append_to(self, out: &mut Vec<u8>);

    /// The lowest bits of `wide`.
    fn truncated(wide: u64) -> Self;

    /// The same number in 64 bits.
    fn widened(self) -> u64;

    /// Sum without the bits that do not fit.
    fn wrapping_add(self, other: Self) -> Self;

    /// Difference, modulo the number of words.
    fn wrapping_sub(self, other: Self) -> Self;

    /// Bits above the highest one.
    fn leading_zeros(self) -> u32;

    /// Bits that the number needs; none for 0.
    #[inline]
    fn num_bits(self) -> u32 {
        Self::BITS - self.leading_zeros()
    }

    /// The lowest `num_bits` bits set.
    #[inline]
    fn mask(num_bits: u32) -> Self {
        match num_bits {
            0 => Self::default(),
            _ => Self::MAX >> (Self::BITS - num_bits),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! word {
    ($word:ty) => {
        impl sealed::Sealed for $word {}

        impl Word for $word {
            type Row = [Self; ROW_BYTES / size_of::<Self>()];

            const BITS: u32 = <$word>::BITS;
            const MAX: Self = <$word>::MAX;
            const SIGN: Self = 1 << (<$word>::BITS - 1);

            #[inline(always)]
            fn from_bytes(bytes: &[u8]) -> Self {
                bytes.try_into().map_or(0, Self::from_le_bytes)
            }

            #[inline(always)]
            fn row(bytes: &[u8; ROW_BYTES]) -> Self::Row {
                let (words, _) = bytes.as_chunks();
                std::array::from_fn(|lane| Self::from_le_bytes(words[lane]))
            }

            #[inline]
            fn append_to(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                reason = "the name says that bits are cut off"
            )]
            fn truncated(wide: u64) -> Self {
                wide as Self
            }

            #[inline(always)]
            fn widened(self) -> u64 {
                u64::from(self)
            }

            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                <$word>::wrapping_add(self, other)
            }

            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$word>::wrapping_sub(self, other)
            }

            #[inline(always)]
            fn leading_zeros(self) -> u32 {
                <$word>::leading_zeros(self)
            }
        }
    };
}

word!(u8);
word!(u16);
word!(u32);
word!(u64);

/// The bytes of words, as they lie in memory and, on the processors that we build for, in files.
pub fn bytes_of<T: Word>(words: &[T]) -> &[u8] {
    // SAFETY: (bounds) the same memory. (validity) integers have no padding, and all bits are
    // valid for bytes. (lifetime) that of `words`. Pays in bench `encodings`: no copy before LZ4.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

/// The words that `bytes` are, if they are whole words and lie at a multiple of a word.
pub fn words_of<T: Word>(bytes: &[u8]) -> Option<&[T]> {
    let is_whole = bytes.len().is_multiple_of(size_of::<T>());
    let is_aligned = bytes.as_ptr().cast::<T>().is_aligned();
    // SAFETY: (bounds) the same memory, whole words by the check. (alignment) checked.
    // (validity) `Word` is sealed and has integers only. (lifetime) that of `bytes`.
    // Pays in bench `encodings`: no copy before encoding.
    let words = || unsafe {
        std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>())
    };
    (is_whole && is_aligned).then(words)
}

/// Does `work` with the words that `bytes` are, copied if they do not lie at a multiple of a word; what
/// is left of an incomplete last word is left out.
pub(crate) fn with_words<T: Word, R>(bytes: &[u8], work: impl FnOnce(&[T]) -> R) -> R {
    match words_of(bytes) {
        Some(words) => work(words),
        None => work(PaddedBuffer::copied(bytes).as_words()),
    }
}

/// The words as those of `U`, if `T` is `U`.
pub(crate) fn same_words<T: Word, U: Word>(words: &[T]) -> Option<&[U]> {
    let is_same = T::BITS == U::BITS;
    is_same.then(|| words_of(bytes_of(words))).flatten()
}

/// The words as those of `U`, if `T` is `U`.
pub(crate) fn same_words_mut<T: Word, U: Word>(words: &mut [T]) -> Option<&mut [U]> {
    if T::BITS != U::BITS {
        return None;
    }
    let len = words.len();
    // SAFETY: (type) there is one word of each size, so `T` is `U`. (lifetime, exclusive) those of
    // `words`. Pays in bench `encodings`: floats are decoded in place.
    Some(unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) })
}
