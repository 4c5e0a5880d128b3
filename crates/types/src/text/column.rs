//! Writes the values of one column as text.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, ListArray,
    StructArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use basalt_error::{Error, Result};

use super::address::{write_ipv4, write_ipv6, write_uuid};
use super::escape::{write_escaped, write_json_string, write_quoted, write_xml};
use super::nested::{write_array, write_map, write_tuple};
use super::number::{write_decimal128, write_decimal256, write_f32, write_f64, write_integer};
use super::time::{TimeOutput, write_date, write_date_time, write_date_time64, write_moment};
use crate::calendar::OffsetCache;
use crate::variant::VariantArray;
use crate::{DataType, EnumType, TupleType, Tz};

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As `toString`: strings raw.
    Plain,
    /// As a field of TSV: strings with escapes, NULL as `\N`.
    Escaped,
    /// As an SQL literal and inside arrays: strings, times and addresses in single quotes.
    Quoted,
    /// As JSON.
    Json,
    /// As JSON over several lines: the JSON format and its kin.
    JsonLines(Indent),
    /// As [`Style::Plain`], but tuples with names as JSON over several lines: the Pretty formats.
    Pretty,
    /// What is inside a value of [`Style::Pretty`].
    PrettyQuoted,
    /// As XML text; parts of nested values are elements.
    Xml,
}

/// How deep a line of JSON begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indent {
    /// What stands `level` times at the start.
    pub unit: IndentUnit,
    /// Depth of the value's own line.
    pub level: u8,
}

/// What a level of JSON is indented by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndentUnit {
    /// The JSON formats.
    Tab,
    /// `PrettyJSONEachRow`.
    FourSpaces,
    /// Named tuples in the Pretty formats: one space per level and one more.
    Space,
}

/// What stands for true and false in a format's fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoolWords {
    /// The text of true.
    pub on: Vec<u8>,
    /// The text of false.
    pub off: Vec<u8>,
}

impl BoolWords {
    /// The words, unless they are `true` and `false`.
    pub fn new(on: &str, off: &str) -> Option<Arc<Self>> {
        (on != "true" || off != "false").then(|| {
            Arc::new(Self {
                on: on.as_bytes().to_vec(),
                off: off.as_bytes().to_vec(),
            })
        })
    }

    /// What a field that is exactly one of the words means.
    pub fn value(&self, text: &[u8]) -> Option<bool> {
        if text == self.on {
            return Some(true);
        }
        (text == self.off).then_some(false)
    }
}

/// What shapes the text of values.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// Shows times of types without a time zone of their own.
    pub time_zone: Tz,
    /// How moments are written.
    pub time_output: TimeOutput,
    /// Whether decimals keep the zeros at the end of their fraction.
    pub decimal_trailing_zeros: bool,
    /// What Bools are where they are whole fields, not parts or JSON; `None`: `true` and `false`.
    pub bool_words: Option<Arc<BoolWords>>,
    /// What shapes [`Style::Json`].
    pub json: JsonOptions,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            time_zone: Tz::UTC,
            time_output: TimeOutput::default(),
            decimal_trailing_zeros: false,
            bool_words: None,
            json: JsonOptions::default(),
        }
    }
}

/// What shapes JSON; the defaults are ClickHouse's.
#[derive(Clone, Copy, Debug)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent settings of users"
)]
pub struct JsonOptions {
    /// 64-bit integers as strings.
    pub quote_64bit_integers: bool,
    /// `Float64` as strings.
    pub quote_64bit_floats: bool,
    /// inf and nan as strings instead of null.
    pub quote_denormals: bool,
    /// Decimals as strings.
    pub quote_decimals: bool,
    /// `/` as `\/`.
    pub escape_forward_slashes: bool,
    /// Tuples with names as objects.
    pub named_tuples_as_objects: bool,
    /// Maps as arrays of pairs.
    pub map_as_array_of_tuples: bool,
}

impl Default for JsonOptions {
    fn default() -> Self {
        Self {
            quote_64bit_integers: false,
            quote_64bit_floats: false,
            quote_denormals: false,
            quote_decimals: false,
            escape_forward_slashes: true,
            named_tuples_as_objects: true,
            map_as_array_of_tuples: false,
        }
    }
}

/// The text of one column's values; what depends on the type alone is decided once, in `new`.
#[derive(Debug)]
pub struct ColumnText {
    values: Values,
    nulls: Option<NullBuffer>,
    options: TextOptions,
}

/// The column's array, downcast.
#[derive(Debug)]
enum Values {
    UInt8(UInt8Array),
    UInt16(UInt16Array),
    UInt32(UInt32Array),
    UInt64(UInt64Array),
    Int8(Int8Array),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Bool(UInt8Array),
    Decimal128(Decimal128Array, u8),
    Decimal256(Decimal256Array, u8),
    String(BinaryViewArray),
    FixedString(FixedSizeBinaryArray),
    Date(UInt16Array),
    Date32(Int32Array),
    DateTime(UInt32Array, RefCell<OffsetCache>),
    DateTime64(Int64Array, u8, RefCell<OffsetCache>),
    Enum8(Int8Array, Arc<EnumType>),
    Enum16(Int16Array, Arc<EnumType>),
    Uuid(FixedSizeBinaryArray),
    Ipv4(UInt32Array),
    Ipv6(FixedSizeBinaryArray),
    Array(OffsetBuffer<i32>, Box<ColumnText>),
    Tuple(Vec<ColumnText>, Arc<TupleType>),
    Map(OffsetBuffer<i32>, Box<[ColumnText; 2]>),
    /// Which alternative each row has, and their columns.
    Variant(Vec<u8>, Vec<ColumnText>),
    Nothing,
}

