//! Numbers groups by a byte string: open addressing over hashes, 16-byte views compared first.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::hash::{Fold, HashBytes};
use crate::views::{Arena, INLINE_LEN, Views, view_len};
use crate::{MAX_GROUPS, TableFull};

/// Rows that go through the small loops together.
const CHUNK: usize = 256;

const MIN_SLOTS: usize = 2 * CHUNK;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// High bits of the hash: nearly all strings that differ are told apart by them.
    tag: u32,
    /// Number of the group plus one; 0 if the slot is empty.
    group_plus_one: u32,
}

/// Groups by byte string.
#[derive(Clone, Debug)]
pub struct BytesTable<H = Fold> {
    slots: Vec<Slot>,
    /// The key of each group; long ones lie in `arena`.
    keys: Vec<u128>,
    hashes: Vec<u64>,
    arena: Arena,
    hash: PhantomData<H>,
}

impl<H: HashBytes> Default for BytesTable<H> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            keys: Vec::new(),
            hashes: Vec::new(),
            arena: Arena::default(),
            hash: PhantomData,
        }
    }
}

/// Whether long strings are the same, without a call: most keys are only a little too long for a
/// view.
#[inline]
fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let (words_a, words_b) = (a.as_chunks::<8>().0, b.as_chunks::<8>().0);
    words_a.iter().zip(words_b).all(|(a, b)| a == b) && a.last_chunk::<8>() == b.last_chunk::<8>()
}

#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

impl<H: HashBytes> BytesTable<H> {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key of each group, as a view into [`BytesTable::arena`].
    pub fn keys(&self) -> &[u128] {
        &self.keys
    }

