//! Parses a type's name, as in DDL, `CAST` and `structure` arguments, to a [`DataType`].

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use chrono_tz::Tz;

use crate::{AggregateType, DataType, EnumType, IntervalUnit, TupleType};

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

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
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
        let name = self.second_word(name);
        let result = match simple_type(&name) {
            Some(data_type) => Ok(data_type),
            None => self.with_arguments(&name),
        };
        self.depth -= 1;
        result
    }

    /// Standard SQL's names of two words: `DOUBLE PRECISION`, `INT UNSIGNED`.
    fn second_word(&mut self, name: String) -> String {
        self.skip_space();
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(self.rest.len());
        let both = format!("{name} {}", &self.rest[..end]).to_ascii_uppercase();
        match TWO_WORDS.iter().find(|(words, _)| *words == both) {
            Some((_, one)) => {
                self.rest = &self.rest[end..];
                (*one).to_owned()
            }
            None => name,
        }
    }

    fn with_arguments(&mut self, name: &str) -> Result<DataType> {
        let upper = name.to_ascii_uppercase();
        match (name, upper.as_str()) {
            ("Nullable", _) => self.nullable(),
            ("LowCardinality", _) => self.low_cardinality(),
            ("Array", _) => Ok(DataType::array(self.one_argument()?)),
            ("Tuple", _) => self.tuple(),
            ("Nested", _) => Ok(DataType::array(self.tuple()?)),
            ("Map", _) => self.map(),
            ("AggregateFunction", _) => self.aggregate(),
            ("SimpleAggregateFunction", _) => {
                self.expect('(')?;
                self.identifier()?;
                self.expect(',')?;
                let inner = self.data_type()?;
                self.expect(')')?;
                Ok(inner)
            }
            (_, "FIXEDSTRING" | "BINARY") => self.fixed_string(),
            (_, "VARCHAR" | "CHAR" | "TEXT" | "BLOB") => {
                self.numbers()?;
                Ok(DataType::String)
            }
            (_, "DECIMAL" | "NUMERIC" | "DEC") => self.decimal(None),
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

    fn one_argument(&mut self) -> Result<DataType> {
        self.expect('(')?;
        let inner = self.data_type()?;
        self.expect(')')?;
        Ok(inner)
    }

    fn nullable(&mut self) -> Result<DataType> {
        let inner = self.one_argument()?;
        if !inner.can_be_nullable() {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!("Nested type {inner} cannot be inside Nullable type"),
            ));
        }
        Ok(inner.to_nullable())
    }

    fn low_cardinality(&mut self) -> Result<DataType> {
        let inner = self.one_argument()?;
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
        if !names.is_empty() && names.len() != types.len() {
            return Err(Error::new(
                ErrorCode::BAD_ARGUMENTS,
                "Names are specified not for all elements of Tuple type",
            ));
        }
        Ok(DataType::Tuple(Arc::new(TupleType { types, names })))
    }

    fn map(&mut self) -> Result<DataType> {
        self.expect('(')?;
        let key = self.data_type()?;
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

    fn aggregate(&mut self) -> Result<DataType> {
        self.expect('(')?;
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

    fn fixed_string(&mut self) -> Result<DataType> {
        let size = match self.numbers()?.as_slice() {
            [size] => u32::try_from(*size).unwrap_or(0),
            _ => 0,
        };
        if !(1..=0x00FF_FFFF).contains(&size) {
            return Err(Error::new(
                ErrorCode::UNEXPECTED_AST_STRUCTURE,
                "FixedString needs one size, from 1 to 16777215 bytes",
            ));
        }
        Ok(DataType::FixedString(size))
    }

    fn decimal(&mut self, fixed_precision: Option<u8>) -> Result<DataType> {
        let numbers = self.numbers()?;
        let (precision, scale) = match (fixed_precision, numbers.as_slice()) {
            (Some(precision), [scale]) => (i64::from(precision), *scale),
            (None, [precision, scale]) => (*precision, *scale),
            (None, [precision]) => (*precision, 0),
            (None, []) => (10, 0),
            _ => {
                return Err(Error::new(
                    ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                    "Decimal needs a precision and a scale, Decimal32/64/128/256 a scale",
                ));
            }
        };
        if !(1..=76).contains(&precision) || !(0..=precision).contains(&scale) {
            return Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!(
                    "Decimal has 1 to 76 digits and a scale of at most as many: {precision}, {scale}"
                ),
            ));
        }
        let narrow = |n: i64| u8::try_from(n).unwrap_or(u8::MAX);
        Ok(DataType::Decimal {
            precision: narrow(precision),
            scale: narrow(scale),
        })
    }

    fn date_time(&mut self) -> Result<DataType> {
        if !self.eat('(') {
            return Ok(DataType::DateTime(None));
        }
        self.skip_space();
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.date_time64_arguments();
        }
        let zone = self.time_zone()?;
        self.expect(')')?;
        Ok(DataType::DateTime(Some(zone)))
    }

    fn date_time64(&mut self) -> Result<DataType> {
        if self.eat('(') {
            self.date_time64_arguments()
        } else {
            Ok(DataType::DateTime64(3, None))
        }
    }

    fn date_time64_arguments(&mut self) -> Result<DataType> {
        let precision = self.number()?;
        let zone = if self.eat(',') {
            Some(self.time_zone()?)
        } else {
            None
        };
        self.expect(')')?;
        match u8::try_from(precision) {
            Ok(p) if p <= 9 => Ok(DataType::DateTime64(p, zone)),
            _ => Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!("Scale of DateTime64 must be between 0 and 9, not {precision}"),
            )),
        }
    }

    fn time_zone(&mut self) -> Result<Tz> {
        let name = self.quoted()?;
        parse_time_zone(&name)
    }

    fn enumeration(&mut self, name: &str) -> Result<DataType> {
        self.expect('(')?;
        let mut values: Vec<(String, i16)> = Vec::new();
        let mut next: i64 = 1;
        loop {
            let value = self.quoted()?;
            if self.eat('=') {
                next = self.number()?;
            }
            let number = i16::try_from(next).map_err(|_| enum_out_of_range(next))?;
            if values.iter().any(|(v, n)| *v == value || *n == number) {
                return Err(Error::new(
                    ErrorCode::SYNTAX_ERROR,
                    format!("Duplicate name or value in enum: '{value}' = {number}"),
                ));
            }
            values.push((value, number));
            next += 1;
            if !self.eat(',') {
                break;
            }
        }
        self.expect(')')?;
        let outside = values.iter().find(|(_, n)| i8::try_from(*n).is_err());
        match (name, outside) {
            ("ENUM8", Some((_, n))) => Err(enum_out_of_range(i64::from(*n))),
            ("ENUM8" | "ENUM", None) => Ok(DataType::Enum8(Arc::new(EnumType::new(values)))),
            _ => Ok(DataType::Enum16(Arc::new(EnumType::new(values)))),
        }
    }

    fn numbers(&mut self) -> Result<Vec<i64>> {
        let mut numbers = Vec::new();
        if self.eat('(') {
            loop {
                numbers.push(self.number()?);
                if !self.eat(',') {
                    break;
                }
            }
            self.expect(')')?;
        }
        Ok(numbers)
    }

    fn number(&mut self) -> Result<i64> {
        self.skip_space();
        let len = self
            .rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || *b == b'-')
            .count();
        let (digits, rest) = self.rest.split_at(len);
        let number = digits.parse().map_err(|_| self.unexpected("a number"))?;
        self.rest = rest;
        Ok(number)
    }

    fn quoted(&mut self) -> Result<String> {
        self.skip_space();
        let unexpected = self.unexpected("a quoted string");
        let mut chars = self
            .rest
            .strip_prefix('\'')
            .ok_or(unexpected.clone())?
            .char_indices();
        let mut value = String::new();
        while let Some((i, c)) = chars.next() {
            match c {
                '\\' => value.extend(chars.next().map(|(_, c)| c)),
                '\'' if self.rest[i + 2..].starts_with('\'') => {
                    value.push('\'');
                    chars.next();
                }
                '\'' => {
                    self.rest = &self.rest[i + 2..];
                    return Ok(value);
                }
                c => value.push(c),
            }
        }
        Err(unexpected)
    }

    fn identifier(&mut self) -> Result<String> {
        self.skip_space();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '`' | '"')) {
            let inner = &self.rest[1..];
            let end = inner
                .find(quote)
                .ok_or_else(|| self.unexpected("a closing quote"))?;
            self.rest = &inner[end + 1..];
            return Ok(inner[..end].to_owned());
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        if name.is_empty() {
            return Err(self.unexpected("a name"));
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, c: char) -> bool {
        self.skip_space();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<()> {
        if self.eat(c) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("'{c}'")))
        }
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found: String = self.rest.chars().take(20).collect();
        Error::new(
            ErrorCode::SYNTAX_ERROR,
            format!("Cannot parse data type, expected {expected}, found '{found}'"),
        )
    }
}

