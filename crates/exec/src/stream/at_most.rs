//! Lets rows through up to a limit; one more is an error.

use arrow::array::RecordBatch;
use basalt_analyzer::plan::RowLimit;
use basalt_error::{Error, Result};

use super::Step;

/// Counts rows.
pub(super) struct AtMostStep {
    rows: u64,
    setting: RowLimit,
    seen: u64,
}

impl AtMostStep {
    pub(super) fn new(rows: u64, setting: RowLimit) -> Self {
        Self {
            rows,
            setting,
            seen: 0,
        }
    }
}

impl Step for AtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        self.seen += batch.num_rows() as u64;
        if self.seen <= self.rows {
            return Ok(batch);
        }
        let name = self.setting.name();
        Err(Error::new(
            self.setting.code(),
            format!(
                "Raise {name} or work on fewer rows: there are at least {}, allowed are {}",
                self.seen, self.rows
            ),
        ))
    }
}
