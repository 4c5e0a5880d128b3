//! Turns our types and arrays into those that Arrow and Parquet files get.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, ListArray, MapArray, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, Int16Type, TimeUnit};
use basalt_error::Result;

use super::{
    UUID_EXTENSION, checked_cast, mismatch, rescale_ticks, union, unit_precision, unsupported,
};
use crate::{DataType, EnumType, TupleType};

/// Whose types a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Arrow has seconds, time zones and 8-bit integers.
    Arrow,
    /// Parquet counts from milliseconds on and knows only UTC.
    Parquet {
        /// A DateTime is its number of seconds.
        times_are_numbers: bool,
        /// An Enum is its name, not its number.
        enums_are_names: bool,
    },
}

/// Which form values have in a file, where it has more than one for a type.
#[derive(Clone, Copy, Debug)]
pub struct EdgeTypes {
    /// Whose types there are.
    pub format: FileFormat,
    /// Strings are text, else bytes.
    pub strings_are_utf8: bool,
    /// A FixedString has its length in its type, else it is a string.
    pub fixed_strings_are_fixed: bool,
    /// A Date is its number of days.
    pub dates_are_numbers: bool,
}

impl EdgeTypes {
    /// The field of a column in the file.
    pub fn field(&self, name: &str, data_type: &DataType) -> Field {
        let edge = self.arrow_type(data_type);
        // A union has no NULLs of its own, but its rows without a value count as such.
        let nullable = data_type.holds_null() || edge == ArrowType::Null;
        let field = Field::new(name, edge, nullable);
        if *data_type.base() == DataType::Uuid {
            let (key, extension) = UUID_EXTENSION;
            let metadata = [(key.to_owned(), extension.to_owned())];
            return field.with_metadata(metadata.into());
        }
        field
    }

    /// The type of a column in the file: temporal and boolean types where there are such.
    fn arrow_type(&self, data_type: &DataType) -> ArrowType {
        match data_type {
            DataType::Bool => ArrowType::Boolean,
            DataType::String => self.string(),
            DataType::FixedString(_) if !self.fixed_strings_are_fixed => self.string(),
            DataType::AggregateFunction(_) => ArrowType::Binary,
            DataType::Date if !self.dates_are_numbers => ArrowType::Date32,
            DataType::Date32 => ArrowType::Date32,
            DataType::DateTime(_) if self.format.has_moments() => {
                moment(TimeUnit::Millisecond, None)
            }
            DataType::DateTime64(p, zone) => match self.format {
                FileFormat::Arrow => moment(precision_unit(*p), zone.map(|z| z.name())),
                FileFormat::Parquet { .. } => moment(precision_unit((*p).max(1)), None),
            },
            DataType::Enum8(_) | DataType::Enum16(_) if self.format.has_enum_names() => {
                ArrowType::Binary
            }
            DataType::Array(t) => ArrowType::List(Arc::new(self.field(self.item_name(), t))),
            DataType::Tuple(tuple) => {
                let field = |(i, t): (usize, &DataType)| self.field(&tuple.name(i), t);
                ArrowType::Struct(tuple.types.iter().enumerate().map(field).collect())
            }
            DataType::Map(k, v) => {
                // Keys of type Nothing are none at all.
                let key = self.field("key", k).with_nullable(false);
                let entries = Fields::from(vec![key, self.field("value", v)]);
                let field = Field::new("entries", ArrowType::Struct(entries), false);
                ArrowType::Map(Arc::new(field), false)
            }
            DataType::Variant(types) => union::arrow_type(self, types),
            DataType::Nullable(t) | DataType::LowCardinality(t) => self.arrow_type(t),
            t => t.physical(),
        }
    }

    fn string(&self) -> ArrowType {
        if self.strings_are_utf8 {
            ArrowType::Utf8
        } else {
            ArrowType::Binary
        }
    }

