//! Reads one value's text into the buffers of its column.

use arrow::datatypes::i256;
use basalt_error::{Error, ErrorCode, Result};

use super::slots::EnumNumbers;
use super::values::Values;
use super::{ColumnBuilder, ReadOptions, left_over};
use crate::text::Cursor;
use crate::text::address::{read_ipv4, read_ipv6, read_uuid};
use crate::text::best_effort::{BestEffort, read_best_effort};
use crate::text::cursor::excerpt;
use crate::text::escape::read_quoted;
use crate::text::parse_decimal::read_decimal;
use crate::text::parse_float::{parse_f32, parse_f64, read_float};
use crate::text::parse_number::{parse_bool, parse_int, parse_whole, read_bool_word, read_int};
use crate::text::parse_time::{
    LocalClock, read_basic, read_basic_ticks, read_clock, read_date, read_unix_seconds, to_date,
    to_date_time, to_date32, to_ticks,
};

impl ColumnBuilder {
    /// Appends the value that the whole of `text` is, to the buffers only.
    #[inline]
    pub(super) fn read_whole(&mut self, text: &[u8]) -> Result<()> {
        let options = &self.options;
        match &mut self.values {
            Values::UInt8(v) => v.push(parse_int(text)?),
            Values::UInt16(v) => v.push(parse_int(text)?),
            Values::UInt32(v) => v.push(parse_int(text)?),
            Values::UInt64(v) => v.push(parse_int(text)?),
            Values::Int8(v) => v.push(parse_int(text)?),
            Values::Int16(v) => v.push(parse_int(text)?),
            Values::Int32(v) => v.push(parse_int(text)?),
            Values::Int64(v) => v.push(parse_int(text)?),
            Values::Float32(v) if options.is_cast => v.push(parse_f32(text)?),
            Values::Float64(v) if options.is_cast => v.push(parse_f64(text)?),
            Values::Float32(v) => v.push(parse_whole(text, "Float32", read_float)?),
            Values::Float64(v) => v.push(parse_whole(text, "Float64", read_float)?),
            Values::Bool(v) => v.push(u8::from(bool_of(text, options)?)),
            Values::Decimal128(v, precision, scale) => {
                let digits = digits_allowed(*precision, options);
                let read = |c: &mut Cursor<'_>| read_decimal(c, digits, *scale);
                v.push(to_i128(parse_whole(text, "Decimal", read)?)?);
            }
            Values::Decimal256(v, precision, scale) => {
                let digits = digits_allowed(*precision, options);
                v.push(parse_whole(text, "Decimal", |c| {
                    read_decimal(c, digits, *scale)
                })?);
            }
            Values::String(v) => v.push(text)?,
            Values::FixedString(v) => {
                if text.len() > v.width {
                    return Err(too_long(text, v.width));
                }
                v.push(text);
            }
            Values::Enum8(v) => read_enum(text, v)?,
            Values::Enum16(v) => read_enum(text, v)?,
            Values::Variant(v) => v.read_whole(text)?,
            Values::Array(..) | Values::Tuple(..) | Values::Map(..) => {
                let mut cursor = Cursor::new(text);
                self.read_quoted_value(&mut cursor)?;
                if !cursor.is_at_end() {
                    return Err(left_over(&self.options, &self.data_type, &cursor));
                }
            }
            times => read_time(times, text, options, &mut self.clock)?,
        }
        Ok(())
    }

