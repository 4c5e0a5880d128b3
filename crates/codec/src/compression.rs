//! Compresses bytes as the last step of a chain.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor as ZstdDecompressor};

use crate::error::{DecodeError, Result};
use crate::lz4;
use crate::padded::PaddedBuffer;

/// How encoded bytes are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// LZ4, fast.
    Lz4,
    /// LZ4, thorough: levels 1 to 12. Decompressed as [`Compression::Lz4`].
    Lz4High(u8),
    /// ZSTD: levels -100 to 22.
    Zstd(i8),
}

impl Compression {
    /// What blocks have instead of levels, which decompression need not know.
    pub(crate) const fn id(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Lz4 | Self::Lz4High(_) => 1,
            Self::Zstd(_) => 2,
        }
    }

    pub(crate) fn from_id(id: u8) -> Result<Self> {
        match id {
            0 => Ok(Self::None),
            1 => Ok(Self::Lz4),
            2 => Ok(Self::Zstd(1)),
            _ => Err(DecodeError::BadHeader("compression")),
        }
    }

    /// Its name in `CODEC(…)`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Lz4 => "LZ4",
            Self::Lz4High(_) => "LZ4HC",
            Self::Zstd(_) => "ZSTD",
        }
    }

    /// Nanoseconds that a byte takes to decompress at least, whatever the processor and the bytes.
    pub(crate) const fn least_decode_ns(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Lz4 | Self::Lz4High(_) => 0.03,
            Self::Zstd(_) => 0.1,
        }
    }

    /// Appends the compressed `bytes` to `out`; nothing, and false, if they do not get smaller.
    pub fn compress(self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_compressed = match self {
            Self::None => false,
            Self::Lz4 => lz4::reference::compress_fast(bytes, 1, out),
            Self::Lz4High(level) => lz4::reference::compress_high(bytes, level, out),
            Self::Zstd(level) => compress_zstd(bytes, level, out),
        };
        let is_smaller = is_compressed && out.len() - start < bytes.len();
        if !is_smaller {
            out.truncate(start);
        }
        is_smaller
    }
}

thread_local! {
    /// To make one takes longer than to compress a sample.
    static ZSTD: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    /// To make one takes as long as to decompress some thousand bytes.
    static UNZSTD: RefCell<Option<ZstdDecompressor<'static>>> = const { RefCell::new(None) };
}

fn compress_zstd(bytes: &[u8], level: i8, out: &mut Vec<u8>) -> bool {
    let compressed = ZSTD.with_borrow_mut(|compressor| {
        let mut kept = match compressor.take() {
            Some(kept) => kept,
            None => Compressor::new(i32::from(level))?,
        };
        kept.set_compression_level(i32::from(level))?;
        compressor.insert(kept).compress(bytes)
    });
    let is_compressed = compressed.is_ok();
    out.extend(compressed.unwrap_or_default());
    is_compressed
}

/// How many bytes were written.
fn decompress_zstd(bytes: &[u8], out: &mut [u8]) -> std::io::Result<usize> {
    UNZSTD.with_borrow_mut(|decompressor| {
        let kept = match decompressor.take() {
            Some(kept) => kept,
            None => ZstdDecompressor::new()?,
        };
        decompressor.insert(kept).decompress_to_buffer(bytes, out)
    })
}

/// Decompresses the blocks of one column.
#[derive(Debug, Default)]
pub(crate) struct Decompressor {
    /// Made for the first block of LZ4: there may be many decompressors, and it has a table of all forms.
    lz4: Option<Box<lz4::Decoder>>,
}

impl Decompressor {
    /// Decompresses `bytes` into `out`, which they must fill exactly.
    pub(crate) fn decompress(
        &mut self,
        compression: Compression,
        bytes: &[u8],
        out: &mut PaddedBuffer,
    ) -> Result<()> {
        match compression {
            Compression::None if bytes.len() == out.len() => {
                out.copy_from_slice(bytes);
                Ok(())
            }
            Compression::None => Err(DecodeError::Truncated),
            Compression::Lz4 | Compression::Lz4High(_) => {
                let lz4 = self.lz4.get_or_insert_default();
                lz4.decompress(bytes, out)
            }
            Compression::Zstd(_) => {
                let len = out.len();
                match decompress_zstd(bytes, out) {
                    Ok(written) if written == len => Ok(()),
                    Ok(_) => Err(DecodeError::Truncated),
                    Err(_) => Err(DecodeError::Corrupt),
                }
            }
        }
    }

    /// What decompresses LZ4, if there was such a block.
    pub(crate) fn lz4(&self) -> Option<&lz4::Decoder> {
        self.lz4.as_deref()
    }

    /// Tells the choice between forms what it does not know yet.
    pub(crate) fn flush(&mut self) {
        if let Some(lz4) = &mut self.lz4 {
            lz4.flush();
        }
    }
}
