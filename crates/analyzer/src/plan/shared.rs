//! Rows that several plans of one query read: the first that runs keeps them for the others.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;

/// The rows of a step, once it has run. Two are equal if they are the same.
#[derive(Clone, Default)]
pub struct SharedRows(Arc<Mutex<Option<RecordBatch>>>);

impl SharedRows {
    /// The rows, if they are known already.
    pub fn get(&self) -> Option<RecordBatch> {
        let rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        rows.clone()
    }

    /// Keeps the rows.
    pub fn set(&self, batch: RecordBatch) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *rows = Some(batch);
    }
}

impl fmt::Debug for SharedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedRows")
    }
}

impl PartialEq for SharedRows {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SharedRows {}

impl Hash for SharedRows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl PartialOrd for SharedRows {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}
