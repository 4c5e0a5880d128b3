//! Holds the rows of a batch in the files: where they lie, and their arrays once somebody has asked for them.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, make_array};
use arrow::datatypes::Field;
use basalt_error::{Error, ErrorCode, Result};
use basalt_profile::Account;
use parking_lot::Mutex;

use super::decode::Buffers;
use super::files::{Files, Found, Lies};
use super::log::Extent;

/// An extent whose arrays are made, and checked, when they are first wanted.
#[derive(Debug)]
pub(super) struct LazyExtent {
    places: Extent,
    arrays: Vec<Mutex<Option<Kept>>>,
}

/// An array that is made.
#[derive(Clone, Debug)]
struct Kept {
    array: ArrayRef,
    /// Else it has memory of its own, until a map holds it.
    is_mapped: bool,
}

impl LazyExtent {
    pub(super) fn new(places: Extent) -> Self {
        let arrays = places.columns.iter().map(|_| Mutex::default()).collect();
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

    /// The values of a column; later calls cost nothing if they lie in a map, or in few bytes behind it.
    pub(super) fn array(&self, files: &Files, column: usize, field: &Field) -> Result<ArrayRef> {
        let place = (column, field);
        let range = self.range(files, place)?;
        let kept = self.arrays[column].lock().clone();
        let kept = kept.filter(|kept| kept.is_mapped || !files.is_mapped(column, &range));
        if let Some(kept) = kept {
            return Ok(kept.array);
        }
        let found = files.bytes(column, range);
        let Found { bytes, lies } = found.map_err(|e| self.failed(files, place, &e))?;
        let account = match lies {
            Lies::Elsewhere => Account::current(),
            Lies::InMap | Lies::InSmallRest => Account::nobody(),
        };
        let _entered = account.enter();
        let node = &self.places.columns[column].1;
        let array = Buffers::new(bytes).array(node, field.data_type());
        let array = array.map_err(|what| self.damaged(files, place, &what))?;
        let array = make_array(array);
        if lies != Lies::Elsewhere {
            *self.arrays[column].lock() = Some(Kept {
                array: Arc::clone(&array),
                is_mapped: lies == Lies::InMap,
            });
        }
        Ok(array)
    }

    /// Reads a column and compares its checksums.
    pub(super) fn check(&self, files: &Files, column: usize, field: &Field) -> Result<()> {
        let place = (column, field);
        let range = self.range(files, place)?;
        let bytes = files.read_range(&files.path(column), range);
        let bytes = bytes.map_err(|e| self.failed(files, place, &e))?;
        let checked = Buffers::new(bytes).check(&self.places.columns[column].1);
        checked.map_err(|what| self.damaged(files, place, &what))
    }

    fn range(&self, files: &Files, place: (usize, &Field)) -> Result<Range<u64>> {
        let end = self.end(place.0);
        let end = end.ok_or_else(|| self.damaged(files, place, "its length is impossible"))?;
        Ok(self.places.columns[place.0].0..end)
    }

    fn failed(&self, files: &Files, place: (usize, &Field), e: &io::Error) -> Error {
        if e.kind() == ErrorKind::UnexpectedEof {
            return self.damaged(files, place, "the file ends too early");
        }
        let message = format!("Cannot read {}: {e}", files.path(place.0).display());
        let error = Error::new(ErrorCode::CANNOT_OPEN_FILE, message);
        error.within(format!("Column `{}`", place.1.name()))
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
