//! Declares [`MorselSource`]: rows that can be read piece by piece, in any order, by any thread.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use basalt_error::Result;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;

use crate::QueryControl;
use crate::codes::StringNumbers;
use crate::sort::KeyBound;

/// Rows of one morsel, in order.
pub type BatchIter = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// What a scan is asked for.
#[derive(Clone, Debug)]
pub struct ScanRequest {
    /// Fields of the table to read, in this order.
    pub projection: Vec<usize>,
    /// Conditions that all rows above the scan will be checked for; a source may leave out rows
    /// that cannot fulfil them.
    pub filters: Vec<Expr>,
    /// All of them as one expression over the table's fields, if there is one.
    pub condition: Option<Arc<dyn PhysicalExpr>>,
    /// Number of rows that are enough, if no condition stands above the scan.
    pub limit: Option<usize>,
    /// Threads that will read.
    pub num_threads: usize,
    /// Rows of a batch at most; the scan cuts those that are longer.
    pub batch_rows: usize,
    /// The query.
    pub control: Arc<QueryControl>,
}

/// Rows in morsels.
pub trait MorselSource: fmt::Debug + Send + Sync {
    /// Fields of the batches.
    fn schema(&self) -> SchemaRef;

    /// Number of morsels; threads take them from 0 up.
    fn num_morsels(&self) -> usize;

    /// Opens a morsel.
    ///
    /// # Errors
    /// What reading the source reports.
    fn open(&self, morsel: usize) -> Result<BatchIter>;

    /// The same without rows that a top-N above no longer wants, as far as it can tell; none if it cannot.
    fn with_bound(&self, _bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// The same where only the least and the greatest value of each column are asked for: any rows may be left
    /// out, and others made, as long as these are there. None if it has to read all rows for them.
    fn of_extremes(&self) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// As many rows without columns as fulfil a predicate over its fields; none if it has to read them to know.
    fn counting(&self, _predicate: &Arc<dyn PhysicalExpr>) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// The same with just the rows that fulfil a predicate over its fields, and only these of its columns; none if
    /// it is not what the source was asked for.
    fn filtered(
        &self,
        _predicate: &Arc<dyn PhysicalExpr>,
        _columns: &[usize],
    ) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// The same with the numbers of strings instead of those in a column, if strings are stored so that this saves
    /// work and all of them take at most so many bytes; without such a limit in any case. None if not.
    fn numbered(
        &self,
        _column: usize,
        _numbers: &Arc<StringNumbers>,
        _max_bytes: Option<usize>,
    ) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// Whether it leaves out just the rows for which a predicate over its fields does not hold, or none if
    /// there is no predicate.
    fn passes_only(&self, _predicate: Option<&Arc<dyn PhysicalExpr>>) -> bool {
        false
    }

    /// The same as it was before morsels were opened, for a plan that is run again; none if opening them
    /// changes nothing.
    fn anew(&self) -> Option<Arc<dyn MorselSource>> {
        None
    }

    /// Number of rows in all, if known without reading.
    fn num_rows(&self) -> Option<usize>;

    /// Number of values of a column that are not NULL, if known without reading them and nothing is left out.
    fn num_values(&self, _column: usize) -> Option<usize> {
        None
    }

    /// Whether the morsels give exactly [`MorselSource::num_rows`], so that nobody has to count them.
    fn is_counted(&self) -> bool {
        false
    }

    /// Whether batches pass as they were stored, however many rows they have.
    fn keeps_batches(&self) -> bool {
        false
    }

    /// What is read, for EXPLAIN.
    fn describe(&self) -> String;

    /// What has been counted so far, for the operator's metrics.
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// What there is to read in files, with what filters ruled out; none for rows in memory.
    fn stored(&self) -> Option<Stored> {
        None
    }

    /// Bytes that a morsel has in its file.
    fn stored_bytes(&self, _morsel: usize) -> u64 {
        0
    }
}

/// What there is of a source in files.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Files.
    pub num_files: usize,
    /// Row groups of all files, also those that are not read.
    pub num_row_groups: usize,
    /// Those of them that filters rule out.
    pub num_ruled_out: usize,
}
