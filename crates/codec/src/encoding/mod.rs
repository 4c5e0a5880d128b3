//! Encodes numbers so that they take less room, before compression or instead of it.
//!
//! A transformation replaces words by as many words; a packing turns words into bytes.
//!
//! | module | owns |
//! |---|---|
//! | `delta` | [`Transform::Delta`], [`Transform::DoubleDelta`] |
//! | `constant` | [`Packing::Constant`] |
//! | `dictionary` | [`Packing::Dictionary`] |
//! | `run_length` | [`Packing::RunLength`] |
//! | `frame_of_reference` | [`Packing::FrameOfReference`] |
//! | `decimal` | [`Packing::Decimal`] |
//! | [`bit_packing`] | numbers in as many bits as they need, by groups of 1024 |
//! | `distinct` | an estimate of how many numbers are different |
//!
//! Every packing encodes, decodes and estimates its size; decoders check what they read. Tests:
//! `tests.rs`; bench: `encodings`.

pub mod bit_packing;
pub(crate) mod constant;
mod decimal;
mod delta;
mod dictionary;
pub(crate) mod distinct;
mod frame_of_reference;
mod run_length;

use crate::element::{Element, Kind};
use crate::error::{DecodeError, Result};
use crate::reader::Reader;
use crate::word::{Word, bytes_of, same_words, same_words_mut};

/// A step that replaces words by words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Transform {
    /// Distances from the number before.
    Delta = 1,
    /// Distances of distances.
    DoubleDelta = 2,
}

/// A step that turns words into bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Packing {
    /// As they lie in memory.
    Plain = 0,
    /// One value, as all are equal.
    Constant = 1,
    /// Places in a list of the numbers that occur.
    Dictionary = 2,
    /// Numbers and how often each follows itself.
    RunLength = 3,
    /// Distances from the least number of a group, in as few bits as they need.
    FrameOfReference = 4,
    /// Floats as decimal integers (ALP).
    Decimal = 5,
}

impl Transform {
    /// Every transformation.
    pub const ALL: [Self; 2] = [Self::Delta, Self::DoubleDelta];

    /// Its name in `CODEC(…)`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delta => "Delta",
            Self::DoubleDelta => "DoubleDelta",
        }
    }

    pub(crate) fn from_id(id: u8) -> Result<Option<Self>> {
        if id == 0 {
            return Ok(None);
        }
        let found = Self::ALL.into_iter().find(|t| *t as u8 == id);
        found
            .map(Some)
            .ok_or(DecodeError::BadHeader("transformation"))
    }

    /// Replaces `words` and appends what undoing needs to `out`.
    pub fn apply<T: Word>(self, words: &mut [T], out: &mut Vec<u8>) {
        delta::encode(words, out);
        if self == Self::DoubleDelta {
            let start = out.split_off(out.len() - size_of::<T>());
            delta::encode(words, out);
            // The start of the numbers comes first, then that of the distances.
            let distances = out.split_off(out.len() - size_of::<T>());
            out.extend(start);
            out.extend(distances);
        }
    }

    /// Bytes that [`Self::apply`] appends.
    pub(crate) fn start_bytes<T: Word>(self) -> usize {
        match self {
            Self::Delta => size_of::<T>(),
            Self::DoubleDelta => 2 * size_of::<T>(),
        }
    }

    /// Undoes [`Self::apply`] with the bytes that it appended.
    ///
    /// # Errors
    /// If these are fewer or more bytes.
    pub fn undo<T: Word>(self, start: &[u8], words: &mut [T]) -> Result<()> {
        let mut reader = Reader::new(start);
        match self {
            Self::Delta => delta::decode(&mut reader)?(words),
            Self::DoubleDelta => delta::decode_twice(&mut reader)?(words),
        }
        reader.finish()
    }
}

impl Packing {
    /// Every packing.
    pub const ALL: [Self; 6] = [
        Self::Plain,
        Self::Constant,
        Self::Dictionary,
        Self::RunLength,
        Self::FrameOfReference,
        Self::Decimal,
    ];

