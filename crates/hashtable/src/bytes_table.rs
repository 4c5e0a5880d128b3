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
    /// The group of the empty string.
    empty: Option<usize>,
    hash: PhantomData<H>,
}

impl<H: HashBytes> Default for BytesTable<H> {
    fn default() -> Self {
        Self {
            slots: BytesSlots::default(),
            keys: BytesKeys::default(),
            empty: None,
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
            let start = groups.len();
            groups.resize(start + chunk.len(), self.empty.unwrap_or(0));
            self.intern_chunk(rows, chunk, &mut groups[start..]);
        }
        Ok(())
    }

    /// Writes the group of each row of a chunk; those of empty strings stand there already, if
    /// these have one.
    fn intern_chunk<B: Deref<Target = [u8]>>(
        &mut self,
        rows: &Views<'_, B>,
        chunk: &[u128],
        groups: &mut [usize],
    ) {
        let (places, num_sought) = self.sought(chunk);
        let sought = &places[..num_sought];
        let mut hashes = [0; CHUNK];
        for (hash, place) in hashes.iter_mut().zip(sought) {
            *hash = Self::hash(rows, chunk[usize::from(*place)]);
        }
        let first = self.first_matches(&hashes[..num_sought]);
        for ((place, hash), first) in sought.iter().zip(hashes).zip(&first) {
            let view = chunk[usize::from(*place)];
            let row = Row { rows, view, hash };
            let is_first = first.group_plus_one != 0 && first.is_key(&self.keys, &row);
            let group_plus_one = if is_first {
                first.group_plus_one
            } else {
                self.slots.find_or_insert(&row, &mut self.keys)
            };
            let group = group_plus_one as usize - 1;
            groups[usize::from(*place)] = group;
            if view == EMPTY {
                self.empty = Some(group);
            }
        }
    }

    /// The places of the rows that must be looked for, all but empty strings, and their number.
    fn sought(&self, chunk: &[u128]) -> ([u8; CHUNK], usize) {
        let mut places = [0; CHUNK];
        let mut num_sought = 0;
        let seeks_empty = self.empty.is_none();
        for (place, view) in (0..=u8::MAX).zip(chunk) {
            // Half of the strings of a column are empty more often than not: no branch on that.
            places[num_sought] = place;
            num_sought += usize::from(seeks_empty || *view != EMPTY);
        }
        (places, num_sought)
    }

    /// What stands where each hash starts probing. Loads that depend on nothing but the round
    /// before: the processor waits for many of them at once.
    fn first_matches(&self, hashes: &[u64]) -> [FirstMatch; CHUNK] {
        let mut first = [FirstMatch::default(); CHUNK];
        for (first, hash) in first.iter_mut().zip(hashes) {
            first.group_plus_one = self.slots.first(*hash).group_plus_one;
        }
        let first_sought = &mut first[..hashes.len()];
        for first in first_sought.iter_mut() {
            let group = (first.group_plus_one as usize).wrapping_sub(1);
            first.key = self.keys.views.get(group).copied().unwrap_or(0);
        }
        for first in first_sought {
            if view_len(first.key) > INLINE_LEN {
                first.head = head(self.keys.arena.get(first.key));
            }
        }
        first
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

/// The view of the empty string.
const EMPTY: u128 = 0;

/// The group at which a search starts.
#[derive(Clone, Copy, Debug, Default)]
struct FirstMatch {
    /// Its number plus one; 0 if there is none.
    group_plus_one: u32,
    key: u128,
    /// First bytes of a key that its view does not hold.
    head: u64,
}

impl FirstMatch {
    /// Whether it is the group of `row`.
    #[inline]
    fn is_key<B: Deref<Target = [u8]>>(&self, keys: &BytesKeys, row: &Row<'_, '_, B>) -> bool {
        if view_len(row.view) <= INLINE_LEN {
            return self.key == row.view;
        }
        // Length and first bytes, then some more, then all.
        self.key as u64 == row.view as u64
            && self.head == head(row.rows.long(row.view))
            && keys.is_key(self.group_plus_one, row)
    }
}

/// The first bytes of a long string.
#[inline]
fn head(long: &[u8]) -> u64 {
    long.first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
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
