//! Splits rows by the hashes of their keys without grouping them, many rows at a time.
//!
//! ```text
//! batches ─▶ waiting ──(many rows: concat, hash, counting sort)──▶ split: rows by partition
//! ```
//!
//! A partition's share of a few batches would be a handful of rows, and every call to a table and
//! to the aggregates has its price: rows wait until a partition gets a good piece of them.
//!
//! Where keys come again and again, rows that are split are grouped now and then, a partition at a time,
//! whose groups fit the cache: what is held then grows with the groups, not with the rows.
//!
//! Groups that a full table has given away ([`flushed`](super::flushed)) are held in the same order of partitions.
//!
//! Hashes of partition 0 are remembered. They are a fair sample of the keys, not of the rows, so
//! that they tell how many groups there are, however often one of them occurs.

use std::sync::Arc;

use ahash::HashSet;
use arrow::array::ArrayRef;
use basalt_hashtable::partition;
use datafusion::error::Result;

use super::Grouping;
use super::flushed::Flushed;
use super::group_set::GroupSet;
use super::grouping::AggregateArgs;
use super::key_form::{GroupTable, KeyForm};
use super::options::Tuning;
use super::rows::{Rows, SplitRows, joined, joined_args, size_bytes_of};

/// Bytes of waiting rows from which on they are split, however few they are: wide rows fill the
/// cache, too.
const MAX_WAITING_BYTES: usize = 16 << 20;

/// Hashes of added groups from which on their sample tells something.
const ENOUGH_SAMPLED: usize = 64;

/// Rows of one task that are in no group yet, and groups that its table has given away before these came.
pub(super) struct Staging<F: KeyForm> {
    form: Arc<F>,
    tuning: Tuning,
    /// Key columns and arguments of batches that are still as they came.
    waiting: (Vec<Vec<ArrayRef>>, Vec<AggregateArgs>),
    num_waiting: usize,
    waiting_bytes: usize,
    /// Groups of rows before those that are split.
    flushed: Vec<Flushed<F>>,
    /// Groups that were flushed, now and before rows were grouped.
    num_flushed: usize,
    split: Vec<SplitRows<F>>,
    /// Rows and groups that are split.
    num_split: usize,
    split_bytes: usize,
    /// Groups of each partition, if rows have been grouped.
    groups: Vec<GroupSet<F>>,
    groups_bytes: usize,
    /// Rows and groups of which they were made.
    num_grouped: usize,
    /// How many were split when their groups would have taken too much: to find that out takes time, too.
    num_refused: usize,
    /// Hashes of the keys of partition 0.
    sample: HashSet<u64>,
}

/// What was staged, in the order of partitions.
pub(super) struct Staged<F: KeyForm> {
    /// Groups of the first rows, one set a partition; none if there are no such rows.
    pub(super) groups: Vec<GroupSet<F>>,
    /// Groups of rows after these.
    pub(super) flushed: Vec<Flushed<F>>,
    /// Rows that are in no group yet.
    pub(super) rows: Vec<SplitRows<F>>,
}

impl<F: KeyForm> Staging<F> {
    /// No rows yet.
    pub(super) fn new(form: &Arc<F>, tuning: Tuning) -> Self {
        Self {
            form: Arc::clone(form),
            tuning,
            waiting: Default::default(),
            num_waiting: 0,
            waiting_bytes: 0,
            flushed: Vec::new(),
            num_flushed: 0,
            split: Vec::new(),
            num_split: 0,
            split_bytes: 0,
            groups: Vec::new(),
            groups_bytes: 0,
            num_grouped: 0,
            num_refused: 0,
            sample: HashSet::default(),
        }
    }

    /// Adds the rows of a batch, of which there is at least one.
    pub(super) fn push(&mut self, columns: Vec<ArrayRef>, args: AggregateArgs) -> Result<()> {
        self.num_waiting += columns.first().map_or(0, |column| column.len());
        self.waiting_bytes += size_bytes_of(columns.iter().chain(args.iter().flatten()));
        self.waiting.0.push(columns);
        self.waiting.1.push(args);
        let is_enough =
            self.num_waiting >= self.tuning.staged_rows || self.waiting_bytes >= MAX_WAITING_BYTES;
        if is_enough { self.split() } else { Ok(()) }
    }

    /// Adds all groups of a table. Whoever does adds no rows before, and no groups after rows.
    pub(super) fn push_groups(
        &mut self,
        groups: &mut GroupSet<F>,
        grouping: &Grouping,
    ) -> Result<()> {
        let of = (grouping, self.form.as_ref());
        let flushed = Flushed::take_from(groups, self.tuning.staging_bits, of)?;
        self.sample.extend(flushed.sample());
        self.num_flushed += flushed.len();
        self.num_split += flushed.len();
        self.split_bytes += flushed.size_bytes();
        self.flushed.push(flushed);
        Ok(())
    }

