//! Runs LIMIT … WITH TIES over sorted rows.

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use basalt_analyzer::FloatOrder;
use basalt_error::{Error, Result};

use super::Step;
use super::key_rows::KeyRows;
use crate::sort::has_changed_keys;

/// The step of LIMIT … WITH TIES.
pub(super) struct LimitWithTiesStep {
    keys: KeyRows,
    offset: u64,
    end: u64,
    /// Rows seen so far.
    seen: u64,
    /// The keys of the last row within the limit.
    last: Option<Box<[u8]>>,
    is_done: bool,
}

impl LimitWithTiesStep {
    pub(super) fn try_new(
        input: &SchemaRef,
        keys: &[String],
        offset: u64,
        limit: u64,
    ) -> Result<Self> {
        Ok(Self {
            keys: KeyRows::try_new(input, keys)?,
            offset,
            end: offset.saturating_add(limit),
            seen: 0,
            last: None,
            is_done: limit == 0,
        })
    }
}

impl Step for LimitWithTiesStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let in_order = |key: ArrayRef| match has_changed_keys(key.as_ref(), false) {
            true => FloatOrder::keys(&key).map_err(|e| Error::bug(e.to_string())),
            false => Ok(key),
        };
        let keys = self.keys.arrays(&batch).into_iter().map(in_order);
        let rows = self.keys.convert(&keys.collect::<Result<Vec<_>>>()?)?;
        let num_rows = batch.num_rows();
        let as_rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let start = as_rows(self.offset.saturating_sub(self.seen)).min(num_rows);
        let mut end = as_rows(self.end.saturating_sub(self.seen)).min(num_rows);
        if end > 0 && self.seen < self.end {
            self.last = Some(Box::from(rows.row(end - 1).as_ref()));
        }
        if self.seen + num_rows as u64 > self.end || end < num_rows {
            while end < num_rows && self.last.as_deref() == Some(rows.row(end).as_ref()) {
                end += 1;
            }
            self.is_done = end < num_rows;
        }
        self.seen += num_rows as u64;
        Ok(batch.slice(start, end.max(start) - start))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
