//! Runs LIMIT and OFFSET that count from the end or take a share: all rows must be known.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::RowBound;
use basalt_error::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;

use super::Step;
use crate::memory;

/// The step of such a LIMIT.
pub(super) struct LimitRowsStep {
    schema: SchemaRef,
    offset: RowBound,
    limit: RowBound,
    batches: Vec<RecordBatch>,
    memory: MemoryReservation,
}

impl LimitRowsStep {
    pub(super) fn new(
        schema: SchemaRef,
        (offset, limit): (RowBound, RowBound),
        memory: MemoryReservation,
    ) -> Self {
        Self {
            schema,
            offset,
            limit,
            batches: Vec::new(),
            memory,
        }
    }
}

impl Step for LimitRowsStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        memory::grow(&self.memory, memory::batch_bytes(&batch))?;
        self.batches.push(batch);
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let num_rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        let (start, end) = RowBound::range(&self.offset, &self.limit, num_rows as u64);
        let as_rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (mut start, mut left) = (as_rows(start), as_rows(end - start));
        let mut kept = Vec::new();
        for batch in self.batches.drain(..) {
            let skipped = start.min(batch.num_rows());
            let len = left.min(batch.num_rows() - skipped);
            start -= skipped;
            left -= len;
            if len > 0 {
                kept.push(batch.slice(skipped, len));
            }
        }
        arrow::compute::concat_batches(&self.schema, &kept)
            .map_err(|e| Error::bug(e.to_string()))
            .map(Some)
    }
}
