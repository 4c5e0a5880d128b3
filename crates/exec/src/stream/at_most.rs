//! Lets rows through up to a limit of their number or bytes; beyond it is an error, or the end.

use arrow::array::RecordBatch;
use basalt_analyzer::plan::{
    KeyOverflow, RowLimit, SizeLimit, batch_bytes, table_bytes, text_bytes,
};
use basalt_error::Result;

use super::Step;

/// Counts rows and bytes.
pub(super) struct AtMostStep {
    limit: SizeLimit,
    num_rows: u64,
    /// Of the batches, or only of their long values where a table has the others.
    size_bytes: u64,
    is_over: bool,
}

impl AtMostStep {
    pub(super) fn new(limit: SizeLimit) -> Self {
        Self {
            limit,
            num_rows: 0,
            size_bytes: 0,
            is_over: false,
        }
    }

    /// Counts a batch; gives the bytes of all so far.
    fn count(&mut self, batch: &RecordBatch) -> u64 {
        self.num_rows += batch.num_rows() as u64;
        if self.limit.bytes == 0 {
            return 0;
        }
        self.size_bytes += match self.limit.of {
            RowLimit::Distinct | RowLimit::Set => text_bytes(batch.columns()),
            RowLimit::Join | RowLimit::GroupBy | RowLimit::Sort => batch_bytes(batch),
        };
        let of_table = match self.limit.of {
            RowLimit::Distinct | RowLimit::Set => table_bytes(batch.columns(), self.num_rows),
            // Which columns are keys, who plans the limit does not know yet.
            RowLimit::Join => {
                table_bytes(batch.columns().get(..1).unwrap_or_default(), self.num_rows)
            }
            RowLimit::GroupBy | RowLimit::Sort => 0,
        };
        self.size_bytes + of_table
    }
}

impl Step for AtMostStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        let bytes = self.count(&batch);
        self.is_over = self.limit.is_passed(self.num_rows, bytes);
        match self.is_over && self.limit.overflow == KeyOverflow::Throw {
            true => Err(self.limit.error(self.num_rows, bytes)),
            false => Ok(batch),
        }
    }

    fn is_done(&self) -> bool {
        self.is_over
    }
}
