//! Writes and reads blocks: a header of 64 bytes, the payload, and zeros up to a multiple of 64.
//!
//! ```text
//! 0  checksum (16): XXH3-128 of everything behind it
//! 16 magic (4) "BSLT"   20 version (1)   21 kind (1)   22 width (2)
//! 24 transformation (1) 25 packing (1)   26 compression (1)   27 flags (1): 1 = there are bounds
//! 28 number of values (4)   32 encoded bytes (4)   36 payload bytes (4)
//! 40 number of NULLs (4)    44 estimate of distinct values (4)   48 least (8)   56 greatest (8)
//! 64 payload, zeros
//! ```
//!
//! Numbers are little-endian. `docs/format/block.md` is the specification, and the golden files in
//! `tests/golden` hold it down. A header's size is the alignment of Arrow, so the payload of a plain
//! block in a mapped file can be used where it lies.

use crate::auto::{Auto, Learned};
use crate::chain::Chain;
use crate::compression::{Compression, Decompressor};
use crate::element::Element;
use crate::encoding::{Packing, Transform};
use crate::error::{DecodeError, Result};
use crate::lz4;
use crate::padded::PaddedBuffer;
use crate::reader::Reader;
use crate::statistics::Statistics;
use crate::word::Word;

/// Bytes of a header, and what blocks begin at multiples of.
pub const HEADER_BYTES: usize = 64;

/// Most bytes that the values of a block have; larger ones are not written and not read.
pub const MAX_BYTES: usize = 1 << 28;

const MAGIC: &[u8] = b"BSLT";
const VERSION: u8 = 1;
/// Bytes of a checksum, which a block begins with.
pub const CHECKSUM_BYTES: usize = 16;
const HAS_BOUNDS: u8 = 1;

/// A block as it lies on disk, with its header read and its checksum checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    element: Element,
    chain: Chain,
    num_values: usize,
    encoded_bytes: usize,
    statistics: Statistics,
    payload: &'a [u8],
}

/// How a column's blocks are encoded.
#[derive(Debug)]
pub enum Codec {
    /// All by the same chain, whose steps are left out where they do not help.
    Fixed(Chain),
    /// Each as looks best.
    Auto(Box<Auto>),
}

/// Encodes the blocks of one column.
#[derive(Debug)]
pub struct BlockEncoder {
    element: Element,
    codec: Codec,
}

/// Decodes the blocks of one column.
#[derive(Debug, Default)]
pub struct BlockDecoder {
    decompressor: Decompressor,
    scratch: PaddedBuffer,
}

/// Values that make no block: too many, or not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl BlockEncoder {
    /// An encoder of such values.
    pub fn new(element: Element, codec: Codec) -> Self {
        Self { element, codec }
    }

    /// What its trials of chains have found, if it makes some.
    pub fn learned(&self) -> Option<Learned> {
        match &self.codec {
            Codec::Fixed(_) => None,
            Codec::Auto(auto) => auto.learned(),
        }
    }

    /// Goes on with what another encoder of such values has found, so that the first block need not be tried
    /// with all chains.
    #[must_use]
    pub fn going_on_with(mut self, learned: Option<Learned>) -> Self {
        if let (Codec::Auto(auto), Some(learned)) = (&mut self.codec, learned) {
            auto.go_on_with(learned);
        }
        self
    }

    /// Appends a block of `values` to `out`, with statistics that are counted here; returns its chain.
    ///
    /// # Errors
    /// If the values take more than [`MAX_BYTES`] or are not a multiple of the width; then nothing is
    /// appended.
    pub fn encode(
        &mut self,
        values: &[u8],
        out: &mut Vec<u8>,
    ) -> std::result::Result<Chain, TooLarge> {
        let statistics = Statistics::of(values, self.element);
        self.encode_with(values, statistics, out)
    }

    /// As [`Self::encode`], with statistics of somebody who knows more.
    ///
    /// # Errors
    /// As [`Self::encode`].
    pub fn encode_with(
        &mut self,
        values: &[u8],
        statistics: Statistics,
        out: &mut Vec<u8>,
    ) -> std::result::Result<Chain, TooLarge> {
        let width = self.element.width_bytes();
        if values.len() > MAX_BYTES || !values.len().is_multiple_of(width) {
            return Err(TooLarge);
        }
        let start = out.len();
        out.resize(start + HEADER_BYTES, 0);
        let encoded = match &mut self.codec {
            Codec::Fixed(chain) => chain.encode(values, self.element, out),
            Codec::Auto(auto) => auto.encode(values, self.element, out),
        };
        let payload_bytes = out.len() - start - HEADER_BYTES;
        let sizes = [values.len() / width, encoded.encoded_bytes, payload_bytes];
        let sizes = sizes.map(|size| u32::try_from(size).map_err(|_| TooLarge));
        let [Ok(num_values), Ok(encoded_bytes), Ok(payload_bytes)] = sizes else {
            out.truncate(start);
            return Err(TooLarge);
        };
        let stored_bytes = (out.len() - start).next_multiple_of(HEADER_BYTES);
        out.resize(start + stored_bytes, 0);
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&[VERSION, self.element.kind_id()]);
        self.element.width().append_to(&mut header);
        let chain = encoded.chain;
        header.extend_from_slice(&[
            chain.transform.map_or(0, |transform| transform as u8),
            chain.packing as u8,
            chain.compression.id(),
            if statistics.bounds.is_some() {
                HAS_BOUNDS
            } else {
                0
            },
        ]);
        let counts = [statistics.null_count, statistics.distinct_estimate];
        for number in [num_values, encoded_bytes, payload_bytes]
            .into_iter()
            .chain(counts)
        {
            number.append_to(&mut header);
        }
        let (least, greatest) = statistics.bounds.unwrap_or_default();
        least.append_to(&mut header);
        greatest.append_to(&mut header);
        out[start + CHECKSUM_BYTES..start + HEADER_BYTES].copy_from_slice(&header);
        let sum = checksum(&out[start + CHECKSUM_BYTES..]);
        out[start..start + CHECKSUM_BYTES].copy_from_slice(&sum);
        Ok(chain)
    }
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes()
}

