//! Makes bytes of the keys of rows, which are the same where the keys are.

use std::sync::Arc;

use ahash::RandomState;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, Rows, SortField};
use basalt_error::Result;
use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;

use super::{bug, positions};

/// The columns that are keys, and what makes bytes of them.
pub(super) struct KeyRows {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl KeyRows {
    /// The columns of these names.
    pub(super) fn try_new(input: &SchemaRef, names: &[String]) -> Result<Self> {
        let columns = positions(input, names)?;
        let field = |column: &usize| SortField::new(input.field(*column).data_type().clone());
        let fields = columns.iter().map(field).collect();
        Ok(Self {
            converter: RowConverter::new(fields).map_err(bug)?,
            columns,
        })
    }

    /// The keys of a batch's rows.
    pub(super) fn arrays(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        let array = |column: &usize| Arc::clone(batch.column(*column));
        self.columns.iter().map(array).collect()
    }

    /// Bytes for each row of such keys.
    pub(super) fn convert(&self, keys: &[ArrayRef]) -> Result<Rows> {
        self.converter.convert_columns(keys).map_err(bug)
    }
}

/// A number for each key, and how much memory that takes.
pub(super) struct KeyNumbers {
    numbers: HashMap<Box<[u8]>, u64, RandomState>,
    /// Bytes of the keys on the heap.
    key_bytes: usize,
}

impl KeyNumbers {
    pub(super) fn new() -> Self {
        Self {
            numbers: HashMap::with_hasher(RandomState::new()),
            key_bytes: 0,
        }
    }

    /// The number of a key; `first` if it has none yet.
    pub(super) fn get_or_insert(&mut self, key: &[u8], first: u64) -> &mut u64 {
        /// What an allocation takes beside its bytes, about.
        const ALLOCATION_BYTES: usize = 16;
        match self.numbers.entry_ref(key) {
            EntryRef::Occupied(entry) => entry.into_mut(),
            EntryRef::Vacant(entry) => {
                self.key_bytes += key.len() + ALLOCATION_BYTES;
                entry.insert_with_key(Box::from(key), first)
            }
        }
    }

    pub(super) fn contains(&self, key: &[u8]) -> bool {
        self.numbers.contains_key(key)
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.key_bytes + self.numbers.allocation_size()
    }
}