    /// What both formats' own documents call the elements of a list.
    fn item_name(&self) -> &'static str {
        match self.format {
            FileFormat::Arrow => "item",
            FileFormat::Parquet { .. } => "element",
        }
    }

    /// Turns a physical array of `data_type` into the file's.
    ///
    /// # Errors
    /// `TYPE_MISMATCH` if strings are to be UTF-8 and are not.
    pub fn convert(&self, array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
        let edge = self.arrow_type(data_type);
        if array.data_type() == &edge {
            return Ok(Arc::clone(array));
        }
        match (data_type.base(), &edge) {
            (DataType::DateTime(_), ArrowType::Timestamp(unit, _)) => {
                let seconds = checked_cast(array, &ArrowType::Int64)?;
                checked_cast(&rescale_ticks(&seconds, 0, unit_precision(*unit))?, &edge)
            }
            (DataType::DateTime64(p, _), ArrowType::Timestamp(unit, _)) => {
                checked_cast(&rescale_ticks(array, *p, unit_precision(*unit))?, &edge)
            }
            (DataType::Date, ArrowType::Date32) => {
                checked_cast(&checked_cast(array, &ArrowType::Int32)?, &edge)
            }
            (DataType::String | DataType::FixedString(_), ArrowType::Utf8) => {
                checked_cast(&checked_cast(array, &ArrowType::Binary)?, &edge)
            }
            (DataType::Enum8(names) | DataType::Enum16(names), ArrowType::Binary) => {
                enum_names(array, names)
            }
            (DataType::Array(t), ArrowType::List(item)) => {
                let list = array.as_list::<i32>();
                let values = self.convert(list.values(), t)?;
                let list =
                    ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, None);
                Ok(Arc::new(list.map_err(mismatch)?))
            }
            (DataType::Map(k, v), ArrowType::Map(entries, _)) => self.map(array, (k, v), entries),
            (DataType::Tuple(tuple), ArrowType::Struct(fields)) => self.tuple(array, tuple, fields),
            (DataType::Variant(types), ArrowType::Union(fields, _)) => {
                union::of_variant(self, array, types, fields)
            }
            _ => checked_cast(array, &edge),
        }
    }

    fn map(
        &self,
        array: &ArrayRef,
        (key, value): (&DataType, &DataType),
        entries: &Arc<Field>,
    ) -> Result<ArrayRef> {
        let list = array.as_list::<i32>();
        let pairs = list.values().as_struct();
        let keys = self.convert(pairs.column(0), key)?;
        let values = self.convert(pairs.column(1), value)?;
        let ArrowType::Struct(fields) = entries.data_type() else {
            return Err(unsupported(entries.data_type()));
        };
        let pairs = StructArray::try_new(fields.clone(), vec![keys, values], None);
        let (offsets, pairs) = (list.offsets().clone(), pairs.map_err(mismatch)?);
        let map = MapArray::try_new(Arc::clone(entries), offsets, pairs, None, false);
        Ok(Arc::new(map.map_err(mismatch)?))
    }

    fn tuple(&self, array: &ArrayRef, tuple: &TupleType, fields: &Fields) -> Result<ArrayRef> {
        if fields.is_empty() {
            return Ok(Arc::clone(array));
        }
        let columns = array.as_struct().columns().iter().zip(&tuple.types);
        let columns = columns
            .map(|(c, t)| self.convert(c, t))
            .collect::<Result<Vec<_>>>()?;
        let array = StructArray::try_new(fields.clone(), columns, None);
        Ok(Arc::new(array.map_err(mismatch)?))
    }
}

impl FileFormat {
    fn has_moments(self) -> bool {
        matches!(
            self,
            FileFormat::Parquet {
                times_are_numbers: false,
                ..
            }
        )
    }

    fn has_enum_names(self) -> bool {
        matches!(
            self,
            FileFormat::Parquet {
                enums_are_names: true,
                ..
            }
        )
    }
}

fn moment(unit: TimeUnit, zone: Option<&str>) -> ArrowType {
    ArrowType::Timestamp(unit, Some(zone.unwrap_or("UTC").into()))
}

/// The coarsest Arrow unit that holds ticks of 10^-p seconds.
fn precision_unit(precision: u8) -> TimeUnit {
    match precision {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

/// The names of an enum's numbers; a number without one is written as such.
fn enum_names(array: &ArrayRef, names: &EnumType) -> Result<ArrayRef> {
    let numbers = checked_cast(array, &ArrowType::Int16)?;
    let numbers = numbers.as_primitive::<Int16Type>();
    let mut out = BinaryBuilder::with_capacity(numbers.len(), 0);
    for number in numbers {
        match number.map(|n| (n, names.name_of(n))) {
            Some((_, Some(name))) => out.append_value(name),
            Some((number, None)) => out.append_value(number.to_string()),
            None => out.append_null(),
        }
    }
    Ok(Arc::new(out.finish()))
}
