//! Knows how much memory a query may take, and counts rows that a statement keeps.

use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use basalt_exec::memory;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

use crate::settings::Settings;

/// What a query may take at once where no setting limits it: nine tenths of the memory of the machine, or
/// of what it allows this process.
pub(crate) fn machine_bytes() -> usize {
    static BYTES: LazyLock<usize> = LazyLock::new(|| {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let total = read("/proc/meminfo").lines().find_map(|line| {
            let kilobytes = line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?;
            kilobytes.parse::<usize>().ok()?.checked_mul(1024)
        });
        let allowed = read("/sys/fs/cgroup/memory.max").trim().parse().ok();
        let least = total.into_iter().chain(allowed).min();
        least.map_or(usize::MAX, |bytes| bytes / 10 * 9)
    });
    *BYTES
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