    /// The hash of each group's key.
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// The long keys.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Takes the long keys out; nothing can be added any more.
    pub fn take_arena(&mut self) -> Arena {
        self.slots = Vec::new();
        std::mem::take(&mut self.arena)
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        let per_key = size_of::<u128>() + size_of::<u64>();
        self.slots.capacity() * size_of::<Slot>()
            + self.keys.capacity() * per_key
            + self.arena.size_bytes()
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<usize, TableFull> {
        if self.keys.len() >= MAX_GROUPS {
            return Err(TableFull);
        }
        self.keys.push(0);
        self.hashes.push(0);
        Ok(self.keys.len() - 1)
    }

    /// The hash of the string that `view` stands for.
    #[inline]
    pub fn hash<B: Deref<Target = [u8]>>(rows: &Views<'_, B>, view: u128) -> u64 {
        if view_len(view) <= INLINE_LEN {
            H::hash(view)
        } else {
            H::hash_bytes(rows.long(view))
        }
    }

    /// Appends the group of each row to `groups`; keys that are new become groups.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got some.
    pub fn intern<B: Deref<Target = [u8]>>(
        &mut self,
        rows: Views<'_, B>,
        groups: &mut Vec<usize>,
    ) -> Result<(), TableFull> {
        groups.reserve(rows.views.len());
        for chunk in rows.views.chunks(CHUNK) {
            self.reserve(chunk.len())?;
            let mask = self.slots.len() - 1;
            let mut hashes = [0; CHUNK];
            for (hash, view) in hashes.iter_mut().zip(chunk) {
                *hash = Self::hash(&rows, *view);
            }
            // Loads that depend on nothing: the processor waits for many of them at once.
            let mut first = [0; CHUNK];
            for (group, hash) in first.iter_mut().zip(&hashes[..chunk.len()]) {
                *group = self.slots[*hash as usize & mask].group_plus_one;
            }
            let mut found = [0; CHUNK];
            for (key, group) in found.iter_mut().zip(&first[..chunk.len()]) {
                *key = self
                    .keys
                    .get((*group as usize).wrapping_sub(1))
                    .copied()
                    .unwrap_or(0);
            }
            for (i, view) in chunk.iter().enumerate() {
                let is_short = view_len(*view) <= INLINE_LEN;
                let group_plus_one = if is_short && first[i] != 0 && found[i] == *view {
                    first[i]
                } else {
                    self.find_or_insert(&rows, *view, hashes[i])
                };
                groups.push(group_plus_one as usize - 1);
            }
        }
        Ok(())
    }

    fn find_or_insert<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        view: u128,
        hash: u64,
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut position = hash as usize & mask;
        loop {
            let slot = self.slots[position];
            if slot.group_plus_one == 0 {
                let is_short = view_len(view) <= INLINE_LEN;
                let key = if is_short {
                    view
                } else {
                    self.arena.push(rows.long(view))
                };
                self.keys.push(key);
                self.hashes.push(hash);
                // `reserve` has made sure that it fits.
                let group_plus_one = self.keys.len() as u32;
                self.slots[position] = Slot {
                    tag: tag(hash),
                    group_plus_one,
                };
                return group_plus_one;
            }
            if slot.tag == tag(hash) && self.is_key(slot.group_plus_one, rows, view) {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
    }

    #[inline]
    fn is_key<B: Deref<Target = [u8]>>(
        &self,
        group_plus_one: u32,
        rows: &Views<'_, B>,
        view: u128,
    ) -> bool {
        let key = self.keys[group_plus_one as usize - 1];
        if view_len(view) <= INLINE_LEN {
            return key == view;
        }
        // Length and first bytes, then the rest.
        key as u64 == view as u64 && equal(self.arena.get(key), rows.long(view))
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

    fn grow(&mut self, needed: usize) {
        let factor = if self.slots.len() < (1 << 16) { 4 } else { 2 };
        let wanted = (needed * 2).next_power_of_two().max(MIN_SLOTS);
        let num_slots = wanted.max(self.slots.len() * factor);
        let mask = num_slots - 1;
        let mut grown = vec![Slot::default(); num_slots];
        for slot in self.slots.iter().filter(|s| s.group_plus_one != 0) {
            let hash = self.hashes[slot.group_plus_one as usize - 1];
            let mut position = hash as usize & mask;
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

    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::{BytesTable, HashBytes};
    use crate::views::{Arena, INLINE_LEN, Views, inline_view};
    use crate::{Fold, Zero};

    fn check<H: HashBytes>(batches: &[Vec<Vec<u8>>]) {
        let mut table = BytesTable::<H>::default();
        let mut model: HashMap<Vec<u8>, usize> = HashMap::new();
        for batch in batches {
            let mut arena = Arena::default();
            let view = |s: &Vec<u8>| {
                if s.len() <= INLINE_LEN {
                    inline_view(s)
                } else {
                    arena.push(s)
                }
            };
            let views: Vec<u128> = batch.iter().map(view).collect();
            let mut groups = Vec::new();
            let rows = Views {
                views: &views,
                buffers: arena.buffers(),
            };
            table.intern(rows, &mut groups).unwrap();
            let expected: Vec<usize> = batch
                .iter()
                .map(|key| {
                    let next = model.len();
                    *model.entry(key.clone()).or_insert(next)
                })
                .collect();
            assert_eq!(groups, expected);
        }
        for (key, group) in model {
            let view = table.keys()[group];
            if key.len() <= INLINE_LEN {
                assert_eq!(view, inline_view(&key));
            } else {
                assert_eq!(table.arena().get(view), key);
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(batches in prop::collection::vec(
            prop::collection::vec(
                (0usize..30, any::<u8>()).prop_map(|(len, byte)| {
                    let mut s = vec![b'a'; len];
                    s.push(byte % 4);
                    s
                }),
                0..700,
            ),
            0..6,
        )) {
            check::<Fold>(&batches);
            check::<Zero>(&batches);
        }
    }

    #[test]
    fn many_strings() {
        let short = (0..20_000).map(|i| format!("{}", i % 7_000).into_bytes());
        let long = (0..20_000).map(|i| format!("https://example.org/{}", i % 9_000).into_bytes());
        check::<Fold>(&[short.chain(long).collect()]);
    }
}
