//! Runs LIMIT BY: at most so many rows for each value of the keys.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_rows::{KeyNumbers, KeyRows};
use super::{Step, bug};
use crate::memory;

/// The step of LIMIT BY.
pub(super) struct LimitByStep {
    keys: KeyRows,
    /// Rows of each key so far.
    seen: KeyNumbers,
    offset: u64,
    end: u64,
    memory: MemoryReservation,
}

impl LimitByStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        (offset, limit): (u64, u64),
        memory: MemoryReservation,
    ) -> Result<Self> {
        Ok(Self {
            keys: KeyRows::try_new(input, keys)?,
            seen: KeyNumbers::new(),
            offset,
            end: offset.saturating_add(limit),
            memory,
        })
    }
}

impl Step for LimitByStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut kept: Vec<u32> = Vec::new();
        let keys = self.keys.arrays(&batch);
        if keys.is_empty() {
            return Err(Error::bug("LIMIT BY without keys"));
        }
        let rows = self.keys.convert(&keys)?;
        for (idx, row) in rows.iter().enumerate() {
            let count = self.seen.get_or_insert(row.as_ref(), 0);
            if (self.offset..self.end).contains(count) {
                kept.push(u32::try_from(idx).map_err(|_| Error::bug("batch of 2^32 rows"))?);
            }
            *count += 1;
        }
        memory::resize(&self.memory, self.seen.size_bytes())?;
        if kept.len() == batch.num_rows() {
            return Ok(batch);
        }
        take_record_batch(&batch, &UInt32Array::from(kept)).map_err(bug)
    }
}
