//! Makes bytes of the keys of rows, which are the same where the keys are.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, Rows, SortField};
use basalt_error::Result;

use super::{bug, positions};

/// The columns that are keys, and what makes bytes of them.
pub(super) struct KeyRows {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl KeyRows {
    /// The columns of these names.
    pub(super) fn try_new(input: &SchemaRef, names: &[String]) -> Result<Self> {
        let columns = positions(input, names)?;
        let field = |column: &usize| SortField::new(input.field(*column).data_type().clone());
        let fields = columns.iter().map(field).collect();
        Ok(Self {
            converter: RowConverter::new(fields).map_err(bug)?,
            columns,
        })
    }

    /// The keys of a batch's rows.
    pub(super) fn arrays(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        let array = |column: &usize| Arc::clone(batch.column(*column));
        self.columns.iter().map(array).collect()
    }

    /// Bytes for each row of such keys.
    pub(super) fn convert(&self, keys: &[ArrayRef]) -> Result<Rows> {
        self.converter.convert_columns(keys).map_err(bug)
    }
}
