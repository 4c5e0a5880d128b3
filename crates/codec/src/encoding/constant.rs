//! Encodes equal values as one of them, whatever their width.

use crate::error::{DecodeError, Result};

/// Whether all values of `width` bytes are equal; not so if there is none.
pub(crate) fn is_constant(values: &[u8], width: usize) -> bool {
    // Each value equals the one before it if all bytes equal those `width` before.
    values.len() >= width && values[width..] == values[..values.len() - width]
}

/// Appends the one value to `out`.
pub(crate) fn encode(values: &[u8], width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&values[..width.min(values.len())]);
}

/// Fills `out` with the one value.
pub(crate) fn decode(bytes: &[u8], width: usize, out: &mut [u8]) -> Result<()> {
    if bytes.len() != width {
        return Err(DecodeError::BadHeader("size of the constant"));
    }
    if let [byte] = bytes {
        out.fill(*byte);
        return Ok(());
    }
    // Doubles what is there, so that long blocks are copied in long pieces.
    let mut done = width.min(out.len());
    out[..done].copy_from_slice(&bytes[..done]);
    while done < out.len() {
        let len = done.min(out.len() - done);
        out.copy_within(..len, done);
        done += len;
    }
    Ok(())
}
