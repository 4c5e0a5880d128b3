//! Makes the table's batches of a file's.

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_functions::Column;
use basalt_types::DataType;
use basalt_types::arrow_edge::{to_physical, without_nulls};

use super::FileColumn;
use crate::scan::FileFact;

/// Where a column of the table comes from.
pub(super) enum Part {
    File(FileColumn),
    /// The file has no such column.
    Missing,
    Fact(FileFact),
}

/// How a file's batches become the table's.
pub(super) struct Conversion {
    /// Where each column comes from (positions are those of the batch) and its type in the table.
    pub(super) columns: Vec<(Part, DataType)>,
    pub(super) path: PathBuf,
    pub(super) schema: SchemaRef,
}

impl Conversion {
    pub(super) fn batch(&self, batch: &RecordBatch, first_row: u64) -> Result<RecordBatch> {
        let num_rows = batch.num_rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (source, data_type) in &self.columns {
            columns.push(match source {
                Part::File(source) => {
                    let array = to_physical(batch.column(source.position), &source.data_type)?;
                    let array = match &source.cast {
                        Some(cast) => cast.call(&[Column::new(array)], num_rows)?,
                        None => array,
                    };
                    without_nulls(array, data_type)?
                }
                Part::Missing => defaults(data_type, num_rows)?,
                Part::Fact(fact) => fact.array(&self.path, first_row, num_rows),
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
            .map_err(|e| Error::bug(e.to_string()))
    }
}

fn defaults(data_type: &DataType, num_rows: usize) -> Result<ArrayRef> {
    let mut builder = basalt_types::ColumnBuilder::new(data_type, num_rows)?;
    for _ in 0..num_rows {
        builder.append_default();
    }
    builder.finish()
}
