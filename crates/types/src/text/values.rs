//! Binds a column's array to its type: the array is downcast once, not for each value.

use std::cell::RefCell;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, Decimal128Array, Decimal256Array, FixedSizeBinaryArray,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, ListArray,
    StructArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow::buffer::OffsetBuffer;
use basalt_error::{Error, Result};

use super::column::ColumnText;
use super::options::TextOptions;
use crate::calendar::OffsetCache;
use crate::variant::VariantArray;
use crate::{DataType, EnumType, TupleType, Tz};

/// The column's array, downcast.
#[derive(Debug)]
pub(super) enum Values {
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

impl Values {
    /// Binds `array`, the physical array of `data_type`.
    pub(super) fn new(
        data_type: &DataType,
        array: &ArrayRef,
        options: &TextOptions,
    ) -> Result<Self> {
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

fn downcast<T: Array + Clone + 'static>(array: &ArrayRef, data_type: &DataType) -> Result<T> {
    array.as_any().downcast_ref::<T>().cloned().ok_or_else(|| {
        Error::bug(format!(
            "{data_type} column holds Arrow {}",
            array.data_type()
        ))
    })
}