/// The time zone of that name.
///
/// # Errors
/// `BAD_ARGUMENTS` for a name that the time zone database does not have.
pub fn parse_time_zone(name: &str) -> Result<Tz> {
    name.parse().map_err(|_| {
        Error::new(
            ErrorCode::BAD_ARGUMENTS,
            format!("Cannot load time zone {name}"),
        )
    })
}

fn enum_out_of_range(number: i64) -> Error {
    Error::new(
        ErrorCode::ARGUMENT_OUT_OF_BOUND,
        format!("Value {number} is out of the range of the enum type"),
    )
}

fn unknown_type(name: &str) -> Error {
    let known = SIMPLE_TYPES
        .iter()
        .map(|(n, _)| *n)
        .chain(COMPOUND_TYPES.iter().copied());
    let same = |n: &&str| n.eq_ignore_ascii_case(name);
    let hint = known
        .clone()
        .find(same)
        .map(|n| format!(". Maybe you meant: ['{n}']"));
    let message = format!(
        "Unknown data type family: {name}{}",
        hint.unwrap_or_default()
    );
    Error::new(ErrorCode::UNKNOWN_TYPE, message)
}

const COMPOUND_TYPES: [&str; 9] = [
    "Nullable",
    "LowCardinality",
    "Array",
    "Tuple",
    "Map",
    "AggregateFunction",
    "FixedString",
    "Enum8",
    "Enum16",
];

