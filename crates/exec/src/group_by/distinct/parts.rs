//! The sets of one task, by part of the hash of the value, in memory and in files.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, RecordBatch, UInt32Array};
use arrow::datatypes::{Field, Schema, UInt32Type};
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::Tuning;
use super::entry::{Entry, Value};
use super::entry_set::EntrySet;
use super::scatter::Scatter;
use crate::group_by::spill::{Budget, SpillFile};

/// Most entries of a block in a file: reading one takes little memory.
const MAX_BLOCK_ENTRIES: usize = 128 << 10;

/// Entries that wait for each one in a set, if most were new last time.
const NEW_WAITING: usize = 16;

/// Entries of one part; one may be there in more than one of its places.
#[derive(Debug, Default)]
pub(super) struct Part<E> {
    pub(super) set: EntrySet<E>,
    /// Entries that are still to be put into the set.
    pub(super) waiting: Vec<E>,
    /// Whether more than half of those that waited last were not in the set.
    is_mostly_new: bool,
    /// Entries in a file.
    pub(super) blocks: Vec<Block>,
}

impl<E: Entry> Part<E> {
    /// Adds entries soon: once there are as many as make it worth to load the set.
    fn wait(&mut self, entries: &[E], min_waiting: usize) {
        self.waiting.extend_from_slice(entries);
        if self.waiting.len() >= min_waiting && self.waiting.len() >= self.worth_flushing() {
            self.flush();
        }
    }

    /// Entries that may wait before the set is worth loading. A set would only grow by new ones, again
    /// and again: the more of these wait, the less often it is built anew.
    fn worth_flushing(&self) -> usize {
        if self.is_mostly_new {
            self.set.len() * NEW_WAITING
        } else {
            self.set.len() / 2
        }
    }

    /// Puts all entries that wait into the set.
    pub(super) fn flush(&mut self) {
        let num_before = self.set.len();
        let set = &mut self.set;
        if self.is_mostly_new {
            set.insert_new(&self.waiting);
        } else {
            set.insert_all(&mut self.waiting);
        }
        self.is_mostly_new = (set.len() - num_before) * 2 > self.waiting.len();
        self.waiting.clear();
    }

    /// About how many entries there are in memory, each once.
    pub(super) fn most_entries(&self) -> usize {
        let num_new = if self.is_mostly_new {
            self.waiting.len()
        } else {
            0
        };
        self.set.len() + num_new
    }

    pub(super) fn is_empty(&self) -> bool {
        self.set.len() == 0 && self.waiting.is_empty() && self.blocks.is_empty()
    }

    /// Calls `f` with all entries, with some of them more than once.
    pub(super) fn for_each(&self, mut f: impl FnMut(E)) -> Result<()> {
        self.set.for_each(&mut f);
        self.waiting.iter().copied().for_each(&mut f);
        self.blocks
            .iter()
            .try_for_each(|block| block.for_each(&mut f))
    }

    fn size_bytes(&self) -> usize {
        self.set.size_bytes() + self.waiting.capacity() * size_of::<E>()
    }

    fn spill(&mut self, file: &Arc<SpillFile>, budget: &Budget) -> Result<()> {
        self.flush();
        self.waiting = Vec::new();
        let set = std::mem::take(&mut self.set);
        let mut entries: Vec<E> = Vec::with_capacity(set.len());
        set.for_each_slice(|some| entries.extend_from_slice(some));
        for entries in entries.chunks(MAX_BLOCK_ENTRIES) {
            self.blocks.push(Block::write(file, entries, budget)?);
        }
        Ok(())
    }
}

/// Some entries in a file.
#[derive(Debug)]
pub(super) struct Block {
    file: Arc<SpillFile>,
    place: Range<u64>,
}

