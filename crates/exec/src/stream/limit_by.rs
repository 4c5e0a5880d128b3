//! Runs LIMIT BY: at most so many rows for each value of the keys.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_groups::KeyGroups;
use super::{Step, bug};
use crate::memory;

/// The step of LIMIT BY.
pub(super) struct LimitByStep {
    keys: KeyGroups,
    /// Rows of each key so far, up to the last that is wanted.
    num_rows: Vec<u64>,
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
            keys: KeyGroups::try_new(input, keys)?,
            num_rows: Vec::new(),
            offset,
            end: offset.saturating_add(limit),
            memory,
        })
    }
}

impl Step for LimitByStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let mut kept: Vec<u32> = Vec::new();
        let groups = self.keys.intern(&batch)?;
        for (row, group) in (0..).zip(groups) {
            let group = *group as usize;
            if group >= self.num_rows.len() {
                self.num_rows.resize(group + 1, 0);
            }
            let num_rows = &mut self.num_rows[group];
            if *num_rows < self.end {
                if *num_rows >= self.offset {
                    kept.push(row);
                }
                *num_rows += 1;
            }
        }
        let counts_bytes = size_of_val(self.num_rows.as_slice());
        memory::resize(&self.memory, self.keys.size_bytes() + counts_bytes)?;
        if kept.len() == batch.num_rows() {
            return Ok(batch);
        }
        take_record_batch(&batch, &UInt32Array::from(kept)).map_err(bug)
    }
}
