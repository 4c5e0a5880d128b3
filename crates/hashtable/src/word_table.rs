//! Numbers groups by a word: open addressing, linear probing, at most half full.

use crate::hash::{Fold, HashWord};
use crate::runs::{CHUNK, RunFinder};
use crate::word_slots::{Slot, WordSlots};
use crate::{MAX_GROUPS, NOT_FOUND, TableFull, Word};

/// Slots of this size are in the second-level cache, where a load waits for less than it costs to
/// load ahead. Pays in bench `intern`.
const NEAR_BYTES: usize = 256 << 10;

/// Groups by key.
///
/// - Keys in slots are all different; the key of group `g` is `keys[g]`.
/// - A slot is found by the low bits of the hash, so that splitting by the high bits first
///   leaves tables that are as good.
#[derive(Clone, Debug)]
pub struct WordTable<W, H = Fold> {
    slots: WordSlots<W, H>,
    keys: Vec<W>,
    runs: RunFinder,
}

impl<W: Word, H: HashWord<W>> Default for WordTable<W, H> {
    fn default() -> Self {
        Self {
            slots: WordSlots::default(),
            keys: Vec::new(),
            runs: RunFinder::default(),
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
        self.slots.size_bytes() + self.keys.capacity() * size_of::<W>()
    }

    /// Forgets all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.keys.clear();
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<u32, TableFull> {
        if self.keys.len() >= MAX_GROUPS {
            return Err(TableFull);
        }
        self.keys.push(W::default());
        Ok(self.keys.len() as u32 - 1)
    }

    /// Appends the group of each key to `groups`; keys that are new become groups.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got any.
    pub fn intern(&mut self, keys: &[W], groups: &mut Vec<u32>) -> Result<(), TableFull> {
        let mut runs = std::mem::take(&mut self.runs);
        let is_same = |a, b| a == b;
        let done = runs.intern(keys, groups, is_same, |chunk, groups| {
            self.intern_chunk(chunk, groups)
        });
        self.runs = runs;
        done
    }

    /// Writes the group of each key of a chunk.
    fn intern_chunk(&mut self, chunk: &[W], groups: &mut [u32]) -> Result<(), TableFull> {
        let needed = self.keys.len() + chunk.len();
        if needed > MAX_GROUPS {
            return Err(TableFull);
        }
        self.slots.reserve(needed);
        if self.slots.size_bytes() <= NEAR_BYTES {
            for (key, group) in chunk.iter().zip(groups) {
                let position = self.slots.position(H::hash(*key));
                *group = self.group_of(*key, position, self.slots.slot(position));
            }
            return Ok(());
        }
        let mut positions = [0; CHUNK];
        self.slots.prefetch_first(chunk, &mut positions);
        for ((key, position), group) in chunk.iter().zip(&positions).zip(groups) {
            *group = self.group_of(*key, *position, self.slots.slot(*position));
        }
        Ok(())
    }

    /// The group of a key whose search starts at `position`, where `slot` lies.
    #[inline]
    fn group_of(&mut self, key: W, position: usize, slot: Slot<W>) -> u32 {
        let group_plus_one = if slot.holds(key) {
            slot.group_plus_one
        } else {
            self.slots.find_or_insert(key, position, &mut self.keys)
        };
        group_plus_one - 1
    }

    /// Appends the group of each key to `groups`, [`NOT_FOUND`] for keys that have none.
    pub fn find(&self, keys: &[W], groups: &mut Vec<u32>) {
        if self.slots.is_empty() {
            groups.extend(keys.iter().map(|_| NOT_FOUND));
            return;
        }
        groups.reserve(keys.len());
        for chunk in keys.chunks(CHUNK) {
            let mut positions = [0; CHUNK];
            self.slots.prefetch_first(chunk, &mut positions);
            for (key, position) in chunk.iter().zip(positions) {
                let group_plus_one = self.slots.find(*key, position);
                groups.push(group_plus_one.wrapping_sub(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::{HashWord, Word, WordTable};
    use crate::{Fold, NOT_FOUND, Zero};

    fn check<W: Word, H: HashWord<W>>(batches: &[Vec<W>]) {
        let mut table = WordTable::<W, H>::default();
        let mut model: HashMap<W, u32> = HashMap::new();
        for batch in batches {
            let mut groups = Vec::new();
            table.intern(batch, &mut groups).unwrap();
            let expected: Vec<u32> = batch
                .iter()
                .map(|key| {
                    let next = model.len() as u32;
                    *model.entry(*key).or_insert(next)
                })
                .collect();
            assert_eq!(groups, expected);
        }
        assert_eq!(table.len(), model.len());
        for batch in batches {
            let mut found = Vec::new();
            table.find(batch, &mut found);
            assert!(
                batch
                    .iter()
                    .zip(&found)
                    .all(|(key, group)| model[key] == *group)
            );
            let mut absent = Vec::new();
            WordTable::<W, H>::default().find(batch, &mut absent);
            assert!(absent.iter().all(|group| *group == NOT_FOUND));
        }
        for (group, key) in table.keys().iter().enumerate() {
            assert_eq!(model[key], group as u32);
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
