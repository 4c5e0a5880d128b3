//! Counts how much memory a query's operators reserve.

use std::fmt;
use std::sync::Arc;

use basalt_exec::QueryControl;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// A pool that tells the query's control what is reserved.
#[derive(Debug)]
pub(crate) struct CountedPool {
    pool: Arc<dyn MemoryPool>,
    control: Arc<QueryControl>,
}

impl CountedPool {
    /// Counts what `pool` gives.
    pub(crate) fn new(pool: Arc<dyn MemoryPool>, control: &Arc<QueryControl>) -> Self {
        Self {
            pool,
            control: Arc::clone(control),
        }
    }

    fn count(&self) {
        self.control.count_memory(self.pool.reserved());
    }
}

impl fmt::Display for CountedPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

impl MemoryPool for CountedPool {
    fn name(&self) -> &str {
        "CountedPool"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.count();
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.pool.try_grow(reservation, additional)?;
        self.count();
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}
