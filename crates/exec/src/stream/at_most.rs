//! Lets rows through up to a limit; one more is an error, or the end.

use arrow::array::RecordBatch;
use basalt_analyzer::plan::RowLimit;
use basalt_error::{Error, Result};

use super::Step;

/// Counts rows.
pub(super) struct AtMostStep {
    rows: u64,
    setting: RowLimit,
    breaks: bool,
    seen: u64,
}

impl AtMostStep {
    pub(super) fn new(rows: u64, setting: RowLimit, breaks: bool) -> Self {
        Self {
            rows,
            setting,
            breaks,
            seen: 0,
        }
    }
}

impl Step for AtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        self.seen += batch.num_rows() as u64;
        if self.breaks || self.seen <= self.rows {
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

    fn is_done(&self) -> bool {
        self.seen > self.rows
    }
}
