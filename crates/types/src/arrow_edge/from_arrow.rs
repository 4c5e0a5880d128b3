//! Finds the type that a column of an Arrow or Parquet file has here.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Fields, TimeUnit};
use basalt_error::{Error, ErrorCode, Result};

use super::{UUID_EXTENSION, union, unit_precision, unsupported};
use crate::{DataType, IntervalUnit, TupleType, Tz};

/// The type that a file's Arrow field becomes when no structure is given.
///
/// # Errors
/// `UNKNOWN_TYPE` for Arrow types that the dialect has no type for.
pub fn from_arrow_field(field: &Field) -> Result<DataType> {
    let data_type = nested_field(field)?;
    Ok(match field.data_type() {
        ArrowType::Dictionary(..) => DataType::LowCardinality(Arc::new(data_type)),
        _ => data_type,
    })
}

/// The same of a field inside another one: a dictionary there is only a way to write values down.
pub(super) fn nested_field(field: &Field) -> Result<DataType> {
    let data_type = if is_uuid(field) {
        DataType::Uuid
    } else {
        from_arrow_type(field.data_type())
            .map_err(|e| e.within(format!("Column `{}`", field.name())))?
    };
    Ok(if field.is_nullable() {
        data_type.to_nullable()
    } else {
        data_type
    })
}

fn is_uuid(field: &Field) -> bool {
    let (key, name) = UUID_EXTENSION;
    let values = match field.data_type() {
        ArrowType::Dictionary(_, values) => values.as_ref(),
        plain => plain,
    };
    matches!(values, ArrowType::FixedSizeBinary(16))
        && field.metadata().get(key).is_some_and(|n| n == name)
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
        ArrowType::Date32 => DataType::Date32,
        ArrowType::Date64 => DataType::DateTime(None),
        ArrowType::Timestamp(unit, zone) => {
            let zone = zone.as_deref().and_then(|z| z.parse::<Tz>().ok());
            DataType::DateTime64(unit_precision(*unit), zone)
        }
        ArrowType::Time32(_) | ArrowType::Time64(_) => DataType::Int64,
        ArrowType::Duration(unit) => DataType::Interval(match unit {
            TimeUnit::Second => IntervalUnit::Second,
            TimeUnit::Millisecond => IntervalUnit::Millisecond,
            TimeUnit::Microsecond => IntervalUnit::Microsecond,
            TimeUnit::Nanosecond => IntervalUnit::Nanosecond,
        }),
        ArrowType::Decimal32(p, s)
        | ArrowType::Decimal64(p, s)
        | ArrowType::Decimal128(p, s)
        | ArrowType::Decimal256(p, s) => DataType::Decimal {
            precision: *p,
            scale: decimal_scale(*p, *s)?,
        },
        ArrowType::List(f)
        | ArrowType::LargeList(f)
        | ArrowType::FixedSizeList(f, _)
        | ArrowType::ListView(f)
        | ArrowType::LargeListView(f) => DataType::array(nested_field(f)?),
        ArrowType::Struct(fields) => from_struct(fields)?,
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(kv) if kv.len() == 2 => {
                let key = nested_field(&kv[0].as_ref().clone().with_nullable(false))?;
                DataType::map(key, nested_field(&kv[1])?)
            }
            other => return Err(unsupported(other)),
        },
        ArrowType::Dictionary(_, value) => from_arrow_type(value)?,
        ArrowType::Union(fields, _) => union::variant_of(fields)?,
        ArrowType::Null => DataType::Nullable(Arc::new(DataType::Nothing)),
        other => return Err(unsupported(other)),
    })
}

fn decimal_scale(precision: u8, scale: i8) -> Result<u8> {
    let known = u8::try_from(scale).ok().filter(|s| *s <= precision);
    known.ok_or_else(|| {
        Error::new(
            ErrorCode::ARGUMENT_OUT_OF_BOUND,
            format!("A decimal of {precision} digits cannot have {scale} behind the point"),
        )
    })
}

fn from_struct(fields: &Fields) -> Result<DataType> {
    let types = fields
        .iter()
        .map(|f| nested_field(f))
        .collect::<Result<_>>()?;
    let names = fields.iter().map(|f| f.name().clone()).collect();
    Ok(DataType::Tuple(Arc::new(TupleType { types, names })))
}
