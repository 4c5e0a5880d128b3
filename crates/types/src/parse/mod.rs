//! Parses a type's name, as in DDL, `CAST` and `structure` arguments, to a [`DataType`].
//!
//! | module | owns |
//! |---|---|
//! | [`names`] | the names of types |
//! | [`parameters`] | types with numbers, time zones or names in their brackets |
//! | [`token`] | words, numbers, strings |

mod names;
mod parameters;
mod token;

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};

use crate::variant::MAX_ALTERNATIVES;
use crate::{AggregateType, DataType, TupleType};
pub use names::absent_type;
use names::{SEVERAL_WORDS, TEXT_NAMES, simple_type, unknown_type};
pub use parameters::parse_time_zone;
use token::{Parser, wrong_number};

/// Nesting beyond this is refused, so that a hostile name cannot exhaust the stack.
const MAX_DEPTH: usize = 100;

/// Parses `text` as one type name.
///
/// # Errors
/// `UNKNOWN_TYPE` for a name that is no type, `SYNTAX_ERROR` for text that is no type name,
/// `ARGUMENT_OUT_OF_BOUND` and the like for arguments that do not fit the type.
pub fn parse_data_type(text: &str) -> Result<DataType> {
    let mut parser = Parser {
        rest: text,
        depth: 0,
    };
    let data_type = parser.data_type()?;
    parser.skip_space();
    if parser.rest.is_empty() {
        Ok(data_type)
    } else {
        Err(parser.unexpected("end of the type"))
    }
}

/// Parses `name Type, name Type, …`, the `structure` argument of table functions.
///
/// # Errors
/// As [`parse_data_type`].
pub fn parse_structure(text: &str) -> Result<Vec<(String, DataType)>> {
    let mut parser = Parser {
        rest: text,
        depth: 0,
    };
    let mut columns = Vec::new();
    loop {
        let name = parser.identifier()?;
        columns.push((name, parser.data_type()?));
        if !parser.eat(',') {
            break;
        }
    }
    parser.skip_space();
    if parser.rest.is_empty() {
        Ok(columns)
    } else {
        Err(parser.unexpected("a comma"))
    }
}

