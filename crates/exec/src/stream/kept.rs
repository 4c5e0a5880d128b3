//! Keeps rows in the order in which they came; past a budget they go to a temporary file.

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use datafusion::error::Result;

use crate::memory;
use crate::spill::{Share, SpillFile, compacted};

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
    Written { place: Range<u64>, num_rows: usize },
    Gone,
}

impl Kept {
    pub(super) fn new(share: Share) -> Self {
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

    pub(super) fn add(&mut self, batch: RecordBatch) -> Result<()> {
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
    pub(super) fn add_small(&mut self) -> Result<()> {
        let small = std::mem::take(&mut self.small);
        (self.num_small_rows, self.small_bytes) = (0, 0);
        match small.first() {
            None => Ok(()),
            Some(first) => self.add_block(compacted(&concat_batches(first.schema_ref(), &small)?)?),
        }
    }

    fn add_block(&mut self, batch: RecordBatch) -> Result<()> {
        let is_too_much = self.share.grow(memory::batch_bytes(&batch))?;
        self.blocks.push(Block::Held(batch));
        if is_too_much {
            self.write()?;
            self.share.hold(0)?;
        }
        Ok(())
    }

    /// Writes the blocks that are in memory.
    fn write(&mut self) -> Result<()> {
        let budget = self.share.budget();
        let file = match &self.file {
            Some(file) => file,
            None => self.file.insert(budget.create_file()?),
        };
        for block in &mut self.blocks[self.first_held..] {
            if let Block::Held(batch) = block {
                let place = file.append(&compacted(batch)?)?;
                budget.count_block(&place)?;
                let num_rows = batch.num_rows();
                *block = Block::Written { place, num_rows };
            }
        }
        self.first_held = self.blocks.len();
        Ok(())
    }

    pub(super) fn get(&self, block: usize) -> Result<Option<RecordBatch>> {
        match (self.blocks.get(block), &self.file) {
            (Some(Block::Held(batch)), _) => Ok(Some(batch.clone())),
            (Some(Block::Written { place, .. }), Some(file)) => file.read(place).map(Some),
            _ => Ok(None),
        }
    }

    /// Rows of a block that is there; those of small batches are in none before [`Kept::add_small`].
    pub(super) fn num_rows(&self, block: usize) -> Option<usize> {
        match self.blocks.get(block)? {
            Block::Held(batch) => Some(batch.num_rows()),
            Block::Written { num_rows, .. } => Some(*num_rows),
            Block::Gone => None,
        }
    }

    /// Lets go of a block, which nobody asks for again.
    pub(super) fn let_go(&mut self, block: usize) -> Result<()> {
        let Some(block) = self.blocks.get_mut(block) else {
            return Ok(());
        };
        match std::mem::replace(block, Block::Gone) {
            Block::Held(batch) => self.share.let_go(memory::batch_bytes(&batch)),
            Block::Written { .. } | Block::Gone => Ok(()),
        }
    }

    /// A keeper with the same budget that has no rows.
    pub(super) fn new_empty(&self) -> Self {
        Self::new(self.share.new_empty())
    }
}
