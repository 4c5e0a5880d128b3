//! Reads and writes blocks one behind the other, from anything to anything that moves bytes.

use std::io::{self, Read, Write};

use crate::block::{self, Block, BlockDecoder, BlockEncoder, HEADER_BYTES};
use crate::error::DecodeError;
use crate::padded::PaddedBuffer;

/// Why a stream ended early.
#[derive(Debug)]
pub enum StreamError {
    /// The system could not read or write.
    Io(io::Error),
    /// A block is damaged; which one, counted from 0.
    Damaged {
        /// The block's number.
        block: u64,
        /// What is wrong with it.
        error: DecodeError,
    },
}

/// Reads blocks.
#[derive(Debug)]
pub struct BlockReader<R> {
    source: R,
    stored: Vec<u8>,
    num_read: u64,
}

impl<R: Read> BlockReader<R> {
    /// A reader of the blocks in `source`.
    pub fn new(source: R) -> Self {
        Self {
            source,
            stored: Vec::new(),
            num_read: 0,
        }
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// If it is damaged or cannot be read.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, StreamError> {
        let number = self.num_read;
        let damaged = |error| StreamError::Damaged {
            block: number,
            error,
        };
        self.stored.clear();
        self.append(HEADER_BYTES)?;
        if self.stored.is_empty() {
            return Ok(None);
        }
        let header = self.stored.first_chunk().ok_or(DecodeError::Truncated);
        let stored_bytes = header.and_then(block::stored_bytes).map_err(damaged)?;
        self.append(stored_bytes - HEADER_BYTES)?;
        self.num_read += 1;
        let (block, _) = Block::read(&self.stored).map_err(damaged)?;
        Ok(Some(block))
    }

    /// Reads so many bytes, or what is left. Memory is taken as bytes come, so that a damaged size
    /// takes no more than the source has.
    fn append(&mut self, len: usize) -> Result<(), StreamError> {
        let mut part = self.source.by_ref().take(len as u64);
        part.read_to_end(&mut self.stored)
            .map_err(StreamError::Io)?;
        Ok(())
    }
}

/// Cuts bytes into blocks of at most `block_bytes` and writes them, telling `report` of each.
///
/// # Errors
/// If the bytes cannot be read or written, or end within a value.
pub fn encode_all(
    mut source: impl Read,
    mut sink: impl Write,
    encoder: &mut BlockEncoder,
    block_bytes: usize,
    mut report: impl FnMut(&Block<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let mut values = Vec::new();
    let mut stored = Vec::new();
    loop {
        values.clear();
        let mut part = source.by_ref().take(block_bytes as u64);
        if part.read_to_end(&mut values)? == 0 {
            return Ok(());
        }
        stored.clear();
        let not_whole = |_| io::Error::new(io::ErrorKind::InvalidData, "the values are not whole");
        encoder.encode(&values, &mut stored).map_err(not_whole)?;
        let (block, _) = Block::read(&stored).map_err(io::Error::other)?;
        report(&block)?;
        sink.write_all(&stored)?;
    }
}

/// Decodes all blocks and writes their values, telling `report` of each.
///
/// # Errors
/// If a block is damaged, or bytes cannot be read or written.
pub fn decode_all(
    source: impl Read,
    mut sink: impl Write,
    mut report: impl FnMut(&Block<'_>) -> io::Result<()>,
) -> Result<(), StreamError> {
    let mut reader = BlockReader::new(source);
    let mut decoder = BlockDecoder::new();
    let mut values = PaddedBuffer::default();
    let mut number = 0;
    while let Some(block) = reader.next_block()? {
        report(&block).map_err(StreamError::Io)?;
        let decoded = decoder.decode(&block, &mut values);
        decoded.map_err(|error| StreamError::Damaged {
            block: number,
            error,
        })?;
        sink.write_all(&values).map_err(StreamError::Io)?;
        number += 1;
    }
    Ok(())
}
