//! Holds what may be forced about a grouping: strategy, thresholds, hash.

use super::strategy::Strategy;
use crate::codes::NumberedKeys;
use crate::compile;

/// What is forced, and what is left to the operator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// How tasks share the work.
    pub strategy: Strategy,
    /// When to change the way of working.
    pub thresholds: Thresholds,
    /// Bytes of all tasks from which on groups go to temporary files; `None` if they never do.
    pub external_bytes: Option<usize>,
    /// Whether a LIMIT without ORDER BY takes the first groups by their keys.
    pub first_by_key: bool,
    /// How aggregations without keys are compiled; `None` if they are not.
    pub compile: Option<compile::Options>,
    /// Whether keys that are strings become numbers.
    pub numbered_keys: NumberedKeys,
    /// All hashes are 0, the worst that can happen to a table. For tests.
    pub is_hash_zero: bool,
}

/// When to change the way of working.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thresholds {
    /// Where it pays.
    #[default]
    Usual,
    /// So early that a handful of rows does it. For tests.
    Tiny,
    /// As told. For tests.
    Given(Tuning),
}

impl Thresholds {
    /// The tuning that does not depend on the input, if there is one.
    pub(super) fn forced_tuning(self) -> Option<Tuning> {
        match self {
            Thresholds::Usual => None,
            Thresholds::Given(tuning) => Some(tuning),
            Thresholds::Tiny => Some(Tuning {
                cached_groups: 1,
                flushed_groups: 1,
                staging_groups: 2,
                asked_rows: 2,
                rows_per_group: 3,
                staging_bits: 2,
                staged_rows: 3,
                partitioned_groups: 2,
                dense_len: 4,
                dense_len_per_row: 1,
                local_groups: 2,
                shared_bits: 2,
                spill_bits: 2,
                spilled_bytes: 0,
            }),
        }
    }
}

/// When to change the way of working. Tests set these so low that little data does it all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Groups of one table from which on it no longer fits the fastest caches.
    pub cached_groups: usize,
    /// Groups of a table of strings from which on it may be emptied.
    pub flushed_groups: usize,
    /// Groups of one table from which on every row is a cache miss.
    pub staging_groups: usize,
    /// Rows after which it is looked at again whether a table pays.
    pub asked_rows: usize,
    /// Rows that a group must find on average for the table to be worth its misses.
    pub rows_per_group: usize,
    /// Bits of the hash that split staged rows.
    pub staging_bits: u32,
    /// Rows that are split together.
    pub staged_rows: usize,
    /// Groups in all tables from which on they are merged in partitions.
    pub partitioned_groups: usize,
    /// Ordinals that integer keys may always have to index arrays instead of a table.
    pub dense_len: usize,
    /// Ordinals that they may have for each row so far.
    pub dense_len_per_row: usize,
    /// Groups of a task's own table from which on other keys go to shared tables, for the
    /// strategies that have both.
    pub local_groups: usize,
    /// Bits of the hash that choose a part of a table that tasks share.
    pub shared_bits: u32,
    /// Bits of the hash that split groups on their way to a file.
    pub spill_bits: u32,
    /// Bytes of groups that a task writes at once, at least, whatever the setting: each partition of less
    /// would be a block of a few groups, whose reading and writing takes longer than the groups.
    pub spilled_bytes: usize,
}

impl Tuning {
    /// Most ordinals of keys that `num_rows` rows have.
    pub(super) fn max_dense_len(&self, num_rows: usize) -> usize {
        num_rows
            .saturating_mul(self.dense_len_per_row)
            .max(self.dense_len)
    }

    /// Most ordinals for which arrays are made before the first of `num_rows` rows is seen.
    pub(super) fn max_planned_len(&self, num_rows: usize) -> usize {
        num_rows.max(self.dense_len)
    }

    /// The same for an input of about `num_rows` rows: a partition's table should fit the second
    /// cache, a partition's piece of the rows that are split together should be worth a call.
    pub(super) fn for_rows(self, num_rows: usize) -> Self {
        let num_partitions = (num_rows / PARTITION_ROWS).next_power_of_two();
        let staging_bits = num_partitions.trailing_zeros().clamp(8, 11);
        Self {
            staging_bits,
            staged_rows: PIECE_ROWS << staging_bits,
            flushed_groups: self.flushed_groups.max(FLUSHED_PIECE << staging_bits),
            ..self
        }
    }
}

/// Rows of a partition whose table takes about a MiB if all keys differ.
const PARTITION_ROWS: usize = 24 << 10;

/// Rows of a partition among those that are split together.
const PIECE_ROWS: usize = 128;

/// Groups of a partition among those of a table that is emptied, at least.
const FLUSHED_PIECE: usize = 32;

impl Default for Tuning {
    fn default() -> Self {
        Self {
            cached_groups: 32 << 10,
            flushed_groups: 16 << 10,
            staging_groups: 128 << 10,
            asked_rows: 32 << 10,
            rows_per_group: 8,
            staging_bits: 9,
            staged_rows: PIECE_ROWS << 9,
            partitioned_groups: 128 << 10,
            dense_len: 64 << 10,
            dense_len_per_row: 8,
            local_groups: 4096,
            shared_bits: 9,
            spill_bits: 7,
            spilled_bytes: 1 << 20,
        }
    }
}
