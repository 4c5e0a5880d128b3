//! Defines [`ListSource`]: where ARRAY JOIN takes its lists from.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;

/// The lists of one operand of ARRAY JOIN.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd)]
pub enum ListSource {
    /// A column of the input.
    Column(String),
    /// One list for all rows: as a column it would take its length for each of them.
    Constant(ConstantList),
}

impl ListSource {
    /// The column, if it is one.
    pub fn column(&self) -> Option<&String> {
        match self {
            ListSource::Column(name) => Some(name),
            ListSource::Constant(_) => None,
        }
    }
}

impl fmt::Display for ListSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListSource::Column(name) => f.write_str(name),
            ListSource::Constant(_) => f.write_str("a constant"),
        }
    }
}

/// A list in an array of one row; equal to its clones only, as comparing long lists would cost much.
#[derive(Clone)]
pub struct ConstantList(ArrayRef);

impl ConstantList {
    /// The one list of `array`.
    pub fn new(array: ArrayRef) -> Self {
        Self(array)
    }

    /// An array of one row.
    pub fn array(&self) -> &ArrayRef {
        &self.0
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>().addr()
    }
}

impl fmt::Debug for ConstantList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConstantList")
    }
}

impl PartialEq for ConstantList {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for ConstantList {}

impl Hash for ConstantList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl PartialOrd for ConstantList {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.address().partial_cmp(&other.address())
    }
}
