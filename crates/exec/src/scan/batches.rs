//! Reads batches that lie in memory, without copying them.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};

use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// Rows that a morsel has at least, if there are as many.
const MORSEL_ROWS: usize = 65_505;

/// Batches as a table: `VALUES`, the tables of `system`, a snapshot of a Memory table.
#[derive(Clone, Debug)]
pub struct BatchesTable {
    /// Fields of the batches.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Arc<Vec<RecordBatch>>,
}

impl TableKind for BatchesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(BatchSource {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            projection: request.projection.as_slice().into(),
            morsels: morsels(self.batches.iter().map(RecordBatch::num_rows)),
            batches: Arc::clone(&self.batches),
        }))
    }
}

/// A scan of a [`BatchesTable`].
#[derive(Debug)]
pub struct BatchSource {
    schema: SchemaRef,
    projection: Arc<[usize]>,
    batches: Arc<Vec<RecordBatch>>,
    /// Ranges of batches.
    morsels: Vec<std::ops::Range<usize>>,
}

/// Ranges of batches, which have so many rows, that are worth a morsel each.
pub(super) fn morsels(batch_rows: impl Iterator<Item = usize>) -> Vec<std::ops::Range<usize>> {
    let mut morsels = Vec::new();
    let (mut start, mut end, mut rows) = (0, 0, 0);
    for num_rows in batch_rows {
        end += 1;
        rows += num_rows;
        if rows >= MORSEL_ROWS {
            morsels.push(start..end);
            (start, rows) = (end, 0);
        }
    }
    if start < end {
        morsels.push(start..end);
    }
    morsels
}

/// Columns of a batch, under a schema that is made once for all.
fn projected(batch: &RecordBatch, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = columns.iter().map(|i| Arc::clone(batch.column(*i)));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect(), &options)
        .map_err(|e| Error::bug(e.to_string()))
}

impl MorselSource for BatchSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let range = self.morsels[morsel].clone();
        let (batches, projection) = (Arc::clone(&self.batches), Arc::clone(&self.projection));
        let schema = Arc::clone(&self.schema);
        Ok(Box::new(range.map(move |i| {
            projected(&batches[i], &projection, &schema)
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.batches.iter().map(RecordBatch::num_rows).sum())
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn keeps_batches(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("{} batches in memory", self.batches.len())
    }
}
