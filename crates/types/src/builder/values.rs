//! The growing buffers of a column, one variant per physical kind of value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    ListArray, NullArray, PrimitiveArray, StructArray,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::datatypes::{
    DataType as ArrowType, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};
use basalt_error::{Error, ErrorCode, Result};

use super::slots::{EnumNumbers, FixedBytes, Offsets, Slots};
use super::strings::Strings;
use super::variant::Alternatives;
use super::{ColumnBuilder, ReadOptions};
use crate::{DataType, TupleType};

/// All arrays of a column.
#[derive(Debug)]
pub(super) enum Values {
    UInt8(Vec<u8>),
    UInt16(Vec<u16>),
    UInt32(Vec<u32>),
    UInt64(Vec<u64>),
    Int8(Vec<i8>),
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Bool(Vec<u8>),
    /// Precision and scale.
    Decimal128(Vec<i128>, u8, u8),
    Decimal256(Vec<i256>, u8, u8),
    String(Strings),
    FixedString(FixedBytes),
    Date(Vec<u16>),
    Date32(Vec<i32>),
    DateTime(Vec<u32>),
    /// Precision.
    DateTime64(Vec<i64>, u8),
    Enum8(EnumNumbers<i8>),
    Enum16(EnumNumbers<i16>),
    Uuid(FixedBytes),
    Ipv4(Vec<u32>),
    Ipv6(FixedBytes),
    Array(Offsets, Box<ColumnBuilder>),
    /// The elements and the number of rows (a tuple may have no elements).
    Tuple(Vec<ColumnBuilder>, usize),
    Map(Offsets, Box<[ColumnBuilder; 2]>),
    Variant(Alternatives),
    Nothing(usize),
}

/// Arrays, tuples and maps: the default has no elements, or default ones.
impl Slots for Values {
    fn len(&self) -> usize {
        match self {
            Values::Array(offsets, _) | Values::Map(offsets, _) => offsets.len(),
            Values::Tuple(_, len) => *len,
            Values::Variant(alternatives) => alternatives.len(),
            _ => 0,
        }
    }

    fn truncate(&mut self, len: usize) {
        match self {
            Values::Array(offsets, items) => {
                offsets.truncate(len);
                items.truncate(offsets.last());
            }
            Values::Map(offsets, entries) => {
                offsets.truncate(len);
                entries.iter_mut().for_each(|e| e.truncate(offsets.last()));
            }
            Values::Tuple(columns, rows) => {
                *rows = len.min(*rows);
                columns.iter_mut().for_each(|c| c.truncate(*rows));
            }
            Values::Variant(alternatives) => alternatives.truncate(len),
            _ => {}
        }
    }

    fn push_default(&mut self) {
        match self {
            Values::Array(offsets, _) | Values::Map(offsets, _) => {
                let last = offsets.0.last().copied().unwrap_or(0);
                offsets.0.push(last);
            }
            Values::Tuple(columns, len) => {
                columns.iter_mut().for_each(ColumnBuilder::append_default);
                *len += 1;
            }
            Values::Variant(alternatives) => alternatives.push_null(),
            _ => {}
        }
    }
}

/// What holds the values, for `&self` and `&mut self`.
macro_rules! with_slots {
    ($values:expr) => {
        match $values {
            Values::UInt8(v) | Values::Bool(v) => v,
            Values::UInt16(v) | Values::Date(v) => v,
            Values::UInt32(v) | Values::DateTime(v) | Values::Ipv4(v) => v,
            Values::UInt64(v) => v,
            Values::Int8(v) => v,
            Values::Int16(v) => v,
            Values::Int32(v) | Values::Date32(v) => v,
            Values::Int64(v) | Values::DateTime64(v, _) => v,
            Values::Float32(v) => v,
            Values::Float64(v) => v,
            Values::Decimal128(v, ..) => v,
            Values::Decimal256(v, ..) => v,
            Values::String(v) => v,
            Values::FixedString(v) | Values::Uuid(v) | Values::Ipv6(v) => v,
            Values::Enum8(v) => v,
            Values::Enum16(v) => v,
            Values::Nothing(len) => len,
            Values::Array(..) | Values::Tuple(..) | Values::Map(..) | Values::Variant(_) => $values,
        }
    };
}

