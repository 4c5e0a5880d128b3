//! Turns the arrays of Arrow and Parquet files into ours.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryArray, ListArray, StructArray};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, TimeUnit};
use basalt_error::Result;

use super::{checked_cast, mismatch, rescale_ticks, union, unit_precision, unsupported};
use crate::{DataType, TupleType};

/// Turns an array that a file or client gave into the physical array of `data_type`.
///
/// `data_type` is the field's own type by [`from_arrow_field`], or what the user declared.
///
/// # Errors
/// `TYPE_MISMATCH` if the values cannot be read as `data_type` without loss.
pub fn to_physical(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let physical = data_type.physical();
    let may_hide_nulls = matches!(
        data_type.base(),
        DataType::Array(_) | DataType::Tuple(_) | DataType::Map(..)
    );
    if array.data_type() == &physical && !may_hide_nulls {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), data_type.base()) {
        (ArrowType::Dictionary(_, value), _) => {
            to_physical(&checked_cast(array, value.as_ref())?, data_type)
        }
        (ArrowType::Timestamp(unit, _) | ArrowType::Time64(unit), DataType::DateTime64(p, _)) => {
            let ticks = checked_cast(array, &ArrowType::Int64)?;
            rescale_ticks(&ticks, unit_precision(*unit), *p)
        }
        (ArrowType::Time32(unit), DataType::DateTime64(p, _)) => {
            let ticks = checked_cast(array, &ArrowType::Int32)?;
            let ticks = checked_cast(&ticks, &ArrowType::Int64)?;
            rescale_ticks(&ticks, unit_precision(*unit), *p)
        }
        (ArrowType::Timestamp(unit, _), DataType::DateTime(_)) => {
            let ticks = checked_cast(array, &ArrowType::Int64)?;
            checked_cast(&rescale_ticks(&ticks, unit_precision(*unit), 0)?, &physical)
        }
        (ArrowType::Date64, DataType::DateTime(_)) => {
            let millis = checked_cast(array, &ArrowType::Int64)?;
            checked_cast(&rescale_ticks(&millis, 3, 0)?, &physical)
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
        (ArrowType::Union(..), DataType::Variant(types)) => union::to_variant(array, types),
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
    let is_null_and_full = |i| list.is_null(i) && list.value_length(i) > 0;
    if !(0..list.len()).any(is_null_and_full) {
        let (field, offsets, values, _) = list.into_parts();
        return Ok(Arc::new(ListArray::new(field, offsets, values, None)));
    }
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
