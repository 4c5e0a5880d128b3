//! Numbers the keys of rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan_error;
use basalt_error::Result;

use super::positions;
use crate::group_by::{KeyNumbers, NOT_FOUND};

/// The columns that are keys, and a number for each key so far.
pub(super) struct KeyGroups {
    columns: Vec<usize>,
    numbers: KeyNumbers,
    /// Numbers of the rows at hand; here so that its memory is used again.
    of_rows: Vec<u32>,
}

impl KeyGroups {
    /// No keys yet, of the columns of these names.
    pub(super) fn try_new(input: &SchemaRef, names: &[String]) -> Result<Self> {
        let columns = positions(input, names)?;
        let key = |column: &usize| {
            let field = input.field(*column);
            (field.data_type().clone(), field.is_nullable())
        };
        let keys: Vec<_> = columns.iter().map(key).collect();
        Ok(Self {
            numbers: KeyNumbers::try_new(&keys).map_err(plan_error)?,
            columns,
            of_rows: Vec::new(),
        })
    }

    /// The keys of a batch's rows.
    pub(super) fn arrays(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        let array = |column: &usize| Arc::clone(batch.column(*column));
        self.columns.iter().map(array).collect()
    }

    /// The number of the key of each row; keys that are new get the next ones.
    pub(super) fn intern(&mut self, batch: &RecordBatch) -> Result<&[u32]> {
        let keys = self.arrays(batch);
        self.of_rows.clear();
        let done = self.numbers.intern(keys, &mut self.of_rows);
        done.map_err(plan_error)?;
        Ok(&self.of_rows)
    }

    /// Whether the key of each row has a number.
    pub(super) fn are_known(&mut self, batch: &RecordBatch) -> Result<impl Iterator<Item = bool>> {
        let keys = self.arrays(batch);
        self.of_rows.clear();
        let done = self.numbers.find(keys, &mut self.of_rows);
        done.map_err(plan_error)?;
        Ok(self.of_rows.iter().map(|number| *number != NOT_FOUND))
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.numbers.size_bytes() + size_of_val(self.of_rows.as_slice())
    }
}
