//! Names the sets of a statement.

use std::cell::RefCell;
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;

/// The sets of a statement with their names: the same values have the same name each time that they are
/// written, so that IN is the same expression in GROUP BY and in the select list.
#[derive(Default)]
pub(crate) struct KnownSets(RefCell<Vec<KnownSet>>);

struct KnownSet {
    values: ArrayRef,
    of: SetKind,
    key: String,
}

/// What the function that looks into a set depends on beside its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct SetKind {
    pub(crate) null_matches: bool,
    /// Whether what is looked for may be NULL, and the answer with it.
    pub(crate) nullable: bool,
    pub(crate) has_variant: bool,
}

impl KnownSets {
    /// The name of a set, `new_key` if no other is like it.
    pub(crate) fn key(
        &self,
        values: &ArrayRef,
        of: SetKind,
        new_key: impl FnOnce() -> String,
    ) -> String {
        let mut known = self.0.borrow_mut();
        let is_same = |set: &&KnownSet| set.of == of && set.values.as_ref() == values.as_ref();
        if let Some(set) = known.iter().find(is_same) {
            return set.key.clone();
        }
        let key = new_key();
        known.push(KnownSet {
            values: Arc::clone(values),
            of,
            key: key.clone(),
        });
        key
    }
}
