//! Knows how much memory a query may take, and counts rows that a statement keeps.

use std::sync::Arc;

use arrow::array::RecordBatch;
use basalt_exec::memory;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

use crate::machine;
use crate::settings::Settings;

/// What a query may take at once where no setting limits it: nine tenths of the memory of the machine, or
/// of what it allows this process.
pub(crate) fn machine_bytes() -> usize {
    machine::memory_bytes() / 10 * 9
}

/// The part of the machine's memory that decoded blocks may take.
const BLOCK_CACHE_SHARE: usize = 8;

/// What the cache of decoded blocks may hold.
pub(crate) fn block_cache_bytes(settings: &Settings) -> u64 {
    let most = (machine_bytes() / BLOCK_CACHE_SHARE) as u64;
    settings.number("uncompressed_cache_size").min(most)
}

/// The memory of rows that a statement keeps while it runs.
pub(crate) struct KeptRows(MemoryReservation);

impl KeptRows {
    /// None yet, of a query with this pool.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        Self(MemoryConsumer::new("rows of the statement").register(pool))
    }

    /// Counts a batch that is kept.
    ///
    /// # Errors
    /// `MEMORY_LIMIT_EXCEEDED`.
    pub(crate) fn add(&self, batch: &RecordBatch) -> basalt_error::Result<()> {
        memory::grow(&self.0, memory::batch_bytes(batch))
    }

    /// Says how many bytes are kept in all.
    ///
    /// # Errors
    /// `MEMORY_LIMIT_EXCEEDED`.
    pub(crate) fn set(&self, bytes: usize) -> basalt_error::Result<()> {
        memory::resize(&self.0, bytes)
    }
}
