//! Runs LIMIT BY that counts from the end: all rows of a key must be known.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::RowBound;
use basalt_error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_groups::KeyGroups;
use super::{Step, bug};
use crate::memory;

/// The step of such a LIMIT BY.
pub(super) struct LimitByEndStep {
    schema: SchemaRef,
    keys: KeyGroups,
    /// Rows of each group so far.
    num_rows: Vec<u64>,
    /// The batches, and for each row its group and its place in there.
    batches: Vec<(RecordBatch, Vec<(usize, u64)>)>,
    offset: RowBound,
    limit: RowBound,
    memory: MemoryReservation,
    batch_bytes: usize,
}

impl LimitByEndStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        (offset, limit): (&RowBound, &RowBound),
        memory: MemoryReservation,
    ) -> Result<Self> {
        Ok(Self {
            schema: Arc::clone(input),
            keys: KeyGroups::try_new(input, keys)?,
            num_rows: Vec::new(),
            batches: Vec::new(),
            offset: offset.clone(),
            limit: limit.clone(),
            memory,
            batch_bytes: 0,
        })
    }
}

impl Step for LimitByEndStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut places = Vec::with_capacity(batch.num_rows());
        for group in self.keys.intern(&batch)? {
            let group = *group as usize;
            if group >= self.num_rows.len() {
                self.num_rows.resize(group + 1, 0);
            }
            places.push((group, self.num_rows[group]));
            self.num_rows[group] += 1;
        }
        self.batch_bytes += memory::batch_bytes(&batch) + size_of_val(places.as_slice());
        let groups_bytes = self.keys.size_bytes() + size_of_val(self.num_rows.as_slice());
        memory::resize(&self.memory, self.batch_bytes + groups_bytes)?;
        self.batches.push((batch, places));
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let range = |n: &u64| RowBound::range(&self.offset, &self.limit, *n);
        let ranges: Vec<(u64, u64)> = self.num_rows.iter().map(range).collect();
        let mut kept = Vec::with_capacity(self.batches.len());
        for (batch, places) in self.batches.drain(..) {
            let mut rows: Vec<u32> = Vec::new();
            for (row, (group, place)) in (0..).zip(places) {
                let (start, end) = ranges[group];
                if (start..end).contains(&place) {
                    rows.push(row);
                }
            }
            kept.push(take_record_batch(&batch, &UInt32Array::from(rows)).map_err(bug)?);
        }
        arrow::compute::concat_batches(&self.schema, &kept)
            .map_err(bug)
            .map(Some)
    }
}
