//! Brings arguments to one common type before a function looks at them.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::buffer::OffsetBuffer;
use basalt_error::Result;
use basalt_types::DataType;

use super::lists::{as_list, list_of};
use crate::scalar::core::cast::{CastMode, cast_function};
use crate::{BoundFunction, Call, Column, Context, Resolved};

/// A cast that may have nothing to do.
#[derive(Clone, Debug, Default)]
pub struct Unify {
    cast: Option<BoundFunction>,
}

impl Unify {
    /// The cast from one type to another that holds its values.
    ///
    /// # Errors
    /// What the cast finds wrong with the types.
    pub fn new(from: &DataType, to: &DataType, context: &Context) -> Result<Self> {
        let same = from == to || (from.base() == to.base() && !from.is_nullable());
        let cast = if same {
            None
        } else {
            Some(cast_function(from, to, context, CastMode::Normal)?)
        };
        Ok(Self { cast })
    }

    /// The casts of all types to `to`.
    ///
    /// # Errors
    /// What a cast finds wrong with the types.
    pub fn all(types: &[DataType], to: &DataType, context: &Context) -> Result<Vec<Self>> {
        types.iter().map(|t| Self::new(t, to, context)).collect()
    }

    /// The column in the common type, constant if it was.
    ///
    /// # Errors
    /// What the cast reports for these values.
    pub fn column(&self, column: &Column) -> Result<Column> {
        let Some(cast) = &self.cast else {
            return Ok(column.clone());
        };
        let len = column.array.len();
        Ok(Column {
            array: cast.call(&[Column::new(Arc::clone(&column.array))], len)?,
            is_const: column.is_const,
        })
    }

    /// An array in the common type.
    ///
    /// # Errors
    /// What the cast reports for these values.
    pub fn array(&self, array: &ArrayRef) -> Result<ArrayRef> {
        Ok(self.column(&Column::new(Arc::clone(array)))?.array)
    }
}

/// Type of the elements of argument `idx`.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if it is no array.
pub fn element_type<'a>(call: &Call<'a>, idx: usize) -> Result<&'a DataType> {
    match call.data_type(idx) {
        DataType::Array(element) => Ok(element),
        _ => Err(call.illegal_type(idx)),
    }
}

/// Types of the elements of all arguments, which must be arrays.
///
/// # Errors
/// `ILLEGAL_TYPE_OF_ARGUMENT` if one is no array.
pub fn element_types(call: &Call<'_>) -> Result<Vec<DataType>> {
    (0..call.args.len())
        .map(|idx| element_type(call, idx).cloned())
        .collect()
}

/// A column of arrays with the same offsets and other elements.
///
/// # Errors
/// `LOGICAL_ERROR` if the elements do not fit.
pub fn with_elements(list: &DataType, array: &ArrayRef, values: ArrayRef) -> Result<ArrayRef> {
    let offsets: OffsetBuffer<i32> = as_list(array)?.offsets().clone();
    list_of(list, offsets, values)
}

/// The result of functions that see a NULL where an array should be.
///
/// # Errors
/// Never.
pub fn null_result() -> Result<Resolved> {
    let null = DataType::Nothing.to_nullable();
    let physical = null.physical();
    Resolved::new(null, move |_, rows| Ok(new_null_array(&physical, rows)))
}
