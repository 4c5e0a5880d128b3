//! Holds integers of any width.

use datafusion::arrow::array::{Array, ArrayRef};

use super::word_set::WordSet;
use super::words;

/// A set of integers of one type.
pub(super) struct IntegerSet(WordSet);

impl IntegerSet {
    /// The values of an array of integers.
    pub(super) fn new(array: &ArrayRef) -> Option<Self> {
        let sign = match array.data_type().is_signed_integer() {
            true => 1 << 63,
            false => 0,
        };
        Some(Self(WordSet::new(&words::all(array)?, sign)))
    }

    /// 1 for each value that is in the set.
    pub(super) fn contains(&self, array: &ArrayRef) -> Option<Vec<u8>> {
        let read = words::reader(array.data_type())?;
        let mut found = Vec::with_capacity(array.len());
        let mut words = [0; words::CHUNK];
        for (begin, num_rows) in words::chunks(array.len()) {
            let words = &mut words[..num_rows];
            read(array, begin, words);
            self.0.contains(words, &mut found);
        }
        Some(found)
    }
}
