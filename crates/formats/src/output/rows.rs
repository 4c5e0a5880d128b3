//! Loops over the rows of batches for every format that writes them as text, one by one.

use ::arrow::record_batch::RecordBatch;
use basalt_error::{Error, Result};
use basalt_types::DataType;
use basalt_types::text::{ColumnText, TextOptions};

use super::{Statistics, Writer};

/// How one format lays rows out.
pub(super) trait Layout: Send {
    /// What stands before the first row.
    fn begin(&mut self, _out: &mut Vec<u8>) {}

    /// One row; `columns` are those of its batch.
    fn row(&mut self, columns: &[ColumnText], row: usize, out: &mut Vec<u8>);

    /// The row of totals.
    fn totals(&mut self, _columns: &[ColumnText], _out: &mut Vec<u8>) {}

    /// Rows 0 and 1: the least and the greatest values.
    fn extremes(&mut self, _columns: &[ColumnText], _out: &mut Vec<u8>) {}

    /// What stands behind everything.
    fn end(&mut self, _statistics: &Statistics, _out: &mut Vec<u8>) {}
}

/// Writes batches in a [`Layout`].
pub(super) struct RowWriter<L> {
    pub(super) layout: L,
    types: Vec<DataType>,
    options: TextOptions,
}

impl<L> RowWriter<L> {
    pub(super) fn new(layout: L, header: &[(String, DataType)], options: TextOptions) -> Self {
        let types = header.iter().map(|(_, t)| t.clone()).collect();
        Self {
            layout,
            types,
            options,
        }
    }
}

/// Binds the columns of a batch to their types.
pub(super) fn bind(
    types: &[DataType],
    batch: &RecordBatch,
    options: &TextOptions,
) -> Result<Vec<ColumnText>> {
    if types.len() != batch.num_columns() {
        let found = batch.num_columns();
        return Err(Error::bug(format!(
            "{found} columns for a format of {}",
            types.len()
        )));
    }
    let columns = types.iter().zip(batch.columns());
    columns
        .map(|(t, array)| ColumnText::new(t, array, options.clone()))
        .collect()
}

impl<L: Layout> Writer for RowWriter<L> {
    fn is_by_rows(&self) -> bool {
        true
    }

    fn begin(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.layout.begin(out);
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        for row in 0..batch.num_rows() {
            self.layout.row(&columns, row, out);
        }
        Ok(())
    }

    fn totals(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        if batch.num_rows() > 0 {
            self.layout.totals(&columns, out);
        }
        Ok(())
    }

    fn extremes(&mut self, batch: &RecordBatch, out: &mut Vec<u8>) -> Result<()> {
        let columns = bind(&self.types, batch, &self.options)?;
        if batch.num_rows() > 1 {
            self.layout.extremes(&columns, out);
        }
        Ok(())
    }

    fn end(&mut self, statistics: &Statistics, out: &mut Vec<u8>) -> Result<()> {
        self.layout.end(statistics, out);
        Ok(())
    }
}
