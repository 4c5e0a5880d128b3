//! A set of entries: open addressing with linear probing.
//!
//! The number of slots is a power of two, at most half of them are taken, and a free one holds the
//! default entry; whether that is in the set is a flag.

use super::entry::Entry;

/// Slots of a set that takes its first entry.
const MIN_SLOTS: usize = 16;

/// Slots up to which a set that is full gets four times as many, not twice.
const SMALL_SLOTS: usize = 4096;

/// Entries, each once.
#[derive(Clone, Debug, Default)]
pub(super) struct EntrySet<E> {
    slots: Vec<E>,
    /// Slots that are taken.
    num_taken: usize,
    has_default: bool,
}

impl<E: Entry> EntrySet<E> {
    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.num_taken + usize::from(self.has_default)
    }

    /// Adds an entry.
    #[inline]
    pub(super) fn insert(&mut self, entry: E) {
        if entry == E::default() {
            self.has_default = true;
            return;
        }
        if self.num_taken * 2 >= self.slots.len() {
            self.grow();
        }
        if place(&mut self.slots, entry) {
            self.num_taken += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let num_slots = match self.slots.len() {
            0 => MIN_SLOTS,
            few if few < SMALL_SLOTS => few * 4,
            many => many * 2,
        };
        self.resize(num_slots);
    }

    /// Makes room for as many entries in all.
    pub(super) fn reserve(&mut self, num_entries: usize) {
        let num_slots = (num_entries * 2).next_power_of_two();
        if num_entries > 0 && num_slots > self.slots.len() {
            self.resize(num_slots);
        }
    }

    fn resize(&mut self, num_slots: usize) {
        let mut slots = vec![E::default(); num_slots];
        for entry in self.slots.iter().filter(|e| **e != E::default()) {
            place(&mut slots, *entry);
        }
        self.slots = slots;
    }

    /// All entries.
    pub(super) fn iter(&self) -> impl Iterator<Item = E> {
        let taken = self.slots.iter().copied().filter(|e| *e != E::default());
        taken.chain(self.has_default.then(E::default))
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.slots.len() * size_of::<E>()
    }
}

/// Puts an entry where it belongs; whether it is new. There is a free slot.
#[inline]
fn place<E: Entry>(slots: &mut [E], entry: E) -> bool {
    let mask = slots.len() - 1;
    let mut slot = entry.hash() as usize & mask;
    loop {
        let taken = slots[slot];
        if taken == entry {
            return false;
        }
        if taken == E::default() {
            slots[slot] = entry;
            return true;
        }
        slot = (slot + 1) & mask;
    }
}