    /// Splits the rows that wait.
    fn split(&mut self) -> Result<()> {
        if self.num_waiting == 0 {
            return Ok(());
        }
        let (columns, args) = std::mem::take(&mut self.waiting);
        let mut rows = Rows {
            keys: self.form.encode(joined(&columns)?)?,
            args: joined_args(&args)?,
        };
        let hashes = rows.hashes();
        let partitions = partition(&hashes, self.tuning.staging_bits);
        let sampled = partitions.rows_of(0).iter();
        self.sample.extend(sampled.map(|row| hashes[*row as usize]));
        F::Table::set_hashes(&mut rows.keys, hashes);
        let split = rows.split(partitions)?;
        self.num_split += self.num_waiting;
        self.split_bytes += split.rows.size_bytes();
        self.split.push(split);
        (self.num_waiting, self.waiting_bytes) = (0, 0);
        Ok(())
    }

    /// Groups what is split, if that are few groups for so many rows, and if they take at most `most_bytes`: the
    /// states of lists and sets take more than the rows that they are made of.
    pub(super) fn group_if_worth_it(
        &mut self,
        grouping: &Grouping,
        most_bytes: usize,
    ) -> Result<()> {
        let (num_groups, num_rows) = self.estimate();
        let is_many = num_groups > self.tuning.staging_groups;
        if !is_many || num_rows / self.tuning.rows_per_group <= num_groups {
            return Ok(());
        }
        if num_rows < 2 * self.num_refused {
            return Ok(());
        }
        let num_partitions = 1 << self.tuning.staging_bits;
        let (mut groups, mut num_done) = (std::mem::take(&mut self.groups), 0);
        let expected_bytes = if groups.is_empty() {
            // What one of the partitions takes tells what all will.
            let empty = || GroupSet::new(self.form.table(), grouping);
            let mut first = empty();
            self.add_to(0, &mut first)?;
            let first_bytes = first.size_bytes();
            groups.push(first);
            groups.resize_with(num_partitions, empty);
            num_done = 1;
            first_bytes.saturating_mul(num_partitions)
        } else {
            let row_bytes = self.groups_bytes / self.num_grouped.max(1);
            self.groups_bytes + row_bytes.saturating_mul(num_rows)
        };
        if expected_bytes > most_bytes {
            self.num_refused = num_rows;
            if num_done == 0 {
                self.groups = groups;
            }
            return Ok(());
        }
        for (partition, groups) in groups.iter_mut().enumerate().skip(num_done) {
            self.add_to(partition, groups)?;
        }
        self.groups_bytes = groups.iter().map(GroupSet::size_bytes).sum();
        self.groups = groups;
        self.flushed.clear();
        self.split.clear();
        self.num_grouped += num_rows;
        (self.num_split, self.split_bytes) = (0, 0);
        Ok(())
    }

    /// Adds what is split of a partition to its groups.
    fn add_to(&self, partition: usize, groups: &mut GroupSet<F>) -> Result<()> {
        for flushed in &self.flushed {
            flushed.merge_into(partition, groups)?;
        }
        for split in &self.split {
            split.push_into(partition, groups)?;
        }
        Ok(())
    }

    /// About how many different groups there are, and how many rows and groups are split.
    pub(super) fn estimate(&self) -> (usize, usize) {
        (
            self.sample.len() << self.tuning.staging_bits,
            self.num_split,
        )
    }

    /// Whether groups have been added, or rows that have groups now.
    pub(super) fn has_groups(&self) -> bool {
        !self.flushed.is_empty() || !self.groups.is_empty()
    }

    /// Groups that have been added, those with the same key each for itself.
    pub(super) fn num_flushed(&self) -> usize {
        self.num_flushed
    }

    /// Whether most groups that were added had been added before, as far as the sample can tell.
    pub(super) fn flushed_again(&self) -> bool {
        let num_sampled = self.num_flushed >> self.tuning.staging_bits;
        num_sampled >= ENOUGH_SAMPLED && self.num_flushed > self.estimate().0.saturating_mul(2)
    }

    /// Whether there are neither rows nor groups.
    pub(super) fn is_empty(&self) -> bool {
        self.num_waiting == 0 && self.split.is_empty() && !self.has_groups()
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.waiting_bytes + self.split_bytes + self.groups_bytes
    }

    /// Takes all rows and groups out, split.
    pub(super) fn take(&mut self) -> Result<Staged<F>> {
        self.split()?;
        let empty = Self::new(&self.form, self.tuning);
        let all = std::mem::replace(self, empty);
        Ok(Staged {
            groups: all.groups,
            flushed: all.flushed,
            rows: all.split,
        })
    }
}
