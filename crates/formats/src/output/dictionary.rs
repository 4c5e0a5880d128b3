//! Makes Arrow dictionaries of LowCardinality columns: the default, then values as they first come.
//!
//! A dictionary only grows, as Arrow's file format demands.

use std::collections::HashMap;
use std::sync::Arc;

use ::arrow::array::{Array, ArrayRef, DictionaryArray, Int32Array, UInt32Array, new_empty_array};
use ::arrow::compute::{concat, take};
use ::arrow::datatypes::{DataType as ArrowType, Field, Int32Type};
use ::arrow::error::ArrowError;
use ::arrow::row::{RowConverter, SortField};

/// The dictionary of a column.
pub(super) struct Dictionary {
    converter: RowConverter,
    positions: HashMap<Box<[u8]>, i32>,
    values: ArrayRef,
}

/// The field of a column as a dictionary.
pub(super) fn dictionary_field(field: &Field) -> Field {
    let values = Box::new(field.data_type().clone());
    let data_type = ArrowType::Dictionary(Box::new(ArrowType::Int32), values);
    Field::new(field.name(), data_type, field.is_nullable())
}

impl Dictionary {
    /// A dictionary of values of a type that begins with `default`, an array of one value.
    pub(super) fn new(default: &ArrayRef) -> Result<Self, ArrowError> {
        let data_type = default.data_type().clone();
        let mut dictionary = Self {
            converter: RowConverter::new(vec![SortField::new(data_type.clone())])?,
            positions: HashMap::new(),
            values: new_empty_array(&data_type),
        };
        dictionary.encode(default)?;
        Ok(dictionary)
    }

    /// The values as positions in the dictionary, which takes those that are new.
    pub(super) fn encode(&mut self, array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        let rows = self.converter.convert_columns(&[Arc::clone(array)])?;
        let mut new = Vec::new();
        let mut keys = Vec::with_capacity(array.len());
        for (row, value) in rows.iter().enumerate() {
            if array.is_null(row) {
                keys.push(None);
                continue;
            }
            let next = self.positions.len();
            let position = match self.positions.get(value.as_ref()) {
                Some(position) => *position,
                None => {
                    let next =
                        i32::try_from(next).map_err(|_| ArrowError::DictionaryKeyOverflowError)?;
                    self.positions.insert(Box::from(value.as_ref()), next);
                    // Arrow's batches have fewer rows.
                    new.push(row as u32);
                    next
                }
            };
            keys.push(Some(position));
        }
        if !new.is_empty() {
            let new = take(array, &UInt32Array::from(new), None)?;
            self.values = concat(&[self.values.as_ref(), new.as_ref()])?;
        }
        let keys = Int32Array::from(keys);
        let values = Arc::clone(&self.values);
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
            keys, values,
        )?))
    }
}
