//! Groups by integer keys of a small range: the key itself is the number of the group.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, RecordBatch};
use basalt_functions::aggregate::Groups;
use basalt_kernels::average::NUM_KEYS;
use basalt_kernels::seen;
use datafusion::error::Result;
use datafusion::execution::memory_pool::MemoryReservation;

use super::Grouping;
use super::bounds::Bounds;
use super::dense_merge::{DensePart, MergeRange};
use super::grouping::{AggregateArgs, PlannedKeys};
use super::key_bounds::num_keys;
use super::layout::Layout;
use super::merged::{Emit, Merged, result_batch};
use super::spill::Budget;
use super::states::{Exported, States};
use super::top::columns_of;
use crate::compile::FoundGroups;

/// Ordinals that are merged together.
pub(super) const UNIT: usize = 32 << 10;

/// Times that a layout is changed before giving up.
const MAX_CHANGES: usize = 8;

/// Possible groups up to which it is counted after every batch how many there are.
const MAX_COUNTED: usize = 4096;

/// Groups of one task, indexed by ordinal. Ordinals that no row has are no groups.
#[derive(Debug)]
pub(super) struct Dense {
    grouping: Arc<Grouping>,
    layout: Layout,
    /// Number of ordinals.
    len: usize,
    states: States,
    /// Which ordinals are groups, if no count says so.
    seen: Option<Vec<bool>>,
    /// Most groups that there can be, and those that there were after the last batch, where the keys'
    /// expressions tell: once these are as many, no more need to be marked.
    num_possible: Option<usize>,
    num_seen: usize,
    num_changes: usize,
    ordinals: Vec<u32>,
    narrow_ordinals: Vec<u8>,
}

impl Dense {
    /// No groups yet, for keys of which the first are in `bounds`.
    pub(super) fn try_new(
        grouping: &Arc<Grouping>,
        columns: &[ArrayRef],
        bounds: &[Bounds],
        max_len: usize,
    ) -> Option<Self> {
        let types = columns.iter().map(|c| c.data_type().clone());
        let layout = Layout::try_new(types, bounds, max_len)?;
        Some(Self::with_layout(grouping, layout))
    }

    /// No groups yet, for keys of which the expressions tell the bounds.
    pub(super) fn planned(grouping: &Arc<Grouping>, keys: &PlannedKeys) -> Option<Self> {
        let PlannedKeys {
            types,
            bounds,
            max_len,
        } = keys;
        let within: Vec<Bounds> = bounds.iter().map(|i| Bounds::within(*i)).collect();
        let layout = Layout::try_new(types.iter().cloned(), &within, *max_len)?;
        let len = layout.len_for(&within, *max_len)?;
        let num_possible = Some(num_keys(bounds)).filter(|keys| *keys <= MAX_COUNTED);
        Some(Self {
            len,
            num_possible,
            ..Self::with_layout(grouping, layout)
        })
    }

    fn with_layout(grouping: &Arc<Grouping>, layout: Layout) -> Self {
        let states = States::new(grouping);
        Self {
            grouping: Arc::clone(grouping),
            layout,
            len: 0,
            seen: (!states.counts_rows()).then(Vec::new),
            states,
            num_possible: None,
            num_seen: 0,
            num_changes: 0,
            ordinals: Vec::new(),
            narrow_ordinals: Vec::new(),
        }
    }

    /// Makes the layout fit keys in `bounds`; false if it cannot have at most `max_len` ordinals.
    pub(super) fn fit(&mut self, bounds: &[Bounds], max_len: usize) -> Result<bool> {
        let max_len = max_len.max(self.len);
        if let Some(len) = self.layout.len_for(bounds, max_len) {
            self.len = self.len.max(len);
            return Ok(true);
        }
        let joined = self.layout.join(&self.layout.bounds(self.len), bounds);
        let layout = Layout::try_new(self.layout.types(), &joined, max_len);
        let (Some(layout), true) = (layout, self.num_changes < MAX_CHANGES) else {
            return Ok(false);
        };
        let Some(len) = layout.len_for(&joined, max_len) else {
            return Ok(false);
        };
        self.num_changes += 1;
        self.change_layout(layout, len)?;
        Ok(true)
    }

