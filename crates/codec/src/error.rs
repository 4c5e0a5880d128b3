//! Says why bytes could not be decoded.

use std::fmt;

/// Why bytes are not what an encoder wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// The bytes end in the middle of something.
    Truncated,
    /// There is more than the values need.
    TooLong,
    /// A match of LZ4 lies before the first byte.
    BadOffset,
    /// The compressed bytes are none of this compression.
    Corrupt,
    /// A number in a header cannot be: named is what it counts or stands for.
    BadHeader(&'static str),
    /// The bytes do not have the checksum that was written with them.
    BadChecksum,
}

/// Shorthand for what decoders return.
pub type Result<T> = std::result::Result<T, DecodeError>;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the block ends too early"),
            Self::TooLong => f.write_str("the block holds more than its header says"),
            Self::BadOffset => f.write_str("a match lies before the block"),
            Self::Corrupt => f.write_str("the compressed bytes are damaged"),
            Self::BadHeader(what) => write!(f, "the block's header is damaged: {what}"),
            Self::BadChecksum => f.write_str("the checksum does not match the bytes"),
        }
    }
}

impl std::error::Error for DecodeError {}