/// Types without arguments, by their own names.
const SIMPLE_TYPES: [(&str, DataType); 20] = [
    ("UInt8", DataType::UInt8),
    ("UInt16", DataType::UInt16),
    ("UInt32", DataType::UInt32),
    ("UInt64", DataType::UInt64),
    ("Int8", DataType::Int8),
    ("Int16", DataType::Int16),
    ("Int32", DataType::Int32),
    ("Int64", DataType::Int64),
    ("Float32", DataType::Float32),
    ("Float64", DataType::Float64),
    ("Bool", DataType::Bool),
    ("String", DataType::String),
    ("Date", DataType::Date),
    ("Date32", DataType::Date32),
    ("UUID", DataType::Uuid),
    ("IPv4", DataType::Ipv4),
    ("IPv6", DataType::Ipv6),
    ("Nothing", DataType::Nothing),
    ("INET4", DataType::Ipv4),
    ("INET6", DataType::Ipv6),
];

/// Names of two words, and the type's own name.
const TWO_WORDS: [(&str, &str); 14] = [
    ("BIGINT SIGNED", "Int64"),
    ("BIGINT UNSIGNED", "UInt64"),
    ("INT SIGNED", "Int32"),
    ("INT UNSIGNED", "UInt32"),
    ("INTEGER SIGNED", "Int32"),
    ("INTEGER UNSIGNED", "UInt32"),
    ("SMALLINT SIGNED", "Int16"),
    ("SMALLINT UNSIGNED", "UInt16"),
    ("TINYINT SIGNED", "Int8"),
    ("TINYINT UNSIGNED", "UInt8"),
    ("DOUBLE PRECISION", "Float64"),
    ("CHARACTER VARYING", "VARCHAR"),
    ("CHAR VARYING", "VARCHAR"),
    ("NATIONAL CHAR", "VARCHAR"),
];

/// Names from standard SQL, in any case.
const STANDARD_NAMES: [(&str, DataType); 17] = [
    ("TINYINT", DataType::Int8),
    ("SMALLINT", DataType::Int16),
    ("INT", DataType::Int32),
    ("INTEGER", DataType::Int32),
    ("BIGINT", DataType::Int64),
    ("SIGNED", DataType::Int64),
    ("UNSIGNED", DataType::UInt64),
    ("FLOAT", DataType::Float32),
    ("REAL", DataType::Float32),
    ("DOUBLE", DataType::Float64),
    ("BOOL", DataType::Bool),
    ("BOOLEAN", DataType::Bool),
    ("CLOB", DataType::String),
    ("BYTEA", DataType::String),
    ("DATE", DataType::Date),
    ("DATE32", DataType::Date32),
    ("YEAR", DataType::UInt16),
];

fn simple_type(name: &str) -> Option<DataType> {
    if let Some((_, t)) = SIMPLE_TYPES.iter().find(|(n, _)| *n == name) {
        return Some(t.clone());
    }
    if let Some(unit) = name
        .strip_prefix("Interval")
        .and_then(IntervalUnit::from_name)
    {
        return Some(DataType::Interval(unit));
    }
    let standard = STANDARD_NAMES
        .iter()
        .find(|(n, _)| n.eq_ignore_ascii_case(name));
    standard.map(|(_, t)| t.clone())
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