impl Block {
    fn write<E: Entry>(file: &Arc<SpillFile>, entries: &[E], budget: &Budget) -> Result<Self> {
        let values = entries.iter().map(|entry| entry.value().to_native());
        let values = PrimitiveArray::<<E::Value as Value>::Arrow>::from_iter_values(values);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(values)];
        if E::HAS_GROUP {
            let groups = entries.iter().map(|entry| entry.group());
            columns.push(Arc::new(UInt32Array::from_iter_values(groups)));
        }
        let field = |c: &ArrayRef| Field::new("", c.data_type().clone(), false);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let place = file.append(&RecordBatch::try_new(Arc::new(schema), columns)?)?;
        budget.count_block(&place)?;
        Ok(Self {
            place,
            file: Arc::clone(file),
        })
    }

    pub(super) fn for_each<E: Entry>(&self, mut f: impl FnMut(E)) -> Result<()> {
        let batch = self.file.read(&self.place)?;
        let damaged = || internal_datafusion_err!("no entries in a block");
        let mut columns = batch.columns().iter();
        let values = columns.next();
        let values = values.and_then(|c| c.as_primitive_opt::<<E::Value as Value>::Arrow>());
        let values = values.ok_or_else(damaged)?.values().iter();
        let values = values.map(|native| E::Value::from_native(*native));
        if !E::HAS_GROUP {
            values.for_each(|value| f(E::new(0, value)));
            return Ok(());
        }
        let groups = columns
            .next()
            .and_then(|c| c.as_primitive_opt::<UInt32Type>());
        let groups = groups.ok_or_else(damaged)?.values().iter();
        groups
            .zip(values)
            .for_each(|(group, value)| f(E::new(*group, value)));
        Ok(())
    }
}

/// All sets of one task.
#[derive(Debug)]
pub(super) struct Parts<E> {
    tuning: Tuning,
    /// Bits of the hash that choose the part; 0 as long as all is in one set.
    bits: u32,
    pub(super) parts: Vec<Part<E>>,
    scatter: Scatter<E>,
    file: Option<Arc<SpillFile>>,
}

impl<E: Entry> Parts<E> {
    /// No entries yet.
    pub(super) fn new(tuning: Tuning) -> Self {
        Self {
            tuning,
            bits: 0,
            parts: vec![Part::default()],
            scatter: Scatter::default(),
            file: None,
        }
    }

    /// Makes room for so many entries, as far as they go into one set: it is not built anew then, again and
    /// again.
    pub(super) fn reserve(&mut self, num_entries: usize) {
        if let (0, [part]) = (self.bits, self.parts.as_mut_slice()) {
            part.set.reserve(num_entries.min(self.tuning.whole_len));
        }
    }

    /// Adds entries.
    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = E>) {
        let mut entries = entries.into_iter();
        // The same entry often comes many times in a row.
        let mut last = None;
        if let (0, [part]) = (self.bits, self.parts.as_mut_slice()) {
            for entry in entries.by_ref() {
                if last != Some(entry) {
                    last = Some(entry);
                    part.set.insert(entry);
                    if part.set.len() > self.tuning.whole_len {
                        break;
                    }
                }
            }
            if part.set.len() <= self.tuning.whole_len {
                return;
            }
            self.split();
        }
        let entries = entries.filter(|entry| last.replace(*entry) != Some(*entry));
        self.add_to_parts(entries);
    }

    fn add_to_parts(&mut self, entries: impl Iterator<Item = E>) {
        let Self { parts, tuning, .. } = self;
        self.scatter.run(entries, self.bits, |part, entries| {
            parts[part].wait(entries, tuning.min_waiting);
        });
    }

    /// Makes many sets of one.
    pub(super) fn split(&mut self) {
        if self.bits > 0 {
            return;
        }
        self.bits = self.tuning.bits;
        let whole = std::mem::take(&mut self.parts);
        self.parts.resize_with(1 << self.bits, Part::default);
        for part in whole {
            part.set
                .for_each_slice(|entries| self.add_to_parts(entries.iter().copied()));
        }
    }

    /// Whether there are too many entries for one set.
    pub(super) fn is_split(&self) -> bool {
        self.bits > 0
    }

    /// Whether there are no entries.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(Part::is_empty)
    }

    /// Calls `f` with all entries, with some of them more than once.
    pub(super) fn for_each(&self, mut f: impl FnMut(E)) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.for_each(&mut f))
    }

    /// Moves all entries into a file.
    pub(super) fn spill(&mut self, budget: &Budget) -> Result<()> {
        self.split();
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(SpillFile::create(budget.files())?),
        };
        self.file = Some(Arc::clone(&file));
        self.parts
            .iter_mut()
            .try_for_each(|part| part.spill(&file, budget))
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.parts.iter().map(Part::size_bytes).sum()
    }
}
