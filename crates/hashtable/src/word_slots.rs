//! The array of slots of a table whose keys are words; the keys' groups are numbered elsewhere.

use std::marker::PhantomData;

use basalt_kernels::prefetch::prefetch;

use crate::Word;
use crate::hash::HashWord;
use crate::runs::CHUNK;

const MIN_SLOTS: usize = 2 * CHUNK;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot<W> {
    pub(crate) key: W,
    /// Number of the group plus one; 0 if the slot is empty.
    pub(crate) group_plus_one: u32,
}

impl<W: Word> Slot<W> {
    #[inline]
    pub(crate) fn holds(&self, key: W) -> bool {
        self.group_plus_one != 0 && self.key == key
    }
}

/// Slots in open addressing with linear probing.
///
/// The number of slots is 0 or a power of two, at least twice the number of keys in them.
#[derive(Clone, Debug)]
pub(crate) struct WordSlots<W, H> {
    slots: Vec<Slot<W>>,
    hash: PhantomData<H>,
}

impl<W, H> Default for WordSlots<W, H> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            hash: PhantomData,
        }
    }
}

impl<W: Word, H: HashWord<W>> WordSlots<W, H> {
    /// Memory held, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<W>>()
    }

    /// Whether there are no slots, which there are from the first key on.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Empties all slots.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::default());
    }

    /// Groups of the keys in slots, in no order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u32> {
        let taken = self.slots.iter().filter(|slot| slot.group_plus_one != 0);
        taken.map(|slot| slot.group_plus_one - 1)
    }

    /// Where each key's probing starts; the slots there are asked for. There are slots.
    #[inline]
    pub(crate) fn prefetch_first(&self, keys: &[W], positions: &mut [usize; CHUNK]) {
        for (position, key) in positions.iter_mut().zip(keys) {
            *position = self.position(H::hash(*key));
            prefetch(&self.slots, *position);
        }
    }

    /// Looks from `position` on; 0 if the key is not there.
    pub(crate) fn find(&self, key: W, mut position: usize) -> u32 {
        let mask = self.slots.len() - 1;
        loop {
            let slot = self.slots[position];
            if slot.group_plus_one == 0 || slot.key == key {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
    }

    /// Looks from `position` on; a key that is not there is pushed to `keys` and becomes a group.
    pub(crate) fn find_or_insert(&mut self, key: W, mut position: usize, keys: &mut Vec<W>) -> u32 {
        let mask = self.slots.len() - 1;
        loop {
            let slot = &mut self.slots[position];
            if slot.group_plus_one == 0 {
                keys.push(key);
                // Callers have at most `MAX_GROUPS` keys.
                let group_plus_one = keys.len() as u32;
                *slot = Slot {
                    key,
                    group_plus_one,
                };
                return group_plus_one;
            }
            if slot.key == key {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
    }

    /// The slot at which a hash starts probing.
    #[inline]
    pub(crate) fn position(&self, hash: u64) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    /// The slot at `position`.
    #[inline]
    pub(crate) fn slot(&self, position: usize) -> Slot<W> {
        self.slots[position]
    }

    /// Makes room for `num_keys` keys in all.
    #[inline]
    pub(crate) fn reserve(&mut self, num_keys: usize) {
        if num_keys * 2 > self.slots.len() {
            self.grow(num_keys);
        }
    }

    /// Slots in the cache grow fourfold, more of them double.
    fn grow(&mut self, needed: usize) {
        let factor = if self.slots.len() < (1 << 16) { 4 } else { 2 };
        let wanted = (needed * 2).next_power_of_two().max(MIN_SLOTS);
        let num_slots = wanted.max(self.slots.len() * factor);
        let mask = num_slots - 1;
        let mut grown = vec![Slot::default(); num_slots];
        // Old slots in their order: the new places of neighbours are neighbours again.
        for slot in self.slots.iter().filter(|s| s.group_plus_one != 0) {
            let mut position = H::hash(slot.key) as usize & mask;
            while grown[position].group_plus_one != 0 {
                position = (position + 1) & mask;
            }
            grown[position] = *slot;
        }
        self.slots = grown;
    }
}
