//! Holds rows on their way to a table: keys in a form, and the aggregates' arguments.

use std::ops::Range;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat, take};
use basalt_hashtable::{NOT_FOUND, Partitions};
use datafusion::error::Result;

use super::Grouping;
use super::grouping::AggregateArgs;
use super::key_form::{GroupTable, KeyForm, Keys};
use crate::memory::array_bytes;

/// Rows with their keys and arguments.
pub(super) struct Rows<F: KeyForm> {
    pub(super) keys: Keys<F>,
    pub(super) args: AggregateArgs,
}

impl<F: KeyForm> Rows<F> {
    /// The rows of a batch.
    pub(super) fn of(grouping: &Grouping, form: &F, batch: &RecordBatch) -> Result<Self> {
        let keys = form.encode(grouping.key_columns(batch)?)?;
        let args = grouping.args(batch)?;
        Ok(Self { keys, args })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        F::Table::num_rows(&self.keys)
    }

    /// Hash of each row's key.
    pub(super) fn hashes(&self) -> Vec<u64> {
        F::Table::hashes(&self.keys)
    }

    /// Some of the rows, in the order of `rows`.
    pub(super) fn take(&self, rows: &[u32]) -> Result<Self> {
        Ok(Self {
            keys: F::Table::take(&self.keys, rows)?,
            args: take_args(&self.args, rows)?,
        })
    }

    /// The arguments of the rows in `range`.
    pub(super) fn args_of(&self, range: &Range<usize>) -> AggregateArgs {
        let slice = |c: &ArrayRef| c.slice(range.start, range.len());
        let of_one = |args: &Vec<ArrayRef>| args.iter().map(slice).collect();
        self.args.iter().map(of_one).collect()
    }

    /// The rows in the order of their partitions.
    pub(super) fn split(&self, partitions: Partitions) -> Result<SplitRows<F>> {
        Ok(SplitRows {
            rows: self.take(&partitions.rows)?,
            offsets: partitions.offsets,
        })
    }

    /// Memory that the rows hold, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        F::Table::keys_size_bytes(&self.keys) + size_bytes_of(self.args.iter().flatten())
    }
}

/// Memory that the rows of columns take, in bytes.
pub(super) fn size_bytes_of<'a>(columns: impl Iterator<Item = &'a ArrayRef>) -> usize {
    columns.map(array_bytes).sum()
}

/// Each column of all pieces as one.
pub(super) fn joined(pieces: &[Vec<ArrayRef>]) -> Result<Vec<ArrayRef>> {
    let num_columns = pieces.first().map_or(0, Vec::len);
    let column = |i: usize| {
        let pieces: Vec<&dyn Array> = pieces.iter().map(|piece| piece[i].as_ref()).collect();
        Ok(concat(&pieces)?)
    };
    (0..num_columns).map(column).collect()
}

/// The arguments of all pieces, one after the other.
pub(super) fn joined_args(pieces: &[AggregateArgs]) -> Result<AggregateArgs> {
    let num_aggregates = pieces.first().map_or(0, Vec::len);
    let of_one = |i: usize| {
        let pieces: Vec<Vec<ArrayRef>> = pieces.iter().map(|piece| piece[i].clone()).collect();
        joined(&pieces)
    };
    (0..num_aggregates).map(of_one).collect()
}

/// The arguments of some rows, in the order of `rows`.
pub(super) fn take_args(args: &AggregateArgs, rows: &[u32]) -> Result<AggregateArgs> {
    if args.iter().all(Vec::is_empty) {
        return Ok(args.clone());
    }
    let rows = UInt32Array::from(rows.to_vec());
    let of_one = |columns: &Vec<ArrayRef>| {
        let taken = columns.iter().map(|c| take(c, &rows, None));
        Ok(taken.collect::<Result<_, _>>()?)
    };
    args.iter().map(of_one).collect()
}

/// Rows in the order of their partitions.
pub(super) struct SplitRows<F: KeyForm> {
    pub(super) rows: Rows<F>,
    /// Where each partition starts, and the end.
    offsets: Vec<u32>,
}

impl<F: KeyForm> SplitRows<F> {
    /// The rows of a partition.
    pub(super) fn range(&self, partition: usize) -> Range<usize> {
        self.offsets[partition] as usize..self.offsets[partition + 1] as usize
    }

    /// The rows of a partition alone.
    pub(super) fn rows_of(&self, partition: usize) -> Result<Rows<F>> {
        let rows: Vec<u32> = (self.offsets[partition]..self.offsets[partition + 1]).collect();
        self.rows.take(&rows)
    }

    /// About the memory that the rows of a partition hold, in bytes.
    pub(super) fn size_bytes_of(&self, partition: usize) -> usize {
        let num_rows = self.rows.len().max(1);
        self.rows.size_bytes() / num_rows * self.range(partition).len()
    }
}

/// Rows that have a group, their groups, and rows that have none.
pub(super) struct Found {
    pub(super) hits: Vec<u32>,
    pub(super) groups: Vec<u32>,
    pub(super) misses: Vec<u32>,
}

impl Found {
    /// Tells rows apart by whether their group was found.
    pub(super) fn of(groups: &[u32]) -> Self {
        let mut found = Self {
            hits: Vec::with_capacity(groups.len()),
            groups: Vec::with_capacity(groups.len()),
            misses: Vec::new(),
        };
        // A batch has fewer than 2^32 rows.
        for (row, group) in (0u32..).zip(groups) {
            if *group == NOT_FOUND {
                found.misses.push(row);
            } else {
                found.hits.push(row);
                found.groups.push(*group);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray};

    use super::size_bytes_of;

    #[test]
    fn long_strings_of_arguments_count() {
        let strings = BinaryViewArray::from_iter_values([[b'x'; 1000], [b'y'; 1000]]);
        let columns: [ArrayRef; 1] = [Arc::new(strings)];
        assert_eq!(size_bytes_of(columns.iter()), 2 * (16 + 1000));
    }
}
