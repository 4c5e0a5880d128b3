//! Hands out the rows of several parts as those of one, in batches.
//!
//! Of every part one group is in memory: its keys, and the other columns from the first row on that is
//! taken. A heap tells which part has the least key; from it come all rows up to the least key of the
//! others, so that parts that do not overlap are taken group by group.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::{concat, filter, interleave};
use basalt_error::{Error, Result};

use super::cursor::{Chunk, Cursor, Keys};
use super::ranges::KeyPlace;
use crate::merge_tree::combine::{Combine, KeyedRows, Purpose};
use crate::merge_tree::expiry::Expiry;
use crate::merge_tree::key_converter::KeyConverter;
use crate::merge_tree::layout::Layout;
use crate::merge_tree::part::Part;
use crate::merge_tree::{GROUP_BYTES, GROUP_ROWS};

/// Rows per run from which on whole runs are copied instead of single rows.
const LONG_RUN: usize = 32;

/// The rows of some parts in the order of the sorting key.
#[derive(Debug)]
pub struct MergedRows {
    ids: Vec<usize>,
    keys: Keys,
    /// A heap: the least key first, and of equal ones that of the older part.
    cursors: Vec<(usize, Cursor)>,
    max_rows: usize,
    combine: Option<Arc<dyn Combine>>,
    purpose: Purpose,
    /// The key before which the rows end.
    end: Option<Vec<u8>>,
    /// The key of the last row that was taken.
    last_key: Option<Vec<u8>>,
    /// What the rows of the last key have become so far.
    carry: Option<Vec<ArrayRef>>,
    num_read: u64,
}

/// Which groups of which parts are read.
pub type WantedGroups<'a> = dyn Fn(&Part, usize) -> bool + 'a;

/// Rows of a chunk that come one behind the other.
struct Run {
    chunk: usize,
    start: usize,
    len: usize,
}

/// Rows that come next.
#[derive(Default)]
struct Taken {
    chunks: Vec<Chunk>,
    runs: Vec<Run>,
    num_rows: usize,
    /// Rows whose key differs from that of the row before.
    starts: Vec<u32>,
}

