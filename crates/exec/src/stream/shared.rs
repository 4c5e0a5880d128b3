//! Keeps the rows of a plan that another plan of the query reads, too.
//!
//! Past the budget of GROUP BY they go to a temporary file, which both plans read.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use basalt_analyzer::plan::SharedRows;
use basalt_analyzer::plan_error;
use basalt_error::Result;
use datafusion::error::Result as PlanResult;

use super::Step;
use crate::memory;
use crate::spill::{Share, SpillFile, compacted};

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
        let share = self.kept.share.new_empty();
        let kept = Arc::new(std::mem::replace(&mut self.kept, Kept::new(share)));
        self.rows.keep(Arc::clone(&kept));
        self.giving = Some(KeptStep::new(kept));
        Ok(None)
    }
}

/// Rows in the order in which they came.
pub(super) struct Kept {
    blocks: Vec<Block>,
    /// Where the first of `blocks` is that is not in the file.
    first_held: usize,
    file: Option<SpillFile>,
    /// The memory of the blocks that are not in the file.
    share: Share,
    /// Batches of few rows, which take more memory than their values, until they are one of more.
    small: Vec<RecordBatch>,
    num_small_rows: usize,
    small_bytes: usize,
}

/// Rows of a batch that is kept by itself, at least.
const FEW_ROWS: usize = 1 << 10;

/// Memory of small batches from which on they become one, however few rows they have.
const MAX_SMALL_BYTES: usize = 1 << 20;

enum Block {
    Held(RecordBatch),
    Written(Range<u64>),
}

impl Kept {
    fn new(share: Share) -> Self {
        Self {
            blocks: Vec::new(),
            first_held: 0,
            file: None,
            share,
            small: Vec::new(),
            num_small_rows: 0,
            small_bytes: 0,
        }
    }

    fn add(&mut self, batch: RecordBatch) -> PlanResult<()> {
        if batch.num_rows() >= FEW_ROWS {
            self.add_small()?;
            return self.add_block(batch);
        }
        if batch.num_rows() > 0 {
            self.num_small_rows += batch.num_rows();
            self.small_bytes += batch.get_array_memory_size();
            self.small.push(batch);
        }
        if self.num_small_rows >= FEW_ROWS || self.small_bytes >= MAX_SMALL_BYTES {
            self.add_small()?;
        }
        Ok(())
    }

    /// Makes one block of the batches of few rows.
    fn add_small(&mut self) -> PlanResult<()> {
        let small = std::mem::take(&mut self.small);
        (self.num_small_rows, self.small_bytes) = (0, 0);
        match small.first() {
            None => Ok(()),
            Some(first) => self.add_block(compacted(&concat_batches(first.schema_ref(), &small)?)?),
        }
    }

    fn add_block(&mut self, batch: RecordBatch) -> PlanResult<()> {
        let is_too_much = self.share.grow(memory::batch_bytes(&batch))?;
        self.blocks.push(Block::Held(batch));
        if is_too_much {
            self.write()?;
            self.share.hold(0)?;
        }
        Ok(())
    }

    /// Writes the blocks that are in memory.
    fn write(&mut self) -> PlanResult<()> {
        let budget = self.share.budget();
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(budget.create_file()?),
        };
        for block in &mut self.blocks[self.first_held..] {
            if let Block::Held(batch) = block {
                let place = file.append(&compacted(batch)?)?;
                budget.count_block(&place)?;
                *block = Block::Written(place);
            }
        }
        self.first_held = self.blocks.len();
        Ok(())
    }

    fn get(&self, block: usize) -> PlanResult<Option<RecordBatch>> {
        match (self.blocks.get(block), &self.file) {
            (Some(Block::Held(batch)), _) => Ok(Some(batch.clone())),
            (Some(Block::Written(place)), Some(file)) => file.read(place).map(Some),
            _ => Ok(None),
        }
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
