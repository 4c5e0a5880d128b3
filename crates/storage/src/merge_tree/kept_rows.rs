//! Rows of a part that were deleted and are still in its files: a mask tells which of a group's are left.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::buffer::{BooleanBuffer, Buffer};
use arrow::compute::take;
use basalt_error::{Error, Result};

/// Of the groups of which rows were deleted: which of the rows in the files are left. Never none of a group's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptRows(BTreeMap<usize, BooleanBuffer>);

impl KeptRows {
    /// Which rows of a group are left; all if none.
    pub fn of(&self, group: usize) -> Option<&BooleanBuffer> {
        self.0.get(&group)
    }

    /// Whether no row was deleted.
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The groups of which rows were deleted, in their order.
    pub(super) fn groups(&self) -> impl ExactSizeIterator<Item = (usize, &BooleanBuffer)> {
        self.0.iter().map(|(group, kept)| (*group, kept))
    }

    pub(super) fn insert(&mut self, group: usize, kept: BooleanBuffer) {
        self.0.insert(group, kept);
    }

    /// Which of the rows in the files are left when of those that there were, some are `kept`.
    pub(super) fn narrowed(&self, group: usize, kept: &BooleanBuffer) -> BooleanBuffer {
        let Some(before) = self.of(group) else {
            return kept.clone();
        };
        let mut rows = vec![false; before.len()];
        for (row, is_kept) in before.set_indices().zip(kept) {
            rows[row] = is_kept;
        }
        rows.into()
    }

    /// Values for all rows that the files have of a group, from those of the rows that are left: deleted ones get the
    /// value of a neighbour.
    pub(super) fn spread(&self, group: usize, values: &ArrayRef) -> Result<ArrayRef> {
        let Some(kept) = self.of(group) else {
            return Ok(Arc::clone(values));
        };
        let mut next = 0;
        let places = kept.iter().map(|is_kept| {
            next += u32::from(is_kept);
            next.saturating_sub(1)
        });
        let places = UInt32Array::from_iter_values(places);
        if values.len() != kept.count_set_bits() {
            return Err(Error::bug("values of another number of rows than are left"));
        }
        take(values, &places, None).map_err(|e| Error::bug(e.to_string()))
    }
}

/// A mask as bytes, the first row in the lowest bit.
pub(super) fn mask_bytes(kept: &BooleanBuffer) -> Vec<u8> {
    let bits = kept.sliced();
    bits.as_slice()[..kept.len().div_ceil(8)].to_vec()
}

/// The mask of so many rows that [`mask_bytes`] made.
pub(super) fn mask_of(bytes: &[u8], num_rows: usize) -> BooleanBuffer {
    BooleanBuffer::new(Buffer::from(bytes), 0, num_rows)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, AsArray, Int32Array};
    use arrow::buffer::BooleanBuffer;
    use arrow::datatypes::Int32Type;

    use super::{KeptRows, mask_bytes, mask_of};

    fn mask(text: &str) -> BooleanBuffer {
        text.chars().map(|c| c == '1').collect()
    }

    #[test]
    fn rows_are_deleted_one_after_the_other() {
        let mut kept = KeptRows::default();
        kept.insert(1, mask("0110101"));
        assert_eq!(kept.narrowed(0, &mask("101")), mask("101"));
        assert_eq!(kept.narrowed(1, &mask("1010")), mask("0100100"));
    }

    #[test]
    fn deleted_rows_get_the_value_of_a_neighbour() {
        let mut kept = KeptRows::default();
        kept.insert(0, mask("0010110"));
        let values: ArrayRef = Arc::new(Int32Array::from(vec![7, 8, 9]));
        let spread = kept.spread(0, &values).unwrap();
        let spread = spread.as_primitive::<Int32Type>().values();
        assert_eq!(spread.as_ref(), [7, 7, 7, 7, 8, 9, 9]);
        assert!(kept.spread(0, &values.slice(1, 2)).is_err());
        assert_eq!(kept.spread(1, &values).unwrap().len(), 3);
    }

    #[test]
    fn masks_are_read_as_they_were_written() {
        for len in [1, 7, 8, 9, 64, 65] {
            let long: BooleanBuffer = (0..len + 3).map(|i| i % 3 != 1).collect();
            let kept = long.slice(3, len);
            assert_eq!(mask_of(&mask_bytes(&kept), len), kept, "{len}");
        }
    }
}
