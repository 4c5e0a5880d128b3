//! Carries columns over the edge: Arrow types of files and clients, to and from ours.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, ListArray, StructArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, TimeUnit};
use basalt_error::{Error, ErrorCode, Result};

use crate::{DataType, TupleType, Tz};

/// The type that a file's Arrow field becomes when no structure is given.
///
/// # Errors
/// `UNKNOWN_TYPE` for Arrow types that the dialect has no type for.
pub fn from_arrow_field(field: &Field) -> Result<DataType> {
    let data_type = from_arrow_type(field.data_type())
        .map_err(|e| e.within(format!("Column `{}`", field.name())))?;
    Ok(if field.is_nullable() {
        data_type.to_nullable()
    } else {
        data_type
    })
}

fn from_arrow_type(arrow: &ArrowType) -> Result<DataType> {
    Ok(match arrow {
        ArrowType::Boolean => DataType::Bool,
        ArrowType::UInt8 => DataType::UInt8,
        ArrowType::UInt16 => DataType::UInt16,
        ArrowType::UInt32 => DataType::UInt32,
        ArrowType::UInt64 => DataType::UInt64,
        ArrowType::Int8 => DataType::Int8,
        ArrowType::Int16 => DataType::Int16,
        ArrowType::Int32 => DataType::Int32,
        ArrowType::Int64 => DataType::Int64,
        ArrowType::Float16 | ArrowType::Float32 => DataType::Float32,
        ArrowType::Float64 => DataType::Float64,
        ArrowType::Utf8
        | ArrowType::LargeUtf8
        | ArrowType::Utf8View
        | ArrowType::Binary
        | ArrowType::LargeBinary
        | ArrowType::BinaryView => DataType::String,
        ArrowType::FixedSizeBinary(n) => DataType::FixedString(u32::try_from(*n).unwrap_or(0)),
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date32,
        ArrowType::Timestamp(unit, zone) => {
            let zone = zone.as_deref().and_then(|z| z.parse::<Tz>().ok());
            DataType::DateTime64(unit_precision(*unit), zone)
        }
        ArrowType::Time32(_) | ArrowType::Duration(_) | ArrowType::Time64(_) => DataType::Int64,
        ArrowType::Decimal32(p, s)
        | ArrowType::Decimal64(p, s)
        | ArrowType::Decimal128(p, s)
        | ArrowType::Decimal256(p, s) => DataType::Decimal {
            precision: *p,
            scale: u8::try_from(*s).unwrap_or(0),
        },
        ArrowType::List(f)
        | ArrowType::LargeList(f)
        | ArrowType::FixedSizeList(f, _)
        | ArrowType::ListView(f)
        | ArrowType::LargeListView(f) => DataType::array(from_arrow_field(f)?),
        ArrowType::Struct(fields) => from_struct(fields)?,
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(kv) if kv.len() == 2 => {
                let key = from_arrow_type(kv[0].data_type())?;
                DataType::map(key, from_arrow_field(&kv[1])?)
            }
            other => return Err(unsupported(other)),
        },
        ArrowType::Dictionary(_, value) => {
            DataType::LowCardinality(Arc::new(from_arrow_type(value)?))
        }
        ArrowType::Null => DataType::Nullable(Arc::new(DataType::Nothing)),
        other => return Err(unsupported(other)),
    })
}

fn from_struct(fields: &Fields) -> Result<DataType> {
    let types = fields
        .iter()
        .map(|f| from_arrow_field(f))
        .collect::<Result<_>>()?;
    let names = fields.iter().map(|f| f.name().clone()).collect();
    Ok(DataType::Tuple(Arc::new(TupleType { types, names })))
}

fn unsupported(arrow: &ArrowType) -> Error {
    Error::new(
        ErrorCode::UNKNOWN_TYPE,
        format!("Arrow type {arrow} has no type of the dialect"),
    )
}

fn unit_precision(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    }
}

