//! Names what is done with one or two values.

use super::Type;

/// What is done with one argument; the result has its type, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Minus; the least integer stays.
    Negate,
    /// The value without its sign; the least integer stays, as bits that an unsigned type reads rightly.
    Abs,
    /// Every bit of an integer turned.
    BitNot,
    /// Number of set bits of an integer.
    BitCount,
    /// NOT of a flag.
    Not,
    /// Whether the argument is NULL: a flag that is never NULL.
    IsNull,
}

/// What is done with two arguments of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient of floats.
    Divide,
    /// Quotient of an integer by a constant, cut off.
    IntDiv,
    /// Remainder of an integer by a constant, with the sign of the first.
    Modulo,
    /// Bits of both integers.
    BitAnd,
    /// Bits of either integer.
    BitOr,
    /// Bits of one of both integers.
    BitXor,
    /// The first integer moved to the left by as many places as the lowest 32 bits of the second say; 0 if these are
    /// as many as it has bits, or more.
    ShiftLeft,
    /// The same to the right: what comes in has the sign of the first.
    ShiftRight,
    /// AND of flags: false decides, whatever the other is.
    And,
    /// OR of flags: true decides, whatever the other is.
    Or,
    /// Whether they are equal; NaN equals nothing.
    Equal,
    /// Whether they are not equal.
    NotEqual,
    /// Whether the first is less.
    Less,
    /// Whether the first is less or equal.
    LessOrEqual,
    /// Whether the first is greater.
    Greater,
    /// Whether the first is greater or equal.
    GreaterOrEqual,
}

impl BinaryOp {
    /// Whether it compares: the result is a flag, whatever the arguments are.
    pub fn compares(self) -> bool {
        use BinaryOp::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(
            self,
            Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual
        )
    }

    pub(super) fn takes(self, data_type: Type) -> bool {
        match self {
            Self::Add | Self::Subtract | Self::Multiply => data_type != Type::Bool,
            Self::Divide => data_type.is_float(),
            Self::IntDiv
            | Self::Modulo
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::ShiftLeft
            | Self::ShiftRight => data_type.is_integer(),
            Self::And | Self::Or => data_type == Type::Bool,
            _ => self.compares(),
        }
    }
}
