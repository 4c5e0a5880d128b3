//! Keeps the rows of a plan that another plan of the query reads, too.
//!
//! Past the budget of GROUP BY they go to a temporary file, which both plans read.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::SharedRows;
use basalt_analyzer::plan_error;
use basalt_error::Result;

use super::Step;
use super::kept::Kept;
use crate::spill::Share;

/// Collects all rows, then gives and keeps them.
pub(super) struct SharedStep {
    schema: SchemaRef,
    kept: Kept,
    rows: SharedRows,
    /// Gives what was kept, once that is all.
    giving: Option<KeptStep>,
}

impl SharedStep {
    pub(super) fn new(schema: SchemaRef, rows: SharedRows, share: Share) -> Self {
        Self {
            schema,
            kept: Kept::new(share),
            rows,
            giving: None,
        }
    }
}

impl Step for SharedStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        self.kept.add(batch).map_err(plan_error)?;
        Ok(RecordBatch::new_empty(Arc::clone(&self.schema)))
    }

    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        self.giving.as_mut().map_or(Ok(None), KeptStep::ready)
    }

    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        self.kept.add_small().map_err(plan_error)?;
        let empty = self.kept.new_empty();
        let kept = Arc::new(std::mem::replace(&mut self.kept, empty));
        self.rows.keep(Arc::clone(&kept));
        self.giving = Some(KeptStep::new(kept));
        Ok(None)
    }
}

/// Gives kept rows; takes none.
pub(super) struct KeptStep {
    kept: Arc<Kept>,
    next: usize,
}

impl KeptStep {
    pub(super) fn new(kept: Arc<Kept>) -> Self {
        Self { kept, next: 0 }
    }
}

impl Step for KeptStep {
    fn push(&mut self, batch: RecordBatch) -> Result<RecordBatch> {
        Ok(batch)
    }

    fn ready(&mut self) -> Result<Option<RecordBatch>> {
        let batch = self.kept.get(self.next).map_err(plan_error)?;
        self.next += 1;
        Ok(batch)
    }
}
