//! Lists the infix operators with their precedence.

use super::Parser;
use crate::lexer::TokenKind as K;

/// Precedences, from the loosest to the tightest.
pub(super) mod precedence {
    pub(crate) const TERNARY: u8 = 1;
    pub(crate) const OR: u8 = 3;
    pub(crate) const AND: u8 = 4;
    pub(crate) const NOT: u8 = 5;
    pub(crate) const IS: u8 = 6;
    pub(crate) const BETWEEN: u8 = 7;
    pub(crate) const COMPARE: u8 = 9;
    pub(crate) const CONCAT: u8 = 10;
    pub(crate) const ADD: u8 = 11;
    pub(crate) const MULTIPLY: u8 = 12;
    pub(crate) const TIME_ZONE: u8 = 13;
    pub(crate) const UNARY: u8 = 14;
    pub(crate) const POSTFIX: u8 = 15;
}

/// What an infix operator does with its sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One function of both sides.
    Binary,
    /// As binary, but a chain is one call with many arguments.
    Chain,
    /// As binary; `ANY (SELECT ..)` and `ALL (SELECT ..)` may stand on the right.
    Quantified,
    /// `LIKE`: an ESCAPE may follow.
    Like,
    /// The right side may be a list, table or subquery.
    In,
    /// `BETWEEN b AND c`
    Between { negated: bool },
    /// Nothing on the right.
    IsNull,
    /// `IS TRUE`: the right side is this constant.
    IsBool(bool),
    /// `AT LOCAL`: the right side is the session's time zone.
    Local,
    /// `? b : c`
    Ternary,
    /// `[i]`
    Index,
    /// `.1`, `.name`
    Element,
    /// `::T`
    Cast,
}

/// An infix operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Infix {
    pub(super) function: &'static str,
    pub(super) precedence: u8,
    pub(super) shape: Shape,
}

