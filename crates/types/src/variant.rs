//! The arrays of `Variant`: a column for each alternative, and a number that says which one a row has.
//!
//! Layout: a struct of `discriminator` (UInt8, the alternative's position in the type, [`NO_VALUE`] for
//! NULL) and one nullable field for each alternative, NULL wherever a row has another one. A row
//! without a value is NULL in the struct itself, too. So equal values are equal structs.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray, UInt8Array, new_null_array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, UInt8Type};
use basalt_error::{Error, Result};

use crate::DataType;

/// The discriminator of NULL.
pub const NO_VALUE: u8 = u8::MAX;

/// A `Variant` has at most so many alternatives: their numbers fit a byte beside [`NO_VALUE`].
pub const MAX_ALTERNATIVES: usize = 254;

/// A column of values of several types, taken apart.
#[derive(Debug)]
pub struct VariantArray<'a> {
    discriminators: &'a UInt8Array,
    /// Rows made by Arrow are NULL in the struct only.
    nulls: Option<&'a NullBuffer>,
    /// The values of each alternative, NULL in the rows of others.
    pub alternatives: &'a [ArrayRef],
}

impl<'a> VariantArray<'a> {
    /// Looks into the physical array of a `Variant`.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if it is the array of another type.
    pub fn of(array: &'a ArrayRef) -> Result<Self> {
        let columns = array.as_struct_opt().map(StructArray::columns);
        let parts = columns.and_then(<[ArrayRef]>::split_first);
        parts
            .and_then(|(first, alternatives)| {
                Some(Self {
                    discriminators: first.as_primitive_opt::<UInt8Type>()?,
                    nulls: array.nulls(),
                    alternatives,
                })
            })
            .ok_or_else(|| Error::bug("a Variant is a struct with a discriminator"))
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.discriminators.len()
    }

    /// Position of the row's alternative, [`NO_VALUE`] for NULL.
    pub fn discriminator(&self, row: usize) -> u8 {
        match self.nulls {
            Some(nulls) if nulls.is_null(row) => NO_VALUE,
            _ => self.discriminators.value(row),
        }
    }
}

/// The fields of the struct.
pub(crate) fn fields(alternatives: &[DataType]) -> Fields {
    let number = Field::new("discriminator", ArrowType::UInt8, false);
    let values = alternatives
        .iter()
        .map(|t| Field::new(t.to_string(), t.physical(), true));
    std::iter::once(number).chain(values).collect()
}

/// Puts discriminators and the values of all alternatives together; values of rows that have another
/// alternative are dropped.
///
/// # Errors
/// `LOGICAL_ERROR` if they do not fit the type.
pub fn assemble(
    alternatives: &[DataType],
    discriminators: Vec<u8>,
    values: Vec<ArrayRef>,
) -> Result<ArrayRef> {
    let valid = |idx: u8| {
        NullBuffer::new(BooleanBuffer::collect_bool(discriminators.len(), |row| {
            discriminators[row] == idx
        }))
    };
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(values.len() + 1);
    columns.push(Arc::new(UInt8Array::from(discriminators.clone())));
    for (idx, array) in (0_u8..).zip(values) {
        columns.push(with_validity(&array, valid(idx))?);
    }
    let nulls =
        BooleanBuffer::collect_bool(discriminators.len(), |row| discriminators[row] != NO_VALUE);
    let array = StructArray::try_new(fields(alternatives), columns, Some(NullBuffer::new(nulls)));
    Ok(Arc::new(array.map_err(misfit)?))
}

/// A column of which every value has alternative `idx`; NULLs are rows without a value.
///
/// # Errors
/// `LOGICAL_ERROR` if `array` is not of that alternative's type.
pub fn wrap(alternatives: &[DataType], idx: usize, array: &ArrayRef) -> Result<ArrayRef> {
    let number = u8::try_from(idx).map_err(|_| Error::bug("too many alternatives"))?;
    let nulls = array.logical_nulls();
    let discriminator = |row| match &nulls {
        Some(nulls) if nulls.is_null(row) => NO_VALUE,
        _ => number,
    };
    let discriminators = (0..array.len()).map(discriminator).collect();
    let values = alternatives.iter().enumerate().map(|(i, t)| {
        if i == idx {
            Arc::clone(array)
        } else {
            new_null_array(&t.physical(), array.len())
        }
    });
    assemble(alternatives, discriminators, values.collect())
}

fn with_validity(array: &ArrayRef, valid: NullBuffer) -> Result<ArrayRef> {
    if *array.data_type() == ArrowType::Null {
        return Ok(Arc::clone(array));
    }
    let data = array.to_data().into_builder().nulls(Some(valid)).build();
    Ok(arrow::array::make_array(data.map_err(misfit)?))
}

fn misfit(e: arrow::error::ArrowError) -> Error {
    Error::bug(e.to_string())
}
