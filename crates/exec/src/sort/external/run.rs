//! Knows sorted runs in temporary files: where their blocks are, and the keys that these begin with.

use std::ops::Range as Places;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::Schema;
use arrow::row::{RowConverter, SortField};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalSortExpr;

use crate::memory::batch_bytes;
use crate::sort::float_key::key_values;
use crate::sort::layout::{KeyColumn, Layout};
use crate::sort::nested_key::seen_type;
use crate::sort::range::Range;
use crate::spill::SpillFile;

/// Memory that the word of a row takes while runs are merged.
const WORD_BYTES: usize = size_of::<u128>();

/// Sorted rows in a file.
#[derive(Debug)]
pub(in crate::sort) struct Run {
    file: Arc<SpillFile>,
    pub(super) blocks: Vec<Block>,
    /// The keys of the last row.
    pub(super) last: Box<[u8]>,
    pub(super) num_rows: usize,
}

/// Some of a run's rows, which are read together.
#[derive(Debug)]
pub(super) struct Block {
    place: Places<u64>,
    /// The keys of the first row.
    pub(super) first: Box<[u8]>,
    /// Memory that its rows and their words take.
    pub(super) size_bytes: usize,
}

impl Run {
    /// A run of no rows yet.
    pub(super) fn new(file: Arc<SpillFile>) -> Self {
        Self {
            file,
            blocks: Vec::new(),
            last: Box::default(),
            num_rows: 0,
        }
    }

    /// Appends rows, which come after those so far; gives where they lie.
    pub(super) fn append(&mut self, rows: &RecordBatch, keys: &RowKeys) -> Result<Places<u64>> {
        let place = self.file.append(rows)?;
        self.blocks.push(Block {
            place: place.clone(),
            first: keys.of_row(rows, 0)?,
            size_bytes: batch_bytes(rows) + WORD_BYTES * rows.num_rows(),
        });
        self.last = keys.of_row(rows, rows.num_rows() - 1)?;
        self.num_rows += rows.num_rows();
        Ok(place)
    }

    /// Reads a block.
    pub(super) fn read(&self, block: usize) -> Result<RecordBatch> {
        self.file.read(&self.blocks[block].place)
    }
}

/// What the keys of all runs have in common.
#[derive(Clone, Debug, Default)]
pub(in crate::sort) struct KeyRanges {
    pub(in crate::sort) columns: Vec<KeyColumn>,
    pub(in crate::sort) ranges: Vec<Range>,
}

impl KeyRanges {
    /// Widens it to the keys of other runs.
    pub(in crate::sort) fn merge(&mut self, other: Self) {
        if self.ranges.is_empty() {
            *self = other;
            return;
        }
        let ranges = self.ranges.iter_mut().zip(&other.ranges);
        ranges.for_each(|(range, other)| range.merge(other));
    }

    /// The layout of words that hold these keys.
    pub(super) fn layout(&self) -> Layout {
        let keys: Vec<_> = self.columns.iter().copied().zip(&self.ranges).collect();
        Layout::new(&keys, None)
    }
}

/// The keys of each row.
pub(super) fn keys_of(sorts: &[PhysicalSortExpr], rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
    let keys = sorts.iter().map(|sort| Ok(key_values(sort, rows)?.0));
    keys.collect()
}

/// Makes the keys of single rows bytes whose order is theirs.
///
/// They are compared for each block, not for each row: words are made only once all runs are known.
#[derive(Debug)]
pub(in crate::sort) struct RowKeys {
    sorts: Arc<[PhysicalSortExpr]>,
    converter: RowConverter,
}

impl RowKeys {
    /// Keys of rows with this schema.
    ///
    /// # Errors
    /// If rows cannot be ordered by them.
    pub(in crate::sort) fn try_new(
        sorts: &Arc<[PhysicalSortExpr]>,
        schema: &Schema,
    ) -> Result<Self> {
        let field = |sort: &PhysicalSortExpr| {
            let data_type = seen_type(sort.expr.data_type(schema)?);
            Ok(SortField::new_with_options(data_type, sort.options))
        };
        let fields = sorts.iter().map(field).collect::<Result<_>>()?;
        Ok(Self {
            sorts: Arc::clone(sorts),
            converter: RowConverter::new(fields)?,
        })
    }

    /// The keys of one row.
    pub(super) fn of_row(&self, rows: &RecordBatch, row: usize) -> Result<Box<[u8]>> {
        let keys = keys_of(&self.sorts, &rows.slice(row, 1))?;
        Ok(self
            .converter
            .convert_columns(&keys)?
            .row(0)
            .as_ref()
            .into())
    }
}
