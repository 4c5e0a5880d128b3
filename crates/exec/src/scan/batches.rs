//! Reads batches that lie in memory, without copying them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use basalt_error::{Error, Result};
use basalt_storage::Extremes;

use super::{BatchIter, MorselSource, ScanRequest, TableKind};
use crate::sort::KeyBound;

/// Rows that a morsel has at least, if there are as many.
const MORSEL_ROWS: usize = 65_505;

/// Batches as a table: `VALUES`, the tables of `system`, a snapshot of a Memory table.
#[derive(Clone, Debug)]
pub struct BatchesTable {
    /// Fields of the batches.
    pub schema: SchemaRef,
    /// The rows.
    pub batches: Arc<Vec<RecordBatch>>,
    /// What is known of each batch's columns, if they are kept.
    pub extremes: Option<Arc<Vec<Arc<Extremes>>>>,
}

impl TableKind for BatchesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn source(&self, request: &ScanRequest) -> Result<Arc<dyn MorselSource>> {
        let schema = self.schema.project(&request.projection);
        Ok(Arc::new(BatchSource {
            schema: Arc::new(schema.map_err(|e| Error::bug(e.to_string()))?),
            projection: request.projection.as_slice().into(),
            morsels: morsels(self.batches.iter().map(RecordBatch::num_rows)).into(),
            table: self.clone(),
            bound: None,
        }))
    }
}

/// A scan of a [`BatchesTable`].
#[derive(Clone, Debug)]
pub struct BatchSource {
    table: BatchesTable,
    schema: SchemaRef,
    projection: Arc<[usize]>,
    /// Ranges of batches; shared, as every morsel that is opened has the source.
    morsels: Arc<[std::ops::Range<usize>]>,
    /// What the top-N above wants.
    bound: Option<Arc<KeyBound>>,
}

impl BatchSource {
    /// A batch, unless no row of it is wanted.
    fn batch(&self, place: usize) -> Option<Result<RecordBatch>> {
        let batch = &self.table.batches[place];
        match self.is_wanted(batch, place) {
            true => Some(projected(batch, &self.projection, &self.schema)),
            false => None,
        }
    }

    fn is_wanted(&self, batch: &RecordBatch, place: usize) -> bool {
        let (Some(bound), Some(extremes)) = (&self.bound, &self.table.extremes) else {
            return true;
        };
        // To look for extremes costs as much as to look for rows, but only once.
        if !bound.is_known() {
            return true;
        }
        let column = self.projection[bound.column()];
        let values = extremes[place].of(batch, column);
        let nearest = nearest(bound, batch.column(column), values);
        nearest.is_none_or(|nearest| bound.wants(nearest))
    }

    /// The place in the order of a morsel's nearest value, as far as it is known.
    fn nearest(&self, bound: &KeyBound, morsel: &std::ops::Range<usize>) -> Option<u64> {
        let extremes = self.table.extremes.as_ref()?;
        let column = self.projection[bound.column()];
        let of_batch = |place: usize| {
            let keys = self.table.batches[place].column(column);
            nearest(bound, keys, extremes[place].known(column))
        };
        morsel.clone().filter_map(of_batch).min()
    }
}

/// The place in the order of the nearest of a batch's keys, of which these are the least and the greatest.
fn nearest(bound: &KeyBound, keys: &ArrayRef, values: Option<(u64, u64)>) -> Option<u64> {
    bound.nearest(keys.data_type(), values?, keys.null_count() > 0)
}

/// Ranges of batches, which have so many rows, that are worth a morsel each.
pub(super) fn morsels(batch_rows: impl Iterator<Item = usize>) -> Vec<std::ops::Range<usize>> {
    let mut morsels = Vec::new();
    let (mut start, mut end, mut rows) = (0, 0, 0);
    for num_rows in batch_rows {
        end += 1;
        rows += num_rows;
        if rows >= MORSEL_ROWS {
            morsels.push(start..end);
            (start, rows) = (end, 0);
        }
    }
    if start < end {
        morsels.push(start..end);
    }
    morsels
}

/// Columns of a batch, under a schema that is made once for all.
fn projected(batch: &RecordBatch, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = columns.iter().map(|i| Arc::clone(batch.column(*i)));
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns.collect(), &options)
        .map_err(|e| Error::bug(e.to_string()))
}

impl MorselSource for BatchSource {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn num_morsels(&self) -> usize {
        self.morsels.len()
    }

    fn open(&self, morsel: usize) -> Result<BatchIter> {
        let (range, source) = (self.morsels[morsel].clone(), self.clone());
        Ok(Box::new(range.filter_map(move |i| source.batch(i))))
    }

    fn with_bound(&self, bound: &Arc<KeyBound>) -> Option<Arc<dyn MorselSource>> {
        self.table.extremes.as_ref()?;
        // The most promising first: what they have rules out the others.
        let mut morsels = self.morsels.to_vec();
        morsels.sort_by_cached_key(|morsel| self.nearest(bound, morsel));
        Some(Arc::new(Self {
            morsels: morsels.into(),
            bound: Some(Arc::clone(bound)),
            ..self.clone()
        }))
    }

    fn num_rows(&self) -> Option<usize> {
        Some(self.table.batches.iter().map(RecordBatch::num_rows).sum())
    }

    fn num_values(&self, column: usize) -> Option<usize> {
        let column = self.projection[column];
        let batches = self.table.batches.iter();
        let columns = batches.map(|batch| batch.column(column));
        Some(columns.map(|c| c.len() - c.null_count()).sum())
    }

    fn is_counted(&self) -> bool {
        self.bound.is_none()
    }

    fn keeps_batches(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        format!("{} batches in memory", self.table.batches.len())
    }
}
