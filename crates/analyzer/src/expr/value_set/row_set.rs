//! Holds values of any type, tuples among them, by their comparable row form.

use ahash::RandomState;
use basalt_error::{Error, Result};
use datafusion::arrow::array::{Array, ArrayRef};
use datafusion::arrow::row::{RowConverter, SortField};
use hashbrown::HashSet;

use super::elements;

/// A set of values by their comparable row form.
pub(super) struct RowSet {
    converter: RowConverter,
    /// Whether a tuple with a NULL inside is a value like any other; else it is no member.
    null_matches: bool,
    /// Whether structs are values as a whole: those of a Variant are no tuples.
    is_whole: bool,
    rows: HashSet<Box<[u8]>, RandomState>,
}

impl RowSet {
    /// The values of `array`, as [`super::ValueSet::new`] takes them.
    pub(super) fn new(array: &ArrayRef, null_matches: bool, is_whole: bool) -> Result<Self> {
        let columns = elements(array, is_whole);
        let fields = columns
            .iter()
            .map(|c| SortField::new(c.data_type().clone()))
            .collect();
        let converter = RowConverter::new(fields).map_err(row_error)?;
        let rows = converter.convert_columns(&columns).map_err(row_error)?;
        let rows = rows.iter().map(|r| Box::from(r.as_ref())).collect();
        Ok(Self {
            converter,
            null_matches,
            is_whole,
            rows,
        })
    }

    /// 1 for each value that is in the set.
    pub(super) fn contains(&self, array: &ArrayRef) -> Result<Vec<u8>> {
        let columns = elements(array, self.is_whole);
        let rows = self
            .converter
            .convert_columns(&columns)
            .map_err(row_error)?;
        // A tuple of one element is compared as that element.
        let checked = if self.null_matches || columns.len() < 2 {
            &[]
        } else {
            columns.as_slice()
        };
        let nulls: Vec<_> = checked.iter().filter_map(|c| c.logical_nulls()).collect();
        let has_null = |row: usize| nulls.iter().any(|n| n.is_null(row));
        let found = rows
            .iter()
            .enumerate()
            .map(|(row, r)| u8::from(self.rows.contains(r.as_ref()) && !has_null(row)));
        Ok(found.collect())
    }
}

fn row_error(e: impl std::fmt::Display) -> Error {
    Error::bug(format!("values of IN: {e}"))
}
