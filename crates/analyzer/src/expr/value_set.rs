//! Holds the values of a big IN and finds a column's values among them.

use ahash::RandomState;
use basalt_error::{Error, Result};
use datafusion::arrow::array::{Array, ArrayRef, UInt8Array};
use datafusion::arrow::row::{RowConverter, SortField};
use hashbrown::HashSet;

/// A set of values of one type, by their comparable row form.
pub(crate) struct ValueSet {
    converter: RowConverter,
    rows: HashSet<Box<[u8]>, RandomState>,
}

impl ValueSet {
    /// The set of the values of `array`, which has no NULLs.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        let field = SortField::new(array.data_type().clone());
        let converter = RowConverter::new(vec![field]).map_err(row_error)?;
        let rows = converter
            .convert_columns(std::slice::from_ref(array))
            .map_err(row_error)?;
        let rows = rows.iter().map(|r| Box::from(r.as_ref())).collect();
        Ok(Self { converter, rows })
    }

    /// 1 where the value is in the set, 0 where not, NULL where it is NULL.
    pub(crate) fn contains(&self, array: &ArrayRef) -> Result<UInt8Array> {
        let rows = self
            .converter
            .convert_columns(std::slice::from_ref(array))
            .map_err(row_error)?;
        let found: Vec<u8> = rows
            .iter()
            .map(|r| u8::from(self.rows.contains(r.as_ref())))
            .collect();
        Ok(UInt8Array::new(found.into(), array.logical_nulls()))
    }
}

fn row_error(e: impl std::fmt::Display) -> Error {
    Error::bug(format!("values of IN: {e}"))
}
