//! Notes the most memory that one operator reserves at once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, Gauge, MetricBuilder};

/// The metric's name, as DataFusion's operators call it.
pub(crate) const PEAK_MEMORY: &str = "peak_mem_used";

/// The part of a pool that one operator uses.
#[derive(Debug)]
pub(crate) struct OperatorPool {
    pool: Arc<dyn MemoryPool>,
    held_bytes: AtomicUsize,
    peak_bytes: Gauge,
}

impl OperatorPool {
    /// Takes from `pool`, and notes the most in `metrics`.
    pub(crate) fn over(
        pool: &Arc<dyn MemoryPool>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> Arc<dyn MemoryPool> {
        Arc::new(Self {
            pool: Arc::clone(pool),
            held_bytes: AtomicUsize::new(0),
            peak_bytes: MetricBuilder::new(metrics).global_gauge(PEAK_MEMORY),
        })
    }

    fn hold(&self, additional: usize) {
        let before = self.held_bytes.fetch_add(additional, Ordering::Relaxed);
        self.peak_bytes.set_max(before + additional);
    }
}

impl fmt::Display for OperatorPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

impl MemoryPool for OperatorPool {
    fn name(&self) -> &str {
        "OperatorPool"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.hold(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
        self.held_bytes.fetch_sub(shrink, Ordering::Relaxed);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.pool.try_grow(reservation, additional)?;
        self.hold(additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}
