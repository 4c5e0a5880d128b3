//! Shows a query the rows that there were when it began.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use basalt_error::Result;

use super::extent::LazyExtent;
use super::files::Files;
use super::table::MmapTable;

/// The rows of a table at one moment, in batches.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its folder stays as long.
    table: Arc<MmapTable>,
    files: Arc<Files>,
    batches: Arc<Vec<Arc<LazyExtent>>>,
}

impl Snapshot {
    pub(super) fn new(
        table: &Arc<MmapTable>,
        files: Arc<Files>,
        batches: Arc<Vec<Arc<LazyExtent>>>,
    ) -> Self {
        Self {
            table: Arc::clone(table),
            files,
            batches,
        }
    }

    /// Fields of the columns.
    pub fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    /// Number of batches.
    pub fn num_batches(&self) -> usize {
        self.batches.len()
    }

    /// Number of rows of a batch.
    pub fn batch_rows(&self, batch: usize) -> usize {
        self.batches[batch].num_rows()
    }

    /// Number of all rows.
    pub fn num_rows(&self) -> usize {
        self.batches.iter().map(|batch| batch.num_rows()).sum()
    }

    /// The values of a column in a batch, which lie in the column's file.
    ///
    /// # Errors
    /// `CORRUPTED_DATA` if they are damaged, `CANNOT_OPEN_FILE` if another process has removed the rows.
    pub fn array(&self, batch: usize, column: usize) -> Result<ArrayRef> {
        let field = self.table.schema().field(column);
        self.batches[batch].array(&self.files, column, field)
    }

    /// Reads a column and compares all of its checksums; `check` says again and again whether to go on.
    pub(super) fn check(&self, column: usize, check: &dyn Fn() -> Result<()>) -> Result<()> {
        let field = self.table.schema().field(column);
        self.batches.iter().try_for_each(|batch| {
            check()?;
            batch.check(&self.files, column, field)
        })
    }

    /// Name of a column's file within the table's folder.
    pub(super) fn file(&self, column: usize) -> String {
        let path = self.files.path(column);
        let within = path.strip_prefix(self.table.folder()).unwrap_or(&path);
        within.to_string_lossy().into_owned()
    }
}
