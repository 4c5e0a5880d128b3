//! Runs LIMIT BY: at most so many rows for each value of the keys.

use ahash::RandomState;
use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use hashbrown::HashMap;

use super::key_rows::KeyRows;
use super::{Step, bug};

/// The step of LIMIT BY.
pub(super) struct LimitByStep {
    keys: KeyRows,
    seen: HashMap<Box<[u8]>, u64, RandomState>,
    offset: u64,
    end: u64,
}

impl LimitByStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        offset: u64,
        limit: u64,
    ) -> Result<Self> {
        Ok(Self {
            keys: KeyRows::try_new(input, keys)?,
            seen: HashMap::with_hasher(RandomState::new()),
            offset,
            end: offset.saturating_add(limit),
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
            let count = match self.seen.get_mut(row.as_ref()) {
                Some(count) => count,
                None => self.seen.entry(Box::from(row.as_ref())).or_insert(0),
            };
            if (self.offset..self.end).contains(count) {
                kept.push(u32::try_from(idx).map_err(|_| Error::bug("batch of 2^32 rows"))?);
            }
            *count += 1;
        }
        if kept.len() == batch.num_rows() {
            return Ok(batch);
        }
        take_record_batch(&batch, &UInt32Array::from(kept)).map_err(bug)
    }
}
