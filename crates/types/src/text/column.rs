//! Writes the values of one column as text.

use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use basalt_error::Result;

use super::address::{write_ipv4, write_ipv6, write_uuid};
use super::escape::{write_escaped, write_json_string, write_quoted, write_xml};
use super::nested::{write_array, write_map, write_tuple};
use super::number::{write_decimal128, write_decimal256, write_f32, write_f64, write_integer};
use super::options::{Style, TextOptions};
use super::time::{TimeOutput, write_date, write_date_time, write_date_time64, write_moment};
use super::values::Values;
use crate::{DataType, EnumType};

/// The text of one column's values; what depends on the type alone is decided once, in `new`.
#[derive(Debug)]
pub struct ColumnText {
    values: Values,
    nulls: Option<NullBuffer>,
    options: TextOptions,
}

/// What the text of a value needs around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Never,
    /// In arrays, literals and JSON.
    Always,
    InJson(bool),
}

impl ColumnText {
    /// Binds `array`, the physical array of `data_type`.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the array is not the type's physical one.
    pub fn new(data_type: &DataType, array: &ArrayRef, options: TextOptions) -> Result<Self> {
        Ok(Self {
            values: Values::new(data_type.base(), array, &options)?,
            nulls: array.logical_nulls().filter(|n| n.null_count() > 0),
            options,
        })
    }

    /// What shapes the text.
    pub(super) fn options(&self) -> &TextOptions {
        &self.options
    }

    /// Whether the values have no parts.
    pub(super) fn is_scalar(&self) -> bool {
        !matches!(
            self.values,
            Values::Array(..) | Values::Tuple(..) | Values::Map(..) | Values::Variant(..)
        )
    }

    /// The columns of a tuple's elements.
    pub fn tuple_elements(&self) -> Option<&[ColumnText]> {
        match &self.values {
            Values::Tuple(columns, _) => Some(columns),
            _ => None,
        }
    }

    /// Which alternative of a Variant `row` has, and its column; `None` for other types.
    pub fn alternative(&self, row: usize) -> Option<(usize, &ColumnText)> {
        let Values::Variant(discriminators, columns) = &self.values else {
            return None;
        };
        let number = usize::from(discriminators[row]);
        columns.get(number).map(|column| (number, column))
    }

    /// Whether the value of `row` is NULL.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Appends the text of `row`'s value.
    ///
    /// # Panics
    /// If `row` is outside the column.
    #[inline]
    pub fn write(&self, row: usize, style: Style, out: &mut Vec<u8>) {
        if self.is_null(row) {
            return out.extend_from_slice(match style {
                Style::Escaped | Style::Xml => b"\\N",
                Style::Plain | Style::Quoted | Style::PrettyQuoted => b"NULL",
                Style::Pretty if self.options.pretty.ascii_null => b"NULL",
                Style::Pretty => "ᴺᵁᴸᴸ".as_bytes(),
                Style::Json | Style::JsonLines(_) => b"null",
            });
        }
        self.write_value(row, style, out);
    }

    fn write_value(&self, row: usize, style: Style, out: &mut Vec<u8>) {
        match &self.values {
            Values::String(a) => write_string(a.value(row), style, &self.options, out),
            Values::FixedString(a) => write_string(a.value(row), style, &self.options, out),
            Values::Enum8(a, names) => {
                write_enum(i16::from(a.value(row)), names, style, &self.options, out);
            }
            Values::Enum16(a, names) => write_enum(a.value(row), names, style, &self.options, out),
            Values::Array(offsets, items) => write_array(items, range(offsets, row), style, out),
            Values::Tuple(columns, tuple) => write_tuple(columns, tuple, row, style, out),
            Values::Map(offsets, entries) => {
                write_map(entries, range(offsets, row), style, out);
            }
            Values::Variant(..) => {
                if let Some((_, column)) = self.alternative(row) {
                    column.write(row, style, out);
                }
            }
            _ => self.write_scalar(row, style, out),
        }
    }

    /// Writes a value whose text needs no escapes.
    fn write_scalar(&self, row: usize, style: Style, out: &mut Vec<u8>) {
        let is_json = matches!(style, Style::Json | Style::JsonLines(_));
        if is_json && !self.options.json.quote_denormals && self.is_denormal(row) {
            let is_quoted =
                matches!(self.values, Values::Float64(_)) && self.options.json.quote_64bit_floats;
            return out.extend_from_slice(if is_quoted { b"\"null\"" } else { b"null" });
        }
        let quote = match (self.quotes(row), style) {
            (Quotes::Always, Style::Quoted | Style::PrettyQuoted) => Some(b'\''),
            (Quotes::Always | Quotes::InJson(true), _) if is_json => Some(b'"'),
            _ => None,
        };
        out.extend(quote);
        match self.bool_word(row, style) {
            Some(word) => out.extend_from_slice(word),
            None => self.write_bare(row, out),
        }
        out.extend(quote);
    }

