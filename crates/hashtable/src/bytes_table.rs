//! Numbers groups by a byte string: open addressing over hashes, 16-byte views compared first.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::TableFull;
use crate::bytes_slots::{BytesKeys, BytesSlots, CHUNK, Row, hash_view};
use crate::hash::{Fold, HashBytes};
use crate::views::{Arena, INLINE_LEN, Views, view_len};

/// Groups by byte string.
#[derive(Clone, Debug)]
pub struct BytesTable<H = Fold> {
    slots: BytesSlots,
    keys: BytesKeys,
    hash: PhantomData<H>,
}

impl<H: HashBytes> Default for BytesTable<H> {
    fn default() -> Self {
        Self {
            slots: BytesSlots::default(),
            keys: BytesKeys::default(),
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
        &self.keys.arena
    }

    /// Takes the long keys out; nothing can be added any more.
    pub fn take_arena(&mut self) -> Arena {
        self.slots = BytesSlots::default();
        std::mem::take(&mut self.keys.arena)
    }

    /// Memory held, in bytes.
    pub fn size_bytes(&self) -> usize {
        self.slots.size_bytes() + self.keys.size_bytes()
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<usize, TableFull> {
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
    /// If there are too many groups; `groups` may then have got some.
    pub fn intern<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        groups: &mut Vec<usize>,
    ) -> Result<(), TableFull> {
        groups.reserve(rows.views.len());
        for chunk in rows.views.chunks(CHUNK) {
            self.keys.check_room(chunk.len())?;
            self.slots
                .reserve(self.keys.views.len() + chunk.len(), &self.keys.hashes);
            let mut hashes = [0; CHUNK];
            for (hash, view) in hashes.iter_mut().zip(chunk) {
                *hash = Self::hash(rows, *view);
            }
            // Loads that depend on nothing: the processor waits for many of them at once.
            let mut first = [0; CHUNK];
            for (group, hash) in first.iter_mut().zip(&hashes[..chunk.len()]) {
                *group = self.slots.first(*hash).group_plus_one;
            }
            let mut found = [0; CHUNK];
            for (key, group) in found.iter_mut().zip(&first[..chunk.len()]) {
                let group = (*group as usize).wrapping_sub(1);
                *key = self.keys.views.get(group).copied().unwrap_or(0);
            }
            for (i, view) in chunk.iter().enumerate() {
                let is_short = view_len(*view) <= INLINE_LEN;
                let group_plus_one = if is_short && first[i] != 0 && found[i] == *view {
                    first[i]
                } else {
                    let row = Row {
                        rows,
                        view: *view,
                        hash: hashes[i],
                    };
                    self.slots.find_or_insert(&row, &mut self.keys)
                };
                groups.push(group_plus_one as usize - 1);
            }
        }
        Ok(())
    }

    /// Appends the group of each row to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that
    /// have none.
    pub fn find<B: Deref<Target = [u8]>>(&self, rows: &Views<'_, B>, groups: &mut Vec<usize>) {
        groups.extend(rows.views.iter().map(|view| {
            let hash = Self::hash(rows, *view);
            let row = Row {
                rows,
                view: *view,
                hash,
            };
            (self.slots.find(&row, &self.keys) as usize).wrapping_sub(1)
        }));
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
            table.intern(&rows, &mut groups).unwrap();
            let expected: Vec<usize> = batch
                .iter()
                .map(|key| {
                    let next = model.len();
                    *model.entry(key.clone()).or_insert(next)
                })
                .collect();
            assert_eq!(groups, expected);
            let mut found = Vec::new();
            table.find(&rows, &mut found);
            assert_eq!(found, expected);
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