/// Bytes of a whole block by its header, which nobody has checked yet.
///
/// # Errors
/// If the bytes are no header.
pub fn stored_bytes(header: &[u8; HEADER_BYTES]) -> Result<usize> {
    let mut reader = Reader::new(&header[CHECKSUM_BYTES..]);
    if reader.take(MAGIC.len())? != MAGIC {
        return Err(DecodeError::BadHeader("magic"));
    }
    if reader.word::<u8>()? != VERSION {
        return Err(DecodeError::BadHeader("version"));
    }
    // Kind, width, chain and flags; number of values and encoded bytes.
    reader.take(7 + 8)?;
    // What is stored plain has the size of the values, and nothing gets larger but by a few starts.
    let payload_bytes = reader.count(MAX_BYTES + HEADER_BYTES, "bytes of the payload")?;
    Ok((HEADER_BYTES + payload_bytes).next_multiple_of(HEADER_BYTES))
}

impl<'a> Block<'a> {
    /// Reads the block that `bytes` begin with and checks its checksum; returns it with what follows.
    ///
    /// # Errors
    /// If there is none, it is damaged or ends too early.
    pub fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let header = bytes.first_chunk().ok_or(DecodeError::Truncated)?;
        let stored_bytes = stored_bytes(header)?;
        let stored = bytes.split_at_checked(stored_bytes);
        let (stored, rest) = stored.ok_or(DecodeError::Truncated)?;
        let (found, covered) = stored.split_at(CHECKSUM_BYTES);
        if checksum(covered) != found {
            return Err(DecodeError::BadChecksum);
        }
        Ok((Self::parse(stored)?, rest))
    }

    /// As [`Self::read`], of bytes whose checksum has been compared before.
    ///
    /// # Errors
    /// If there is no block, or it ends too early.
    pub fn read_again(bytes: &'a [u8]) -> Result<(Self, &'a [u8])> {
        let header = bytes.first_chunk().ok_or(DecodeError::Truncated)?;
        let stored = bytes.split_at_checked(stored_bytes(header)?);
        let (stored, rest) = stored.ok_or(DecodeError::Truncated)?;
        Ok((Self::parse(stored)?, rest))
    }

    fn parse(stored: &'a [u8]) -> Result<Self> {
        let (header, payload) = stored.split_at(HEADER_BYTES);
        let mut reader = Reader::new(header);
        reader.take(CHECKSUM_BYTES + MAGIC.len() + 1)?;
        let element = Element::from_ids(reader.word()?, reader.word()?)?;
        let chain = Chain {
            transform: Transform::from_id(reader.word()?)?,
            packing: Packing::from_id(reader.word()?)?,
            compression: Compression::from_id(reader.word()?)?,
        };
        let flags: u8 = reader.word()?;
        let num_values = reader.count(MAX_BYTES, "number of values")?;
        let encoded_bytes = reader.count(MAX_BYTES + HEADER_BYTES, "bytes after encoding")?;
        let payload_bytes = reader.count(payload.len(), "bytes of the payload")?;
        let null_count = reader.word()?;
        let distinct_estimate = reader.word()?;
        let bounds = (reader.word()?, reader.word()?);
        reader.finish()?;
        let block = Self {
            element,
            chain,
            num_values,
            encoded_bytes,
            statistics: Statistics {
                bounds: (flags & HAS_BOUNDS != 0).then_some(bounds),
                null_count,
                distinct_estimate,
            },
            payload: &payload[..payload_bytes],
        };
        if block.num_values > MAX_BYTES / element.width_bytes() {
            return Err(DecodeError::BadHeader("number of values"));
        }
        Ok(block)
    }

    /// What its values are.
    pub fn element(&self) -> Element {
        self.element
    }

    /// How it is encoded; levels of compression are not known any more.
    pub fn chain(&self) -> Chain {
        self.chain
    }

    /// Number of its values.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes of its values.
    pub fn decoded_bytes(&self) -> usize {
        self.num_values * self.element.width_bytes()
    }

    /// Bytes of the payload.
    pub fn payload_bytes(&self) -> usize {
        self.payload.len()
    }

    /// What is known of its values.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The values where they lie, if the block is stored plain.
    pub fn plain(&self) -> Option<&'a [u8]> {
        let is_plain = self.chain == Chain::PLAIN && self.payload.len() == self.decoded_bytes();
        is_plain.then_some(self.payload)
    }
}

impl BlockDecoder {
    /// A decoder of a column that nothing is known of yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a block's values into `out`, which takes their length.
    ///
    /// # Errors
    /// If the block is damaged in spite of its checksum; what `out` holds then is unspecified.
    pub fn decode(&mut self, block: &Block<'_>, out: &mut PaddedBuffer) -> Result<()> {
        out.reset(block.decoded_bytes());
        let memory = (&mut self.decompressor, &mut self.scratch);
        let shape = (block.element, block.encoded_bytes);
        block.chain.decode(block.payload, shape, memory, out)
    }

    /// Frees the memory that it works in and logs what it did; it keeps what it has learnt.
    pub fn rest(&mut self) {
        self.scratch = PaddedBuffer::default();
        self.decompressor.flush();
    }

    /// What decompresses LZ4 for this column, if there was such a block.
    pub fn lz4(&self) -> Option<&lz4::Decoder> {
        self.decompressor.lz4()
    }
}
