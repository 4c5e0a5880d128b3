//! Reads types with sizes, scales, time zones or names in their brackets.

use std::sync::Arc;

use basalt_error::{Error, ErrorCode, Result};
use chrono_tz::Tz;

use super::token::{Parser, wrong_number};
use crate::{DataType, EnumType};

const MAX_FIXED_STRING: i64 = 0x00FF_FFFF;

impl Parser<'_> {
    /// The `(11)` of `INT(11)`, which says nothing; other types take no brackets.
    pub(super) fn ignored_width(&mut self, data_type: &DataType) -> Result<()> {
        let before = self.rest;
        if !self.eat('(') {
            self.rest = before;
            return Ok(());
        }
        self.rest = before;
        let takes = data_type.is_integer() || data_type.is_float() || data_type.is_string();
        if !takes || *data_type == DataType::Bool {
            return Err(Error::new(
                ErrorCode::DATA_TYPE_CANNOT_HAVE_ARGUMENTS,
                format!("Remove the brackets: data type {data_type} cannot have arguments"),
            ));
        }
        self.numbers().map(|_| ())
    }

    pub(super) fn fixed_string(&mut self) -> Result<DataType> {
        let structure = |what: &str| Err(Error::new(ErrorCode::UNEXPECTED_AST_STRUCTURE, what));
        let before = self.rest;
        let starts = self.eat('(');
        self.skip_space();
        let is_number = self
            .rest
            .starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let is_empty = self.rest.starts_with(')');
        self.rest = before;
        if starts && !is_number && !is_empty {
            return structure("FixedString needs a number of bytes");
        }
        match self.numbers()?.as_slice() {
            [size] if *size > MAX_FIXED_STRING => Err(Error::new(
                ErrorCode::ARGUMENT_OUT_OF_BOUND,
                format!("FixedString has at most {MAX_FIXED_STRING} bytes"),
            )),
            [size] => match u32::try_from(*size) {
                Ok(size) if size > 0 => Ok(DataType::FixedString(size)),
                _ => structure("FixedString has at least 1 byte"),
            },
            _ => Err(wrong_number("FixedString", "one number of bytes")),
        }
    }

    pub(super) fn decimal(&mut self, fixed_precision: Option<u8>) -> Result<DataType> {
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

    pub(super) fn date_time(&mut self) -> Result<DataType> {
        if !self.eat('(') || self.eat(')') {
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

    pub(super) fn date_time64(&mut self) -> Result<DataType> {
        if self.eat('(') && !self.eat(')') {
            self.date_time64_arguments()
        } else {
            Ok(DataType::DateTime64(3, None))
        }
    }

    fn date_time64_arguments(&mut self) -> Result<DataType> {
        self.skip_space();
        if self.rest.starts_with(['-', '\'']) {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                "The scale of DateTime64 must be a number from 0 to 9",
            ));
        }
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

    pub(super) fn enumeration(&mut self, name: &str) -> Result<DataType> {
        self.expect('(')?;
        if self.eat(')') {
            return Err(Error::new(
                ErrorCode::EMPTY_DATA_PASSED,
                "Enum data type cannot be empty",
            ));
        }
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
