//! Puts a transformation, a packing and a compression in a row.
//!
//! ```text
//! values ─transform→ start, words ─packing→ bytes ─compression→ payload
//!                    └──────────────────────┘ the encoded bytes
//! ```

use std::fmt;

use crate::compression::{Compression, Decompressor};
use crate::element::{Element, WordVisitor};
use crate::encoding::{Packing, Transform, constant};
use crate::error::{DecodeError, Result};
use crate::padded::PaddedBuffer;
use crate::word::{Word, with_words};

/// The steps from values to what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chain {
    /// What replaces words by words, if anything.
    pub transform: Option<Transform>,
    /// What turns words into bytes.
    pub packing: Packing,
    /// What compresses the bytes.
    pub compression: Compression,
}

/// What `CODEC(…)` or an option cannot mean, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownChain {
    /// No step has this name.
    Name(String),
    /// A step's level is out of range.
    Level(String),
    /// A step takes no level.
    NoLevel(String),
    /// The steps of the chain don't follow each other so.
    Order(String),
}

/// The packing that does what a codec of ClickHouse is for: to leave out bits that no number needs, or to make floats
/// small.
fn same_purpose(name: &str) -> Option<Packing> {
    match name {
        "T64" | "GCD" => Some(Packing::FrameOfReference),
        "Gorilla" | "FPC" => Some(Packing::Decimal),
        _ => None,
    }
}

/// What encoding made.
pub(crate) struct Encoded {
    /// The chain that was used: steps that do not apply or do not help are left out.
    pub(crate) chain: Chain,
    pub(crate) encoded_bytes: usize,
}

impl Chain {
    /// Values as they are.
    pub const PLAIN: Self = Self::compressed(Compression::None);

    /// Values as they are, compressed.
    pub const fn compressed(compression: Compression) -> Self {
        Self::packed(Packing::Plain, compression)
    }

    /// Packed values, compressed.
    pub const fn packed(packing: Packing, compression: Compression) -> Self {
        Self {
            transform: None,
            packing,
            compression,
        }
    }

    /// Whether values of this kind can take its steps.
    pub fn fits(self, element: Element) -> bool {
        let is_transformable = self.transform.is_none() || element.is_number();
        is_transformable && self.packing.fits(element)
    }

    /// Reads the steps from their names in `CODEC(…)`, such as `Delta(8), FrameOfReference, ZSTD(3)`.
    ///
    /// The widths of ClickHouse's `Delta(n)` are read and not used: a block knows its own. Its T64, GCD, Gorilla and FPC
    /// stand for the packings with the same purpose, whatever their arguments are.
    ///
    /// # Errors
    /// If a name is unknown, a level is out of range, or the order is not that of a chain.
    pub fn parse(text: &str) -> std::result::Result<Self, UnknownChain> {
        let mut chain = Self::PLAIN;
        let mut last_stage = 0;
        for step in text.split(',').map(str::trim) {
            let stage = chain.set(step)?;
            if stage <= last_stage {
                return Err(UnknownChain::Order(text.to_owned()));
            }
            last_stage = stage;
        }
        Ok(chain)
    }

    /// Sets the step of this name; the number of its place.
    fn set(&mut self, step: &str) -> std::result::Result<u8, UnknownChain> {
        let (name, level) = match step.strip_suffix(')').and_then(|step| step.split_once('(')) {
            Some((name, level)) => (name.trim_end(), Some(level.trim())),
            None => (step, None),
        };
        if let Some(transform) = Transform::ALL.into_iter().find(|t| t.name() == name) {
            self.transform = Some(transform);
            return Ok(1);
        }
        let packing = Packing::ALL.into_iter().find(|p| p.name() == name);
        if let Some(packing) = packing.filter(|_| level.is_none()).or(same_purpose(name)) {
            self.packing = packing;
            return Ok(2);
        }
        let number = level.map(str::parse::<i8>);
        self.compression = match (name, number) {
            ("NONE", None) => Compression::None,
            ("LZ4", None) => Compression::Lz4,
            ("LZ4HC", None) => Compression::Lz4High(9),
            ("LZ4HC", Some(Ok(level @ 1..=12))) => Compression::Lz4High(level.unsigned_abs()),
            ("ZSTD", None) => Compression::Zstd(1),
            ("ZSTD", Some(Ok(level @ -100..=22))) => Compression::Zstd(level),
            ("LZ4HC" | "ZSTD", Some(_)) => return Err(UnknownChain::Level(step.to_owned())),
            ("NONE" | "LZ4", Some(_)) => return Err(UnknownChain::NoLevel(name.to_owned())),
            _ => return Err(UnknownChain::Name(step.to_owned())),
        };
        Ok(3)
    }

    /// Appends the encoded and compressed `values` to `out`.
    ///
    /// Steps that cannot be taken or that do not make the values smaller are left out.
    pub(crate) fn encode(self, values: &[u8], element: Element, out: &mut Vec<u8>) -> Encoded {
        let mut chain = if self.fits(element) {
            self
        } else {
            Self::compressed(self.compression)
        };
        let start = out.len();
        if !chain.encode_values(values, element, out) {
            out.truncate(start);
            // Whoever asks for a packing of numbers does not want equal ones one by one.
            let may_be_constant = chain.packing != Packing::Plain;
            (chain.transform, chain.packing) = (None, Packing::Constant);
            if !may_be_constant || !chain.encode_values(values, element, out) {
                chain.packing = Packing::Plain;
                out.extend_from_slice(values);
            }
        }
        let encoded_bytes = out.len() - start;
        if chain.compression != Compression::None {
            let encoded = out.split_off(start);
            if !chain.compression.compress(&encoded, out) {
                chain.compression = Compression::None;
                out.extend(encoded);
            }
        }
        let is_in_vain = self.compression != Compression::None
            && chain.compression == Compression::None
            && chain.packing == Packing::Plain;
        if chain.transform.is_some() && is_in_vain {
            // Distances alone save nothing.
            out.truncate(start);
            return Self::PLAIN.encode(values, element, out);
        }
        Encoded {
            chain,
            encoded_bytes,
        }
    }

