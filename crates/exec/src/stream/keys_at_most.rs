//! Lets the rows of a GROUP BY, or of the set of IN, through while their keys are not too many.
//!
//! As in ClickHouse, the limit is looked at behind each batch: all keys of the batch that passes it are
//! known.

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::{KeyOverflow, RowLimit};
use basalt_error::{Error, Result};
use datafusion::execution::memory_pool::MemoryReservation;

use super::key_rows::{KeyNumbers, KeyRows};
use super::{Step, bug};
use crate::memory;

/// The step of such a limit.
pub(super) struct KeysAtMostStep {
    keys: KeyRows,
    known: KeyNumbers,
    rows: u64,
    setting: RowLimit,
    overflow: KeyOverflow,
    memory: MemoryReservation,
}

impl KeysAtMostStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        (rows, setting, overflow): (u64, RowLimit, KeyOverflow),
        memory: MemoryReservation,
    ) -> Result<Self> {
        Ok(Self {
            keys: KeyRows::try_new(input, keys)?,
            known: KeyNumbers::new(),
            rows,
            setting,
            overflow,
            memory,
        })
    }

    fn is_over(&self) -> bool {
        // A set that may break off ends as soon as it is full, as in ClickHouse.
        let ends_full = self.setting == RowLimit::Set && self.overflow == KeyOverflow::Break;
        let num_keys = self.known.len() as u64;
        num_keys > self.rows || (ends_full && num_keys == self.rows)
    }
}

impl Step for KeysAtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let rows = self.keys.convert(&self.keys.arrays(&batch))?;
        if self.is_over() {
            let is_known = rows
                .iter()
                .map(|row| Some(self.known.contains(row.as_ref())));
            let is_known: BooleanArray = is_known.collect();
            return filter_record_batch(&batch, &is_known).map_err(bug);
        }
        for row in &rows {
            self.known.get_or_insert(row.as_ref(), 0);
        }
        memory::resize(&self.memory, self.known.size_bytes())?;
        if self.is_over() && self.overflow == KeyOverflow::Throw {
            let text = format!(
                "Raise {} or work on fewer values: there are at least {}, allowed are {}",
                self.setting.name(),
                self.known.len(),
                self.rows
            );
            return Err(Error::new(self.setting.code(), text));
        }
        Ok(batch)
    }

    fn is_done(&self) -> bool {
        self.overflow == KeyOverflow::Break && self.is_over()
    }
}
