//! Reads the columns of a Native block.

use std::sync::Arc;

use ::arrow::array::{
    Array, ArrayData, ArrayRef, ListArray, NullArray, StructArray, UInt64Array, make_array,
    new_null_array,
};
use ::arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use ::arrow::datatypes::Field;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::builder::ColumnBuilder;
use basalt_types::physical::{entry_fields, item_field};
use basalt_types::states::StateForms;
use basalt_types::variant::NO_VALUE as NO_ALTERNATIVE;
use basalt_types::{AggregateType, DataType};

use super::binary::{check_enum, check_len, to_physical_bytes, too_short};
use super::native_bytes::{Bytes, size};

/// The parts of the word in front of a LowCardinality dictionary.
const INDEX_TYPE_MASK: u64 = 0xff;
const NEEDS_GLOBAL_DICTIONARY: u64 = 0x100;
const HAS_ADDITIONAL_KEYS: u64 = 0x200;

/// Says that each row of a Variant has the number of its alternative.
const DISCRIMINATORS_ONE_BY_ONE: u64 = 0;

/// Reads what stands before the data: a version for each LowCardinality and Variant in the type.
pub(super) fn read_versions(data_type: &DataType, bytes: &mut Bytes) -> Result<()> {
    match data_type {
        DataType::LowCardinality(_) => match bytes.word()? {
            1 => Ok(()),
            version => Err(damaged(format!(
                "unknown version {version} of LowCardinality"
            ))),
        },
        DataType::Array(t) | DataType::Nullable(t) => read_versions(t, bytes),
        DataType::Tuple(tuple) => tuple.types.iter().try_for_each(|t| read_versions(t, bytes)),
        DataType::Map(k, v) => {
            read_versions(k, bytes)?;
            read_versions(v, bytes)
        }
        DataType::Variant(types) => match bytes.word()? {
            DISCRIMINATORS_ONE_BY_ONE => types.iter().try_for_each(|t| read_versions(t, bytes)),
            version => Err(damaged(format!("unknown version {version} of Variant"))),
        },
        _ => Ok(()),
    }
}

pub(super) fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorCode::INCORRECT_DATA,
        format!("The Native block is damaged: {what}"),
    )
}

fn misfit(e: ::arrow::error::ArrowError) -> Error {
    damaged(e)
}

pub(super) fn read_rows(
    data_type: &DataType,
    rows: usize,
    bytes: &mut Bytes,
    forms: StateForms,
) -> Result<ArrayRef> {
    match data_type {
        DataType::LowCardinality(inner) => read_dictionary(inner, rows, bytes, forms),
        DataType::Nullable(inner) => {
            let marks = bytes.take(rows)?;
            let array = match inner.is_enum() {
                true => read_fixed(inner, rows, bytes, &marks)?,
                false => read_rows(inner, rows, bytes, forms)?,
            };
            with_nulls(&array, marks.iter().map(|m| *m == 0).collect())
        }
        DataType::String => {
            let mut column = ColumnBuilder::new(data_type, 0)?;
            for _ in 0..rows {
                if bytes.is_at_end()? {
                    return Err(too_short());
                }
                column.append_raw(&bytes.string()?)?;
            }
            column.finish()
        }
        DataType::AggregateFunction(function) => read_states(function, rows, bytes, forms),
        DataType::Nothing => {
            bytes.take(rows)?;
            Ok(Arc::new(NullArray::new(rows)))
        }
        DataType::Array(t) => {
            let offsets = read_ends(rows, bytes)?;
            let items = read_rows(t, last(&offsets), bytes, forms)?;
            let list = ListArray::try_new(item_field(t), offsets, items, None);
            Ok(Arc::new(list.map_err(misfit)?))
        }
        DataType::Map(k, v) => {
            let offsets = read_ends(rows, bytes)?;
            let keys = read_rows(k, last(&offsets), bytes, forms)?;
            let values = read_rows(v, last(&offsets), bytes, forms)?;
            let pairs = StructArray::try_new(entry_fields(k, v), vec![keys, values], None);
            let pairs = pairs.map_err(misfit)?;
            let item = Arc::new(Field::new("item", pairs.data_type().clone(), false));
            Ok(Arc::new(
                ListArray::try_new(item, offsets, Arc::new(pairs), None).map_err(misfit)?,
            ))
        }
        DataType::Tuple(tuple) if tuple.types.is_empty() => {
            bytes.take(rows)?;
            Ok(Arc::new(StructArray::new_empty_fields(rows, None)))
        }
        DataType::Tuple(tuple) => {
            let columns = tuple.types.iter().map(|t| read_rows(t, rows, bytes, forms));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let fields = tuple
                .types
                .iter()
                .enumerate()
                .map(|(i, t)| t.field(tuple.name(i)));
            let array = StructArray::try_new(fields.collect(), columns, None);
            Ok(Arc::new(array.map_err(misfit)?))
        }
        DataType::Variant(types) => read_alternatives(types, rows, bytes, forms),
        fixed => read_fixed(fixed, rows, bytes, &[]),
    }
}

