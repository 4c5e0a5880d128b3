//! Turns `Variant` into Arrow's dense union and back.
//!
//! A union has a field for each alternative, named by its type, and one of type Null behind them for
//! rows without a value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, NullArray, UInt32Array, UnionArray};
use arrow::compute::take;
use arrow::datatypes::{DataType as ArrowType, Field, UnionFields, UnionMode};
use basalt_error::Result;

use super::from_arrow::nested_field;
use super::outward::EdgeTypes;
use super::{mismatch, to_physical};
use crate::DataType;
use crate::variant::{NO_VALUE, VariantArray, assemble};

/// Name of the field of rows without a value.
const NO_VALUE_FIELD: &str = "NULL";

/// The union of a `Variant` in a file.
pub(super) fn arrow_type(edge: &EdgeTypes, alternatives: &[DataType]) -> ArrowType {
    let values = alternatives
        .iter()
        .map(|t| edge.field(&t.to_string(), t).with_nullable(false));
    let no_value = Field::new(NO_VALUE_FIELD, ArrowType::Null, false);
    let fields = UnionFields::from_fields(values.chain([no_value]));
    ArrowType::Union(fields, UnionMode::Dense)
}

/// Turns the physical array of a `Variant` into the file's union.
pub(super) fn of_variant(
    edge: &EdgeTypes,
    array: &ArrayRef,
    alternatives: &[DataType],
    fields: &UnionFields,
) -> Result<ArrayRef> {
    let variant = VariantArray::of(array)?;
    let no_value = alternatives.len();
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); no_value + 1];
    let mut type_ids: Vec<i8> = Vec::with_capacity(variant.num_rows());
    let mut offsets: Vec<i32> = Vec::with_capacity(variant.num_rows());
    for row in 0..variant.num_rows() {
        let child = match variant.discriminator(row) {
            NO_VALUE => no_value,
            discriminator => usize::from(discriminator),
        };
        type_ids.push(i8::try_from(child).map_err(mismatch)?);
        offsets.push(i32::try_from(rows_of[child].len()).map_err(mismatch)?);
        rows_of[child].push(u32::try_from(row).map_err(mismatch)?);
    }
    let num_nulls = rows_of.pop().map_or(0, |rows| rows.len());
    let mut children: Vec<ArrayRef> = Vec::with_capacity(no_value + 1);
    for ((values, rows), data_type) in variant.alternatives.iter().zip(rows_of).zip(alternatives) {
        let values = take(values, &UInt32Array::from(rows), None).map_err(mismatch)?;
        children.push(edge.convert(&values, data_type)?);
    }
    children.push(Arc::new(NullArray::new(num_nulls)));
    let (type_ids, offsets) = (type_ids.into(), Some(offsets.into()));
    let union = UnionArray::try_new(fields.clone(), type_ids, offsets, children);
    Ok(Arc::new(union.map_err(mismatch)?))
}

/// The `Variant` that a file's union becomes.
pub(super) fn variant_of(fields: &UnionFields) -> Result<DataType> {
    let values = fields
        .iter()
        .filter(|(_, field)| *field.data_type() != ArrowType::Null);
    let types = values.map(|(_, field)| nested_field(field).map(|t| t.base().clone()));
    Ok(DataType::variant(types.collect::<Result<Vec<_>>>()?))
}

/// Turns a file's union into the physical array of a `Variant` of these alternatives.
pub(super) fn to_variant(array: &ArrayRef, alternatives: &[DataType]) -> Result<ArrayRef> {
    let union = array.as_union();
    let ArrowType::Union(fields, _) = union.data_type() else {
        return Err(mismatch("no union"));
    };
    let mut discriminators = vec![NO_VALUE; union.len()];
    let mut values: Vec<Option<ArrayRef>> = vec![None; alternatives.len()];
    for (id, field) in fields.iter() {
        if *field.data_type() == ArrowType::Null {
            continue;
        }
        let data_type = nested_field(field)?.base().clone();
        let place = alternatives.iter().position(|t| *t == data_type);
        let place = place.ok_or_else(|| mismatch(format!("{data_type} is no alternative")))?;
        let child = union.child(id);
        if values[place].is_some() {
            return Err(mismatch(format!("two fields of the union are {data_type}")));
        }
        let row_of = |row: usize| {
            let offset = union.value_offset(row);
            (union.type_id(row) == id && child.is_valid(offset)).then_some(offset as u64)
        };
        let rows: Vec<Option<u64>> = (0..union.len()).map(row_of).collect();
        let number = u8::try_from(place).map_err(mismatch)?;
        for (discriminator, row) in discriminators.iter_mut().zip(&rows) {
            if row.is_some() {
                *discriminator = number;
            }
        }
        let rows = arrow::array::UInt64Array::from(rows);
        let taken = take(child, &rows, None).map_err(mismatch)?;
        values[place] = Some(to_physical(&taken, &data_type.to_nullable())?);
    }
    let no_values = |t: &DataType| arrow::array::new_null_array(&t.physical(), union.len());
    let values = values.into_iter().zip(alternatives);
    let values = values.map(|(v, t)| v.unwrap_or_else(|| no_values(t)));
    assemble(alternatives, discriminators, values.collect())
}
