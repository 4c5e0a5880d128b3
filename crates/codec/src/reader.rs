//! Takes pieces off the front of bytes that somebody may have damaged.

use crate::error::{DecodeError, Result};
use crate::word::Word;

/// What is left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        self.0.split_off(..len).ok_or(DecodeError::Truncated)
    }

    /// The next `len` words of `T`, as bytes.
    pub(crate) fn take_words<T: Word>(&mut self, len: usize) -> Result<&'a [u8]> {
        let size_bytes = len.checked_mul(size_of::<T>());
        self.take(size_bytes.ok_or(DecodeError::Truncated)?)
    }

    /// The next word.
    pub(crate) fn word<T: Word>(&mut self) -> Result<T> {
        Ok(T::from_bytes(self.take(size_of::<T>())?))
    }

    /// A count that is at most `most`.
    pub(crate) fn count(&mut self, most: usize, what: &'static str) -> Result<usize> {
        let count = usize::try_from(self.word::<u32>()?);
        let count = count.ok().filter(|count| *count <= most);
        count.ok_or(DecodeError::BadHeader(what))
    }

    /// Ends the reading: nothing may be left.
    pub(crate) fn finish(self) -> Result<()> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::TooLong)
        }
    }
}