impl Values {
    pub(super) fn new(
        data_type: &DataType,
        capacity: usize,
        options: &ReadOptions,
    ) -> Result<Self> {
        Ok(match data_type {
            DataType::UInt8 => Values::UInt8(Vec::with_capacity(capacity)),
            DataType::UInt16 => Values::UInt16(Vec::with_capacity(capacity)),
            DataType::UInt32 => Values::UInt32(Vec::with_capacity(capacity)),
            DataType::UInt64 => Values::UInt64(Vec::with_capacity(capacity)),
            DataType::Int8 => Values::Int8(Vec::with_capacity(capacity)),
            DataType::Int16 => Values::Int16(Vec::with_capacity(capacity)),
            DataType::Int32 => Values::Int32(Vec::with_capacity(capacity)),
            DataType::Int64 | DataType::Interval(_) => Values::Int64(Vec::with_capacity(capacity)),
            DataType::Float32 => Values::Float32(Vec::with_capacity(capacity)),
            DataType::Float64 => Values::Float64(Vec::with_capacity(capacity)),
            DataType::Bool => Values::Bool(Vec::with_capacity(capacity)),
            DataType::Decimal { precision, scale } if *precision <= 38 => {
                Values::Decimal128(Vec::with_capacity(capacity), *precision, *scale)
            }
            DataType::Decimal { precision, scale } => {
                Values::Decimal256(Vec::with_capacity(capacity), *precision, *scale)
            }
            DataType::String => Values::String(Strings::with_capacity(capacity)),
            DataType::FixedString(n) => Values::FixedString(FixedBytes::new(*n as usize, capacity)),
            DataType::Date => Values::Date(Vec::with_capacity(capacity)),
            DataType::Date32 => Values::Date32(Vec::with_capacity(capacity)),
            DataType::DateTime(_) => Values::DateTime(Vec::with_capacity(capacity)),
            DataType::DateTime64(p, _) => Values::DateTime64(Vec::with_capacity(capacity), *p),
            DataType::Enum8(names) => Values::Enum8(EnumNumbers {
                numbers: Vec::with_capacity(capacity),
                names: Arc::clone(names),
            }),
            DataType::Enum16(names) => Values::Enum16(EnumNumbers {
                numbers: Vec::with_capacity(capacity),
                names: Arc::clone(names),
            }),
            DataType::Uuid => Values::Uuid(FixedBytes::new(16, capacity)),
            DataType::Ipv4 => Values::Ipv4(Vec::with_capacity(capacity)),
            DataType::Ipv6 => Values::Ipv6(FixedBytes::new(16, capacity)),
            DataType::Nothing => Values::Nothing(0),
            nested => Values::new_nested(nested, capacity, options)?,
        })
    }

    fn new_nested(data_type: &DataType, capacity: usize, options: &ReadOptions) -> Result<Self> {
        let part = |t: &DataType| ColumnBuilder::with_options(t, capacity, options);
        Ok(match data_type {
            DataType::Array(t) => Values::Array(Offsets::new(capacity), Box::new(part(t)?)),
            DataType::Tuple(tuple) => {
                Values::Tuple(tuple.types.iter().map(part).collect::<Result<_>>()?, 0)
            }
            DataType::Map(k, v) => {
                Values::Map(Offsets::new(capacity), Box::new([part(k)?, part(v)?]))
            }
            DataType::Variant(types) => Values::Variant(Alternatives::new(
                types,
                types.iter().map(part).collect::<Result<_>>()?,
            )),
            other => return Err(Error::not_implemented(format!("Text of type {other}"))),
        })
    }

    pub(super) fn slots(&self) -> &dyn Slots {
        with_slots!(self)
    }

    pub(super) fn slots_mut(&mut self) -> &mut dyn Slots {
        with_slots!(self)
    }

