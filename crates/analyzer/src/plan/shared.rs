//! Rows that several plans of one query read: the first that runs keeps them for the others.

use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The rows of a step, once it has run, in whatever form those who run it keep them. Two are equal if
/// they are the same.
#[derive(Clone, Default)]
pub struct SharedRows(Arc<OnceLock<Arc<dyn Any + Send + Sync>>>);

impl SharedRows {
    /// The rows, if they are kept already, and as a `T`.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(self.0.get()?).downcast().ok()
    }

    /// Keeps the rows, unless some are kept already: a step has the same each time.
    pub fn keep<T: Any + Send + Sync>(&self, rows: Arc<T>) {
        self.0.get_or_init(|| rows);
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
