//! Watches what is taken from a pool of memory: by a query, and by one operator.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use basalt_analyzer::{into_plan_error, plan_error};
use datafusion::error::Result;
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, Gauge, MetricBuilder};

use crate::QueryControl;

/// The metric of an operator's most memory, as DataFusion's operators call it.
pub(crate) const PEAK_MEMORY: &str = "peak_mem_used";

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

    /// `additional` bytes were taken.
    fn grown(&self, pool: &dyn MemoryPool, additional: usize);

    /// Bytes were given back.
    fn shrunk(&self, bytes: usize);
}

impl Watch for Arc<QueryControl> {
    fn check(&self) -> Result<()> {
        self.check_end().map_err(into_plan_error)
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
        self.pool.try_grow(reservation, additional)?;
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
    batch.columns().iter().map(array_bytes).sum()
}

/// Bytes of an array's values; of strings also those that its buffer shares with other arrays, if they
/// are this one's.
pub(crate) fn array_bytes(array: &ArrayRef) -> usize {
    let elements = |offsets: &[i32]| {
        let offset = |i: Option<&i32>| i.and_then(|i| usize::try_from(*i).ok()).unwrap_or(0);
        let start = offset(offsets.first());
        (start, offset(offsets.last()) - start)
    };
    if let Some(strings) = array.as_binary_view_opt() {
        let long = strings.lengths().filter(|len| *len > 12);
        let views = strings.len() * size_of::<u128>();
        return views + long.map(|len| len as usize).sum::<usize>();
    }
    if let Some(list) = array.as_list_opt::<i32>() {
        let (start, len) = elements(list.value_offsets());
        return size_of_val(list.value_offsets()) + array_bytes(&list.values().slice(start, len));
    }
    if let Some(map) = array.as_map_opt() {
        let (start, len) = elements(map.value_offsets());
        let entries: ArrayRef = Arc::new(map.entries().slice(start, len));
        return size_of_val(map.value_offsets()) + array_bytes(&entries);
    }
    if let Some(tuple) = array.as_struct_opt() {
        return tuple.columns().iter().map(array_bytes).sum();
    }
    array.to_data().get_slice_memory_size().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, ListArray, StructArray, UInt64Array};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::array_bytes;

    fn strings() -> ArrayRef {
        Arc::new(BinaryViewArray::from_iter_values([
            b"short".as_slice(),
            &[b'x'; 1000],
            &[b'y'; 100],
        ]))
    }

    fn named(array: &ArrayRef) -> Arc<Field> {
        Arc::new(Field::new("item", array.data_type().clone(), true))
    }

    #[test]
    fn long_strings_count_where_they_are_used() {
        assert_eq!(array_bytes(&strings()), 3 * 16 + 1100);
        assert_eq!(array_bytes(&strings().slice(0, 1)), 16);
        assert_eq!(array_bytes(&strings().slice(1, 1)), 16 + 1000);
    }

    #[test]
    fn strings_in_lists_and_tuples_count() {
        let tuple: ArrayRef = Arc::new(StructArray::from(vec![(named(&strings()), strings())]));
        assert_eq!(array_bytes(&tuple), 3 * 16 + 1100);
        let offsets = OffsetBuffer::from_lengths([2, 1]);
        let list = ListArray::new(named(&tuple), offsets, tuple, None);
        let lists: ArrayRef = Arc::new(list);
        assert_eq!(array_bytes(&lists), 3 * 4 + 3 * 16 + 1100);
        assert_eq!(array_bytes(&lists.slice(1, 1)), 2 * 4 + 16 + 100);
    }

    #[test]
    fn numbers_count_without_the_rest_of_their_buffer() {
        let numbers: ArrayRef = Arc::new(UInt64Array::from(vec![1, 2, 3]));
        assert_eq!(array_bytes(&numbers.slice(0, 2)), 16);
    }
}