    /// Reads one value in the syntax of literals, to the buffers only.
    pub(super) fn read_quoted_value(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match &mut self.values {
            Values::UInt8(v) => v.push(read_int(cursor)?),
            Values::UInt16(v) => v.push(read_int(cursor)?),
            Values::UInt32(v) => v.push(read_int(cursor)?),
            Values::UInt64(v) => v.push(read_int(cursor)?),
            Values::Int8(v) => v.push(read_int(cursor)?),
            Values::Int16(v) => v.push(read_int(cursor)?),
            Values::Int32(v) => v.push(read_int(cursor)?),
            Values::Int64(v) => v.push(read_int(cursor)?),
            Values::Float32(v) => v.push(read_float(cursor)?),
            Values::Float64(v) => v.push(read_float(cursor)?),
            Values::Bool(v) if cursor.peek() != Some(b'\'') => {
                v.push(u8::from(read_bool_word(cursor)?));
            }
            Values::Decimal128(v, precision, scale) => {
                v.push(to_i128(read_decimal(cursor, *precision, *scale)?)?);
            }
            Values::Decimal256(v, precision, scale) => {
                v.push(read_decimal(cursor, *precision, *scale)?);
            }
            Values::DateTime(v) if cursor.peek() != Some(b'\'') => {
                v.push(to_date_time(read_unix_seconds(cursor)?.0));
            }
            Values::DateTime64(v, precision) if cursor.peek() != Some(b'\'') => {
                let (seconds, nanoseconds) = read_unix_seconds(cursor)?;
                v.push(to_ticks(seconds, nanoseconds, *precision)?);
            }
            Values::Array(..) => self.read_array(cursor)?,
            Values::Tuple(..) => self.read_tuple(cursor)?,
            Values::Map(..) => self.read_map(cursor)?,
            Values::Variant(v) => v.read_quoted(cursor)?,
            Values::Nothing(_) => {
                return Err(Error::new(
                    ErrorCode::CANNOT_PARSE_TEXT,
                    format!(
                        "Only NULL is a value of type Nothing, got '{}'",
                        cursor.excerpt()
                    ),
                ));
            }
            _ => {
                let mut text = std::mem::take(&mut self.scratch);
                text.clear();
                read_quoted(cursor, b'\'', &mut text)?;
                let result = self.read_whole(&text);
                self.scratch = text;
                result?;
            }
        }
        Ok(())
    }

    fn read_array(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if !cursor.eat(b'[') {
            return Err(Error::new(
                ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
                format!(
                    "Array does not start with '[' character: '{}'",
                    cursor.excerpt()
                ),
            ));
        }
        if let Values::Array(_, items) = &mut self.values {
            cursor.skip_space();
            while cursor.peek() != Some(b']') {
                items.append_quoted(cursor)?;
                cursor.skip_space();
                match cursor.peek() {
                    Some(b',') => {
                        cursor.advance(1);
                        cursor.skip_space();
                    }
                    Some(b']') | None => break,
                    Some(_) => {
                        return Err(Error::new(
                            ErrorCode::CANNOT_READ_ARRAY_FROM_TEXT,
                            format!(
                                "Cannot read array from text, expected comma or end of array, found '{}'",
                                cursor.excerpt()
                            ),
                        ));
                    }
                }
            }
        }
        cursor.expect(b']')?;
        self.values.finish_nested()
    }

    fn read_tuple(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.expect(b'(')?;
        if let Values::Tuple(columns, _) = &mut self.values {
            let is_single = columns.len() == 1;
            for (i, column) in columns.iter_mut().enumerate() {
                cursor.skip_space();
                if i > 0 {
                    cursor.expect(b',')?;
                    cursor.skip_space();
                }
                column.append_quoted(cursor)?;
            }
            cursor.skip_space();
            if is_single && cursor.eat(b',') {
                cursor.skip_space();
            }
        }
        cursor.expect(b')')?;
        self.values.finish_nested()
    }

    fn read_map(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.expect(b'{')?;
        if let Values::Map(_, entries) = &mut self.values {
            let [keys, values] = &mut **entries;
            cursor.skip_space();
            while cursor.peek() != Some(b'}') {
                keys.append_quoted(cursor)?;
                cursor.skip_space();
                cursor.expect(b':')?;
                cursor.skip_space();
                values.append_quoted(cursor)?;
                cursor.skip_space();
                if !cursor.eat(b',') {
                    break;
                }
                cursor.skip_space();
            }
        }
        cursor.expect(b'}')?;
        self.values.finish_nested()
    }
}

/// The Bool that a text stands for, by the settings' words and the usual ones.
fn bool_of(text: &[u8], options: &ReadOptions) -> Result<bool> {
    let words = options.bool_words.as_ref();
    let known = words.and_then(|words| words.value(text));
    known.map_or_else(|| parse_bool(text), Ok)
}

