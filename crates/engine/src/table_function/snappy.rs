//! Reads and writes Snappy as Hadoop frames it, which is what `.snappy` means to ClickHouse.
//!
//! ```text
//! block := u32 length of its bytes, chunk…    until the chunks hold that many bytes
//! chunk := u32 length, raw Snappy             all lengths big-endian
//! ```

use std::io::{self, Read, Write};

/// Bytes in a block that is written.
const BLOCK_BYTES: usize = 1 << 18;

/// Bytes in a block or chunk that is read: longer ones are not Snappy but something else.
const MAX_BYTES: usize = 1 << 28;

/// The bytes in the blocks of a file.
pub(super) struct Reader<R> {
    source: R,
    decoder: snap::raw::Decoder,
    /// Bytes that the current block still has in chunks to come.
    left_in_block: usize,
    chunk: Vec<u8>,
    /// How many bytes of the chunk have been given.
    given: usize,
}

impl<R: Read> Reader<R> {
    pub(super) fn new(source: R) -> Self {
        Self {
            source,
            decoder: snap::raw::Decoder::new(),
            left_in_block: 0,
            chunk: Vec::new(),
            given: 0,
        }
    }

    /// A length; `None` at the end of the file.
    fn length(&mut self) -> io::Result<Option<usize>> {
        let mut bytes = [0; 4];
        if self.source.read(&mut bytes[..1])? == 0 {
            return Ok(None);
        }
        self.source.read_exact(&mut bytes[1..])?;
        let length = u32::from_be_bytes(bytes) as usize;
        if length > MAX_BYTES {
            return Err(damaged("a block is too long"));
        }
        Ok(Some(length))
    }

    /// Reads the next chunk that holds bytes; `false` at the end of the file.
    fn next_chunk(&mut self) -> io::Result<bool> {
        while self.left_in_block == 0 {
            match self.length()? {
                Some(length) => self.left_in_block = length,
                None => return Ok(false),
            }
        }
        let length = self.length()?;
        let length = length.ok_or_else(|| damaged("a block has no end"))?;
        let mut compressed = Vec::new();
        let mut source = self.source.by_ref().take(length as u64);
        source.read_to_end(&mut compressed)?;
        if compressed.len() < length {
            return Err(damaged("a block has no end"));
        }
        let num_bytes = snap::raw::decompress_len(&compressed)?;
        if num_bytes == 0 || num_bytes > self.left_in_block {
            return Err(damaged("a chunk does not fit its block"));
        }
        self.chunk.resize(num_bytes, 0);
        self.decoder.decompress(&compressed, &mut self.chunk)?;
        self.left_in_block -= num_bytes;
        self.given = 0;
        Ok(true)
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<R: Read> Read for Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.chunk.len() && !self.next_chunk()? {
            return Ok(0);
        }
        let rest = &self.chunk[self.given..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}

/// Bytes on their way into blocks of one chunk each.
pub(super) struct Writer<W> {
    out: W,
    encoder: snap::raw::Encoder,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            encoder: snap::raw::Encoder::new(),
            block: Vec::with_capacity(BLOCK_BYTES),
        }
    }

    fn write_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let compressed = self.encoder.compress_vec(&self.block)?;
        for length in [self.block.len(), compressed.len()] {
            // A block has far fewer bytes than 2^32.
            self.out.write_all(&(length as u32).to_be_bytes())?;
        }
        self.out.write_all(&compressed)?;
        self.block.clear();
        Ok(())
    }

    /// Writes the last block, and gives the writer below back.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write_block()?;
        Ok(self.out)
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK_BYTES - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == BLOCK_BYTES {
            self.write_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_block()?;
        self.out.flush()
    }
}