impl DataType {
    /// The Arrow type that clients and files get for this type: temporal and boolean types where
    /// Arrow has them. Strings are `Binary`, or `Utf8` if `strings_are_utf8`.
    pub fn to_arrow_edge(&self, strings_are_utf8: bool) -> ArrowType {
        let nested = |t: &DataType, name: &str| {
            Arc::new(Field::new(
                name,
                t.to_arrow_edge(strings_are_utf8),
                t.is_nullable(),
            ))
        };
        match self {
            DataType::Bool => ArrowType::Boolean,
            DataType::String if strings_are_utf8 => ArrowType::Utf8,
            DataType::String | DataType::AggregateFunction(_) => ArrowType::Binary,
            DataType::Date32 => ArrowType::Date32,
            DataType::DateTime64(p, zone) => {
                let name = zone.map_or("UTC", |z| z.name());
                ArrowType::Timestamp(precision_unit(*p), Some(name.into()))
            }
            DataType::Array(t) => ArrowType::List(nested(t, "item")),
            DataType::Tuple(tuple) => {
                let field = |(i, t): (usize, &DataType)| nested(t, &tuple.name(i));
                ArrowType::Struct(tuple.types.iter().enumerate().map(field).collect())
            }
            DataType::Map(k, v) => {
                let entries = Fields::from(vec![nested(k, "key"), nested(v, "value")]);
                let field = Field::new("entries", ArrowType::Struct(entries), false);
                ArrowType::Map(Arc::new(field), false)
            }
            DataType::Nullable(t) | DataType::LowCardinality(t) => {
                t.to_arrow_edge(strings_are_utf8)
            }
            t => t.physical(),
        }
    }
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

/// Turns an array that a file or client gave into the physical array of `data_type`.
///
/// `data_type` is the field's own type by [`from_arrow_field`], or what the user declared.
///
/// # Errors
/// `TYPE_MISMATCH` if the values cannot be read as `data_type` without loss.
pub fn to_physical(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let physical = data_type.physical();
    if array.data_type() == &physical {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), data_type.base()) {
        (ArrowType::Dictionary(_, value), _) => {
            to_physical(&checked_cast(array, value.as_ref())?, data_type)
        }
        (ArrowType::Timestamp(unit, _), DataType::DateTime64(p, _)) => rescale_ticks(
            &checked_cast(array, &ArrowType::Int64)?,
            unit_precision(*unit),
            *p,
        ),
        (ArrowType::Timestamp(unit, _), DataType::DateTime(_)) => {
            let seconds = rescale_ticks(
                &checked_cast(array, &ArrowType::Int64)?,
                unit_precision(*unit),
                0,
            )?;
            checked_cast(&seconds, &physical)
        }
        (ArrowType::Timestamp(..), DataType::Date | DataType::Date32) => {
            to_physical(&checked_cast(array, &ArrowType::Date32)?, data_type)
        }
        (ArrowType::Date64, _) => to_physical(&checked_cast(array, &ArrowType::Date32)?, data_type),
        (ArrowType::Date32, DataType::DateTime(_) | DataType::DateTime64(..)) => {
            let moments = checked_cast(array, &ArrowType::Timestamp(TimeUnit::Second, None))?;
            to_physical(&moments, data_type)
        }
        (ArrowType::Date32, _) => checked_cast(&checked_cast(array, &ArrowType::Int32)?, &physical),
        (ArrowType::Time32(_), _) => {
            checked_cast(&checked_cast(array, &ArrowType::Int32)?, &physical)
        }
        (ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View, DataType::String) => {
            checked_cast(&checked_cast(array, &ArrowType::Utf8View)?, &physical)
        }
        (
            ArrowType::List(_) | ArrowType::LargeList(_) | ArrowType::FixedSizeList(..),
            DataType::Array(t),
        ) => {
            let item = crate::physical::item_field(t);
            list_to_physical(array, item, &|values| to_physical(values, t))
        }
        (ArrowType::Map(..), DataType::Map(k, v)) => map_to_physical(array, k, v),
        (ArrowType::Struct(_), DataType::Tuple(tuple)) => tuple_to_physical(array, tuple),
        (ArrowType::FixedSizeBinary(n), DataType::FixedString(m))
            if i64::from(*n) == i64::from(*m) =>
        {
            Ok(Arc::clone(array))
        }
        (
            ArrowType::Binary | ArrowType::BinaryView | ArrowType::Utf8 | ArrowType::Utf8View,
            DataType::FixedString(_) | DataType::Uuid | DataType::Ipv6,
        ) => to_fixed_size(array, &physical),
        _ => checked_cast(array, &physical),
    }
}

