//! Parses data types.

use basalt_error::Result;

use super::Parser;
use crate::ast::{DataType, Expr, ExprKind, Literal, TypeArg};
use crate::lexer::TokenKind as K;

/// Levels of depth that a nested type counts as.
const TYPE_LEVELS: u32 = 4;

/// Types whose names have several words; a longer one stands before its beginning.
const LONG_NAMES: &[&str] = &[
    "DOUBLE PRECISION",
    "CHAR LARGE OBJECT",
    "CHAR VARYING",
    "CHARACTER LARGE OBJECT",
    "CHARACTER VARYING",
    "NCHAR LARGE OBJECT",
    "NCHAR VARYING",
    "NATIONAL CHARACTER LARGE OBJECT",
    "NATIONAL CHARACTER VARYING",
    "NATIONAL CHAR VARYING",
    "NATIONAL CHARACTER",
    "NATIONAL CHAR",
    "BINARY LARGE OBJECT",
    "BINARY VARYING",
    "TIME WITHOUT TIME ZONE",
];

const UNSIGNED_SUFFIX: &[&str] = &[
    "TINYINT",
    "SMALLINT",
    "MEDIUMINT",
    "INT",
    "INT1",
    "INTEGER",
    "BIGINT",
];

impl Parser<'_> {
    /// A type.
    pub(crate) fn data_type(&mut self) -> Result<DataType> {
        self.enter(TYPE_LEVELS)?;
        let long_name = LONG_NAMES.iter().find(|words| {
            words
                .split(' ')
                .enumerate()
                .all(|(ahead, word)| self.is_word(ahead, word))
        });
        let mut name = match long_name {
            Some(words) => {
                for _ in words.split(' ') {
                    self.advance();
                }
                (*words).to_owned()
            }
            None => self.type_name()?,
        };
        let mut args = if self.kind() == K::OpenRound {
            self.advance();
            Some(self.type_arguments(&name)?)
        } else {
            None
        };
        let upper = name.to_ascii_uppercase();
        // The width with which MySQL shows integers means nothing.
        if UNSIGNED_SUFFIX.contains(&upper.as_str()) {
            args = None;
        }
        if UNSIGNED_SUFFIX.contains(&upper.as_str())
            && let Some(sign) = self.keyword_of(&["UNSIGNED", "SIGNED"])
        {
            name = format!("{upper} {}", ["UNSIGNED", "SIGNED"][sign]);
        }
        self.leave(TYPE_LEVELS);
        Ok(DataType { name, args })
    }

    fn type_arguments(&mut self, name: &str) -> Result<Vec<TypeArg>> {
        let mut args = Vec::new();
        while !self.symbol(K::CloseRound) {
            let arg = self.type_argument(name, args.is_empty())?;
            args.push(arg);
            if !self.symbol(K::Comma) {
                self.expect_symbol(K::CloseRound)?;
                break;
            }
        }
        Ok(args)
    }

    fn type_argument(&mut self, outer: &str, first: bool) -> Result<TypeArg> {
        match self.kind() {
            K::String => return self.string_argument(),
            K::Number | K::Minus => return Ok(TypeArg::Value(self.expr()?)),
            _ => {}
        }
        let aggregate = matches!(outer, "AggregateFunction" | "SimpleAggregateFunction");
        if aggregate && first {
            return self.function_argument();
        }
        if outer.eq_ignore_ascii_case("JSON") {
            if self.keyword("SKIP REGEXP") {
                return Ok(TypeArg::SkipRegexp(self.string("regular expression")?));
            }
            if self.token(1).kind != K::Equals && self.keyword("SKIP") {
                return Ok(TypeArg::Skip(self.compound_identifier("path")?.join(".")));
            }
        }
        if self.token(1).kind == K::Equals {
            let name = self.identifier("name")?;
            self.advance();
            return Ok(TypeArg::Parameter(name, self.expr()?));
        }
        // A name before a type: `a UInt8`, `a.b UInt8`.
        let mark = self.mark();
        let name = self.compound_identifier("data type")?.join(".");
        if matches!(self.kind(), K::Word | K::QuotedIdentifier) && !self.at_long_name(mark) {
            return Ok(TypeArg::Named(name, self.data_type()?));
        }
        self.back(mark);
        Ok(TypeArg::Type(self.data_type()?))
    }

    /// A word, also in quotes.
    fn type_name(&mut self) -> Result<String> {
        let mark = self.mark();
        let name = self.identifier("data type")?;
        let is_word = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if !is_word {
            self.back(mark);
            return self.fail("data type");
        }
        Ok(name)
    }

    /// Whether the tokens at `mark` are a name of several words.
    fn at_long_name(&mut self, mark: usize) -> bool {
        let here = self.mark();
        self.back(mark);
        let found = LONG_NAMES.iter().any(|words| {
            words
                .split(' ')
                .enumerate()
                .all(|(ahead, word)| self.is_word(ahead, word))
        }) || (self.is_word(1, "UNSIGNED") || self.is_word(1, "SIGNED"));
        self.back(here);
        found
    }

    /// `'a' = 1`, `'a'`
    fn string_argument(&mut self) -> Result<TypeArg> {
        let span = self.start_span();
        let text = self.string("string")?;
        if !self.symbol(K::Equals) {
            return Ok(TypeArg::Value(Expr::new(
                ExprKind::Literal(Literal::String(text)),
                span,
            )));
        }
        let negative = self.symbol(K::Minus);
        match self.try_number(negative)? {
            Some(Literal::Int(n)) => Ok(TypeArg::Assigned(text, n)),
            Some(Literal::UInt(n)) => match i64::try_from(n) {
                Ok(n) => Ok(TypeArg::Assigned(text, n)),
                Err(_) => self.fail("number of the enum's element"),
            },
            _ => self.fail("number of the enum's element"),
        }
    }

    /// `quantile(0.9)`, `sum`: the first argument of AggregateFunction.
    fn function_argument(&mut self) -> Result<TypeArg> {
        let name = self.identifier("aggregate function")?;
        let params = if self.peek_symbol(K::OpenRound) {
            self.parenthesised(Self::expr)?
        } else {
            Vec::new()
        };
        Ok(TypeArg::Function(name, params))
    }
}
