//! Holds the values of a big IN and finds a column's values among them.
//!
//! | module | owns |
//! |---|---|
//! | `known_sets` | the sets of a statement with their names |
//! | `integer_set` | integers |
//! | `text_set` | strings |
//! | `tuple_set` | tuples of integers, and Decimals, UUIDs and addresses |
//! | `row_set` | values of any other type |
//! | `word_set`, `words` | what integers and tuples of them are held and read as |

mod integer_set;
mod known_sets;
mod row_set;
mod text_set;
mod tuple_set;
mod word_set;
mod words;

use std::sync::Arc;

use basalt_error::{Error, Result};
use datafusion::arrow::array::{AnyDictionaryArray, Array, ArrayRef, AsArray, UInt8Array};

use self::integer_set::IntegerSet;
pub(crate) use self::known_sets::{KnownSets, SetKind};
use self::row_set::RowSet;
use self::text_set::TextSet;
use self::tuple_set::TupleSet;

/// A set of values of one type.
pub(super) struct ValueSet(Members);

enum Members {
    Integers(IntegerSet),
    Texts(TextSet),
    Tuples(TupleSet),
    Rows(RowSet),
}

impl ValueSet {
    /// The set of the values of `array`, which has no NULLs; a tuple with a NULL inside is a value like any other if
    /// `null_matches`, else it is no member. Structs are values as a whole if `is_whole`.
    pub(super) fn new(array: &ArrayRef, null_matches: bool, is_whole: bool) -> Result<Self> {
        if let Some(set) = IntegerSet::new(array) {
            return Ok(Self(Members::Integers(set)));
        }
        if let Some(texts) = array.as_binary_view_opt() {
            return Ok(Self(Members::Texts(TextSet::new(texts))));
        }
        if !null_matches
            && !is_whole
            && let Some(set) = TupleSet::new(&elements(array, false))
        {
            return Ok(Self(Members::Tuples(set)));
        }
        let rows = RowSet::new(array, null_matches, is_whole)?;
        Ok(Self(Members::Rows(rows)))
    }

    /// 1 where the value is in the set, 0 where not, NULL where it is NULL.
    pub(super) fn contains(&self, array: &ArrayRef) -> Result<UInt8Array> {
        let is_of_rows = matches!(self.0, Members::Rows(_));
        if let Some(dictionary) = array.as_any_dictionary_opt().filter(|_| !is_of_rows) {
            return self.contains_codes(dictionary);
        }
        let found = match &self.0 {
            Members::Integers(set) => set.contains(array),
            Members::Texts(set) => array.as_binary_view_opt().map(|texts| set.contains(texts)),
            Members::Tuples(set) => set.contains(&elements(array, false)),
            Members::Rows(set) => Some(set.contains(array)?),
        };
        let unexpected = || Error::bug(format!("values of IN: {}", array.data_type()));
        let found = found.ok_or_else(unexpected)?;
        Ok(UInt8Array::new(found.into(), array.logical_nulls()))
    }

    /// The same for values of a dictionary: each of them is looked for once.
    fn contains_codes(&self, array: &dyn AnyDictionaryArray) -> Result<UInt8Array> {
        if array.values().is_empty() {
            return Ok(UInt8Array::new_null(array.len()));
        }
        let of_values = self.contains(array.values())?;
        let codes = array.normalized_keys();
        let found: Vec<u8> = codes.iter().map(|code| of_values.value(*code)).collect();
        Ok(UInt8Array::new(found.into(), array.logical_nulls()))
    }
}

/// The elements of tuples one by one, so that it does not matter which of them may be NULL; those of other values are
/// the values, and those of structs that are values as a whole.
fn elements(array: &ArrayRef, is_whole: bool) -> Vec<ArrayRef> {
    match array.as_struct_opt() {
        // All tuples of nothing are one value.
        Some(tuples) if !is_whole && tuples.num_columns() == 0 => {
            vec![Arc::new(UInt8Array::from_value(0, array.len()))]
        }
        Some(tuples) if !is_whole => {
            let parts = tuples.columns().iter();
            parts.flat_map(|part| elements(part, is_whole)).collect()
        }
        _ => vec![Arc::clone(array)],
    }
}

#[cfg(test)]
mod tests;