    /// What the settings call a Bool that is a field of its own.
    fn bool_word(&self, row: usize, style: Style) -> Option<&[u8]> {
        let (Values::Bool(a), Some(words)) = (&self.values, &self.options.bool_words) else {
            return None;
        };
        let is_field = matches!(style, Style::Plain | Style::Escaped | Style::Pretty);
        let word = if a.value(row) == 0 {
            &words.off
        } else {
            &words.on
        };
        is_field.then_some(word)
    }

    fn is_denormal(&self, row: usize) -> bool {
        match &self.values {
            Values::Float32(a) => !a.value(row).is_finite(),
            Values::Float64(a) => !a.value(row).is_finite(),
            _ => false,
        }
    }

    fn quotes(&self, row: usize) -> Quotes {
        let json = &self.options.json;
        match &self.values {
            Values::Date(_)
            | Values::Date32(_)
            | Values::DateTime(..)
            | Values::DateTime64(..)
            | Values::Uuid(_)
            | Values::Ipv4(_)
            | Values::Ipv6(_) => Quotes::Always,
            Values::UInt64(_) | Values::Int64(_) => Quotes::InJson(json.quote_64bit_integers),
            Values::Float64(_) => Quotes::InJson(json.quote_64bit_floats || self.is_denormal(row)),
            Values::Float32(_) => Quotes::InJson(self.is_denormal(row)),
            Values::Decimal128(..) | Values::Decimal256(..) => Quotes::InJson(json.quote_decimals),
            _ => Quotes::Never,
        }
    }

    #[inline]
    fn write_bare(&self, row: usize, out: &mut Vec<u8>) {
        let zeros = self.options.decimal_trailing_zeros;
        match &self.values {
            Values::UInt8(a) => write_integer(a.value(row), out),
            Values::UInt16(a) => write_integer(a.value(row), out),
            Values::UInt32(a) => write_integer(a.value(row), out),
            Values::UInt64(a) => write_integer(a.value(row), out),
            Values::Int8(a) => write_integer(a.value(row), out),
            Values::Int16(a) => write_integer(a.value(row), out),
            Values::Int32(a) => write_integer(a.value(row), out),
            Values::Int64(a) => write_integer(a.value(row), out),
            Values::Float32(a) => write_f32(a.value(row), out),
            Values::Float64(a) => write_f64(a.value(row), out),
            Values::Bool(a) => {
                out.extend_from_slice(if a.value(row) == 0 { b"false" } else { b"true" });
            }
            Values::Decimal128(a, scale) => write_decimal128(a.value(row), *scale, zeros, out),
            Values::Decimal256(a, scale) => write_decimal256(a.value(row), *scale, zeros, out),
            Values::Date(a) => write_date(i32::from(a.value(row)), out),
            Values::Date32(a) => write_date(a.value(row), out),
            Values::DateTime(a, _) if self.options.time_output != TimeOutput::Simple => {
                let is_iso = self.options.time_output == TimeOutput::Iso;
                write_moment(i64::from(a.value(row)), 0, is_iso, out);
            }
            Values::DateTime64(a, precision, _)
                if self.options.time_output != TimeOutput::Simple =>
            {
                let is_iso = self.options.time_output == TimeOutput::Iso;
                write_moment(a.value(row), *precision, is_iso, out);
            }
            Values::DateTime(a, offsets) => {
                write_date_time(i64::from(a.value(row)), &mut offsets.borrow_mut(), out);
            }
            Values::DateTime64(a, precision, offsets) => {
                write_date_time64(a.value(row), *precision, &mut offsets.borrow_mut(), out);
            }
            Values::Uuid(a) => write_uuid(a.value(row), out),
            Values::Ipv4(a) => write_ipv4(a.value(row), out),
            Values::Ipv6(a) => write_ipv6(a.value(row), out),
            // The other kinds have their own writers in `write_value`.
            _ => {}
        }
    }
}

fn range(offsets: &OffsetBuffer<i32>, row: usize) -> Range<usize> {
    // Arrow's offsets are never negative.
    offsets[row] as usize..offsets[row + 1] as usize
}

fn write_enum(
    number: i16,
    names: &EnumType,
    style: Style,
    options: &TextOptions,
    out: &mut Vec<u8>,
) {
    match names.name_of(number) {
        Some(name) => write_string(name.as_bytes(), style, options, out),
        None => write_integer(number, out),
    }
}

fn write_string(text: &[u8], style: Style, options: &TextOptions, out: &mut Vec<u8>) {
    match style {
        Style::Plain | Style::Pretty => out.extend_from_slice(text),
        Style::Escaped => write_escaped(text, out),
        Style::Quoted | Style::PrettyQuoted => write_quoted(text, out),
        Style::Xml => write_xml(text, out),
        Style::Json | Style::JsonLines(_) => {
            write_json_string(text, options.json.escape_forward_slashes, out)
        }
    }
}
