//! Holds an argument at run time, constant or one value a row, and gives typed views of it.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryViewArray, FixedSizeBinaryArray,
    PrimitiveArray, UInt32Array,
};
use arrow::buffer::NullBuffer;
use basalt_error::{Error, Result};

use crate::characters::{Characters, characters};

/// An argument of a function at run time.
#[derive(Clone, Debug)]
pub struct Column {
    /// One value for each row, or exactly one if constant.
    pub array: ArrayRef,
    /// Whether the one value stands for every row.
    pub is_const: bool,
}

impl Column {
    /// A column with one value for each row.
    pub fn new(array: ArrayRef) -> Self {
        Self {
            array,
            is_const: false,
        }
    }

    /// A column whose one value stands for every row.
    pub fn constant(array: ArrayRef) -> Self {
        Self {
            array,
            is_const: true,
        }
    }

    /// The array with one value for each of `num_rows` rows.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if Arrow cannot repeat the value.
    pub fn expand(&self, num_rows: usize) -> Result<ArrayRef> {
        if !self.is_const {
            return Ok(Arc::clone(&self.array));
        }
        if num_rows == 1 {
            return Ok(Arc::clone(&self.array));
        }
        let indices = UInt32Array::from_value(0, num_rows);
        arrow::compute::take(&self.array, &indices, None).map_err(|e| Error::bug(e.to_string()))
    }

    /// Row of the array that holds the value of row `idx`.
    pub fn row(&self, idx: usize) -> usize {
        if self.is_const { 0 } else { idx }
    }

    /// The primitive array behind the column.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the physical type is another one.
    pub fn primitive<T: ArrowPrimitiveType>(&self) -> Result<&PrimitiveArray<T>> {
        self.array
            .as_primitive_opt::<T>()
            .ok_or_else(|| wrong_type(&self.array, "primitive"))
    }

    /// The bytes of a String, FixedString or any other binary column.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the physical type is another one.
    pub fn strings(&self) -> Result<StringColumn<'_>> {
        StringColumn::of_array(&self.array, self.is_const)
    }

    /// Validity of the rows `0..num_rows`; `None` if all are valid.
    pub fn validity(&self, num_rows: usize) -> Option<NullBuffer> {
        let nulls = self.array.logical_nulls()?;
        if !self.is_const {
            return Some(nulls);
        }
        nulls.is_null(0).then(|| NullBuffer::new_null(num_rows))
    }
}

/// The bytes of each row of a column of strings.
#[derive(Clone, Copy, Debug)]
pub struct StringColumn<'a> {
    values: Values<'a>,
    /// All ones, or zero for a constant: `idx & mask` is the row.
    mask: usize,
}

#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    View(&'a BinaryViewArray),
    Fixed(&'a FixedSizeBinaryArray),
}

impl<'a> StringColumn<'a> {
    /// A view of a binary array; `is_const` as in [`Column`].
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if the array is not binary.
    pub fn of_array(array: &'a ArrayRef, is_const: bool) -> Result<Self> {
        let mask = if is_const { 0 } else { usize::MAX };
        let values = if let Some(view) = array.as_binary_view_opt() {
            Values::View(view)
        } else if let Some(fixed) = array.as_fixed_size_binary_opt() {
            Values::Fixed(fixed)
        } else {
            return Err(wrong_type(array, "binary"));
        };
        Ok(Self { values, mask })
    }

    /// The bytes of row `idx`, those of a FixedString with its trailing zeros.
    #[inline]
    pub fn value(&self, idx: usize) -> &'a [u8] {
        match self.values {
            Values::View(array) => array.value(idx & self.mask),
            Values::Fixed(array) => array.value(idx & self.mask),
        }
    }

    /// Whether one value stands for every row.
    pub fn is_const(&self) -> bool {
        self.mask == 0
    }

    /// What characters all values have, as far as one look at the whole column tells.
    pub fn characters(&self) -> Characters {
        match self.values {
            Values::View(array) => characters(array),
            Values::Fixed(_) => Characters::Any,
        }
    }
}

fn wrong_type(array: &ArrayRef, expected: &str) -> Error {
    Error::bug(format!(
        "expected a {expected} array, found {}",
        array.data_type()
    ))
}