/// Reads times and addresses.
fn read_time(
    values: &mut Values,
    text: &[u8],
    options: &ReadOptions,
    clock: &mut LocalClock,
) -> Result<()> {
    let date = |cursor: &mut Cursor<'_>| {
        let date = read_date(cursor)?;
        if options.is_cast {
            skip_clock(cursor);
        }
        Ok(date)
    };
    match values {
        Values::Date(v) => v.push(to_date(parse_whole(text, "Date", date)?)),
        Values::Date32(v) => v.push(to_date32(parse_whole(text, "Date32", date)?)),
        Values::DateTime(v) => {
            let (seconds, _) = read_moment(text, None, options, clock)?;
            v.push(to_date_time(seconds));
        }
        Values::DateTime64(v, precision) => {
            let (seconds, nanoseconds) = read_moment(text, Some(*precision), options, clock)?;
            v.push(to_ticks(seconds, nanoseconds, *precision)?);
        }
        Values::Uuid(v) => v.push(&parse_whole(text, "UUID", read_uuid)?),
        Values::Ipv4(v) => v.push(parse_whole(text, "IPv4", read_ipv4)?),
        Values::Ipv6(v) => v.push(&parse_whole(text, "IPv6", read_ipv6)?),
        _ => {
            return Err(Error::new(
                ErrorCode::CANNOT_PARSE_TEXT,
                format!(
                    "Only NULL is a value of type Nothing, got '{}'",
                    excerpt(text)
                ),
            ));
        }
    }
    Ok(())
}

/// Reads a time, for a column of that precision or one of whole seconds.
#[inline]
fn read_moment(
    text: &[u8],
    precision: Option<u8>,
    options: &ReadOptions,
    clock: &mut LocalClock,
) -> Result<(i64, i64)> {
    let fractions = precision.is_some();
    parse_whole(text, "DateTime", |cursor| {
        match (options.best_effort, precision) {
            (Some(order), _) => read_best_effort(cursor, BestEffort { order, fractions }, clock),
            (None, Some(precision)) => read_basic_ticks(cursor, precision, clock),
            (None, None) => read_basic(cursor, clock),
        }
    })
}

/// Goes over ` hh:mm:ss` behind a date.
fn skip_clock(cursor: &mut Cursor<'_>) {
    let mut copy = *cursor;
    if (copy.eat(b' ') || copy.eat(b'T')) && read_clock(&mut copy).is_some() {
        let mut fraction = copy;
        if fraction.eat(b'.') && !fraction.take_while(|b| b.is_ascii_digit()).is_empty() {
            copy = fraction;
        }
        *cursor = copy;
    }
}

/// `CAST` allows as many digits as the storage holds, formats only those of the type.
fn digits_allowed(precision: u8, options: &ReadOptions) -> u8 {
    match precision {
        _ if !options.is_cast => precision,
        0..=9 => 9,
        10..=18 => 18,
        19..=38 => 38,
        _ => 76,
    }
}

fn to_i128(value: i256) -> Result<i128> {
    value.to_i128().ok_or_else(|| {
        Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!("Too many digits in decimal value: {value}"),
        )
    })
}

fn too_long(text: &[u8], width: usize) -> Error {
    Error::new(
        ErrorCode::TOO_LARGE_STRING_SIZE,
        format!(
            "Too large value for FixedString({width}), {} bytes: '{}'",
            text.len(),
            excerpt(text)
        ),
    )
}

fn read_enum<T: TryFrom<i16> + Default>(text: &[u8], values: &mut EnumNumbers<T>) -> Result<()> {
    let names = &values.names;
    let number = names.number_of(text).or_else(|| {
        let number = parse_int::<i16>(text).ok()?;
        names.name_of(number).map(|_| number)
    });
    let Some(number) = number else {
        let known: Vec<String> = names
            .values()
            .iter()
            .take(8)
            .map(|(name, _)| format!("'{name}'"))
            .collect();
        return Err(Error::new(
            ErrorCode::UNKNOWN_ELEMENT_OF_ENUM,
            format!(
                "Unknown element '{}' for enum, it has: [{}]",
                excerpt(text),
                known.join(", ")
            ),
        ));
    };
    values.push(number);
    Ok(())
}