/// Reads states of an aggregate function, which themselves tell where they end or are behind their length.
fn read_states(
    function: &AggregateType,
    rows: usize,
    bytes: &mut Bytes,
    forms: StateForms,
) -> Result<ArrayRef> {
    let form = forms(function);
    let mut column = ColumnBuilder::new(&DataType::String, 0)?;
    for _ in 0..rows {
        match &form {
            Some(form) => column.append_raw(&bytes.state(form.as_ref())?)?,
            None => column.append_raw(&bytes.string()?)?,
        }
    }
    column.finish()
}

/// Reads the number of each row's alternative, then the values of one alternative after the other.
fn read_alternatives(
    types: &[DataType],
    rows: usize,
    bytes: &mut Bytes,
    forms: StateForms,
) -> Result<ArrayRef> {
    let discriminators = bytes.take(rows)?;
    let in_type = |n: &u8| usize::from(*n) < types.len() || *n == NO_ALTERNATIVE;
    if let Some(wrong) = discriminators.iter().find(|n| !in_type(n)) {
        return Err(damaged(format!("a Variant has no alternative {wrong}")));
    }
    let mut columns = Vec::with_capacity(types.len());
    for (number, data_type) in (0_u8..).zip(types) {
        let mut len = 0_u64;
        let position = |n: &u8| {
            let found = (*n == number).then_some(len);
            len += u64::from(found.is_some());
            found
        };
        let positions: UInt64Array = discriminators.iter().map(position).collect();
        if len == 0 {
            columns.push(new_null_array(&data_type.physical(), rows));
            continue;
        }
        let values = read_rows(data_type, len as usize, bytes, forms)?;
        columns.push(::arrow::compute::take(&values, &positions, None).map_err(misfit)?);
    }
    basalt_types::variant::assemble(types, discriminators, columns)
}

/// Reads values of one width; `nulls` has a byte other than 0 for each row that is NULL, if any can be.
fn read_fixed(
    data_type: &DataType,
    rows: usize,
    bytes: &mut Bytes,
    nulls: &[u8],
) -> Result<ArrayRef> {
    let Some(width) = data_type.fixed_size_bytes() else {
        return Err(Error::not_implemented(format!(
            "Type {data_type} in Native"
        )));
    };
    let mut data = bytes.take(size(rows, width)?)?;
    if data_type.is_enum() {
        check_enums(data_type, &mut data, width, nulls)?;
    }
    if matches!(data_type, DataType::Uuid | DataType::Decimal { .. }) {
        let mut buffer = [0; 32];
        let values = data.chunks_exact(width);
        data = values
            .flat_map(|v| to_physical_bytes(data_type, v, &mut buffer).to_vec())
            .collect();
    }
    let array = ArrayData::builder(data_type.physical())
        .len(rows)
        .add_buffer(Buffer::from_vec(data))
        .align_buffers(true)
        .build();
    Ok(make_array(array.map_err(misfit)?))
}

