//! Lets the rows of a GROUP BY, or of the set of IN, through while their keys are not too many.
//!
//! As in ClickHouse, the limit is looked at behind each batch: all keys of the batch that passes it are
//! known.

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::row::Rows;
use basalt_analyzer::plan::{KeyOverflow, RowLimit, SizeLimit, table_bytes, text_bytes};
use basalt_error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_rows::{KeyNumbers, KeyRows};
use super::{Step, bug};
use crate::memory;

/// The step of such a limit.
pub(super) struct KeysAtMostStep {
    keys: KeyRows,
    known: KeyNumbers,
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
            keys: KeyRows::try_new(input, keys)?,
            known: KeyNumbers::new(),
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
        let num_keys = self.known.len() as u64;
        self.limit.is_passed(num_keys, self.size_bytes)
            || (ends_full && num_keys == self.limit.rows)
    }

    /// Notes the keys of a batch.
    fn learn(&mut self, arrays: &[ArrayRef], rows: &Rows) {
        let before = self.known.len();
        for row in rows {
            self.known.get_or_insert(row.as_ref(), 0);
        }
        if self.limit.bytes == 0 {
            return;
        }
        // Strings that are new take as much as those of the batch do on average.
        let added = (self.known.len() - before) as u64;
        let num_rows = rows.num_rows().max(1) as u64;
        self.text_bytes += text_bytes(arrays).saturating_mul(added) / num_rows;
        self.size_bytes = self.text_bytes + table_bytes(arrays, self.known.len() as u64);
    }
}

impl Step for KeysAtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let arrays = self.keys.arrays(&batch);
        let rows = self.keys.convert(&arrays)?;
        if self.is_over() {
            let is_known = rows
                .iter()
                .map(|row| Some(self.known.contains(row.as_ref())));
            let is_known: BooleanArray = is_known.collect();
            return filter_record_batch(&batch, &is_known).map_err(bug);
        }
        self.learn(&arrays, &rows);
        memory::resize(&self.memory, self.known.size_bytes())?;
        if self.is_over() && self.limit.overflow == KeyOverflow::Throw {
            return Err(self.limit.error(self.known.len() as u64, self.size_bytes));
        }
        Ok(batch)
    }

    fn is_done(&self) -> bool {
        self.limit.overflow == KeyOverflow::Break && self.is_over()
    }
}
