//! Numbers groups by a byte string: open addressing over hashes, 16-byte views compared first.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::bytes_probe::{first_matches, hashes_of, prefetch_strings};
use crate::bytes_slots::{BytesKeys, BytesSlots, Row, hash_view, is_same_string};
use crate::filled::{EMPTY, Filled, PART};
use crate::hash::{Fold, HashBytes};
use crate::runs::{CHUNK, RunFinder};
use crate::views::{Arena, Views};
use crate::{NOT_FOUND, TableFull};

/// Groups by byte string.
#[derive(Clone, Debug)]
pub struct BytesTable<H = Fold> {
    slots: BytesSlots,
    keys: BytesKeys,
    /// The group of the empty string.
    empty: Option<u32>,
    runs: RunFinder,
    filled: Filled,
    hash: PhantomData<H>,
}

impl<H: HashBytes> Default for BytesTable<H> {
    fn default() -> Self {
        Self {
            slots: BytesSlots::default(),
            keys: BytesKeys::default(),
            empty: None,
            runs: RunFinder::default(),
            filled: Filled::default(),
            hash: PhantomData,
        }
    }
}

impl<H: HashBytes> BytesTable<H> {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.keys.views.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.keys.views.is_empty()
    }

    /// The key of each group, as a view into [`BytesTable::arena`].
    pub fn keys(&self) -> &[u128] {
        &self.keys.views
    }

    /// The hash of each group's key.
    pub fn hashes(&self) -> &[u64] {
        &self.keys.hashes
    }

    /// The long keys.
    pub fn arena(&self) -> &Arena {
        &self.keys.long
    }

    /// Takes the long keys out; nothing can be added until the table is cleared.
    pub fn take_arena(&mut self) -> Arena {
        std::mem::take(&mut self.keys.long)
    }

    /// Forgets all groups and keeps the memory but for that of long keys.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.keys.clear();
        self.empty = None;
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.slots.size_bytes() + self.keys.size_bytes()
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<u32, TableFull> {
        self.keys.push_unkeyed()
    }

    /// The hash of the string that `view` stands for.
    #[inline]
    pub fn hash<B: Deref<Target = [u8]>>(rows: &Views<'_, B>, view: u128) -> u64 {
        hash_view::<H, B>(rows, view)
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
        let mut filled = std::mem::take(&mut self.filled);
        for part in rows.views.chunks(PART) {
            match self.empty {
                Some(empty) if filled.find(part) < part.len() => {
                    filled.groups.clear();
                    self.intern_part(rows, &filled.views, &mut filled.groups)?;
                    filled.spread(empty, part.len(), groups);
                }
                _ => self.intern_part(rows, part, groups)?,
            }
        }
        self.filled = filled;
        Ok(())
    }

    fn intern_part<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        views: &[u128],
        groups: &mut Vec<u32>,
    ) -> Result<(), TableFull> {
        let mut runs = std::mem::take(&mut self.runs);
        let is_same = |a, b| is_same_string(rows, a, b);
        let done = runs.intern(views, groups, is_same, |chunk, groups| {
            let hashes = hashes_of::<H, B>(rows, chunk);
            self.intern_chunk(rows, (chunk, &hashes[..chunk.len()]), groups)
        });
        self.runs = runs;
        done
    }

    /// The same as [`BytesTable::intern`] for rows of which the hashes are known, each by
    /// [`BytesTable::hash`]. It does not look for runs: rows that were split by hash have none.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got any.
    pub fn intern_hashed<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        hashes: &[u64],
        groups: &mut Vec<u32>,
    ) -> Result<(), TableFull> {
        debug_assert_eq!(rows.views.len(), hashes.len());
        let start = groups.len();
        groups.resize(start + rows.views.len(), 0);
        let chunks = rows.views.chunks(CHUNK).zip(hashes.chunks(CHUNK));
        for (chunk, groups) in chunks.zip(groups[start..].chunks_mut(CHUNK)) {
            prefetch_strings(rows, chunk.0);
            self.intern_chunk(rows, chunk, groups)?;
        }
        Ok(())
    }

    /// Writes the group of each row of a chunk, which has views and hashes.
    #[inline]
    fn intern_chunk<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        (views, hashes): (&[u128], &[u64]),
        groups: &mut [u32],
    ) -> Result<(), TableFull> {
        self.keys.check_room(views.len())?;
        self.slots
            .reserve(self.keys.views.len() + views.len(), &self.keys.hashes);
        let first = self.first_matches(hashes);
        let found = views.iter().zip(hashes).zip(&first);
        for (((view, hash), first), group) in found.zip(groups) {
            let (view, hash) = (*view, *hash);
            let row = Row { rows, view, hash };
            let keys = &mut self.keys;
            let group_plus_one = self.slots.find_first_or_insert(*first, &row, keys);
            *group = group_plus_one - 1;
            if view == EMPTY {
                self.empty = Some(*group);
            }
        }
        Ok(())
    }

    fn first_matches(&self, hashes: &[u64]) -> [u32; CHUNK] {
        first_matches(hashes, &self.keys, |_| Some(&self.slots))
    }

    /// Appends the group of each row to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that
    /// have none.
    pub fn find<B: Deref<Target = [u8]>>(&self, rows: &Views<'_, B>, groups: &mut Vec<u32>) {
        if self.slots.is_empty() {
            groups.extend(rows.views.iter().map(|_| NOT_FOUND));
            return;
        }
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
                    self.slots.find(&row, &self.keys)
                };
                groups.push(group_plus_one.wrapping_sub(1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::{BytesTable, HashBytes};
    use crate::views::{Arena, INLINE_LEN, LongKeys, Views, inline_view};
    use crate::{Fold, Zero};

    fn check<H: HashBytes>(batches: &[Vec<Vec<u8>>]) {
        let mut table = intern_all(BytesTable::<H>::default(), batches);
        table.take_arena();
        table.clear();
        assert!(table.is_empty());
        intern_all(table, batches);
    }

    /// Interns into a table without groups and compares with a model.
    fn intern_all<H: HashBytes>(
        mut table: BytesTable<H>,
        batches: &[Vec<Vec<u8>>],
    ) -> BytesTable<H> {
        let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut hashed = BytesTable::<H>::default();
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
            table.intern(&rows, &mut groups).unwrap();
            let expected: Vec<u32> = batch
                .iter()
                .map(|key| {
                    let next = model.len() as u32;
                    *model.entry(key.clone()).or_insert(next)
                })
                .collect();
            assert_eq!(groups, expected);
            let mut found = Vec::new();
            table.find(&rows, &mut found);
            assert_eq!(found, expected);
            let hashes = views.iter().map(|v| BytesTable::<H>::hash(&rows, *v));
            let hashes: Vec<u64> = hashes.collect();
            hashed.intern_hashed(&rows, &hashes, &mut groups).unwrap();
            assert_eq!(groups[batch.len()..], expected);
        }
        for (key, group) in model {
            let view = table.keys()[group as usize];
            if key.len() <= INLINE_LEN {
                assert_eq!(view, inline_view(&key));
            } else {
                assert_eq!(table.arena().get(view), key);
            }
        }
        table
    }

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(batches in prop::collection::vec(
            prop::collection::vec(
                (0usize..30, any::<u8>()).prop_map(|(len, byte)| {
                    let mut s = vec![b'a'; len];
                    s.push(byte % 4);
                    s.truncate(if byte < 100 { 0 } else { len + 1 });
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
