//! Describes constants as written in a query.

/// A constant. Arrays and tuples of constants are [`ExprKind::Array`](super::ExprKind::Array) and
/// [`ExprKind::Tuple`](super::ExprKind::Tuple).
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `NULL`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer from 0 up, decimal, hexadecimal or binary.
    UInt(u64),
    /// A negative integer: the minus sign directly before a number belongs to it.
    Int(i64),
    /// A number with a point or exponent, `inf`, `nan`, or an integer beyond 64 bits.
    Float(FloatLiteral),
    /// A string of bytes: `'..'`, `$$..$$`, `x'..'`, `b'..'`. Not always UTF-8.
    String(Vec<u8>),
}

/// A floating point constant together with its text.
#[derive(Clone, Debug)]
pub struct FloatLiteral {
    /// The nearest Float64.
    pub value: f64,
    /// The text as written, sign included, for exact decimals. Does not count in comparisons.
    pub text: String,
}

impl PartialEq for FloatLiteral {
    fn eq(&self, other: &Self) -> bool {
        self.value.to_bits() == other.value.to_bits()
            || (self.value.is_nan() && other.value.is_nan())
    }
}