    fn change_layout(&mut self, layout: Layout, len: usize) -> Result<()> {
        let mut changed = Self::with_layout(&self.grouping, layout);
        changed.len = len;
        changed.num_changes = self.num_changes;
        self.take_groups(UNIT, |columns, exported, rows| {
            changed.layout.ordinals(columns, &mut changed.ordinals)?;
            changed.mark();
            let ids = Some(changed.ordinals.as_slice());
            let groups = Groups {
                ids,
                num_groups: len,
                num_rows: rows.len(),
            };
            changed.states.merge(exported, rows, groups)
        })?;
        *self = changed;
        Ok(())
    }

    /// Adds rows whose keys fit the layout.
    pub(super) fn push(&mut self, columns: &[ArrayRef], args: &AggregateArgs) -> Result<()> {
        if let Some(keys) = self.layout.byte_ordinals(columns) {
            return self.push_bytes(keys, columns, args);
        }
        self.layout.ordinals(columns, &mut self.ordinals)?;
        self.push_ordinals(args)
    }

    /// Adds rows if their keys fit the layout with at most `max_len` ordinals, or as many as it has;
    /// whether it did.
    ///
    /// Where keys are in the bounds of those before, this saves the look for their own.
    pub(super) fn push_if_fits(
        &mut self,
        columns: &[ArrayRef],
        args: &AggregateArgs,
        max_len: usize,
    ) -> Result<bool> {
        if self.layout.byte_ordinals(columns).is_some() {
            return Ok(false);
        }
        let max_len = max_len.max(self.len);
        if let Some(len) = self
            .layout
            .narrow_ordinals(columns, &mut self.narrow_ordinals)
            && len <= max_len
        {
            self.len = self.len.max(len);
            return self.push_narrow(args).map(|()| true);
        }
        let len = self.layout.ordinals(columns, &mut self.ordinals)?;
        let Some(len) = len.filter(|len| *len <= max_len) else {
            return Ok(false);
        };
        self.len = self.len.max(len);
        self.push_ordinals(args).map(|()| true)
    }

    /// Adds groups whose keys fit the layout.
    pub(super) fn push_groups(&mut self, found: &FoundGroups) -> Result<()> {
        self.layout.ordinals(&found.keys, &mut self.ordinals)?;
        self.mark();
        let groups = Groups {
            ids: Some(&self.ordinals),
            num_groups: self.len,
            num_rows: found.places.len(),
        };
        self.states.merge(&found.states, &found.places, groups)
    }

    /// Adds rows of which the ordinals are known.
    fn push_ordinals(&mut self, args: &AggregateArgs) -> Result<()> {
        self.mark();
        let groups = Groups {
            ids: Some(&self.ordinals),
            num_groups: self.len,
            num_rows: self.ordinals.len(),
        };
        self.states.update(args, groups)
    }

    /// Adds rows whose only key is its own ordinal.
    fn push_bytes(
        &mut self,
        keys: &[u8],
        columns: &[ArrayRef],
        args: &AggregateArgs,
    ) -> Result<()> {
        self.mark_bytes(keys);
        let (layout, ordinals) = (&self.layout, &mut self.ordinals);
        let len = self.len;
        self.states.update_bytes(args, keys, || {
            layout.ordinals(columns, ordinals)?;
            Ok(Groups {
                ids: Some(ordinals),
                num_groups: len,
                num_rows: keys.len(),
            })
        })
    }

    /// Adds rows whose ordinals are known and are bytes.
    fn push_narrow(&mut self, args: &AggregateArgs) -> Result<()> {
        let narrow = std::mem::take(&mut self.narrow_ordinals);
        self.mark_bytes(&narrow);
        let (ordinals, len) = (&mut self.ordinals, self.len);
        let updated = self.states.update_bytes(args, &narrow, || {
            ordinals.clear();
            ordinals.extend(narrow.iter().map(|ordinal| u32::from(*ordinal)));
            Ok(Groups {
                ids: Some(ordinals),
                num_groups: len,
                num_rows: narrow.len(),
            })
        });
        self.narrow_ordinals = narrow;
        updated
    }

