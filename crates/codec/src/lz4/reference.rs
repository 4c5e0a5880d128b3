//! Compresses and decompresses blocks of LZ4 by the C library: what our decoders are measured against.

use lz4::block::{self, CompressionMode};

use crate::error::{DecodeError, Result};
use crate::padded::PaddedBuffer;

/// Compresses `bytes` behind the end of `out`. A higher `acceleration` is faster and compresses less.
///
/// Returns whether it could: a block has at most about 2 GiB.
pub fn compress_fast(bytes: &[u8], acceleration: u8, out: &mut Vec<u8>) -> bool {
    compress(bytes, CompressionMode::FAST(i32::from(acceleration)), out)
}

/// As [`compress_fast`], much slower and smaller; levels are 1 to 12.
pub fn compress_high(bytes: &[u8], level: u8, out: &mut Vec<u8>) -> bool {
    compress(
        bytes,
        CompressionMode::HIGHCOMPRESSION(i32::from(level)),
        out,
    )
}

fn compress(bytes: &[u8], mode: CompressionMode, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let Ok(most) = block::compress_bound(bytes.len()) else {
        return false;
    };
    out.resize(start + most, 0);
    let written = block::compress_to_buffer(bytes, Some(mode), false, &mut out[start..]);
    out.truncate(start + written.as_ref().map_or(0, |len| *len));
    written.is_ok()
}

/// Decompresses a block into `out`, which it must fill exactly.
pub(super) fn decompress(src: &[u8], out: &mut PaddedBuffer) -> Result<()> {
    let len = i32::try_from(out.len()).map_err(|_| DecodeError::TooLong)?;
    match block::decompress_to_buffer(src, Some(len), out) {
        Ok(written) if written == out.len() => Ok(()),
        Ok(_) => Err(DecodeError::Truncated),
        Err(_) => Err(DecodeError::Corrupt),
    }
}
