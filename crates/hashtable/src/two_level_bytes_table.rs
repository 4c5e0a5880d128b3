//! Numbers groups by a byte string in many small tables, told apart by the high bits of the hash.
//!
//! See [`two_level_word_table`](crate::two_level_word_table) for why.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::TableFull;
use crate::bytes_probe::{first_matches, hashes_of};
use crate::bytes_slots::{BytesKeys, BytesSlots, Row, is_same_string};
use crate::hash::{Fold, HashBytes};
use crate::radix::{Partitions, partition_of};
use crate::runs::{CHUNK, RunFinder};
use crate::views::{Arena, Views};

/// Groups by byte string in 2^`bits` tables.
#[derive(Clone, Debug)]
pub struct TwoLevelBytesTable<H = Fold> {
    bits: u32,
    tables: Vec<Small>,
    keys: BytesKeys,
    runs: RunFinder,
    hash: PhantomData<H>,
}

#[derive(Clone, Debug, Default)]
struct Small {
    slots: BytesSlots,
    num_keys: usize,
}

impl<H: HashBytes> TwoLevelBytesTable<H> {
    /// No groups yet, in 2^`bits` tables; `bits` is at most 16.
    pub fn new(bits: u32) -> Self {
        let bits = bits.min(16);
        Self {
            bits,
            tables: vec![Small::default(); 1 << bits],
            keys: BytesKeys::default(),
            runs: RunFinder::default(),
            hash: PhantomData,
        }
    }

    /// The key of each group, as a view into the long keys.
    pub fn keys(&self) -> &[u128] {
        &self.keys.views
    }

    /// The hash of each group's key.
    pub fn hashes(&self) -> &[u64] {
        &self.keys.hashes
    }

    /// Bits of the hash that tell the tables apart.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Takes the long keys out; nothing can be added any more.
    pub fn take_arena(&mut self) -> Arena {
        std::mem::take(&mut self.keys.long)
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        let slots: usize = self.tables.iter().map(|t| t.slots.size_bytes()).sum();
        slots + self.keys.size_bytes()
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<u32, TableFull> {
        self.keys.push_unkeyed()
    }

    /// Appends the group of each row to `groups`; keys that are new become groups.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got any.
    pub fn intern<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        groups: &mut Vec<u32>,
    ) -> Result<(), TableFull> {
        let mut runs = std::mem::take(&mut self.runs);
        let is_same = |a, b| is_same_string(rows, a, b);
        let done = runs.intern(rows.views, groups, is_same, |chunk, groups| {
            self.intern_chunk(rows, chunk, groups)
        });
        self.runs = runs;
        done
    }

    /// Writes the group of each row of a chunk.
    fn intern_chunk<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        chunk: &[u128],
        groups: &mut [u32],
    ) -> Result<(), TableFull> {
        self.keys.check_room(chunk.len())?;
        let hashes = hashes_of::<H, B>(rows, chunk);
        let first = self.first_matches(&hashes[..chunk.len()]);
        let found = chunk.iter().zip(hashes).zip(&first);
        for (((view, hash), first), group) in found.zip(groups) {
            let view = *view;
            let row = Row { rows, view, hash };
            // A group that held the key is right even if its table has grown since.
            let group_plus_one = if self.keys.is_group_of(*first, &row) {
                *first
            } else {
                self.find_or_insert(&row)
            };
            *group = group_plus_one - 1;
        }
        Ok(())
    }

    /// What stands where each hash is to be found; nothing for tables that have no keys.
    fn first_matches(&self, hashes: &[u64]) -> [u32; CHUNK] {
        first_matches(hashes, &self.keys, |hash| {
            let table = &self.tables[partition_of(hash, self.bits)];
            (table.num_keys > 0).then_some(&table.slots)
        })
    }

    fn find_or_insert<B: Deref<Target = [u8]>>(&mut self, row: &Row<'_, '_, B>) -> u32 {
        let table = &mut self.tables[partition_of(row.hash, self.bits)];
        table.slots.reserve(table.num_keys + 1, &self.keys.hashes);
        let num_before = self.keys.views.len();
        let group_plus_one = table.slots.find_or_insert(row, &mut self.keys);
        table.num_keys += self.keys.views.len() - num_before;
        group_plus_one
    }

    /// Appends the group of each row to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that
    /// have none.
    pub fn find<B: Deref<Target = [u8]>>(&self, rows: &Views<'_, B>, groups: &mut Vec<u32>) {
        groups.reserve(rows.views.len());
        for chunk in rows.views.chunks(CHUNK) {
            let hashes = hashes_of::<H, B>(rows, chunk);
            let first = self.first_matches(&hashes[..chunk.len()]);
            for ((view, hash), first) in chunk.iter().zip(hashes).zip(&first) {
                let view = *view;
                let row = Row { rows, view, hash };
                let group_plus_one = if self.keys.is_group_of(*first, &row) {
                    *first
                } else {
                    let table = &self.tables[partition_of(hash, self.bits)];
                    table.slots.find(&row, &self.keys)
                };
                groups.push(group_plus_one.wrapping_sub(1));
            }
        }
    }

    /// Groups of each table; the group of no key, if any, is in the first.
    pub fn partitions(&self, unkeyed: Option<u32>) -> Partitions {
        let mut split = Partitions::default();
        split.offsets.push(0);
        for (i, table) in self.tables.iter().enumerate() {
            let unkeyed = unkeyed.filter(|_| i == 0);
            split.rows.extend(table.slots.groups().chain(unkeyed));
            split.offsets.push(split.rows.len() as u32);
        }
        split
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{any, prop, proptest};

    use super::TwoLevelBytesTable;
    use crate::hash::{Fold, HashBytes, Zero};
    use crate::radix::partition_of;
    use crate::views::{Arena, INLINE_LEN, Views, inline_view};

    fn check<H: HashBytes>(keys: &[Vec<u8>], bits: u32) {
        let mut arena = Arena::default();
        let view = |s: &Vec<u8>| {
            if s.len() <= INLINE_LEN {
                inline_view(s)
            } else {
                arena.push(s)
            }
        };
        let views: Vec<u128> = keys.iter().map(view).collect();
        let rows = || Views {
            views: &views,
            buffers: arena.buffers(),
        };
        let mut table = TwoLevelBytesTable::<H>::new(bits);
        let mut groups = Vec::new();
        table.intern(&rows(), &mut groups).unwrap();
        let mut model: HashMap<&[u8], u32> = HashMap::new();
        for (key, group) in keys.iter().zip(&groups) {
            let next = model.len() as u32;
            assert_eq!(*model.entry(key).or_insert(next), *group);
        }
        let mut found = Vec::new();
        table.find(&rows(), &mut found);
        assert_eq!(found, groups);
        let null = table.add_unkeyed().unwrap();
        let split = table.partitions(Some(null));
        assert_eq!(split.rows.len(), model.len() + 1);
        for p in 0..1usize << bits {
            for group in split.rows_of(p) {
                assert_eq!(partition_of(table.hashes()[*group as usize], bits), p);
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(
            keys in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..20), 0..700),
            bits in 0u32..9,
        ) {
            let keys: Vec<Vec<u8>> =
                keys.into_iter().map(|k| k.into_iter().map(u8::from).collect()).collect();
            check::<Fold>(&keys, bits);
            check::<Zero>(&keys, bits);
        }
    }
}
