//! Holds keys that are byte strings, on their way to a table.

use arrow::array::{Array, BinaryViewArray};
use arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use basalt_hashtable::views::{INLINE_LEN, view_len};
use basalt_hashtable::{BytesTable, HashBytes, Views};
use datafusion::error::Result;

/// Byte strings, one a row.
///
/// This is what an array of views is made of, without the look at every string that making an array takes.
#[derive(Clone, Debug, Default)]
pub(super) struct StringKeys {
    /// A view for each row; that of a row without a string says nothing.
    pub(super) views: ScalarBuffer<u128>,
    /// What views of long strings point into.
    pub(super) buffers: Vec<Buffer>,
    /// Rows without a string, if there are any.
    pub(super) nulls: Option<NullBuffer>,
    /// What [`StringKeys::hashes`] gives, where it is known: computing it anew takes as long as a search.
    pub(super) hashes: Option<Vec<u64>>,
}

/// The hash of each row.
pub(super) fn hashes_of<H: HashBytes>(rows: &Views<'_, Buffer>) -> Vec<u64> {
    let hash = |view: &u128| BytesTable::<H>::hash(rows, *view);
    rows.views.iter().map(hash).collect()
}

impl From<&BinaryViewArray> for StringKeys {
    fn from(strings: &BinaryViewArray) -> Self {
        Self {
            views: strings.views().clone(),
            buffers: strings.data_buffers().to_vec(),
            nulls: strings.nulls().filter(|n| n.null_count() > 0).cloned(),
            hashes: None,
        }
    }
}

impl StringKeys {
    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.views.len()
    }

    /// The strings as a column.
    pub(super) fn array(&self) -> Result<BinaryViewArray> {
        let (views, buffers) = (self.views.clone(), self.buffers.clone());
        Ok(BinaryViewArray::try_new(
            views,
            buffers,
            self.nulls.clone(),
        )?)
    }

    /// All rows.
    pub(super) fn rows(&self) -> Views<'_, Buffer> {
        Views {
            views: &self.views,
            buffers: &self.buffers,
        }
    }

    /// The hash of each row, 0 for one without a string.
    pub(super) fn hashes<H: HashBytes>(&self) -> Vec<u64> {
        if let Some(hashes) = &self.hashes {
            return hashes.clone();
        }
        let mut hashes = hashes_of::<H>(&self.rows());
        if let Some(nulls) = &self.nulls {
            let rows = hashes.iter_mut().zip(nulls.iter());
            let null_rows = rows.filter(|(_, is_valid)| !is_valid);
            null_rows.for_each(|(hash, _)| *hash = 0);
        }
        hashes
    }

    /// Some of the rows, in the order of `rows`.
    pub(super) fn take(&self, rows: &[u32]) -> Self {
        let hashes = self.hashes.as_ref();
        let hashes = hashes.map(|hashes| rows.iter().map(|row| hashes[*row as usize]).collect());
        let nulls = self.nulls.as_ref().map(|nulls| {
            let is_valid = rows.iter().map(|row| nulls.is_valid(*row as usize));
            is_valid.collect::<NullBuffer>()
        });
        Self {
            views: rows.iter().map(|row| self.views[*row as usize]).collect(),
            buffers: self.buffers.clone(),
            nulls: nulls.filter(|nulls| nulls.null_count() > 0),
            hashes,
        }
    }

    /// Memory held, in bytes; long strings count for every row that has one.
    pub(super) fn size_bytes(&self) -> usize {
        let long = |view: &u128| Some(view_len(*view)).filter(|len| *len > INLINE_LEN);
        let long: usize = self.views.iter().filter_map(long).sum();
        let hashes = self.hashes.as_ref().map_or(0, Vec::len) * size_of::<u64>();
        self.len() * size_of::<u128>() + long + hashes
    }
}