const SYMBOLS: &[(K, Infix)] = &[
    (
        K::Equals,
        infix("equals", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::NotEquals,
        infix("notEquals", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::Less,
        infix("less", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::Greater,
        infix("greater", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::LessOrEquals,
        infix("lessOrEquals", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::GreaterOrEquals,
        infix("greaterOrEquals", precedence::COMPARE, Shape::Quantified),
    ),
    (
        K::Spaceship,
        infix("isNotDistinctFrom", precedence::COMPARE, Shape::Binary),
    ),
    (K::Tilde, infix("match", precedence::COMPARE, Shape::Binary)),
    (
        K::TildeAsterisk,
        infix("matchCaseInsensitive", precedence::COMPARE, Shape::Binary),
    ),
    (
        K::NotTilde,
        infix("notMatch", precedence::COMPARE, Shape::Binary),
    ),
    (
        K::NotTildeAsterisk,
        infix(
            "notMatchCaseInsensitive",
            precedence::COMPARE,
            Shape::Binary,
        ),
    ),
    (
        K::Concatenation,
        infix("concat", precedence::CONCAT, Shape::Chain),
    ),
    (K::Plus, infix("plus", precedence::ADD, Shape::Binary)),
    (K::Minus, infix("minus", precedence::ADD, Shape::Binary)),
    (
        K::Asterisk,
        infix("multiply", precedence::MULTIPLY, Shape::Binary),
    ),
    (
        K::Slash,
        infix("divide", precedence::MULTIPLY, Shape::Binary),
    ),
    (
        K::Percent,
        infix("modulo", precedence::MULTIPLY, Shape::Binary),
    ),
    (
        K::Question,
        infix("if", precedence::TERNARY, Shape::Ternary),
    ),
    (
        K::OpenSquare,
        infix("arrayElement", precedence::POSTFIX, Shape::Index),
    ),
    (
        K::Dot,
        infix("tupleElement", precedence::POSTFIX, Shape::Element),
    ),
    (
        K::DoubleColon,
        infix("CAST", precedence::POSTFIX, Shape::Cast),
    ),
];

/// Operators written in words; a longer one stands before its beginning.
const WORDS: &[(&str, Infix)] = &[
    ("AND", infix("and", precedence::AND, Shape::Chain)),
    ("OR", infix("or", precedence::OR, Shape::Chain)),
    ("IN", infix("in", precedence::COMPARE, Shape::In)),
    ("LIKE", infix("like", precedence::COMPARE, Shape::Like)),
    ("ILIKE", infix("ilike", precedence::COMPARE, Shape::Like)),
    ("REGEXP", infix("match", precedence::COMPARE, Shape::Binary)),
    ("DIV", infix("intDiv", precedence::MULTIPLY, Shape::Binary)),
    ("MOD", infix("modulo", precedence::MULTIPLY, Shape::Binary)),
    (
        "BETWEEN",
        infix(
            "and",
            precedence::BETWEEN,
            Shape::Between { negated: false },
        ),
    ),
    (
        "NOT BETWEEN",
        infix("or", precedence::BETWEEN, Shape::Between { negated: true }),
    ),
    ("NOT IN", infix("notIn", precedence::COMPARE, Shape::In)),
    (
        "NOT LIKE",
        infix("notLike", precedence::COMPARE, Shape::Like),
    ),
    (
        "NOT ILIKE",
        infix("notILike", precedence::COMPARE, Shape::Like),
    ),
    (
        "GLOBAL IN",
        infix("globalIn", precedence::COMPARE, Shape::In),
    ),
    (
        "GLOBAL NOT IN",
        infix("globalNotIn", precedence::COMPARE, Shape::In),
    ),
    ("IS NULL", infix("isNull", precedence::IS, Shape::IsNull)),
    (
        "IS NOT NULL",
        infix("isNotNull", precedence::IS, Shape::IsNull),
    ),
    (
        "IS NOT DISTINCT FROM",
        infix("isNotDistinctFrom", precedence::IS, Shape::Binary),
    ),
    (
        "IS DISTINCT FROM",
        infix("isDistinctFrom", precedence::IS, Shape::Binary),
    ),
    (
        "IS TRUE",
        infix("isNotDistinctFrom", precedence::IS, Shape::IsBool(true)),
    ),
    (
        "IS NOT TRUE",
        infix("isDistinctFrom", precedence::IS, Shape::IsBool(true)),
    ),
    (
        "IS FALSE",
        infix("isNotDistinctFrom", precedence::IS, Shape::IsBool(false)),
    ),
    (
        "IS NOT FALSE",
        infix("isDistinctFrom", precedence::IS, Shape::IsBool(false)),
    ),
    (
        "AT TIME ZONE",
        infix("toTimeZone", precedence::TIME_ZONE, Shape::Binary),
    ),
    (
        "AT LOCAL",
        infix("toTimeZone", precedence::TIME_ZONE, Shape::Local),
    ),
    ("IS UNKNOWN", infix("isNull", precedence::IS, Shape::IsNull)),
    (
        "IS NOT UNKNOWN",
        infix("isNotNull", precedence::IS, Shape::IsNull),
    ),
];

const fn infix(function: &'static str, precedence: u8, shape: Shape) -> Infix {
    Infix {
        function,
        precedence,
        shape,
    }
}

impl Parser<'_> {
    /// Consumes the next token if it is an infix operator of at least `min` precedence.
    pub(super) fn infix(&mut self, min: u8) -> Option<Infix> {
        let kind = self.kind();
        if kind == K::Word {
            if self.at_in_partition() {
                return None;
            }
            let (words, found) = *WORDS.iter().find(|(words, _)| self.keyword(words))?;
            if found.precedence >= min {
                return Some(found);
            }
            let consumed = words.split(' ').count();
            self.back(self.mark() - consumed);
            return None;
        }
        self.note("operator");
        let (_, found) = *SYMBOLS.iter().find(|(symbol, _)| *symbol == kind)?;
        if found.precedence < min {
            return None;
        }
        self.advance();
        Some(found)
    }

    /// Whether `IN PARTITION p` follows, a clause of ALTER TABLE, and not a table of that name.
    fn at_in_partition(&mut self) -> bool {
        if !self.peek_keyword("IN PARTITION") {
            return false;
        }
        let next = self.token(2).kind;
        let is_name = [b"ID".as_slice(), b"ALL", b"tuple"]
            .iter()
            .any(|word| self.token_text(2).eq_ignore_ascii_case(word));
        matches!(next, K::Number | K::String | K::OpenRound) || (next == K::Word && is_name)
    }
}
