//! Numbers groups by a word: open addressing, linear probing, at most half full.

use std::marker::PhantomData;

use crate::hash::{Fold, HashWord};
use crate::{MAX_GROUPS, TableFull, Word};

/// Rows that go through the small loops together. Their hashes and first slots stay in the L1
/// cache, and the table is grown at most once for them.
const CHUNK: usize = 256;

const MIN_SLOTS: usize = 2 * CHUNK;

#[derive(Clone, Copy, Debug, Default)]
struct Slot<W> {
    key: W,
    /// Number of the group plus one; 0 if the slot is empty.
    group_plus_one: u32,
}

/// Groups by key.
///
/// - The number of slots is a power of two, more than twice the number of keys in them.
/// - Keys in slots are all different; the key of group `g` is `keys[g]`.
/// - A slot is found by the low bits of the hash, so that splitting by the high bits first
///   leaves tables that are as good.
#[derive(Clone, Debug)]
pub struct WordTable<W, H = Fold> {
    slots: Vec<Slot<W>>,
    keys: Vec<W>,
    hash: PhantomData<H>,
}

impl<W: Word, H: HashWord<W>> Default for WordTable<W, H> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            keys: Vec::new(),
            hash: PhantomData,
        }
    }
}

impl<W: Word, H: HashWord<W>> WordTable<W, H> {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of each group.
    pub fn keys(&self) -> &[W] {
        &self.keys
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<W>>() + self.keys.capacity() * size_of::<W>()
    }

    /// Forgets all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.fill(Slot::default());
        self.keys.clear();
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<usize, TableFull> {
        if self.keys.len() >= MAX_GROUPS {
            return Err(TableFull);
        }
        self.keys.push(W::default());
        Ok(self.keys.len() - 1)
    }

    /// Appends the group of each key to `groups`; keys that are new become groups.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got some.
    pub fn intern(&mut self, keys: &[W], groups: &mut Vec<usize>) -> Result<(), TableFull> {
        groups.reserve(keys.len());
        for chunk in keys.chunks(CHUNK) {
            self.reserve(chunk.len())?;
            self.intern_chunk(chunk, groups);
        }
        Ok(())
    }

    /// There is room for all keys of the chunk.
    fn intern_chunk(&mut self, chunk: &[W], groups: &mut Vec<usize>) {
        let mask = self.slots.len() - 1;
        let mut positions = [0; CHUNK];
        for (position, key) in positions.iter_mut().zip(chunk) {
            *position = H::hash(*key) as usize & mask;
        }
        // Loads that depend on nothing: the processor waits for many of them at once.
        let mut first = [Slot::default(); CHUNK];
        for (slot, position) in first.iter_mut().zip(&positions[..chunk.len()]) {
            *slot = self.slots[*position];
        }
        for ((key, position), slot) in chunk.iter().zip(positions).zip(first) {
            let group_plus_one = if slot.group_plus_one != 0 && slot.key == *key {
                slot.group_plus_one
            } else {
                self.find_or_insert(*key, position)
            };
            groups.push(group_plus_one as usize - 1);
        }
    }

    /// Looks from `position` on; an empty slot becomes the key's.
    fn find_or_insert(&mut self, key: W, mut position: usize) -> u32 {
        let mask = self.slots.len() - 1;
        loop {
            let slot = &mut self.slots[position];
            if slot.group_plus_one == 0 {
                self.keys.push(key);
                // `reserve` has made sure that it fits.
                let group_plus_one = self.keys.len() as u32;
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

    /// Makes room for `additional` more keys.
    fn reserve(&mut self, additional: usize) -> Result<(), TableFull> {
        let needed = self.keys.len() + additional;
        if needed > MAX_GROUPS {
            return Err(TableFull);
        }
        if needed * 2 > self.slots.len() {
            self.grow(needed);
        }
        Ok(())
    }

    /// Tables in the cache grow fourfold, larger ones double.
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::{HashWord, Word, WordTable};
    use crate::{Fold, Zero};

    fn check<W: Word, H: HashWord<W>>(batches: &[Vec<W>]) {
        let mut table = WordTable::<W, H>::default();
        let mut model: HashMap<W, usize> = HashMap::new();
        for batch in batches {
            let mut groups = Vec::new();
            table.intern(batch, &mut groups).unwrap();
            let expected: Vec<usize> = batch
                .iter()
                .map(|key| {
                    let next = model.len();
                    *model.entry(*key).or_insert(next)
                })
                .collect();
            assert_eq!(groups, expected);
        }
        assert_eq!(table.len(), model.len());
        for (group, key) in table.keys().iter().enumerate() {
            assert_eq!(model[key], group);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(
            narrow in prop::collection::vec(prop::collection::vec(0u64..50, 0..600), 0..8),
            wide in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..900), 0..8),
        ) {
            for batches in [&narrow, &wide] {
                check::<u64, Fold>(batches);
                let map = |f: fn(u64) -> u128| -> Vec<Vec<u128>> {
                    batches.iter().map(|b| b.iter().map(|k| f(*k)).collect()).collect()
                };
                check::<u128, Fold>(&map(|k| u128::from(k) << 64 | u128::from(k / 3)));
                let small: Vec<Vec<u32>> =
                    batches.iter().map(|b| b.iter().map(|k| *k as u32).collect()).collect();
                check::<u32, Fold>(&small);
            }
            check::<u64, Zero>(&narrow);
        }
    }

    #[test]
    fn many_keys_under_one_hash() {
        let keys: Vec<u64> = (0..3000).chain(0..3000).collect();
        check::<u64, Zero>(&[keys.clone(), keys]);
    }

    #[test]
    fn a_million_keys() {
        let keys: Vec<u64> = (0..1_000_000u64)
            .map(|i| i.wrapping_mul(7919) % 300_007)
            .collect();
        check::<u64, Fold>(&[keys.clone(), keys]);
    }

    #[test]
    fn an_unkeyed_group_is_found_by_no_key() {
        let mut table = WordTable::<u64>::default();
        assert_eq!(table.add_unkeyed(), Ok(0));
        let mut groups = Vec::new();
        table.intern(&[0, 1, 0], &mut groups).unwrap();
        assert_eq!(groups, [1, 2, 1]);
        assert_eq!(table.len(), 3);
        table.clear();
        assert!(table.is_empty());
        table.intern(&[1, 0], &mut groups).unwrap();
        assert_eq!(groups, [1, 2, 1, 0, 1]);
    }
}
