//! Lets the rows of a GROUP BY, or of the set of IN, through while their keys are not too many.
//!
//! As in ClickHouse, the limit is looked at behind each batch: all keys of the batch that passes it are
//! known.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::{KeyOverflow, RowLimit, SizeLimit, table_bytes, text_bytes};
use basalt_error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_groups::KeyGroups;
use super::{Step, bug};
use crate::memory;

/// The step of such a limit.
pub(super) struct KeysAtMostStep {
    keys: KeyGroups,
    limit: SizeLimit,
    /// Bytes of the known keys in ClickHouse, where they are limited.
    size_bytes: u64,
    text_bytes: u64,
    memory: MemoryReservation,
}

impl KeysAtMostStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        limit: SizeLimit,
        memory: MemoryReservation,
    ) -> Result<Self> {
        Ok(Self {
            keys: KeyGroups::try_new(input, keys)?,
            limit,
            size_bytes: 0,
            text_bytes: 0,
            memory,
        })
    }

    fn is_over(&self) -> bool {
        // A set that may break off ends as soon as it is full, as in ClickHouse.
        let breaks = self.limit.overflow == KeyOverflow::Break;
        let ends_full = self.limit.of == RowLimit::Set && breaks && self.limit.rows > 0;
        let num_keys = self.keys.len() as u64;
        self.limit.is_passed(num_keys, self.size_bytes)
            || (ends_full && num_keys == self.limit.rows)
    }

    /// Notes the keys of a batch.
    fn learn(&mut self, batch: &RecordBatch) -> Result<()> {
        let before = self.keys.len();
        self.keys.intern(batch)?;
        if self.limit.bytes == 0 {
            return Ok(());
        }
        let arrays = &self.keys.arrays(batch);
        // Strings that are new take as much as those of the batch do on average.
        let added = (self.keys.len() - before) as u64;
        let num_rows = batch.num_rows().max(1) as u64;
        self.text_bytes += text_bytes(arrays).saturating_mul(added) / num_rows;
        self.size_bytes = self.text_bytes + table_bytes(arrays, self.keys.len() as u64);
        Ok(())
    }
}

impl Step for KeysAtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.is_over() {
            let is_known = self.keys.are_known(&batch)?;
            let is_known: BooleanArray = is_known.map(Some).collect();
            return filter_record_batch(&batch, &is_known).map_err(bug);
        }
        self.learn(&batch)?;
        memory::resize(&self.memory, self.keys.size_bytes())?;
        if self.is_over() && self.limit.overflow == KeyOverflow::Throw {
            return Err(self.limit.error(self.keys.len() as u64, self.size_bytes));
        }
        Ok(batch)
    }

    fn is_done(&self) -> bool {
        self.limit.overflow == KeyOverflow::Break && self.is_over()
    }
}