impl Parser<'_> {
    fn data_type(&mut self) -> Result<DataType> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::new(
                ErrorCode::TOO_DEEP_RECURSION,
                "Type is nested too deeply",
            ));
        }
        let name = self.identifier()?;
        let name = self.more_words(name);
        let result = match simple_type(&name) {
            Some(data_type) => self.ignored_width(&data_type).map(|()| data_type),
            None => self.with_arguments(&name),
        };
        self.depth -= 1;
        result
    }

    /// Standard SQL's names of several words: `DOUBLE PRECISION`, `CHARACTER LARGE OBJECT`.
    fn more_words(&mut self, name: String) -> String {
        let mut words = name.to_ascii_uppercase();
        let (mut rest, mut found) = (self.rest, None);
        loop {
            rest = rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_alphabetic());
            let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
            words = format!("{words} {}", word.to_ascii_uppercase());
            rest = behind;
            if word.is_empty()
                || !SEVERAL_WORDS
                    .iter()
                    .any(|(known, _)| known.starts_with(&words))
            {
                break;
            }
            if let Some((_, one)) = SEVERAL_WORDS.iter().find(|(known, _)| *known == words) {
                found = Some((*one, rest));
            }
        }
        match found {
            Some((one, rest)) => {
                self.rest = rest;
                one.to_owned()
            }
            None => {
                self.skip_space();
                name
            }
        }
    }

    fn with_arguments(&mut self, name: &str) -> Result<DataType> {
        let upper = name.to_ascii_uppercase();
        match (name, upper.as_str()) {
            ("Nullable", _) => self.nullable(),
            ("LowCardinality", _) => self.low_cardinality(),
            ("Array", _) => Ok(DataType::array(self.one_argument("Array")?)),
            ("Tuple", _) => self.tuple(),
            ("Nested", _) => self.nested(),
            ("Map", _) => self.map(),
            ("Variant", _) => self.variant(),
            ("AggregateFunction", _) => self.aggregate(),
            ("SimpleAggregateFunction", _) => self.simple_aggregate(),
            ("FixedString", _) | (_, "BINARY") => self.fixed_string(),
            (_, text) if TEXT_NAMES.contains(&text) => {
                self.numbers()?;
                Ok(DataType::String)
            }
            (_, "DECIMAL" | "NUMERIC" | "DEC" | "FIXED") => self.decimal(None),
            (_, "DECIMAL32") => self.decimal(Some(9)),
            (_, "DECIMAL64") => self.decimal(Some(18)),
            (_, "DECIMAL128") => self.decimal(Some(38)),
            (_, "DECIMAL256") => self.decimal(Some(76)),
            (_, "DATETIME" | "TIMESTAMP" | "DATETIME32") => self.date_time(),
            (_, "DATETIME64") => self.date_time64(),
            (_, "ENUM" | "ENUM8" | "ENUM16") => self.enumeration(&upper),
            _ => Err(unknown_type(name)),
        }
    }

    fn one_argument(&mut self, family: &str) -> Result<DataType> {
        self.expect('(')?;
        self.not_empty(family, "one type")?;
        let inner = self.data_type()?;
        if self.eat(',') {
            return Err(wrong_number(family, "one type"));
        }
        self.expect(')')?;
        Ok(inner)
    }

    fn nullable(&mut self) -> Result<DataType> {
        let inner = self.one_argument("Nullable")?;
        if !inner.can_be_nullable() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!("Nested type {inner} cannot be inside Nullable type"),
            ));
        }
        Ok(inner.to_nullable())
    }

    fn low_cardinality(&mut self) -> Result<DataType> {
        let inner = self.one_argument("LowCardinality")?;
        let base = inner.base();
        let fits = matches!(inner, DataType::Nullable(_)) || inner.can_be_nullable();
        if !fits || base.is_decimal() || base.is_enum() || *base == DataType::Bool {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!(
                    "DataTypeLowCardinality is supported only for numbers, strings, Date or DateTime, but got {inner}"
                ),
            ));
        }
        Ok(DataType::LowCardinality(Arc::new(inner)))
    }

    fn tuple(&mut self) -> Result<DataType> {
        let (mut types, mut names) = (Vec::new(), Vec::new());
        self.expect('(')?;
        while !self.eat(')') {
            if !types.is_empty() {
                self.expect(',')?;
            }
            let before = self.rest;
            let name = self.identifier()?;
            self.skip_space();
            if self.rest.starts_with([',', ')', '(']) {
                self.rest = before;
            } else {
                names.push(name);
            }
            types.push(self.data_type()?);
        }
        let twice = names
            .iter()
            .enumerate()
            .find(|(i, n)| names[..*i].contains(n));
        if let Some((_, name)) = twice {
            return Err(Error::new(
                ErrorCode::DUPLICATE_COLUMN,
                format!("Names of tuple elements must be unique. Duplicate name: {name}"),
            ));
        }
        if !names.is_empty() && names.len() != types.len() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Names are specified not for all elements of Tuple type",
            ));
        }
        Ok(DataType::Tuple(Arc::new(TupleType { types, names })))
    }

    fn nested(&mut self) -> Result<DataType> {
        let tuple = self.tuple()?;
        match &tuple {
            DataType::Tuple(elements) if elements.types.is_empty() => Err(Error::new(
                ErrorCode::EMPTY_DATA_PASSED,
                "Nested cannot be empty",
            )),
            _ => Ok(DataType::array(tuple)),
        }
    }

    fn map(&mut self) -> Result<DataType> {
        self.expect('(')?;
        self.not_empty("Map", "a key type and a value type")?;
        let key = self.data_type()?;
        if self.eat(')') {
            return Err(wrong_number("Map", "a key type and a value type"));
        }
        self.expect(',')?;
        let value = self.data_type()?;
        self.expect(')')?;
        if key.is_nullable() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!("Map cannot have a key of type {key}"),
            ));
        }
        Ok(DataType::map(key, value))
    }

    fn variant(&mut self) -> Result<DataType> {
        self.expect('(')?;
        let mut types = Vec::new();
        while !self.eat(')') {
            if !types.is_empty() {
                self.expect(',')?;
            }
            let inner = self.data_type()?;
            if inner.is_nullable() || matches!(inner, DataType::Variant(_)) {
                return Err(Error::new(
                    ErrorCode::BAD_ARGUMENTS,
                    format!("Type {inner} is not allowed inside Variant type"),
                ));
            }
            types.push(inner);
        }
        if types.is_empty() || types.len() > MAX_ALTERNATIVES {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                format!(
                    "Variant type should have 1 to {MAX_ALTERNATIVES} nested types, got {}",
                    types.len()
                ),
            ));
        }
        Ok(DataType::variant(types))
    }

    fn simple_aggregate(&mut self) -> Result<DataType> {
        let expected = "a function and its argument's type";
        self.expect('(')?;
        self.not_empty("SimpleAggregateFunction", expected)?;
        self.identifier()?;
        if self.eat(')') {
            return Err(wrong_number("SimpleAggregateFunction", expected));
        }
        self.expect(',')?;
        let inner = self.data_type()?;
        self.expect(')')?;
        Ok(inner)
    }

    fn aggregate(&mut self) -> Result<DataType> {
        self.expect('(')?;
        self.not_empty("AggregateFunction", "a function and its arguments' types")?;
        let name = self.identifier()?;
        let mut params = Vec::new();
        if self.eat('(') {
            let end = self
                .rest
                .find(')')
                .ok_or_else(|| self.unexpected("a closing bracket"))?;
            params = self.rest[..end]
                .split(',')
                .map(|p| p.trim().to_owned())
                .collect();
            self.rest = &self.rest[end + 1..];
        }
        let mut args = Vec::new();
        while self.eat(',') {
            args.push(self.data_type()?);
        }
        self.expect(')')?;
        Ok(DataType::AggregateFunction(Arc::new(AggregateType {
            name,
            params,
            args,
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_data_type, parse_structure};

    #[test]
    fn names_come_back_as_they_are_printed() {
        for name in [
            "UInt8",
            "Nullable(Float64)",
            "LowCardinality(Nullable(String))",
            "Array(Array(Int16))",
            "Map(String, Array(UInt8))",
            "Tuple(a UInt8, b String)",
            "Tuple(UInt8, Tuple(String, Date))",
            "DateTime64(3, 'Europe/Berlin')",
            "DateTime('UTC')",
            "Enum8('a' = -1, 'b\\'c' = 2)",
            "Decimal(18, 4)",
            "FixedString(16)",
            "AggregateFunction(quantile(0.5), UInt8)",
            "IntervalDay",
        ] {
            assert_eq!(parse_data_type(name).expect(name).to_string(), name);
        }
    }

    #[test]
    fn bad_names_are_errors() {
        for (name, code) in [
            ("Strin", 50),
            ("stringy", 50),
            ("Array(", 62),
            ("Nullable(Array(UInt8))", 43),
            ("FixedString(0)", 223),
            ("FixedString()", 42),
            ("Array()", 42),
            ("Enum8()", 92),
            ("Tuple(a UInt8, a UInt8)", 15),
            ("Date(1)", 378),
            ("Decimal(77, 1)", 69),
            ("DateTime('Mars')", 36),
            ("UInt8 x", 62),
        ] {
            assert_eq!(
                parse_data_type(name).expect_err(name).code().number,
                code,
                "{name}"
            );
        }
        assert_eq!(
            parse_structure("a UInt8, b Array(String)")
                .expect("structure")
                .len(),
            2
        );
    }
}