    /// Transforms and packs, if that is anything but copying and makes the values smaller or keeps
    /// their size; whether it did.
    fn encode_values(self, values: &[u8], element: Element, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let is_encoded = match (self.transform, self.packing) {
            (None, Packing::Plain) => false,
            (None, Packing::Constant) => {
                let is_constant = constant::is_constant(values, element.width_bytes());
                if is_constant {
                    constant::encode(values, element.width_bytes(), out);
                }
                is_constant
            }
            _ => {
                let visitor = EncodeWords {
                    chain: self,
                    values,
                    out,
                };
                element.visit(visitor).unwrap_or(false)
            }
        };
        let most = values.len() + self.transform.map_or(0, |_| 2 * element.width_bytes());
        is_encoded && out.len() - start <= most
    }

    /// Decodes what [`Self::encode`] appended into `out`, which must have the values' length.
    pub(crate) fn decode(
        self,
        payload: &[u8],
        (element, encoded_bytes): (Element, usize),
        (decompressor, scratch): (&mut Decompressor, &mut PaddedBuffer),
        out: &mut PaddedBuffer,
    ) -> Result<()> {
        if !self.fits(element) {
            return Err(DecodeError::BadHeader("codec of such values"));
        }
        if self.transform.is_none() && self.packing == Packing::Plain {
            return decompressor.decompress(self.compression, payload, out);
        }
        let encoded = if self.compression == Compression::None {
            payload
        } else {
            scratch.reset(encoded_bytes);
            decompressor.decompress(self.compression, payload, scratch)?;
            &scratch[..]
        };
        if self.transform.is_none() && self.packing == Packing::Constant {
            return constant::decode(encoded, element.width_bytes(), out);
        }
        let visitor = DecodeWords {
            chain: self,
            encoded,
            out,
        };
        let no_words = Err(DecodeError::BadHeader("codec of such values"));
        element.visit(visitor).unwrap_or(no_words)
    }
}

struct EncodeWords<'a> {
    chain: Chain,
    values: &'a [u8],
    out: &'a mut Vec<u8>,
}

impl WordVisitor for EncodeWords<'_> {
    type Output = bool;

    fn visit<T: Word>(self) -> bool {
        let Chain {
            transform, packing, ..
        } = self.chain;
        with_words(self.values, |words: &[T]| match transform {
            Some(transform) => {
                let mut words = words.to_vec();
                transform.apply(&mut words, self.out);
                packing.pack(&words, self.out)
            }
            None => packing.pack(words, self.out),
        })
    }
}

struct DecodeWords<'a> {
    chain: Chain,
    encoded: &'a [u8],
    out: &'a mut PaddedBuffer,
}

impl WordVisitor for DecodeWords<'_> {
    type Output = Result<()>;

    fn visit<T: Word>(self) -> Result<()> {
        let out = self.out.as_words_mut::<T>();
        let Some(transform) = self.chain.transform else {
            return self.chain.packing.unpack(self.encoded, out);
        };
        let packed = self.encoded.split_at_checked(transform.start_bytes::<T>());
        let (start, packed) = packed.ok_or(DecodeError::Truncated)?;
        self.chain.packing.unpack(packed, out)?;
        transform.undo(start, out)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(transform) = self.transform {
            write!(f, "{}, ", transform.name())?;
        }
        if self.packing != Packing::Plain {
            write!(f, "{}", self.packing.name())?;
            if self.compression == Compression::None {
                return Ok(());
            }
            f.write_str(", ")?;
        }
        f.write_str(self.compression.name())
    }
}

impl fmt::Display for UnknownChain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(step) => write!(f, "no step of a codec has this name: {step}"),
            Self::Level(step) => write!(f, "the level is out of range: {step}"),
            Self::NoLevel(step) => write!(f, "codec {step} cannot have arguments"),
            Self::Order(chain) => {
                let order = "transformation, packing, compression, one of each";
                write!(f, "the order is {order}: {chain}")
            }
        }
    }
}

impl std::error::Error for UnknownChain {}

#[cfg(test)]
mod tests {
    use super::Chain;

    #[test]
    fn chains_are_read_as_they_are_written() {
        for text in [
            "NONE",
            "LZ4",
            "Delta, LZ4",
            "Delta, NONE",
            "DoubleDelta, FrameOfReference, ZSTD",
            "ALP",
            "RunLength, LZ4",
        ] {
            assert_eq!(Chain::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            Chain::parse("Delta(4),ZSTD(10)").unwrap().to_string(),
            "Delta, ZSTD"
        );
        assert_eq!(
            Chain::parse("T64('bit'), LZ4").unwrap().to_string(),
            "FrameOfReference, LZ4"
        );
        assert_eq!(Chain::parse("FPC(12)").unwrap().to_string(), "ALP");
    }

    #[test]
    fn what_is_no_chain_is_an_error() {
        for text in [
            "",
            "LZ5",
            "LZ4, Delta",
            "LZ4, ZSTD",
            "ZSTD(23)",
            "LZ4HC(0)",
            "LZ4(",
            "Plain(1)",
        ] {
            Chain::parse(text).unwrap_err();
        }
    }
}
