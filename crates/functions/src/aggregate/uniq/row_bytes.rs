//! Gives the bytes of rows of any type as ClickHouse hashes them.
//!
//! Values that are one run of bytes in its memory are these bytes; of others the lengths of strings and
//! arrays and a mark for NULL come with them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryViewArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use basalt_error::Result;
use basalt_types::DataType;

use crate::Column;
use crate::aggregate::values::wrong_array;
use crate::scalar::hash::fixed::FixedBytes;

/// Whether a value of this type is one run of bytes.
pub(super) fn is_one_run(data_type: &DataType) -> bool {
    match data_type {
        DataType::String => true,
        DataType::LowCardinality(inner) => is_one_run(inner),
        DataType::Array(element) => {
            !element.is_nullable()
                && element
                    .without_any_low_cardinality()
                    .fixed_size_bytes()
                    .is_some()
        }
        DataType::Nullable(_) => false,
        other => other.fixed_size_bytes().is_some(),
    }
}

/// Whether rows of this type can be read as bytes.
pub(super) fn has_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Nullable(inner) | DataType::LowCardinality(inner) | DataType::Array(inner) => {
            has_bytes(inner)
        }
        DataType::Tuple(tuple) => tuple.types.iter().all(has_bytes),
        DataType::Map(key, value) => has_bytes(key) && has_bytes(value),
        DataType::String | DataType::Nothing => true,
        other => other.fixed_size_bytes().is_some(),
    }
}

/// A column whose rows are read as bytes.
pub(super) struct RowBytes {
    form: Form,
    /// The validity of the rows of a type with NULL.
    marks: Option<Option<NullBuffer>>,
}

enum Form {
    Fixed {
        bytes: FixedBytes,
        /// Whether it is two numbers of eight bytes, each with its highest byte first here.
        swaps_halves: bool,
    },
    Text(BinaryViewArray),
    List(OffsetBuffer<i32>, Box<RowBytes>),
    Parts(Vec<RowBytes>),
    Nothing,
}

impl RowBytes {
    /// # Errors
    /// `LOGICAL_ERROR` if the array is not of the type.
    pub(super) fn new(array: &ArrayRef, data_type: &DataType) -> Result<Self> {
        let data_type = data_type.without_any_low_cardinality();
        let marks = data_type.is_nullable().then(|| array.logical_nulls());
        let form = match data_type.base() {
            DataType::String => {
                let text = array.as_binary_view_opt();
                Form::Text(text.ok_or_else(|| wrong_array(array))?.clone())
            }
            DataType::Array(element) => Form::list(array, |values| Self::new(values, element))?,
            DataType::Map(key, value) => Form::list(array, |entries| {
                Self::parts(entries, &[key.as_ref().clone(), value.as_ref().clone()])
            })?,
            DataType::Tuple(tuple) => Self::parts(array, &tuple.types)?.form,
            DataType::Nothing => Form::Nothing,
            other => Form::Fixed {
                bytes: FixedBytes::new(&Column::new(Arc::clone(array)), other)?,
                swaps_halves: *other == DataType::Uuid,
            },
        };
        Ok(Self { form, marks })
    }

    fn parts(array: &ArrayRef, types: &[DataType]) -> Result<Self> {
        let tuple = array.as_struct_opt().ok_or_else(|| wrong_array(array))?;
        let parts = tuple.columns().iter().zip(types);
        let parts = parts.map(|(part, part_type)| Self::new(part, part_type));
        Ok(Self {
            form: Form::Parts(parts.collect::<Result<_>>()?),
            marks: None,
        })
    }

    /// Appends the bytes of a row that is one run.
    pub(super) fn append_run(&self, row: usize, out: &mut Vec<u8>) {
        match &self.form {
            Form::Fixed {
                bytes,
                swaps_halves,
            } => {
                let start = out.len();
                out.extend_from_slice(bytes.value(row));
                if *swaps_halves {
                    out[start..start + 8].reverse();
                    out[start + 8..].reverse();
                }
            }
            Form::Text(text) => out.extend_from_slice(text.value(row)),
            Form::List(offsets, elements) => {
                elements_of(offsets, row).for_each(|element| elements.append_run(element, out));
            }
            Form::Parts(parts) => parts.iter().for_each(|part| part.append_run(row, out)),
            Form::Nothing => {}
        }
    }

    /// Appends the bytes of a row with lengths and marks.
    pub(super) fn append_marked(&self, row: usize, out: &mut Vec<u8>) {
        if let Some(valid) = &self.marks {
            let is_null = valid.as_ref().is_some_and(|valid| valid.is_null(row));
            out.push(u8::from(is_null));
            if is_null {
                return;
            }
        }
        match &self.form {
            Form::Text(text) => {
                // ClickHouse counts and hashes a zero at the end.
                let value = text.value(row);
                out.extend_from_slice(&(value.len() as u64 + 1).to_le_bytes());
                out.extend_from_slice(value);
                out.push(0);
            }
            Form::List(offsets, elements) => {
                let range = elements_of(offsets, row);
                out.extend_from_slice(&(range.len() as u64).to_le_bytes());
                range.for_each(|element| elements.append_marked(element, out));
            }
            Form::Parts(parts) => parts.iter().for_each(|part| part.append_marked(row, out)),
            Form::Fixed { .. } | Form::Nothing => self.append_run(row, out),
        }
    }
}

impl Form {
    fn list(array: &ArrayRef, of_values: impl Fn(&ArrayRef) -> Result<RowBytes>) -> Result<Self> {
        let list = array
            .as_list_opt::<i32>()
            .ok_or_else(|| wrong_array(array))?;
        Ok(Form::List(
            list.offsets().clone(),
            Box::new(of_values(list.values())?),
        ))
    }
}

fn elements_of(offsets: &OffsetBuffer<i32>, row: usize) -> std::ops::Range<usize> {
    offsets[row] as usize..offsets[row + 1] as usize
}
