//! Holds the values of a big IN and finds a column's values among them.

use std::cell::RefCell;
use std::sync::Arc;

use ahash::RandomState;
use basalt_error::{Error, Result};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, UInt8Array};
use datafusion::arrow::row::{RowConverter, SortField};
use hashbrown::HashSet;

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

/// A set of values of one type, by their comparable row form.
pub(crate) struct ValueSet {
    converter: RowConverter,
    /// Whether a tuple with a NULL inside is a value like any other; else it is no member.
    null_matches: bool,
    /// Whether structs are values as a whole: those of a Variant are no tuples.
    is_whole: bool,
    rows: HashSet<Box<[u8]>, RandomState>,
}

impl ValueSet {
    /// The set of the values of `array`, which has no NULLs.
    pub(crate) fn new(array: &ArrayRef, null_matches: bool, is_whole: bool) -> Result<Self> {
        let columns = columns(array, is_whole);
        let fields = columns
            .iter()
            .map(|c| SortField::new(c.data_type().clone()))
            .collect();
        let converter = RowConverter::new(fields).map_err(row_error)?;
        let rows = converter.convert_columns(&columns).map_err(row_error)?;
        let rows = rows.iter().map(|r| Box::from(r.as_ref())).collect();
        Ok(Self {
            converter,
            null_matches,
            is_whole,
            rows,
        })
    }

    /// 1 where the value is in the set, 0 where not, NULL where it is NULL.
    pub(crate) fn contains(&self, array: &ArrayRef) -> Result<UInt8Array> {
        let columns = columns(array, self.is_whole);
        let rows = self
            .converter
            .convert_columns(&columns)
            .map_err(row_error)?;
        // A tuple of one element is compared as that element.
        let checked = if self.null_matches || columns.len() < 2 {
            &[]
        } else {
            columns.as_slice()
        };
        let nulls: Vec<_> = checked.iter().filter_map(|c| c.logical_nulls()).collect();
        let has_null = |row: usize| nulls.iter().any(|n| n.is_null(row));
        let found = rows
            .iter()
            .enumerate()
            .map(|(row, r)| u8::from(self.rows.contains(r.as_ref()) && !has_null(row)));
        let found: Vec<u8> = found.collect();
        Ok(UInt8Array::new(found.into(), array.logical_nulls()))
    }
}

/// The elements of tuples one by one, so that it does not matter which of them may be NULL.
fn columns(array: &ArrayRef, is_whole: bool) -> Vec<ArrayRef> {
    match array.as_struct_opt() {
        // All tuples of nothing are one value.
        Some(tuples) if !is_whole && tuples.num_columns() == 0 => {
            vec![Arc::new(UInt8Array::from_value(0, array.len()))]
        }
        Some(tuples) if !is_whole => {
            let parts = tuples.columns().iter();
            parts.flat_map(|part| columns(part, is_whole)).collect()
        }
        _ => vec![Arc::clone(array)],
    }
}

fn row_error(e: impl std::fmt::Display) -> Error {
    Error::bug(format!("values of IN: {e}"))
}