    /// Its name in `CODEC(…)`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "Plain",
            Self::Constant => "Constant",
            Self::Dictionary => "Dictionary",
            Self::RunLength => "RunLength",
            Self::FrameOfReference => "FrameOfReference",
            Self::Decimal => "ALP",
        }
    }

    pub(crate) fn from_id(id: u8) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|p| *p as u8 == id);
        found.ok_or(DecodeError::BadHeader("packing"))
    }

    /// Whether values of this kind can be packed so.
    pub fn fits(self, element: Element) -> bool {
        match self {
            Self::Plain | Self::Constant => true,
            Self::Dictionary | Self::RunLength | Self::FrameOfReference => element.is_number(),
            Self::Decimal => element.kind() == Kind::Float,
        }
    }

    /// Bytes that `words` take packed, for some packings estimated; `None` if they cannot be.
    pub fn estimated_bytes<T: Word>(self, words: &[T]) -> Option<usize> {
        let plain = size_of_val(words);
        match self {
            Self::Plain => Some(plain),
            Self::Constant => {
                constant::is_constant(bytes_of(words), size_of::<T>()).then_some(size_of::<T>())
            }
            Self::Dictionary => {
                let num_distinct = distinct::estimate(words);
                let bytes = || dictionary::estimated_bytes::<T>(words.len(), num_distinct);
                (num_distinct <= dictionary::MAX_LEN).then(bytes)
            }
            Self::RunLength => Some(run_length::estimated_bytes(words)),
            Self::FrameOfReference => Some(frame_of_reference::encoded_bytes(words)),
            Self::Decimal => match same_words::<T, u32>(words) {
                Some(words) => Some(decimal::estimated_bytes(words)),
                None => same_words::<T, u64>(words).map(decimal::estimated_bytes),
            },
        }
    }

    /// Appends the packed `words` to `out`; false if they cannot be packed so, and then `out` is
    /// unspecified from its end on.
    pub fn pack<T: Word>(self, words: &[T], out: &mut Vec<u8>) -> bool {
        // Lengths and places are stored in 32 bits.
        if u32::try_from(words.len()).is_err() {
            return false;
        }
        match self {
            Self::Plain => out.extend_from_slice(bytes_of(words)),
            Self::Constant => {
                let bytes = bytes_of(words);
                if !constant::is_constant(bytes, size_of::<T>()) {
                    return false;
                }
                constant::encode(bytes, size_of::<T>(), out);
            }
            Self::Dictionary => return dictionary::encode(words, out),
            Self::RunLength => run_length::encode(words, out),
            Self::FrameOfReference => frame_of_reference::encode(words, out),
            Self::Decimal => match (same_words::<T, u32>(words), same_words::<T, u64>(words)) {
                (Some(words), _) => return decimal::encode(words, out),
                (_, Some(words)) => return decimal::encode(words, out),
                _ => return false,
            },
        }
        true
    }

    /// Undoes [`Self::pack`]: unpacks as many words as `out` has.
    ///
    /// # Errors
    /// If the bytes are not what packing wrote; what `out` holds then is unspecified.
    pub fn unpack<T: Word>(self, bytes: &[u8], out: &mut [T]) -> Result<()> {
        match self {
            Self::Plain => copy_words(bytes, out),
            Self::Constant => {
                let value = (bytes.len() == size_of::<T>()).then(|| T::from_bytes(bytes));
                out.fill(value.ok_or(DecodeError::BadHeader("size of the constant"))?);
                Ok(())
            }
            Self::Dictionary => dictionary::decode(bytes, out),
            Self::RunLength => run_length::decode(bytes, out),
            Self::FrameOfReference => frame_of_reference::decode(bytes, out),
            Self::Decimal => {
                if let Some(out) = same_words_mut::<T, u32>(out) {
                    return decimal::decode(bytes, out);
                }
                let out = same_words_mut::<T, u64>(out).ok_or(NO_FLOATS)?;
                decimal::decode(bytes, out)
            }
        }
    }
}

const NO_FLOATS: DecodeError = DecodeError::BadHeader("packing of values that are no floats");

fn copy_words<T: Word>(bytes: &[u8], out: &mut [T]) -> Result<()> {
    if bytes.len() != size_of_val(out) {
        return Err(DecodeError::Truncated);
    }
    let words = bytes.chunks_exact(size_of::<T>()).map(T::from_bytes);
    out.iter_mut().zip(words).for_each(|(to, from)| *to = from);
    Ok(())
}

#[cfg(test)]
mod tests;
