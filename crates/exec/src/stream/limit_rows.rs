//! Runs LIMIT and OFFSET that count from the end or take a share.
//!
//! How many rows there are is known at the end alone. Until then only those are kept that may still be
//! in the result and cannot be given yet.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::RowBound;
use basalt_analyzer::plan_error;
use basalt_error::Result;
use datafusion::error::Result as PlanResult;

use super::Step;
use super::kept::Kept;
use crate::spill::Share;

/// The step of such a LIMIT.
pub(super) struct LimitRowsStep {
    schema: SchemaRef,
    offset: RowBound,
    limit: RowBound,
    kept: Kept,
    /// Rows that came.
    num_rows: u64,
    /// The first row that is neither given nor left out.
    front: u64,
    /// The block that it is in, and the row that this begins with.
    block: usize,
    block_start: u64,
    /// The row behind the last that may be given.
    end: u64,
}

impl LimitRowsStep {
    pub(super) fn new(
        schema: SchemaRef,
        (offset, limit): (RowBound, RowBound),
        share: Share,
    ) -> Self {
        Self {
            schema,
            offset,
            limit,
            kept: Kept::new(share),
            num_rows: 0,
            front: 0,
            block: 0,
            block_start: 0,
            end: 0,
        }
    }

    /// Leaves out what no number of further rows brings back: both bounds of the result only ever grow with it.
    fn bound(&mut self, is_end: bool) -> PlanResult<()> {
        let (start, end) = RowBound::range(&self.offset, &self.limit, self.num_rows);
        let stays = !matches!(self.offset, RowBound::Share(_))
            && !matches!(self.limit, RowBound::FromEnd(_));
        if stays || is_end {
            self.end = end;
        }
        self.skip_to(start)
    }

    fn skip_to(&mut self, row: u64) -> PlanResult<()> {
        self.front = self.front.max(row);
        while let Some(num_rows) = self.kept.num_rows(self.block) {
            let next_start = self.block_start + num_rows as u64;
            if next_start > self.front {
                break;
            }
            self.kept.let_go(self.block)?;
            self.block += 1;
            self.block_start = next_start;
        }
        Ok(())
    }

    /// The next rows of the result that are there.
    fn next(&mut self) -> PlanResult<Option<RecordBatch>> {
        if self.front >= self.end {
            return Ok(None);
        }
        let Some(batch) = self.kept.get(self.block)? else {
            return Ok(None);
        };
        let from = (self.front - self.block_start) as usize;
        let left = usize::try_from(self.end - self.front).unwrap_or(usize::MAX);
        let rows = batch.slice(from, left.min(batch.num_rows() - from));
        self.skip_to(self.front + rows.num_rows() as u64)?;
        Ok(Some(rows))
    }
}

impl Step for LimitRowsStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        self.num_rows += batch.num_rows() as u64;
        let kept = self.kept.add(batch);
        kept.and_then(|()| self.bound(false)).map_err(plan_error)?;
        let rows = self.ready()?;
        Ok(rows.unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.schema))))
    }

    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        self.next().map_err(plan_error)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        let kept = self.kept.add_small();
        kept.and_then(|()| self.bound(true)).map_err(plan_error)?;
        Ok(None)
    }
}
