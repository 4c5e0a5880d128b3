//! Encodes, compresses and checks blocks of a column: bytes and slices only.
//!
//! | module | owns |
//! |---|---|
//! | [`block`] | a block on disk: header, statistics, checksum, payload |
//! | [`stream`] | blocks one behind the other, read and written |
//! | [`auto`] | choosing the chain for a block by size and measured time |
//! | [`chain`] | [`Chain`]: transformation, packing and compression in a row, and its names |
//! | [`element`] | [`Element`]: what a block's values are |
//! | [`encoding`] | transformations and packings of numbers |
//! | [`compression`] | LZ4 and ZSTD as a step of a chain |
//! | [`lz4`] | decompression of LZ4 in several forms, chosen by measuring |
//! | [`statistics`] | what a header tells about the values |
//! | [`padded`] | [`PaddedBuffer`]: aligned memory with room for copies that overshoot |
//! | [`word`] | [`Word`]: integers of 8 to 64 bits |
//! | [`error`] | [`DecodeError`] |
//! | [`reader`] | pieces off the front of bytes that may be damaged |
//!
//! What is decoded may be damaged: no input panics, and nothing outside of the buffers is touched.
//! The bytes of a block are specified in `docs/format/block.md`.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

#[cfg(target_endian = "big")]
compile_error!("blocks hold little-endian words as they lie in memory");

pub mod auto;
pub mod block;
pub mod chain;
pub mod compression;
pub mod element;
pub mod encoding;
pub mod error;
pub mod lz4;
pub mod padded;
mod reader;
pub mod statistics;
pub mod stream;
pub mod word;

pub use auto::{Auto, Learned};
pub use block::{Block, BlockDecoder, BlockEncoder, Codec};
pub use chain::{Chain, UnknownChain};
pub use compression::Compression;
pub use element::{Element, Kind};
pub use encoding::{Packing, Transform};
pub use error::DecodeError;
pub use padded::PaddedBuffer;
pub use statistics::Statistics;
pub use word::Word;
