//! Compresses by Brotli, and tells what its encoder does not: that the end could not be written.

use std::io::{self, Write};

/// Level and window of ClickHouse's files.
const QUALITY: u32 = 3;
const WINDOW_BITS: u32 = 22;

/// Bytes given to the file at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Compresses what is written into `W`.
pub(super) struct BrotliWriter<W: Write> {
    encoder: brotli::CompressorWriter<Watched<W>>,
}

impl<W: Write> BrotliWriter<W> {
    pub(super) fn new(inner: W) -> Self {
        let inner = Watched {
            inner,
            failure: None,
        };
        Self {
            encoder: brotli::CompressorWriter::new(inner, BUFFER_BYTES, QUALITY, WINDOW_BITS),
        }
    }

    /// Ends the stream.
    pub(super) fn finish(self) -> io::Result<W> {
        let Watched { inner, failure } = self.encoder.into_inner();
        failure.map_or(Ok(inner), Err)
    }
}

impl<W: Write> Write for BrotliWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

/// Remembers that writing failed: the encoder's `into_inner` would not say so.
struct Watched<W> {
    inner: W,
    failure: Option<io::Error>,
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.write(bytes).inspect_err(|e| {
            self.failure = Some(io::Error::new(e.kind(), e.to_string()));
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use super::BrotliWriter;

    #[test]
    fn what_is_written_can_be_read() {
        let bytes: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut writer = BrotliWriter::new(Vec::new());
        writer.write_all(&bytes).unwrap();
        let compressed = writer.finish().unwrap();
        let mut read = Vec::new();
        let mut reader = brotli::Decompressor::new(compressed.as_slice(), 4096);
        reader.read_to_end(&mut read).unwrap();
        assert!(read == bytes);
    }

    /// Takes nothing, like a full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("no space"))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_end_that_cannot_be_written_is_an_error() {
        let mut writer = BrotliWriter::new(Full);
        writer.write_all(b"1").unwrap();
        assert!(writer.finish().is_err());
    }
}
