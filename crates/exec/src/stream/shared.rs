//! Keeps the rows of a plan that another plan of the query reads, too.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::SharedRows;
use basalt_error::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;

use super::Step;
use crate::memory;

/// Collects all rows, then gives and keeps them.
pub(super) struct SharedStep {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    rows: SharedRows,
    memory: MemoryReservation,
}

impl SharedStep {
    pub(super) fn new(schema: SchemaRef, rows: SharedRows, memory: MemoryReservation) -> Self {
        Self {
            schema,
            batches: Vec::new(),
            rows,
            memory,
        }
    }
}

impl Step for SharedStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        memory::grow(&self.memory, memory::batch_bytes(&batch))?;
        self.batches.push(batch);
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let batches = std::mem::take(&mut self.batches);
        let batch = arrow::compute::concat_batches(&self.schema, &batches);
        let batch = batch.map_err(|e| Error::bug(e.to_string()))?;
        self.rows.set(batch.clone());
        Ok(Some(batch))
    }
}
