//! Specifies what LZ4 blocks mean, and decodes the last bytes of each, where no copy may overshoot.

use crate::error::{DecodeError, Result};

/// Least length of a match: a token's 0 means this.
pub(super) const MIN_MATCH: usize = 4;

/// Nibble of a token that says that bytes with the rest of the length follow.
pub(super) const LENGTH_FOLLOWS: usize = 15;

/// Decodes the sequences in `src` to `out[written..]`, which they must fill exactly.
///
/// ```text
/// sequence  token, literal length…, literals, offset (2 bytes, little-endian), match length…
/// token     high nibble: number of literals, low nibble: length of the match - 4
/// length…   follows if a nibble is 15: bytes to add, up to the first that is not 255
/// ```
///
/// The last sequence ends with its literals.
pub(super) fn decode(mut src: &[u8], out: &mut [u8], mut written: usize) -> Result<()> {
    loop {
        let (&token, rest) = src.split_first().ok_or(DecodeError::Truncated)?;
        src = rest;
        let num_literals = length(usize::from(token >> 4), &mut src)?;
        let literals = src
            .split_off(..num_literals)
            .ok_or(DecodeError::Truncated)?;
        let room = out.get_mut(written..).unwrap_or_default();
        room.get_mut(..num_literals)
            .ok_or(DecodeError::TooLong)?
            .copy_from_slice(literals);
        written += num_literals;
        if src.is_empty() {
            let is_full = written == out.len();
            return if is_full {
                Ok(())
            } else {
                Err(DecodeError::Truncated)
            };
        }
        let offset = src.split_off(..2).ok_or(DecodeError::Truncated)?;
        let offset = usize::from(offset[0]) | usize::from(offset[1]) << 8;
        let len = length(usize::from(token & 15), &mut src)?.saturating_add(MIN_MATCH);
        if offset == 0 || offset > written {
            return Err(DecodeError::BadOffset);
        }
        if len > out.len() - written {
            return Err(DecodeError::TooLong);
        }
        repeat(out, written, offset, len);
        written += len;
    }
}

/// A length whose nibble was read.
fn length(nibble: usize, src: &mut &[u8]) -> Result<usize> {
    let mut length = nibble;
    if nibble == LENGTH_FOLLOWS {
        loop {
            let more = *src.split_off_first().ok_or(DecodeError::Truncated)?;
            length = length.saturating_add(usize::from(more));
            if more != u8::MAX {
                break;
            }
        }
    }
    Ok(length)
}

/// Writes `len` bytes from `start` on that repeat the `offset` bytes before.
fn repeat(out: &mut [u8], start: usize, offset: usize, len: usize) {
    let mut done = 0;
    while done < len {
        // What is there is a whole number of repetitions, so it may be copied as one.
        let len = (offset + done).min(len - done);
        out.copy_within(start - offset..start - offset + len, start + done);
        done += len;
    }
}