fn list_to_physical(
    array: &ArrayRef,
    item: Arc<Field>,
    convert: &dyn Fn(&ArrayRef) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let source_item = match array.data_type() {
        ArrowType::List(f) | ArrowType::LargeList(f) | ArrowType::FixedSizeList(f, _) => {
            Arc::clone(f)
        }
        other => return Err(unsupported(other)),
    };
    let array = checked_cast(array, &ArrowType::List(source_item))?;
    let list = array.as_list::<i32>();
    let values = convert(list.values())?;
    let list = ListArray::try_new(item, list.offsets().clone(), values, list.nulls().cloned());
    empty_where_null(list.map_err(mismatch)?)
}

/// The dialect's arrays are never NULL: a file's NULL list is an empty one.
fn empty_where_null(list: ListArray) -> Result<ArrayRef> {
    if list.null_count() == 0 {
        let (field, offsets, values, _) = list.into_parts();
        return Ok(Arc::new(ListArray::new(field, offsets, values, None)));
    }
    let ArrowType::List(field) = list.data_type() else {
        return Err(unsupported(list.data_type()));
    };
    let lengths = (0..list.len()).map(|i| {
        if list.is_null(i) {
            0
        } else {
            list.value(i).len()
        }
    });
    let offsets = arrow::buffer::OffsetBuffer::from_lengths(lengths);
    let parts: Vec<ArrayRef> = (0..list.len())
        .filter(|i| list.is_valid(*i))
        .map(|i| list.value(i))
        .collect();
    let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
    let values = if parts.is_empty() {
        arrow::array::new_empty_array(field.data_type())
    } else {
        arrow::compute::concat(&parts).map_err(mismatch)?
    };
    Ok(Arc::new(
        ListArray::try_new(Arc::clone(field), offsets, values, None).map_err(mismatch)?,
    ))
}

fn map_to_physical(array: &ArrayRef, key: &DataType, value: &DataType) -> Result<ArrayRef> {
    let map = array.as_map();
    let keys = to_physical(map.keys(), key)?;
    let values = to_physical(map.values(), value)?;
    let fields = crate::physical::entry_fields(key, value);
    let entries = StructArray::try_new(fields, vec![keys, values], None).map_err(mismatch)?;
    let item = Arc::new(Field::new("item", entries.data_type().clone(), false));
    let list = ListArray::try_new(
        item,
        map.offsets().clone(),
        Arc::new(entries),
        map.nulls().cloned(),
    );
    empty_where_null(list.map_err(mismatch)?)
}

fn tuple_to_physical(array: &ArrayRef, tuple: &TupleType) -> Result<ArrayRef> {
    let source = array.as_struct();
    if source.num_columns() != tuple.types.len() {
        return Err(mismatch(format!(
            "{} elements for {}",
            source.num_columns(),
            tuple.types.len()
        )));
    }
    let columns = source.columns().iter().zip(&tuple.types);
    let columns = columns
        .map(|(c, t)| to_physical(c, t))
        .collect::<Result<Vec<_>>>()?;
    let fields: Fields = tuple
        .types
        .iter()
        .enumerate()
        .map(|(i, t)| t.field(tuple.name(i)))
        .collect();
    Ok(Arc::new(
        StructArray::try_new(fields, columns, None).map_err(mismatch)?,
    ))
}

