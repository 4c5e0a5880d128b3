//! Leaves out rows whose groups the ORDER BY key LIMIT n above a GROUP BY does not want.
//!
//! Once n different values of the key that is ordered by first are known, no group beyond the n-th of
//! them can be wanted, and its rows need not be grouped. Groups up to that value lose no row; what is
//! left of others comes after them, where the limit cuts it off.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{Array, RecordBatch};
use arrow::compute::{SortOptions, filter_record_batch};
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::physical_plan::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::StreamExt;

use crate::one_input::Reading;
use crate::sort::KeyBound;

/// More groups than this are not looked for: the list of their keys is updated one by one.
const MAX_GROUPS: usize = 1024;

/// Rows after which it is looked at whether enough of them are left out to pay.
const ASKED_ROWS: usize = 256 << 10;

/// The rows of the first groups by a key, and some others.
#[derive(Debug)]
pub(crate) struct FirstKeys {
    num_groups: usize,
    shared: Arc<Shared>,
}

/// What all partitions know.
#[derive(Debug)]
struct Shared {
    bound: KeyBound,
    /// The first places in the order that have been seen.
    first: Mutex<BTreeSet<u64>>,
    num_rows: AtomicUsize,
    num_kept: AtomicUsize,
    /// Whether too few rows are left out to go on.
    is_off: AtomicBool,
}

impl FirstKeys {
    /// Rows of the first `num_groups` groups by a column; none for types without bounds, or if these are
    /// too many.
    pub(crate) fn new(
        (column, data_type): (usize, &DataType),
        options: SortOptions,
        num_groups: usize,
    ) -> Option<Self> {
        let bound = KeyBound::new(column, data_type, options)?;
        let is_worth_it = (1..=MAX_GROUPS).contains(&num_groups);
        is_worth_it.then(|| Self::within(bound, num_groups))
    }

    fn within(bound: KeyBound, num_groups: usize) -> Self {
        let shared = Shared {
            bound,
            first: Mutex::default(),
            num_rows: AtomicUsize::new(0),
            num_kept: AtomicUsize::new(0),
            is_off: AtomicBool::new(false),
        };
        Self {
            num_groups,
            shared: Arc::new(shared),
        }
    }
}

impl Shared {
    /// The rows of a batch that may be wanted.
    fn wanted(&self, batch: RecordBatch, num_groups: usize) -> Result<RecordBatch> {
        if self.is_off.load(Ordering::Relaxed) {
            return Ok(batch);
        }
        let column = self.bound.column();
        let num_rows = added(&self.num_rows, &batch);
        let is_bounded = self.bound.is_known();
        if !is_bounded {
            self.learn(batch.column(column), num_groups);
        }
        let batch = match self.bound.wanted(batch.column(column)) {
            Some(wanted) => filter_record_batch(&batch, &wanted)?,
            None => batch,
        };
        let num_kept = added(&self.num_kept, &batch);
        if num_rows >= ASKED_ROWS && num_kept > num_rows / 2 {
            self.is_off.store(true, Ordering::Relaxed);
        } else if is_bounded {
            self.learn(batch.column(column), num_groups);
        }
        Ok(batch)
    }

    fn learn(&self, keys: &dyn Array, num_groups: usize) {
        let Some(places) = self.bound.places(keys) else {
            return;
        };
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last_seen = None;
        for (row, place) in places.into_iter().enumerate() {
            let is_known = last_seen.replace(place) == Some(place);
            let is_full = first.len() == num_groups;
            if is_known || keys.is_null(row) || (is_full && first.last() <= Some(&place)) {
                continue;
            }
            if first.insert(place) && is_full {
                first.pop_last();
            }
        }
        if let Some(last) = first.last().filter(|_| first.len() == num_groups) {
            self.bound.lower_to(*last);
        }
    }
}

/// A number of rows with those of a batch.
fn added(num_rows: &AtomicUsize, batch: &RecordBatch) -> usize {
    num_rows.fetch_add(batch.num_rows(), Ordering::Relaxed) + batch.num_rows()
}

impl Reading for FirstKeys {
    const NAME: &'static str = "FirstKeysExec";

    fn anew(&self) -> Self {
        Self::within(self.shared.bound.fresh(), self.num_groups)
    }

    fn read(
        &self,
        batches: SendableRecordBatchStream,
        _partition: usize,
    ) -> SendableRecordBatchStream {
        let (shared, schema) = (Arc::clone(&self.shared), batches.schema());
        let num_groups = self.num_groups;
        let batches = batches.map(move |batch| shared.wanted(batch?, num_groups));
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }
}
