//! Numbers groups by a word in many small tables, told apart by the high bits of the hash.
//!
//! What one small table holds can be merged with the same small table of another thread without
//! looking at any other, and each grows for itself. Groups are numbered across all of them, so that
//! states lie in one place.

use crate::hash::{Fold, HashWord};
use crate::radix::{Partitions, partition_of};
use crate::runs::{CHUNK, RunFinder};
use crate::word_slots::{Slot, WordSlots};
use crate::{MAX_GROUPS, TableFull, Word};

/// Groups by key in 2^`bits` tables.
#[derive(Clone, Debug)]
pub struct TwoLevelWordTable<W, H = Fold> {
    bits: u32,
    tables: Vec<Small<W, H>>,
    keys: Vec<W>,
    runs: RunFinder,
}

#[derive(Clone, Debug)]
struct Small<W, H> {
    slots: WordSlots<W, H>,
    num_keys: usize,
}

impl<W: Word, H: HashWord<W>> TwoLevelWordTable<W, H> {
    /// No groups yet, in 2^`bits` tables; `bits` is at most 16.
    pub fn new(bits: u32) -> Self {
        let bits = bits.min(16);
        let empty = || Small {
            slots: WordSlots::default(),
            num_keys: 0,
        };
        Self {
            bits,
            tables: std::iter::repeat_with(empty).take(1 << bits).collect(),
            keys: Vec::new(),
            runs: RunFinder::default(),
        }
    }

    /// The key of each group.
    pub fn keys(&self) -> &[W] {
        &self.keys
    }

    /// Bits of the hash that tell the tables apart.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        let slots: usize = self.tables.iter().map(|t| t.slots.size_bytes()).sum();
        slots + self.keys.capacity() * size_of::<W>()
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
        if self.keys.len() + chunk.len() > MAX_GROUPS {
            return Err(TableFull);
        }
        let hashes = hashes_of::<W, H>(chunk);
        let first = self.load_first(&hashes[..chunk.len()]);
        let rows = chunk.iter().zip(hashes).zip(first).zip(groups);
        for (((key, hash), slot), group) in rows {
            // A copy of a slot that held the key is right even if its table has grown since.
            let group_plus_one = if slot.holds(*key) {
                slot.group_plus_one
            } else {
                self.find_or_insert(*key, hash)
            };
            *group = group_plus_one - 1;
        }
        Ok(())
    }

    /// What lies where probing starts; empty slots for tables that have none.
    #[inline]
    fn load_first(&self, hashes: &[u64]) -> [Slot<W>; CHUNK] {
        let mut first = [Slot::default(); CHUNK];
        for (slot, hash) in first.iter_mut().zip(hashes) {
            let table = &self.tables[partition_of(*hash, self.bits)];
            if table.num_keys > 0 {
                *slot = table.slots.slot(table.slots.position(*hash));
            }
        }
        first
    }

    fn find_or_insert(&mut self, key: W, hash: u64) -> u32 {
        let table = &mut self.tables[partition_of(hash, self.bits)];
        table.slots.reserve(table.num_keys + 1);
        let position = table.slots.position(hash);
        let num_before = self.keys.len();
        let group = table.slots.find_or_insert(key, position, &mut self.keys);
        table.num_keys += self.keys.len() - num_before;
        group
    }

    /// Appends the group of each key to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that have none.
    pub fn find(&self, keys: &[W], groups: &mut Vec<u32>) {
        groups.reserve(keys.len());
        for chunk in keys.chunks(CHUNK) {
            let hashes = hashes_of::<W, H>(chunk);
            let first = self.load_first(&hashes[..chunk.len()]);
            for ((key, hash), slot) in chunk.iter().zip(hashes).zip(first) {
                let group_plus_one = match slot.group_plus_one {
                    0 => 0,
                    group_plus_one if slot.key == *key => group_plus_one,
                    _ => {
                        let slots = &self.tables[partition_of(hash, self.bits)].slots;
                        slots.find(*key, slots.position(hash))
                    }
                };
                groups.push(group_plus_one.wrapping_sub(1));
            }
        }
    }

    /// Groups of each table; the group of no key, if any, is with the default word's.
    pub fn partitions(&self, unkeyed: Option<u32>) -> Partitions {
        let mut split = Partitions::default();
        split.offsets.push(0);
        let home = partition_of(H::hash(W::default()), self.bits);
        for (i, table) in self.tables.iter().enumerate() {
            let unkeyed = unkeyed.filter(|_| i == home);
            split.rows.extend(table.slots.groups().chain(unkeyed));
            split.offsets.push(split.rows.len() as u32);
        }
        split
    }
}

/// The hashes of a chunk of keys.
#[inline]
fn hashes_of<W: Copy, H: HashWord<W>>(chunk: &[W]) -> [u64; CHUNK] {
    let mut hashes = [0; CHUNK];
    for (hash, key) in hashes.iter_mut().zip(chunk) {
        *hash = H::hash(*key);
    }
    hashes
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::TwoLevelWordTable;
    use crate::hash::{Fold, HashWord, Zero};
    use crate::radix::partition_of;

    fn check<H: HashWord<u64>>(batches: &[Vec<u64>], bits: u32) {
        let mut table = TwoLevelWordTable::<u64, H>::new(bits);
        let mut model: HashMap<u64, u32> = HashMap::new();
        for batch in batches {
            let mut groups = Vec::new();
            table.intern(batch, &mut groups).unwrap();
            for (key, group) in batch.iter().zip(groups) {
                let next = model.len() as u32;
                assert_eq!(*model.entry(*key).or_insert(next), group);
            }
            let mut found = Vec::new();
            table.find(batch, &mut found);
            assert!(
                batch
                    .iter()
                    .zip(found)
                    .all(|(key, group)| model[key] == group)
            );
        }
        let null = table.add_unkeyed().unwrap();
        let split = table.partitions(Some(null));
        let mut seen = vec![false; table.keys().len()];
        for p in 0..1usize << bits {
            for group in split.rows_of(p) {
                let group = *group as usize;
                assert_eq!(partition_of(H::hash(table.keys()[group]), bits), p);
                assert!(!std::mem::replace(&mut seen[group], true));
            }
        }
        assert!(seen.into_iter().all(|s| s));
    }

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(
            narrow in prop::collection::vec(prop::collection::vec(0u64..50, 0..600), 0..8),
            wide in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..900), 0..8),
            bits in 0u32..9,
        ) {
            check::<Fold>(&narrow, bits);
            check::<Fold>(&wide, bits);
            check::<Zero>(&narrow, bits);
        }
    }

    #[test]
    fn a_million_keys() {
        let keys = |step: u64| (0..1_000_000u64).map(move |i| i.wrapping_mul(step) % 300_007);
        check::<Fold>(&[keys(7919).collect(), keys(1).collect()], 8);
    }
}
