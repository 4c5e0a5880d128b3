//! Says what the values of a block are: how wide, and how their bits compare.

use std::fmt;

use crate::error::{DecodeError, Result};
use crate::word::Word;

/// What the bits of a value mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Nothing that encodings could use.
    Bytes = 0,
    /// Integers without sign.
    Unsigned = 1,
    /// Integers in two's complement.
    Signed = 2,
    /// Floating-point numbers of IEEE 754.
    Float = 3,
}

/// Kind and width of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    kind: Kind,
    width: u16,
}

/// Work that is written once for all words.
pub(crate) trait WordVisitor {
    type Output;

    fn visit<T: Word>(self) -> Self::Output;
}

impl Element {
    /// Values without structure: single bytes.
    pub const BYTES: Self = Self {
        kind: Kind::Bytes,
        width: 1,
    };

    /// Values of `width` bytes; `None` if there are none such: a width is not 0, and floats have 4 or 8
    /// bytes.
    pub fn try_new(kind: Kind, width: u16) -> Option<Self> {
        let is_possible = match kind {
            Kind::Float => matches!(width, 4 | 8),
            Kind::Bytes | Kind::Unsigned | Kind::Signed => width > 0,
        };
        is_possible.then_some(Self { kind, width })
    }

    /// Reads what [`Self::kind_id`] and [`Self::width`] wrote.
    pub(crate) fn from_ids(kind: u8, width: u16) -> Result<Self> {
        let kinds = [Kind::Bytes, Kind::Unsigned, Kind::Signed, Kind::Float];
        let kind = kinds.into_iter().find(|k| *k as u8 == kind);
        let element = kind.and_then(|kind| Self::try_new(kind, width));
        element.ok_or(DecodeError::BadHeader("kind of values"))
    }

    /// The element of this name, as ClickHouse calls the type.
    pub fn named(name: &str) -> Option<Self> {
        if name == "String" {
            return Some(Self::BYTES);
        }
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = match &name[..name.len() - digits.len()] {
            "UInt" => Kind::Unsigned,
            "Int" => Kind::Signed,
            "Float" => Kind::Float,
            _ => return None,
        };
        let num_bits: u16 = digits.parse().ok()?;
        let width = num_bits / 8;
        let is_known = matches!(num_bits, 8 | 16 | 32 | 64 | 128 | 256);
        Self::try_new(kind, width).filter(|_| is_known)
    }

    /// What its bits mean.
    pub fn kind(self) -> Kind {
        self.kind
    }

    pub(crate) fn kind_id(self) -> u8 {
        self.kind as u8
    }

    /// Bytes of a value.
    pub fn width(self) -> u16 {
        self.width
    }

    /// Bytes of a value, as a size.
    pub(crate) fn width_bytes(self) -> usize {
        usize::from(self.width)
    }

    /// Whether values are numbers of a word, so that encodings of numbers apply.
    pub fn is_number(self) -> bool {
        self.kind != Kind::Bytes && matches!(self.width, 1 | 2 | 4 | 8)
    }

    /// Does the work for the word of this width, if values are numbers of one.
    pub(crate) fn visit<V: WordVisitor>(self, visitor: V) -> Option<V::Output> {
        match self.width {
            _ if self.kind == Kind::Bytes => None,
            1 => Some(visitor.visit::<u8>()),
            2 => Some(visitor.visit::<u16>()),
            4 => Some(visitor.visit::<u32>()),
            8 => Some(visitor.visit::<u64>()),
            _ => None,
        }
    }
}

impl fmt::Display for Element {
    /// As ClickHouse calls the type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_bits = 8 * u32::from(self.width);
        match self.kind {
            Kind::Bytes if self.width == 1 => f.write_str("String"),
            Kind::Bytes => write!(f, "FixedString({})", self.width),
            Kind::Unsigned => write!(f, "UInt{num_bits}"),
            Kind::Signed => write!(f, "Int{num_bits}"),
            Kind::Float => write!(f, "Float{num_bits}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, Kind};

    #[test]
    fn types_are_named_as_in_clickhouse() {
        let found = ["UInt8", "Int256", "Float32", "String"].map(Element::named);
        let expected = [
            Element::try_new(Kind::Unsigned, 1),
            Element::try_new(Kind::Signed, 32),
            Element::try_new(Kind::Float, 4),
            Some(Element::BYTES),
        ];
        assert_eq!(found, expected);
        for name in ["UInt8", "Int256", "Float32", "String"] {
            assert_eq!(Element::named(name).unwrap().to_string(), name);
        }
        for name in ["", "UInt", "UInt7", "Float16", "Date", "8", "UInt65536"] {
            assert_eq!(Element::named(name), None, "{name}");
        }
    }
}
