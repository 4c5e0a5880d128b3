//! Goes through a part's rows in their order, group by group.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray};
use arrow::row::Rows;
use basalt_error::Result;

use super::ranges::KeyPlace;
use super::{WantedGroups, filtered};
use crate::merge_tree::expiry::Expiry;
use crate::merge_tree::key_converter::KeyConverter;
use crate::merge_tree::part::Part;

/// The values of some columns for a group of rows.
pub(super) type Chunk = Arc<Vec<ArrayRef>>;

/// A place in a part.
#[derive(Debug)]
pub(super) struct Cursor {
    part: Arc<Part>,
    group: usize,
    /// The groups behind it, the last one first.
    later: Vec<usize>,
    /// The row within the group.
    row: usize,
    num_rows: usize,
    /// Rows of the group that are not expired; all if none.
    kept: Option<BooleanArray>,
    /// The keys of the group; none if the table has no key.
    keys: Option<Rows>,
    /// The group's values, once one of its rows was taken.
    chunk: Option<Chunk>,
}

impl Cursor {
    /// The first row of some groups of a part, or the first one whose key is not less than `start`; none if there is
    /// none.
    pub(super) fn first(
        part: Arc<Part>,
        (is_wanted, start): (&WantedGroups<'_>, Option<&[u8]>),
        keys: &Keys,
    ) -> Result<Option<Self>> {
        let groups = part.metadata().group_rows.iter().enumerate();
        let groups = groups.filter(|(group, rows)| **rows > 0 && is_wanted(&part, *group));
        let mut later: Vec<usize> = groups.map(|(group, _)| group).collect();
        if let Some(start) = start {
            later.drain(..groups_before(&part, &later, (start, keys))?);
        }
        later.reverse();
        let mut cursor = Self {
            later,
            part,
            group: 0,
            row: 0,
            num_rows: 0,
            kept: None,
            keys: None,
            chunk: None,
        };
        let mut has_rows = cursor.load(keys)?;
        if let Some(start) = start.filter(|_| has_rows) {
            let len = cursor.run_before(start, false, cursor.num_rows);
            has_rows = cursor.advance(len, keys)?;
        }
        Ok(has_rows.then_some(cursor))
    }

    /// Goes to the next group and reads its keys; false behind the last.
    fn load(&mut self, keys: &Keys) -> Result<bool> {
        while let Some(group) = self.later.pop() {
            self.group = group;
            self.kept = match &keys.expiry {
                Some(expiry) => expiry.kept(&self.part, group)?,
                None => None,
            };
            self.num_rows = match &self.kept {
                Some(kept) => kept.true_count(),
                None => self.part.metadata().group_rows[group] as usize,
            };
            if self.num_rows > 0 {
                (self.row, self.chunk) = (0, None);
                self.keys = self.key_rows(keys)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn key_rows(&self, keys: &Keys) -> Result<Option<Rows>> {
        if keys.ids.is_empty() {
            return Ok(None);
        }
        let columns = self.read(&keys.ids)?;
        keys.converter.rows(&columns).map(Some)
    }

    /// The rows of the group that are not expired.
    fn read(&self, ids: &[usize]) -> Result<Vec<ArrayRef>> {
        let columns = ids.iter().map(|id| self.part.read(*id, self.group));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        match &self.kept {
            Some(kept) => filtered(&columns, kept),
            None => Ok(columns),
        }
    }

    /// Goes `len` rows on, which must be in the group; false behind the part's last row.
    pub(super) fn advance(&mut self, len: usize, keys: &Keys) -> Result<bool> {
        self.row += len;
        if self.row < self.num_rows {
            return Ok(true);
        }
        self.load(keys)
    }

    /// The values of the group.
    pub(super) fn chunk(&mut self, ids: &[usize]) -> Result<Chunk> {
        if let Some(chunk) = &self.chunk {
            return Ok(Arc::clone(chunk));
        }
        let chunk = Arc::new(self.read(ids)?);
        self.chunk = Some(Arc::clone(&chunk));
        Ok(chunk)
    }

    /// Which group of the part it is in.
    pub(super) fn group(&self) -> usize {
        self.group
    }

    pub(super) fn row(&self) -> usize {
        self.row
    }

    /// Rows of the group from here on.
    pub(super) fn rest(&self) -> usize {
        self.num_rows - self.row
    }

    /// The key of a row of the group, for comparisons.
    pub(super) fn key(&self, row: usize) -> &[u8] {
        match &self.keys {
            Some(keys) => keys.row(row).data(),
            None => &[],
        }
    }

    /// The order of the rows that two cursors stand at.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.key(self.row).cmp(other.key(other.row))
    }

    /// How many rows from here on, `max` at most, are less than `key`, or equal to it if `equal` says so.
    pub(super) fn run_before(&self, key: &[u8], equal: bool, max: usize) -> usize {
        let is_before = |i: usize| match self.key(self.row + i).cmp(key) {
            Ordering::Less => true,
            Ordering::Equal => equal,
            Ordering::Greater => false,
        };
        let max = max.min(self.rest());
        // Steps that grow: runs are as often one row long as they are a whole group.
        let (mut low, mut step) = (0, 1);
        while low + step <= max && is_before(low + step - 1) {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(max);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// How many of a part's groups have only rows before `start`.
fn groups_before(part: &Part, groups: &[usize], (start, keys): (&[u8], &Keys)) -> Result<usize> {
    // The group before the first one that begins at `start`, or behind it, may end with such rows.
    let (mut low, mut high) = (0, groups.len());
    while low < high {
        let middle = low.midpoint(high);
        let first = KeyPlace::of(part, (groups[middle], 0), keys)?;
        match first.bytes() < start {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(low.saturating_sub(1))
}

/// Makes keys comparable as bytes, and tells which rows count.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) ids: Vec<usize>,
    pub(super) converter: KeyConverter,
    expiry: Option<Expiry>,
}

impl Keys {
    pub(super) fn new(ids: Vec<usize>, converter: KeyConverter, expiry: Option<Expiry>) -> Self {
        Self {
            ids,
            converter,
            expiry,
        }
    }
}