    /// Marks ordinals that are bytes.
    fn mark_bytes(&mut self, ordinals: &[u8]) {
        let Some(seen) = &mut self.seen else {
            return;
        };
        if self.num_possible == Some(self.num_seen) {
            return;
        }
        seen.resize(seen.len().max(NUM_KEYS), false);
        if let Some(seen) = seen.first_chunk_mut() {
            seen::mark(ordinals, seen);
        }
        if self.num_possible.is_some() {
            self.num_seen = seen.iter().filter(|seen| **seen).count();
        }
    }

    fn mark(&mut self) {
        let Some(seen) = &mut self.seen else {
            return;
        };
        if self.num_possible == Some(self.num_seen) {
            return;
        }
        if seen.len() < self.len {
            seen.resize(self.len.next_power_of_two(), false);
        }
        self.ordinals
            .iter()
            .for_each(|ordinal| seen[*ordinal as usize] = true);
        if self.num_possible.is_some() {
            self.num_seen = seen.iter().filter(|seen| **seen).count();
        }
    }

    /// Gives all groups to `f`, those of `portion` ordinals at a time: key columns, states, and
    /// which rows of the states.
    pub(super) fn take_groups(
        &mut self,
        portion: usize,
        mut f: impl FnMut(&[ArrayRef], &[Exported], &[u32]) -> Result<()>,
    ) -> Result<()> {
        if self.states.is_better_exported_in_parts() {
            return self.take_parts(portion, f);
        }
        let part = self.take_part(self.len)?;
        for start in (0..self.len).step_by(portion) {
            let end = self.len.min(start + portion);
            let rows = part.rows(start..end);
            if !rows.is_empty() {
                f(&self.layout.columns(&rows)?, &part.states, &rows)?;
            }
        }
        Ok(())
    }

    /// The same where states are copied on their way, so that there are never copies of all.
    fn take_parts(
        &mut self,
        portion: usize,
        mut f: impl FnMut(&[ArrayRef], &[Exported], &[u32]) -> Result<()>,
    ) -> Result<()> {
        for start in (0..self.len).step_by(portion) {
            let end = self.len.min(start + portion);
            let seen = self.seen.as_ref().map(|seen| {
                let end = end.min(seen.len());
                seen.get(start..end).unwrap_or_default().to_vec()
            });
            let part = DensePart {
                states: self.states.export_range(start..end)?,
                seen,
            };
            let rows = part.rows(0..end - start);
            if !rows.is_empty() {
                // Ordinals have at most 31 bits.
                let ordinals: Vec<u32> = rows.iter().map(|row| row + start as u32).collect();
                f(&self.layout.columns(&ordinals)?, &part.states, &rows)?;
            }
        }
        self.states = States::new(&self.grouping);
        self.seen = None;
        self.num_seen = 0;
        Ok(())
    }

    /// The states of `len` ordinals; none are left.
    fn take_part(&mut self, len: usize) -> Result<DensePart> {
        self.num_seen = 0;
        Ok(DensePart {
            states: self.states.export(len)?,
            seen: self.seen.take(),
        })
    }

    /// Number of ordinals.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Moves the distinct values of all groups into files if these are most of what it holds; false if not.
    pub(super) fn spill_sets(&mut self, budget: &Budget) -> Result<bool> {
        let size_bytes = self.size_bytes();
        self.states.spill_sets(size_bytes, budget)
    }

    /// Whether distinct values are in files.
    pub(super) fn has_sets_in_files(&self) -> bool {
        self.states.has_blocks()
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        let seen = self.seen.as_ref().map_or(0, Vec::capacity);
        let ordinals =
            self.ordinals.capacity() * size_of::<u32>() + self.narrow_ordinals.capacity();
        seen + self.states.size_bytes() + ordinals
    }
}

