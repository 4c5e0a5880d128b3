//! Holds a table's rows in memory as Arrow batches.
//!
//! Readers get a snapshot: an insert that comes later does not change what they see. An insert is
//! all or nothing, because its batches are complete before they are added. Batches have the least and greatest values of
//! their columns beside them, so that a top-N leaves out those in which there is nothing for it.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use parking_lot::RwLock;

use crate::extremes::Extremes;
use crate::squash::squashed;

/// Rows of a stored batch at most: ClickHouse's default block.
pub const MAX_BATCH_ROWS: usize = 65_505;

/// A table in memory.
#[derive(Debug)]
pub struct MemoryTable {
    schema: SchemaRef,
    rows: RwLock<MemoryRows>,
}

/// The rows of a table as they are at a time.
#[derive(Clone, Debug, Default)]
pub struct MemoryRows {
    /// Batches of the table's fields.
    pub batches: Arc<Vec<RecordBatch>>,
    /// What is known of each batch's columns.
    pub extremes: Arc<Vec<Arc<Extremes>>>,
}

impl MemoryRows {
    fn extend(&mut self, batches: Vec<RecordBatch>) {
        let extremes = batches
            .iter()
            .map(|b| Arc::new(Extremes::new(b.num_columns())));
        Arc::make_mut(&mut self.extremes).extend(extremes);
        Arc::make_mut(&mut self.batches).extend(batches);
    }
}

impl MemoryTable {
    /// An empty table whose batches have the fields of `schema`.
    pub fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            rows: RwLock::default(),
        }
    }

    /// Fields of the batches.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds all rows of an insert at once.
    ///
    /// # Errors
    /// `LOGICAL_ERROR` if a batch has other fields.
    pub fn insert(&self, batches: Vec<RecordBatch>) -> Result<()> {
        let pieces = self.pieces(batches)?;
        self.rows.write().extend(pieces);
        Ok(())
    }

    /// Puts other rows in the place of all rows.
    ///
    /// # Errors
    /// As [`MemoryTable::insert`].
    pub fn replace(&self, batches: Vec<RecordBatch>) -> Result<()> {
        let pieces = self.pieces(batches)?;
        let mut rows = MemoryRows::default();
        rows.extend(pieces);
        *self.rows.write() = rows;
        Ok(())
    }

    fn pieces(&self, batches: Vec<RecordBatch>) -> Result<Vec<RecordBatch>> {
        let typed = |batch: RecordBatch| {
            RecordBatch::try_new(Arc::clone(&self.schema), batch.columns().to_vec())
                .map_err(|e| Error::bug(e.to_string()))
        };
        squashed(batches.into_iter().map(typed).collect::<Result<_>>()?)
    }

    /// The rows as they are now.
    pub fn snapshot(&self) -> Arc<Vec<RecordBatch>> {
        self.rows().batches
    }

    /// The rows as they are now, with what is known of them.
    pub fn rows(&self) -> MemoryRows {
        self.rows.read().clone()
    }

    /// Removes all rows.
    pub fn truncate(&self) {
        *self.rows.write() = MemoryRows::default();
    }

    /// Number of rows.
    pub fn num_rows(&self) -> usize {
        self.snapshot().iter().map(RecordBatch::num_rows).sum()
    }

    /// Memory of the rows.
    pub fn size_bytes(&self) -> usize {
        self.snapshot()
            .iter()
            .map(RecordBatch::get_array_memory_size)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{RecordBatch, UInt64Array};
    use arrow::datatypes::{DataType, Field, Schema};

    use super::{MAX_BATCH_ROWS, MemoryTable};

    #[test]
    fn snapshots_do_not_change_and_batches_are_small() {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::UInt64, false)]));
        let table = MemoryTable::new(Arc::clone(&schema));
        let before = table.snapshot();
        let column = Arc::new(UInt64Array::from_iter_values(0..200_000));
        let batch = RecordBatch::try_new(schema, vec![column]).expect("batch");
        table.insert(vec![batch]).expect("insert");
        assert!(before.is_empty());
        assert_eq!(table.num_rows(), 200_000);
        assert!(
            table
                .snapshot()
                .iter()
                .all(|b| b.num_rows() <= MAX_BATCH_ROWS)
        );
        table.truncate();
        assert_eq!(table.num_rows(), 0);
    }
}