/// Checks the numbers of an Enum. What stands under a NULL may be any number, which ClickHouse never looks
/// at: it becomes one that the Enum has, which nothing here trips over.
fn check_enums(data_type: &DataType, data: &mut [u8], width: usize, nulls: &[u8]) -> Result<()> {
    let known = match data_type {
        DataType::Enum8(values) | DataType::Enum16(values) => values.values().first(),
        _ => None,
    };
    let known = known.map_or(0, |(_, number)| *number).to_le_bytes();
    for (row, value) in data.chunks_exact_mut(width).enumerate() {
        match nulls.get(row) {
            Some(1..) => value.copy_from_slice(&known[..width]),
            _ => check_enum(data_type, value)?,
        }
    }
    Ok(())
}

fn with_nulls(array: &ArrayRef, valid: Vec<bool>) -> Result<ArrayRef> {
    if array.data_type() == &::arrow::datatypes::DataType::Null {
        return Ok(Arc::clone(array));
    }
    let data = array
        .to_data()
        .into_builder()
        .nulls(Some(NullBuffer::from(valid)));
    Ok(make_array(data.build().map_err(misfit)?))
}

/// Reads where each array ends.
fn read_ends(rows: usize, bytes: &mut Bytes) -> Result<OffsetBuffer<i32>> {
    let mut offsets = vec![0_i32];
    for end in bytes.words(rows)? {
        let end = i32::try_from(end).map_err(|_| damaged(format!("an array ends at {end}")))?;
        if offsets.last().is_some_and(|last| *last > end) {
            return Err(damaged(format!("an array ends at {end}, before it begins")));
        }
        offsets.push(end);
    }
    Ok(OffsetBuffer::new(offsets.into()))
}

fn last(offsets: &OffsetBuffer<i32>) -> usize {
    // Never negative, never empty.
    offsets.last().map_or(0, |end| *end as usize)
}

fn read_dictionary(
    inner: &DataType,
    rows: usize,
    bytes: &mut Bytes,
    forms: StateForms,
) -> Result<ArrayRef> {
    if rows == 0 {
        return Ok(::arrow::array::new_empty_array(&inner.physical()));
    }
    let flags = bytes.word()?;
    if flags & NEEDS_GLOBAL_DICTIONARY != 0 || flags & HAS_ADDITIONAL_KEYS == 0 {
        return Err(Error::not_implemented(
            "A LowCardinality dictionary shared between Native blocks",
        ));
    }
    let len = check_len(bytes.word()?)?;
    let keys = read_rows(inner.base(), len, bytes, forms)?;
    if bytes.word()? != rows as u64 {
        return Err(damaged(
            "a LowCardinality column has another number of rows",
        ));
    }
    let width = match flags & INDEX_TYPE_MASK {
        log @ 0..=3 => 1_usize << log,
        other => return Err(damaged(format!("unknown index type {other}"))),
    };
    let indexes: Vec<u64> = bytes
        .take(size(rows, width)?)?
        .chunks_exact(width)
        .map(|b| {
            b.iter()
                .rev()
                .fold(0, |index, byte| index << 8 | u64::from(*byte))
        })
        .collect();
    if indexes.iter().any(|i| *i >= len as u64) {
        return Err(damaged("a LowCardinality index is beyond its dictionary"));
    }
    let is_valid: Vec<bool> = indexes.iter().map(|i| *i != 0).collect();
    let array = ::arrow::compute::take(&keys, &UInt64Array::from(indexes), None).map_err(misfit)?;
    if inner.is_nullable() {
        with_nulls(&array, is_valid)
    } else {
        Ok(array)
    }
}