impl MergedRows {
    /// The columns `ids` of the parts' rows as a query with FINAL sees them, from the first place on and before the
    /// second. Groups may be left out if their keys are not wanted.
    ///
    /// # Errors
    /// If the keys of a part cannot be read.
    pub fn for_query(
        layout: &Layout,
        (parts, is_wanted): (&[Arc<Part>], &WantedGroups<'_>),
        ids: Vec<usize>,
        (start, end): (Option<&KeyPlace>, Option<&KeyPlace>),
    ) -> Result<Self> {
        let start = start.map(KeyPlace::bytes);
        let mut rows = Self::from(
            layout,
            (parts, is_wanted),
            ids,
            (Purpose::Read, None, start),
        )?;
        rows.end = end.map(|end| end.bytes().to_vec());
        Ok(rows)
    }

    /// The rows combined as the table's engine does; `expiry` leaves rows out.
    pub(in crate::merge_tree) fn try_new(
        layout: &Layout,
        (parts, is_wanted): (&[Arc<Part>], &WantedGroups<'_>),
        ids: Vec<usize>,
        (purpose, expiry): (Purpose, Option<Expiry>),
    ) -> Result<Self> {
        Self::from(layout, (parts, is_wanted), ids, (purpose, expiry, None))
    }

    fn from(
        layout: &Layout,
        (parts, is_wanted): (&[Arc<Part>], &WantedGroups<'_>),
        ids: Vec<usize>,
        (purpose, expiry, start): (Purpose, Option<Expiry>, Option<&[u8]>),
    ) -> Result<Self> {
        let mut parts = parts.to_vec();
        parts.sort_by_key(|part| part.block_numbers());
        let types = layout.sorting_key.iter().map(|c| &layout.columns[*c]);
        let converter = KeyConverter::new(types.map(|c| c.data_type.physical()))?;
        let mut merged = Self {
            keys: Keys::new(layout.sorting_key.clone(), converter, expiry),
            cursors: Vec::new(),
            max_rows: max_rows(&parts, &ids),
            ids,
            combine: layout.combining().map(Arc::clone),
            purpose,
            end: None,
            last_key: None,
            carry: None,
            num_read: 0,
        };
        for (age, part) in parts.into_iter().enumerate() {
            if let Some(cursor) = Cursor::first(part, (is_wanted, start), &merged.keys)? {
                merged.cursors.push((age, cursor));
            }
        }
        for at in (0..merged.cursors.len() / 2).rev() {
            merged.sift_down(at);
        }
        Ok(merged)
    }

    /// How many rows of the parts have been read.
    pub fn num_read(&self) -> u64 {
        self.num_read
    }

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// If a part is damaged.
    pub fn next_rows(&mut self) -> Result<Option<Vec<ArrayRef>>> {
        loop {
            let taken = self.take()?;
            self.num_read += taken.num_rows as u64;
            let is_end = self.cursors.is_empty();
            if taken.num_rows == 0 && self.carry.is_none() {
                return Ok(None);
            }
            let columns = match taken.num_rows {
                0 => Vec::new(),
                _ => self.columns(&taken)?,
            };
            let columns = match self.combine.clone() {
                Some(combine) => self.combined(combine.as_ref(), columns, taken, is_end)?,
                None => columns,
            };
            if columns.first().is_some_and(|c| !c.is_empty()) {
                return Ok(Some(columns));
            }
        }
    }

    /// Which rows come next.
    fn take(&mut self) -> Result<Taken> {
        let mut taken = Taken::default();
        // The chunk of each part, while it is in the same group.
        let mut places: Vec<Option<(usize, usize)>> = Vec::new();
        while taken.num_rows < self.max_rows && !self.cursors.is_empty() {
            let mut len = self.run(self.max_rows - taken.num_rows);
            if let Some(end) = &self.end {
                len = self.cursors[0].1.run_before(end, false, len);
                if len == 0 {
                    self.cursors.clear();
                    break;
                }
            }
            let (age, cursor) = &mut self.cursors[0];
            if places.len() <= *age {
                places.resize(*age + 1, None);
            }
            let chunk = match places[*age] {
                Some((group, chunk)) if group == cursor.group() => chunk,
                _ => {
                    taken.chunks.push(cursor.chunk(&self.ids)?);
                    places[*age] = Some((cursor.group(), taken.chunks.len() - 1));
                    taken.chunks.len() - 1
                }
            };
            let start = cursor.row();
            if self.combine.is_some() {
                mark_starts(cursor, len, &mut self.last_key, &mut taken);
            }
            taken.num_rows += len;
            taken.runs.push(Run { chunk, start, len });
            if cursor.advance(len, &self.keys)? {
                self.sift_down(0);
            } else {
                self.cursors.swap_remove(0);
                self.sift_down(0);
            }
        }
        Ok(taken)
    }

    /// How many rows of the first cursor come before those of the others.
    fn run(&self, max: usize) -> usize {
        let (age, first) = &self.cursors[0];
        let second = match (self.cursors.get(1), self.cursors.get(2)) {
            (Some(a), Some(b)) if is_before(b, a) => b,
            (Some(a), _) => a,
            (None, _) => return max.min(first.rest()),
        };
        let key = second.1.key(second.1.row());
        first.run_before(key, *age < second.0, max).max(1)
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.cursors.len()
                    && is_before(&self.cursors[child], &self.cursors[least])
                {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.cursors.swap(at, least);
            at = least;
        }
    }

    fn columns(&self, taken: &Taken) -> Result<Vec<ArrayRef>> {
        (0..self.ids.len())
            .map(|column| gathered(taken, column))
            .collect()
    }

    /// One row for each key; the last key's stays back until it is known to have no other rows.
    fn combined(
        &mut self,
        combine: &dyn Combine,
        columns: Vec<ArrayRef>,
        taken: Taken,
        is_end: bool,
    ) -> Result<Vec<ArrayRef>> {
        let (mut columns, mut starts, mut num_rows) = (columns, taken.starts, taken.num_rows);
        if let Some(carry) = self.carry.take() {
            if columns.is_empty() {
                columns = carry;
            } else {
                let both = carry.iter().zip(&columns);
                let both = both.map(|(a, b)| concat(&[a.as_ref(), b.as_ref()]));
                columns = both
                    .collect::<std::result::Result<_, _>>()
                    .map_err(|e| Error::bug(e.to_string()))?;
            }
            starts.iter_mut().for_each(|start| *start += 1);
            starts.insert(0, 0);
            num_rows += 1;
        }
        if starts.len() < num_rows {
            columns = combine.combine(KeyedRows {
                ids: &self.ids,
                columns: &columns,
                starts: &starts,
                num_rows,
            })?;
            num_rows = starts.len();
        }
        if !is_end {
            num_rows -= 1;
            self.carry = Some(columns.iter().map(|c| c.slice(num_rows, 1)).collect());
            columns = columns.iter().map(|c| c.slice(0, num_rows)).collect();
        }
        let starts: Vec<u32> = (0..).take(num_rows).collect();
        let one_each = KeyedRows {
            ids: &self.ids,
            columns: &columns,
            starts: &starts,
            num_rows,
        };
        match combine.kept(one_each, self.purpose)? {
            Some(kept) => filtered(&columns, &kept),
            None => Ok(columns),
        }
    }
}

/// Which of two cursors comes first.
fn is_before(a: &(usize, Cursor), b: &(usize, Cursor)) -> bool {
    a.1.order(&b.1).then(a.0.cmp(&b.0)).is_lt()
}

/// Notes where keys begin among the next `len` rows.
fn mark_starts(cursor: &Cursor, len: usize, last_key: &mut Option<Vec<u8>>, taken: &mut Taken) {
    let first = cursor.row();
    let before = u32::try_from(taken.num_rows).unwrap_or(u32::MAX);
    for (number, row) in (before..).zip(first..first + len) {
        let key = cursor.key(row);
        let is_new = match row == first {
            true => last_key.as_deref() != Some(key),
            false => cursor.key(row - 1) != key,
        };
        if is_new {
            taken.starts.push(number);
        }
    }
    *last_key = Some(cursor.key(first + len - 1).to_vec());
}

/// A column of the rows that were taken.
fn gathered(taken: &Taken, column: usize) -> Result<ArrayRef> {
    let array = |run: &Run| taken.chunks[run.chunk][column].slice(run.start, run.len);
    let result = match &taken.runs[..] {
        [run] => return Ok(array(run)),
        runs if taken.num_rows / runs.len() >= LONG_RUN => {
            let pieces: Vec<ArrayRef> = runs.iter().map(array).collect();
            let pieces: Vec<&dyn Array> = pieces.iter().map(AsRef::as_ref).collect();
            concat(&pieces)
        }
        runs => {
            let arrays: Vec<&dyn Array> = taken.chunks.iter().map(|c| c[column].as_ref()).collect();
            let rows = |run: &Run| {
                let chunk = run.chunk;
                (run.start..run.start + run.len).map(move |row| (chunk, row))
            };
            let indices: Vec<(usize, usize)> = runs.iter().flat_map(rows).collect();
            interleave(&arrays, &indices)
        }
    };
    result.map_err(|e| Error::bug(e.to_string()))
}

/// The rows for which the flag is set.
pub(in crate::merge_tree) fn filtered(
    columns: &[ArrayRef],
    kept: &BooleanArray,
) -> Result<Vec<ArrayRef>> {
    let filtered = columns.iter().map(|c| filter(c, kept));
    let filtered = filtered.collect::<std::result::Result<_, _>>();
    filtered.map_err(|e| Error::bug(e.to_string()))
}

/// Rows of a batch: as many as a group has, fewer if the values are large.
fn max_rows(parts: &[Arc<Part>], ids: &[usize]) -> usize {
    let row_bytes = |part: &Arc<Part>| {
        let metadata = part.metadata();
        let columns = ids.iter().map(|id| metadata.columns[*id].decoded_bytes);
        columns.max().unwrap_or(0) / (metadata.num_rows() as u64).max(1)
    };
    let row_bytes = parts.iter().map(row_bytes).max().unwrap_or(0).max(1);
    let rows = usize::try_from(GROUP_BYTES as u64 / row_bytes).unwrap_or(1);
    rows.clamp(1, GROUP_ROWS)
}