/// A layout that has room for the groups of all `parts`, and its number of ordinals.
fn common_layout(parts: &[Dense], max_len: usize) -> Option<(Layout, usize)> {
    let (first, others) = parts.split_first()?;
    let (mut layout, mut len) = (first.layout.clone(), first.len);
    for part in others {
        if part.layout == layout {
            len = len.max(part.len);
            continue;
        }
        let joined = layout.join(&layout.bounds(len), &part.layout.bounds(part.len));
        layout = Layout::try_new(layout.types(), &joined, max_len)?;
        len = layout.len_for(&joined, max_len)?;
    }
    Some((layout, len))
}

/// Makes one result of the groups of several tasks; `None` if no layout of at most `max_len`
/// ordinals has room for them all.
pub(super) fn merge(parts: &mut [Dense], max_len: usize) -> Result<Option<DenseMerged>> {
    let Some((layout, len)) = common_layout(parts, max_len) else {
        return Ok(None);
    };
    let grouping = Arc::clone(&parts[0].grouping);
    let mut exported = Vec::with_capacity(parts.len());
    for part in parts {
        if part.layout != layout {
            part.change_layout(layout.clone(), len)?;
        }
        exported.push(part.take_part(len)?);
    }
    let next = AtomicUsize::new(0);
    Ok(Some(DenseMerged {
        grouping,
        layout,
        len,
        parts: exported,
        next,
        memory: Vec::new(),
    }))
}

/// Groups of several tasks in one layout, still to be merged.
pub(super) struct DenseMerged {
    grouping: Arc<Grouping>,
    layout: Layout,
    len: usize,
    parts: Vec<DensePart>,
    /// The first ordinal that no thread has taken.
    next: AtomicUsize,
    memory: Vec<MemoryReservation>,
}

impl DenseMerged {
    /// Number of ordinals.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Keeps the memory reserved until all is handed out.
    pub(super) fn hold(mut self, memory: Vec<MemoryReservation>) -> Self {
        self.memory = memory;
        self
    }

    /// The groups among the ordinals in `range`, as rows of the result.
    fn groups(&self, range: Range<usize>) -> Result<RecordBatch> {
        let mut merge = MergeRange::new(&self.grouping, &self.parts, range);
        let mut states = merge.states()?;
        let all = merge.rows();
        let top = self.grouping.top.as_ref();
        let wanted = top.map(|top| top.wanted(&mut states, all.len()));
        if let Some(wanted) = wanted.transpose()?.flatten() {
            let results = columns_of(&wanted, |range| states.finish(range))?;
            let all: Vec<u32> = wanted.into_iter().flatten().map(|i| all[i]).collect();
            let mut columns = self.layout.columns(&all)?;
            columns.extend(results);
            return result_batch(&self.grouping, columns, all.len());
        }
        let mut columns = self.layout.columns(all)?;
        columns.extend(states.finish(0..all.len())?);
        result_batch(&self.grouping, columns, all.len())
    }
}

impl Merged for DenseMerged {
    fn next_groups(&self) -> Result<Option<Box<dyn Emit>>> {
        let start = self.next.fetch_add(UNIT, Ordering::Relaxed);
        if start >= self.len {
            return Ok(None);
        }
        let batch = self.groups(start..self.len.min(start + UNIT))?;
        Ok(Some(Box::new(Rows {
            batch,
            num_emitted: 0,
        })))
    }
}

/// Rows of the result that are ready.
struct Rows {
    batch: RecordBatch,
    num_emitted: usize,
}

impl Emit for Rows {
    fn next_batch(&mut self, max_rows: usize) -> Result<Option<RecordBatch>> {
        let num_rows = max_rows.min(self.batch.num_rows() - self.num_emitted);
        if num_rows == 0 {
            return Ok(None);
        }
        let batch = self.batch.slice(self.num_emitted, num_rows);
        self.num_emitted += num_rows;
        Ok(Some(batch))
    }
}
