//! Reads tables of mapped files: batches lie in the files as Arrow has them in memory, and pass without a copy.
//!
//! The columns of a batch are checked when somebody first reads them, by the thread that does.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_storage::mmap::Snapshot;

use super::batches::morsels;
use super::{BatchIter, MorselSource, ScanRequest, TableKind};

/// A snapshot of an Mmap table.
#[derive(Clone, Debug)]
pub struct MappedTable(pub Snapshot);

impl TableKind for MappedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.0.schema())
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.0.schema().project(&request.projection);
        let num_rows = (0..self.0.num_batches()).map(|batch| self.0.batch_rows(batch));
        Ok(Arc::new(MappedSource {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            projection: request.projection.as_slice().into(),
            morsels: morsels(num_rows),
            snapshot: self.0.clone(),
        }))
    }
}

/// A scan of a [`MappedTable`].
#[derive(Debug)]
struct MappedSource {
    schema: SchemaRef,
    projection: Arc<[usize]>,
    snapshot: Snapshot,
    /// Ranges of batches.
    morsels: Vec<std::ops::Range<usize>>,
}

/// Columns of a batch, under a schema that is made once for all.
fn projected(
    snapshot: &Snapshot,
    batch: usize,
    (columns, schema): (&[usize], &SchemaRef),
) -> Result<RecordBatch> {
    let arrays = columns.iter().map(|column| snapshot.array(batch, *column));
    let options = RecordBatchOptions::new().with_row_count(Some(snapshot.batch_rows(batch)));
    let arrays = arrays.collect::<Result<_>>()?;
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
        .map_err(|e| Error::bug(e.to_string()))
}

impl MorselSource for MappedSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let (snapshot, schema) = (self.snapshot.clone(), Arc::clone(&self.schema));
        let projection = Arc::clone(&self.projection);
        let batches = self.morsels[morsel].clone();
        Ok(Box::new(batches.map(move |batch| {
            projected(&snapshot, batch, (&projection, &schema))
        })))
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.snapshot.num_rows())
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn keeps_batches(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("{} batches in mapped files", self.snapshot.num_batches())
    }
}