/// What the text of a value needs around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Never,
    /// In arrays, literals and JSON.
    Always,
    InJson(bool),
}

fn downcast<T: Array + Clone + 'static>(array: &ArrayRef, data_type: &DataType) -> Result<T> {
    array.as_any().downcast_ref::<T>().cloned().ok_or_else(|| {
        Error::bug(format!(
            "{data_type} column holds Arrow {}",
            array.data_type()
        ))
    })
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
            return out.extend_from_slice(b"null");
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

impl Values {
    fn new(data_type: &DataType, array: &ArrayRef, options: &TextOptions) -> Result<Self> {
        let offsets =
            |zone: Option<Tz>| RefCell::new(OffsetCache::new(zone.unwrap_or(options.time_zone)));
        Ok(match data_type {
            DataType::UInt8 => Values::UInt8(downcast(array, data_type)?),
            DataType::UInt16 => Values::UInt16(downcast(array, data_type)?),
            DataType::UInt32 => Values::UInt32(downcast(array, data_type)?),
            DataType::UInt64 => Values::UInt64(downcast(array, data_type)?),
            DataType::Int8 => Values::Int8(downcast(array, data_type)?),
            DataType::Int16 => Values::Int16(downcast(array, data_type)?),
            DataType::Int32 => Values::Int32(downcast(array, data_type)?),
            DataType::Int64 | DataType::Interval(_) => Values::Int64(downcast(array, data_type)?),
            DataType::Float32 => Values::Float32(downcast(array, data_type)?),
            DataType::Float64 => Values::Float64(downcast(array, data_type)?),
            DataType::Bool => Values::Bool(downcast(array, data_type)?),
            DataType::Decimal { precision, scale } if *precision <= 38 => {
                Values::Decimal128(downcast(array, data_type)?, *scale)
            }
            DataType::Decimal { scale, .. } => {
                Values::Decimal256(downcast(array, data_type)?, *scale)
            }
            DataType::String | DataType::AggregateFunction(_) => {
                Values::String(downcast(array, data_type)?)
            }
            DataType::FixedString(_) => Values::FixedString(downcast(array, data_type)?),
            DataType::Date => Values::Date(downcast(array, data_type)?),
            DataType::Date32 => Values::Date32(downcast(array, data_type)?),
            DataType::DateTime(zone) => {
                Values::DateTime(downcast(array, data_type)?, offsets(*zone))
            }
            DataType::DateTime64(p, zone) => {
                Values::DateTime64(downcast(array, data_type)?, *p, offsets(*zone))
            }
            DataType::Enum8(names) => Values::Enum8(downcast(array, data_type)?, Arc::clone(names)),
            DataType::Enum16(names) => {
                Values::Enum16(downcast(array, data_type)?, Arc::clone(names))
            }
            DataType::Uuid => Values::Uuid(downcast(array, data_type)?),
            DataType::Ipv4 => Values::Ipv4(downcast(array, data_type)?),
            DataType::Ipv6 => Values::Ipv6(downcast(array, data_type)?),
            DataType::Nothing => Values::Nothing,
            nested => Values::new_nested(nested, array, options)?,
        })
    }

    fn new_nested(data_type: &DataType, array: &ArrayRef, options: &TextOptions) -> Result<Self> {
        Ok(match data_type {
            DataType::Array(t) => {
                let list: ListArray = downcast(array, data_type)?;
                let items = ColumnText::new(t, list.values(), options.clone())?;
                Values::Array(list.offsets().clone(), Box::new(items))
            }
            DataType::Tuple(tuple) => {
                let fields: StructArray = downcast(array, data_type)?;
                let columns = tuple.types.iter().zip(fields.columns());
                let columns = columns.map(|(t, a)| ColumnText::new(t, a, options.clone()));
                Values::Tuple(columns.collect::<Result<_>>()?, Arc::clone(tuple))
            }
            DataType::Map(k, v) => {
                let list: ListArray = downcast(array, data_type)?;
                let entries: StructArray = downcast(list.values(), data_type)?;
                let [keys, values] = entries.columns() else {
                    return Err(Error::bug("a map's entries are no pairs"));
                };
                let entries = [
                    ColumnText::new(k, keys, options.clone())?,
                    ColumnText::new(v, values, options.clone())?,
                ];
                Values::Map(list.offsets().clone(), Box::new(entries))
            }
            DataType::Variant(types) => {
                let variant = VariantArray::of(array)?;
                let columns = types.iter().zip(variant.alternatives);
                let columns = columns.map(|(t, a)| ColumnText::new(t, a, options.clone()));
                let columns = columns.collect::<Result<_>>()?;
                let numbers = (0..variant.num_rows()).map(|row| variant.discriminator(row));
                Values::Variant(numbers.collect(), columns)
            }
            other => return Err(Error::bug(format!("{other} has no text"))),
        })
    }
}
