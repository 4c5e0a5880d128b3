//! Watches what is taken from a pool of memory: by a query, and by one operator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::RecordBatch;
use basalt_analyzer::{into_plan_error, plan_error};
pub(crate) use basalt_types::array_bytes;
use basalt_types::values_bytes;
use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, Gauge, MetricBuilder};

use crate::QueryControl;

/// The metric of an operator's most memory, as DataFusion's operators call it.
pub const PEAK_MEMORY: &str = "peak_mem_used";

/// The pool, which tells the query's control what is reserved.
pub fn counted(pool: Arc<dyn MemoryPool>, control: &Arc<QueryControl>) -> Arc<dyn MemoryPool> {
    let watch = Arc::clone(control);
    Arc::new(WatchedPool { pool, watch })
}

/// The pool, which notes in `metrics` the most that is reserved of it from here.
pub(crate) fn of_operator(
    pool: &Arc<dyn MemoryPool>,
    metrics: &ExecutionPlanMetricsSet,
) -> Arc<dyn MemoryPool> {
    let watch = Peak {
        held_bytes: AtomicUsize::new(0),
        peak_bytes: MetricBuilder::new(metrics).global_gauge(PEAK_MEMORY),
    };
    let pool = Arc::clone(pool);
    Arc::new(WatchedPool { pool, watch })
}

/// Who is told what is taken from a pool.
trait Watch: fmt::Debug + Send + Sync + 'static {
    /// Says before more is taken whether work may go on.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Whether this reservation is never refused anything.
    fn grants(&self, _reservation: &MemoryReservation) -> bool {
        false
    }

    /// `additional` bytes were taken.
    fn grown(&self, pool: &dyn MemoryPool, additional: usize);

    /// Bytes were given back.
    fn shrunk(&self, bytes: usize);
}

impl Watch for Arc<QueryControl> {
    fn check(&self) -> Result<()> {
        self.check_end().map_err(into_plan_error)
    }

    /// Exchanges mostly hold few batches. Where they are refused memory they go on in files, and then may wait for each
    /// other without end (apache/datafusion#24883); a query that holds too much ends elsewhere.
    fn grants(&self, reservation: &MemoryReservation) -> bool {
        let name = reservation.consumer().name();
        name.starts_with("RepartitionExec[")
    }

    fn grown(&self, pool: &dyn MemoryPool, _additional: usize) {
        self.count_memory(pool.reserved());
    }

    fn shrunk(&self, _bytes: usize) {}
}

/// The part of a pool that one operator uses.
#[derive(Debug)]
struct Peak {
    held_bytes: AtomicUsize,
    peak_bytes: Gauge,
}

impl Watch for Peak {
    fn grown(&self, _pool: &dyn MemoryPool, additional: usize) {
        let before = self.held_bytes.fetch_add(additional, Ordering::Relaxed);
        self.peak_bytes.set_max(before + additional);
    }

    fn shrunk(&self, bytes: usize) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct WatchedPool<W> {
    pool: Arc<dyn MemoryPool>,
    watch: W,
}

impl<W> fmt::Display for WatchedPool<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

impl<W: Watch> MemoryPool for WatchedPool<W> {
    fn name(&self) -> &str {
        self.pool.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.watch.grown(self.pool.as_ref(), additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
        self.watch.shrunk(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.watch.check()?;
        if self.watch.grants(reservation) {
            self.pool.grow(reservation, additional);
        } else {
            self.pool.try_grow(reservation, additional)?;
        }
        self.watch.grown(self.pool.as_ref(), additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}

/// Counts memory besides what is reserved already.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
pub fn grow(memory: &MemoryReservation, bytes: usize) -> basalt_error::Result<()> {
    memory.try_grow(bytes).map_err(plan_error)
}

/// Says how much memory is in use in all.
///
/// # Errors
/// `MEMORY_LIMIT_EXCEEDED`.
pub fn resize(memory: &MemoryReservation, bytes: usize) -> basalt_error::Result<()> {
    memory.try_resize(bytes).map_err(plan_error)
}

/// Bytes of the values of a batch that is kept.
pub fn batch_bytes(batch: &RecordBatch) -> usize {
    values_bytes(batch.columns())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryConsumer};

    use super::counted;
    use crate::QueryControl;

    #[test]
    fn exchanges_are_refused_nothing_and_all_others_what_is_not_there() {
        let control = Arc::new(QueryControl::new(None));
        let pool = counted(Arc::new(GreedyMemoryPool::new(10)), &control);
        let exchange = MemoryConsumer::new("RepartitionExec[1]").register(&pool);
        let sort = MemoryConsumer::new("SortExec[1]").register(&pool);
        assert!(exchange.try_grow(30).is_ok());
        assert!(sort.try_grow(1).is_err());
        assert_eq!(pool.reserved(), 30);
        exchange.free();
        assert!(sort.try_grow(10).is_ok());
        assert_eq!(control.peak_memory_bytes(), 30);
    }
}
