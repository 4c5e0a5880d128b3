//! A set of entries: open addressing with linear probing.
//!
//! The number of slots is a power of two, at most half of them are taken, and a free one holds the
//! default entry; whether that is in the set is a flag.

use basalt_kernels::prefetch::prefetch;

use super::entry::Entry;

/// Slots of a set that takes its first entry.
const MIN_SLOTS: usize = 16;

/// Slots up to which a set that is full gets four times as many, not twice.
const SMALL_SLOTS: usize = 4096;

/// Entries whose slots are asked for ahead of time.
const AHEAD: usize = 64;

/// Slots that are looked at together.
const SLOTS_TOGETHER: usize = 256;

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

    /// Adds entries of which most are new.
    pub(super) fn insert_new(&mut self, entries: &[E]) {
        self.reserve(self.len() + entries.len());
        for (i, entry) in entries.iter().enumerate() {
            if let Some(ahead) = entries.get(i + AHEAD) {
                ask_for(&self.slots, *ahead);
            }
            self.insert(*entry);
        }
    }

    /// Adds entries; what is left in `entries` is of no use.
    ///
    /// Those that are found in the first slot they may be in are picked out before, without a jump
    /// that depends on it: whether an entry is new cannot be foretold, and a processor that foretells
    /// wrongly throws away the loads of the next entries, too.
    pub(super) fn insert_all(&mut self, entries: &mut [E]) {
        let num_left = self.pick_out_known(entries);
        for entry in &entries[..num_left] {
            self.insert(*entry);
        }
    }

    /// Moves those entries to the front that are not in the first slot they may be in; how many.
    fn pick_out_known(&mut self, entries: &mut [E]) -> usize {
        let Some(mask) = self.slots.len().checked_sub(1) else {
            return entries.len();
        };
        let mut num_left = 0;
        for i in 0..entries.len() {
            if let Some(ahead) = entries.get(i + AHEAD) {
                ask_for(&self.slots, *ahead);
            }
            let entry = entries[i];
            // The default is found in any free slot.
            self.has_default |= entry.is(E::default());
            entries[num_left] = entry;
            num_left += usize::from(!self.slots[entry.hash() as usize & mask].is(entry));
        }
        num_left
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
        for_each_taken(&self.slots, |entries| {
            let slots = &mut slots;
            entries.iter().for_each(|entry| ask_for(slots, *entry));
            entries.iter().for_each(|entry| place_new(slots, *entry));
        });
        self.slots = slots;
    }

    /// Calls `f` with all entries, many at a time.
    pub(super) fn for_each_slice(&self, mut f: impl FnMut(&mut [E])) {
        for_each_taken(&self.slots, &mut f);
        if self.has_default {
            f(&mut [E::default()]);
        }
    }

    /// Calls `f` with all entries.
    pub(super) fn for_each(&self, mut f: impl FnMut(E)) {
        self.for_each_slice(|entries| entries.iter().for_each(|entry| f(*entry)));
    }

    /// Memory held, in bytes.
    pub(super) fn size_bytes(&self) -> usize {
        self.slots.len() * size_of::<E>()
    }
}

/// Calls `f` with what is in the slots that are taken, without a jump for each slot.
fn for_each_taken<E: Entry>(slots: &[E], mut f: impl FnMut(&mut [E])) {
    let mut taken = [E::default(); SLOTS_TOGETHER];
    for slots in slots.chunks(SLOTS_TOGETHER) {
        let mut num_taken = 0;
        for slot in slots {
            taken[num_taken] = *slot;
            num_taken += usize::from(!slot.is(E::default()));
        }
        f(&mut taken[..num_taken]);
    }
}

/// Asks for the first slot that an entry may be in.
#[inline]
fn ask_for<E: Entry>(slots: &[E], entry: E) {
    prefetch(slots, entry.hash() as usize & slots.len().wrapping_sub(1));
}

/// Puts an entry that is not there where it belongs. There is a free slot.
#[inline]
fn place_new<E: Entry>(slots: &mut [E], entry: E) {
    let mask = slots.len() - 1;
    let mut slot = entry.hash() as usize & mask;
    while !slots[slot].is(E::default()) {
        slot = (slot + 1) & mask;
    }
    slots[slot] = entry;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop, proptest};

    use super::super::entry::{Entry, Paired};
    use super::EntrySet;

    /// An entry whose hash is that of all others.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Colliding(Paired<u64>);

    impl Entry for Colliding {
        type Value = u64;
        const HAS_GROUP: bool = true;

        fn new(group: u32, value: u64) -> Self {
            Self(Paired::new(group, value))
        }

        fn group(self) -> u32 {
            self.0.group()
        }

        fn value(self) -> u64 {
            self.0.value()
        }

        fn hash(self) -> u64 {
            0
        }

        fn is(self, other: Self) -> bool {
            self.0.is(other.0)
        }
    }

    /// Adds batches in the three ways there are, in turn; gives what is in the set.
    fn filled<E: Entry<Value = u64>>(batches: &[Vec<(u32, u64)>]) -> BTreeSet<(u32, u64)> {
        let mut set = EntrySet::default();
        for (i, batch) in batches.iter().enumerate() {
            let entries = batch.iter().map(|(group, value)| E::new(*group, *value));
            let mut entries: Vec<E> = entries.collect();
            match i % 3 {
                0 => set.insert_all(&mut entries),
                1 => set.insert_new(&entries),
                _ => entries.iter().for_each(|entry| set.insert(*entry)),
            }
        }
        let mut found = BTreeSet::new();
        set.for_each(|entry| assert!(found.insert((entry.group(), entry.value()))));
        assert_eq!(found.len(), set.len());
        found
    }

    proptest! {
        /// What the standard library's set has, whether hashes tell entries apart or not.
        #[test]
        fn sets_hold_each_entry_once(
            batches in prop::collection::vec(prop::collection::vec((0u32..4, 0u64..200), 0..100), 0..8),
        ) {
            let expected: BTreeSet<_> = batches.iter().flatten().copied().collect();
            assert_eq!(filled::<Colliding>(&batches), expected);
            assert_eq!(filled::<Paired<u64>>(&batches), expected);
        }
    }
}
