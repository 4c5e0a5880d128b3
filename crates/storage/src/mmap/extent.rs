//! Holds the rows of a batch in the files: where they lie, and their arrays once somebody has asked for them.

use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, make_array};
use arrow::datatypes::Field;
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::Account;
use bytes::Bytes;

use super::decode::Buffers;
use super::files::Files;
use super::log::Extent;

/// An extent whose arrays are made, and checked, when they are first wanted.
#[derive(Debug)]
pub(super) struct LazyExtent {
    places: Extent,
    arrays: Vec<OnceLock<ArrayRef>>,
}

impl LazyExtent {
    pub(super) fn new(places: Extent) -> Self {
        let arrays = places.columns.iter().map(|_| OnceLock::new()).collect();
        Self { places, arrays }
    }

    pub(super) fn num_rows(&self) -> usize {
        usize::try_from(self.places.num_rows).unwrap_or(usize::MAX)
    }

    pub(super) fn num_columns(&self) -> usize {
        self.arrays.len()
    }

    /// Where it ends in the file of a column.
    pub(super) fn end(&self, column: usize) -> Option<u64> {
        let (offset, node) = &self.places.columns[column];
        node.end(*offset)
    }

    /// The values of a column; later calls cost nothing.
    pub(super) fn array(&self, files: &Files, column: usize, field: &Field) -> Result<ArrayRef> {
        if let Some(array) = self.arrays[column].get() {
            return Ok(Arc::clone(array));
        }
        let nobody = Account::nobody();
        let _entered = nobody.enter();
        let bytes = self.bytes(files, (column, field), true)?;
        let node = &self.places.columns[column].1;
        let array = Buffers::new(bytes).array(node, field.data_type());
        let array = array.map_err(|what| self.damaged(files, (column, field), &what))?;
        let array = self.arrays[column].get_or_init(|| make_array(array));
        Ok(Arc::clone(array))
    }

    /// Reads a column and compares its checksums.
    pub(super) fn check(&self, files: &Files, column: usize, field: &Field) -> Result<()> {
        let bytes = self.bytes(files, (column, field), false)?;
        let checked = Buffers::new(bytes).check(&self.places.columns[column].1);
        checked.map_err(|what| self.damaged(files, (column, field), &what))
    }

    fn bytes(&self, files: &Files, column: (usize, &Field), is_mapped: bool) -> Result<Bytes> {
        let too_short = || self.damaged(files, column, "the file ends too early");
        let start = self.places.columns[column.0].0;
        let range = start..self.end(column.0).ok_or_else(too_short)?;
        let bytes = match is_mapped {
            true => files.bytes(column.0, range),
            false => files.read(column.0, range),
        };
        bytes.map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => too_short(),
            _ => {
                let path = files.path(column.0);
                let message = format!("Cannot read {}: {e}", path.display());
                Error::new(ErrorCode::CANNOT_OPEN_FILE, message)
                    .within(format!("Column `{}`", column.1.name()))
            }
        })
    }

    fn damaged(&self, files: &Files, (column, field): (usize, &Field), what: &str) -> Error {
        let message = format!(
            "Column `{}` is damaged: {what} in the {} rows from byte {} of {}",
            field.name(),
            self.places.num_rows,
            self.places.columns[column].0,
            files.path(column).display()
        );
        Error::new(ErrorCode::CORRUPTED_DATA, message)
    }
}
