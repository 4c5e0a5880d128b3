//! Names the types of values.

use std::fmt;

/// Type of a node. There are no columns of `Bool`: a flag is made by a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// True or false.
    Bool,
    /// Integer of 8 bits with sign.
    I8,
    /// Integer of 16 bits with sign.
    I16,
    /// Integer of 32 bits with sign.
    I32,
    /// Integer of 64 bits with sign.
    I64,
    /// Integer of 8 bits without sign.
    U8,
    /// Integer of 16 bits without sign.
    U16,
    /// Integer of 32 bits without sign.
    U32,
    /// Integer of 64 bits without sign.
    U64,
    /// Float of 32 bits.
    F32,
    /// Float of 64 bits.
    F64,
}

impl Type {
    /// Types that columns may have.
    pub const OF_COLUMNS: [Self; 10] = [
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// Bits of a value; those of a flag are 1.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 | Self::F64 => 64,
        }
    }

    /// Bytes of a value in memory.
    pub fn size_bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// Whether it is an integer with sign.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether it is an integer.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Self::Bool
    }

    /// The lowest `bits()` of a word.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The type of the keys that order its values in extremes: its own, for floats the signed integer of their size.
    pub(crate) fn ordered(self) -> Self {
        match self {
            Self::F32 => Self::I32,
            Self::F64 => Self::I64,
            other => other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
