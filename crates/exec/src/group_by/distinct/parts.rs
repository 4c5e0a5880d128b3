//! The sets of one task, by part of the hash of the value, in memory and in files.

use std::sync::Arc;

use datafusion::error::Result;

use super::Tuning;
use super::block::{Block, MovedMaps, moved};
use super::entry::Entry;
use super::entry_set::EntrySet;
use super::scatter::Scatter;
use crate::group_by::spill::{Budget, SpillFile};

/// Most entries of a block in a file: reading one takes little memory.
const MAX_BLOCK_ENTRIES: usize = 128 << 10;

/// Entries that are added to other sets in one go.
const MOVED_TOGETHER: usize = 4096;

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

/// All sets of one task.
#[derive(Debug)]
pub(super) struct Parts<E> {
    tuning: Tuning,
    /// Bits of the hash that choose the part; 0 as long as all is in one set.
    bits: u32,
    /// Whether all entries wait to be counted, in one part.
    are_few: bool,
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
            are_few: false,
            parts: vec![Part::default()],
            scatter: Scatter::default(),
            file: None,
        }
    }

    /// About so many entries come, and then they are counted: if these are few, it is best to leave them as
    /// they are until then.
    pub(super) fn expect(&mut self, num_entries: usize) {
        if let (0, [part]) = (self.bits, self.parts.as_mut_slice()) {
            self.are_few = num_entries <= self.tuning.whole_len;
            if self.are_few {
                part.waiting.reserve(num_entries);
                part.is_mostly_new = true;
            } else {
                part.set.reserve(self.tuning.whole_len);
            }
        }
    }

    /// Adds entries.
    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = E>) {
        let mut entries = entries.into_iter();
        if self.are_few && self.leave_waiting(&mut entries) {
            return;
        }
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

    /// Lets entries wait as long as they are few; false if they are not, and those that are left go elsewhere.
    fn leave_waiting(&mut self, entries: &mut impl Iterator<Item = E>) -> bool {
        let [part] = self.parts.as_mut_slice() else {
            return false;
        };
        let mut last = part.waiting.last().copied();
        for entry in entries {
            if last != Some(entry) {
                last = Some(entry);
                part.waiting.push(entry);
            }
            if part.waiting.len() > self.tuning.whole_len {
                self.are_few = false;
                part.flush();
                return false;
            }
        }
        true
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
        self.are_few = false;
        self.bits = self.tuning.bits;
        let whole = std::mem::take(&mut self.parts);
        self.parts.resize_with(1 << self.bits, Part::default);
        for part in whole {
            part.set
                .for_each_slice(|entries| self.add_to_parts(entries.iter().copied()));
            self.add_to_parts(part.waiting.into_iter());
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

    /// Moves all entries into a file.
    pub(super) fn spill(&mut self, budget: &Budget) -> Result<()> {
        self.split();
        let file = match &self.file {
            Some(file) => Arc::clone(file),
            None => Arc::new(budget.create_file()?),
        };
        self.file = Some(Arc::clone(&file));
        self.parts
            .iter_mut()
            .try_for_each(|part| part.spill(&file, budget))
    }

    /// Whether entries are in a file.
    pub(super) fn has_blocks(&self) -> bool {
        self.file.is_some() && self.parts.iter().any(|part| !part.blocks.is_empty())
    }

    /// Takes some entries out of a file, each once, with numbers of their own for the groups; none are left
    /// if it gives none. Group `i` of what it gives is the `i`-th of the numbers that come with it.
    pub(super) fn take_block(&mut self) -> Result<Option<(Vec<u32>, Self)>> {
        let Some(block) = self.parts.iter_mut().find_map(|part| part.blocks.pop()) else {
            return Ok(None);
        };
        let mut entries: Vec<E> = Vec::new();
        block.for_each(|entry| entries.push(entry))?;
        entries.sort_unstable_by_key(|entry| entry.group());
        let mut groups: Vec<u32> = Vec::new();
        for entry in &mut entries {
            if groups.last() != Some(&entry.group()) {
                groups.push(entry.group());
            }
            // A block has fewer entries than 2^32, and no more groups than entries.
            *entry = E::new(groups.len() as u32 - 1, entry.value());
        }
        let mut taken = Self::new(self.tuning);
        taken.parts[0].waiting = entries;
        Ok(Some((groups, taken)))
    }

    /// Adds all entries of other sets, in the groups that `map` gives theirs; those in files stay there.
    pub(super) fn add_moved(&mut self, other: Self, map: &[u32]) -> Result<()> {
        if other.has_blocks() {
            self.split();
        }
        let mut moved_maps = MovedMaps::default();
        let mut moving = Vec::with_capacity(MOVED_TOGETHER);
        for (i, mut part) in other.parts.into_iter().enumerate() {
            let blocks = std::mem::take(&mut part.blocks).into_iter();
            let blocks = blocks.map(|block| block.moved(map, &mut moved_maps));
            // Both are in as many parts where there are files.
            if let Some(own) = self.parts.get_mut(i) {
                own.blocks.extend(blocks);
            }
            part.for_each(|entry| {
                moving.extend(moved(entry, map));
                if moving.len() == MOVED_TOGETHER {
                    self.extend(moving.drain(..));
                }
            })?;
        }
        self.extend(moving);
        self.file = self.file.take().or(other.file);
        Ok(())
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.parts.iter().map(Part::size_bytes).sum()
    }
}