fn to_fixed_size(array: &ArrayRef, physical: &ArrowType) -> Result<ArrayRef> {
    let ArrowType::FixedSizeBinary(size) = physical else {
        return Err(unsupported(physical));
    };
    let width = usize::try_from(*size).unwrap_or(0);
    let views = checked_cast(array, &ArrowType::BinaryView)?;
    let mut padded = Vec::with_capacity(views.len());
    for value in views.as_binary_view().iter() {
        let Some(value) = value else {
            padded.push(None);
            continue;
        };
        if value.len() > width {
            return Err(mismatch(format!(
                "value of {} bytes for {width}",
                value.len()
            )));
        }
        let mut bytes = value.to_vec();
        bytes.resize(width, 0);
        padded.push(Some(bytes));
    }
    let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(padded.into_iter(), *size);
    Ok(Arc::new(array.map_err(mismatch)?))
}

fn rescale_ticks(ticks: &ArrayRef, from: u8, to: u8) -> Result<ArrayRef> {
    use arrow::datatypes::Int64Type;
    let ticks = ticks.as_primitive::<Int64Type>();
    let factor = 10_i64.pow(u32::from(from.abs_diff(to)));
    if from >= to {
        return Ok(Arc::new(
            ticks.unary::<_, Int64Type>(|t| t.div_euclid(factor)),
        ));
    }
    let scaled = ticks.try_unary::<_, Int64Type, _>(|t| {
        t.checked_mul(factor)
            .ok_or_else(|| arrow::error::ArrowError::ComputeError(format!("time {t} out of range")))
    });
    Ok(Arc::new(scaled.map_err(mismatch)?))
}

/// Turns a physical array of `data_type` into the Arrow array that clients and files get.
///
/// # Errors
/// `TYPE_MISMATCH` if strings are to be UTF-8 and are not.
pub fn to_edge(array: &ArrayRef, data_type: &DataType, strings_are_utf8: bool) -> Result<ArrayRef> {
    let edge = data_type.to_arrow_edge(strings_are_utf8);
    if array.data_type() == &edge {
        return Ok(Arc::clone(array));
    }
    match (data_type.base(), &edge) {
        (DataType::DateTime64(p, _), ArrowType::Timestamp(unit, _)) => {
            checked_cast(&rescale_ticks(array, *p, unit_precision(*unit))?, &edge)
        }
        (DataType::String, ArrowType::Utf8) => {
            checked_cast(&checked_cast(array, &ArrowType::Binary)?, &edge)
        }
        (DataType::Array(t), ArrowType::List(item)) => {
            let list = array.as_list::<i32>();
            let values = to_edge(list.values(), t, strings_are_utf8)?;
            let list = ListArray::try_new(Arc::clone(item), list.offsets().clone(), values, None);
            Ok(Arc::new(list.map_err(mismatch)?))
        }
        (DataType::Map(k, v), ArrowType::Map(entries, sorted)) => {
            let list = array.as_list::<i32>();
            let pairs = list.values().as_struct();
            let keys = to_edge(pairs.column(0), k, strings_are_utf8)?;
            let values = to_edge(pairs.column(1), v, strings_are_utf8)?;
            let ArrowType::Struct(fields) = entries.data_type() else {
                return Err(unsupported(&edge));
            };
            let pairs =
                StructArray::try_new(fields.clone(), vec![keys, values], None).map_err(mismatch)?;
            let map = arrow::array::MapArray::try_new(
                Arc::clone(entries),
                list.offsets().clone(),
                pairs,
                None,
                *sorted,
            );
            Ok(Arc::new(map.map_err(mismatch)?))
        }
        (DataType::Tuple(tuple), ArrowType::Struct(fields)) => {
            let columns = array.as_struct().columns().iter().zip(&tuple.types);
            let columns = columns
                .map(|(c, t)| to_edge(c, t, strings_are_utf8))
                .collect::<Result<Vec<_>>>()?;
            Ok(Arc::new(
                StructArray::try_new(fields.clone(), columns, None).map_err(mismatch)?,
            ))
        }
        _ => checked_cast(array, &edge),
    }
}

fn checked_cast(array: &ArrayRef, to: &ArrowType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(array, to, &options).map_err(mismatch)
}

fn mismatch(e: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::TYPE_MISMATCH,
        format!("Cannot convert the column: {e}"),
    )
}