    pub(super) fn push_raw(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Values::UInt8(v) | Values::Bool(v) => v.push(u8::from_le_bytes(exact(bytes)?)),
            Values::UInt16(v) | Values::Date(v) => v.push(u16::from_le_bytes(exact(bytes)?)),
            Values::UInt32(v) | Values::DateTime(v) | Values::Ipv4(v) => {
                v.push(u32::from_le_bytes(exact(bytes)?));
            }
            Values::UInt64(v) => v.push(u64::from_le_bytes(exact(bytes)?)),
            Values::Int8(v) => v.push(i8::from_le_bytes(exact(bytes)?)),
            Values::Int16(v) => v.push(i16::from_le_bytes(exact(bytes)?)),
            Values::Int32(v) | Values::Date32(v) => v.push(i32::from_le_bytes(exact(bytes)?)),
            Values::Int64(v) | Values::DateTime64(v, _) => {
                v.push(i64::from_le_bytes(exact(bytes)?));
            }
            Values::Float32(v) => v.push(f32::from_le_bytes(exact(bytes)?)),
            Values::Float64(v) => v.push(f64::from_le_bytes(exact(bytes)?)),
            Values::Decimal128(v, ..) => v.push(i128::from_le_bytes(exact(bytes)?)),
            Values::Decimal256(v, ..) => v.push(i256::from_le_bytes(exact(bytes)?)),
            Values::String(v) => v.push(bytes)?,
            Values::FixedString(v) | Values::Uuid(v) | Values::Ipv6(v) => {
                if bytes.len() != v.width {
                    return Err(wrong_width(bytes.len(), v.width));
                }
                v.push(bytes);
            }
            Values::Enum8(v) => v.push(i16::from(i8::from_le_bytes(exact(bytes)?))),
            Values::Enum16(v) => v.push(i16::from_le_bytes(exact(bytes)?)),
            Values::Nothing(len) => *len += 1,
            Values::Array(..) | Values::Tuple(..) | Values::Map(..) | Values::Variant(_) => {
                return Err(Error::new(
                    ErrorCode::TYPE_MISMATCH,
                    "a nested value has no raw bytes",
                ));
            }
        }
        Ok(())
    }

    pub(super) fn finish_nested(&mut self) -> Result<()> {
        match self {
            Values::Array(offsets, items) => offsets.push(items.len()),
            Values::Map(offsets, entries) => offsets.push(entries[0].len()),
            Values::Tuple(_, len) => {
                *len += 1;
                Ok(())
            }
            _ => Err(Error::bug("only nested values are finished")),
        }
    }

    pub(super) fn finish(
        self,
        data_type: &DataType,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        Ok(match self {
            Values::UInt8(v) | Values::Bool(v) => primitive::<UInt8Type>(v, nulls),
            Values::UInt16(v) | Values::Date(v) => primitive::<UInt16Type>(v, nulls),
            Values::UInt32(v) | Values::DateTime(v) | Values::Ipv4(v) => {
                primitive::<UInt32Type>(v, nulls)
            }
            Values::UInt64(v) => primitive::<UInt64Type>(v, nulls),
            Values::Int8(v) => primitive::<Int8Type>(v, nulls),
            Values::Int16(v) => primitive::<Int16Type>(v, nulls),
            Values::Int32(v) | Values::Date32(v) => primitive::<Int32Type>(v, nulls),
            Values::Int64(v) | Values::DateTime64(v, _) => primitive::<Int64Type>(v, nulls),
            Values::Float32(v) => primitive::<Float32Type>(v, nulls),
            Values::Float64(v) => primitive::<Float64Type>(v, nulls),
            Values::Enum8(v) => primitive::<Int8Type>(v.numbers, nulls),
            Values::Enum16(v) => primitive::<Int16Type>(v.numbers, nulls),
            Values::Decimal128(v, ..) => {
                let array = Decimal128Array::new(v.into(), nulls);
                Arc::new(array.with_data_type(data_type.physical()))
            }
            Values::Decimal256(v, ..) => {
                let array = Decimal256Array::new(v.into(), nulls);
                Arc::new(array.with_data_type(data_type.physical()))
            }
            Values::String(v) => v.finish(nulls)?,
            Values::FixedString(v) | Values::Uuid(v) | Values::Ipv6(v) => {
                let width = i32::try_from(v.width).map_err(|_| Error::bug("a wide FixedString"))?;
                let array = FixedSizeBinaryArray::try_new(width, Buffer::from_vec(v.bytes), nulls);
                Arc::new(array.map_err(misfit)?)
            }
            Values::Nothing(len) => Arc::new(NullArray::new(len)),
            nested => nested.finish_parts(data_type)?,
        })
    }

    fn finish_parts(self, data_type: &DataType) -> Result<ArrayRef> {
        match (self, data_type.base()) {
            (Values::Array(offsets, items), DataType::Array(t)) => {
                let field = crate::physical::item_field(t);
                list(field, offsets, items.finish()?)
            }
            (Values::Map(offsets, entries), DataType::Map(k, v)) => {
                let [keys, values] = *entries;
                let fields = crate::physical::entry_fields(k, v);
                let pairs = vec![keys.finish()?, values.finish()?];
                let pairs = StructArray::try_new(fields, pairs, None).map_err(misfit)?;
                let field = Field::new("item", pairs.data_type().clone(), false);
                list(Arc::new(field), offsets, Arc::new(pairs))
            }
            (Values::Tuple(columns, len), DataType::Tuple(tuple)) => {
                let columns: Vec<ArrayRef> = columns
                    .into_iter()
                    .map(ColumnBuilder::finish)
                    .collect::<Result<_>>()?;
                finish_tuple(columns, len, data_type, tuple)
            }
            (Values::Variant(alternatives), DataType::Variant(types)) => alternatives.finish(types),
            _ => Err(Error::bug("buffers of another type")),
        }
    }
}

fn finish_tuple(
    columns: Vec<ArrayRef>,
    len: usize,
    data_type: &DataType,
    tuple: &TupleType,
) -> Result<ArrayRef> {
    if tuple.types.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(len, None)));
    }
    let ArrowType::Struct(fields) = data_type.physical() else {
        return Err(Error::bug("a tuple is no struct"));
    };
    Ok(Arc::new(
        StructArray::try_new(fields, columns, None).map_err(misfit)?,
    ))
}

fn list(field: Arc<Field>, offsets: Offsets, items: ArrayRef) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::new(offsets.0.into());
    Ok(Arc::new(
        ListArray::try_new(field, offsets, items, None).map_err(misfit)?,
    ))
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls))
}

fn misfit(e: arrow::error::ArrowError) -> Error {
    Error::bug(e.to_string())
}

fn exact<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| wrong_width(bytes.len(), N))
}

fn wrong_width(found: usize, wanted: usize) -> Error {
    Error::new(
        ErrorCode::CANNOT_READ_ALL_DATA,
        format!("Cannot read all data: {found} bytes instead of {wanted}"),
    )
}
