//! Numbers groups by a byte string: open addressing over hashes, 16-byte views compared first.

use std::marker::PhantomData;
use std::ops::Deref;

use crate::bytes_probe::{FirstMatch, first_matches, hashes_of};
use crate::bytes_slots::{BytesKeys, BytesSlots, Row, hash_view, is_same_string};
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
    hash: PhantomData<H>,
}

impl<H: HashBytes> Default for BytesTable<H> {
    fn default() -> Self {
        Self {
            slots: BytesSlots::default(),
            keys: BytesKeys::default(),
            empty: None,
            runs: RunFinder::default(),
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

    /// Takes the long keys out; nothing can be added until the table is cleared.
    pub fn take_arena(&mut self) -> Arena {
        std::mem::take(&mut self.keys.arena)
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
        self.slots
            .reserve(self.keys.views.len() + chunk.len(), &self.keys.hashes);
        groups[..chunk.len()].fill(self.empty.unwrap_or(0));
        let (places, num_sought) = self.sought(chunk);
        let sought = &places[..num_sought];
        let view_at = |place: &u8| chunk[usize::from(*place)];
        let hashes = hashes_of::<H, B>(rows, sought.iter().map(view_at));
        let first = self.first_matches(&hashes[..num_sought]);
        for ((place, hash), first) in sought.iter().zip(hashes).zip(&first) {
            let view = view_at(place);
            let row = Row { rows, view, hash };
            let group_plus_one = if first.is_group_of(&self.keys, &row) {
                first.group_plus_one
            } else {
                self.slots.find_or_insert(&row, &mut self.keys)
            };
            let group = group_plus_one - 1;
            groups[usize::from(*place)] = group;
            if view == EMPTY {
                self.empty = Some(group);
            }
        }
        Ok(())
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

    fn first_matches(&self, hashes: &[u64]) -> [FirstMatch; CHUNK] {
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
            let hashes = hashes_of::<H, B>(rows, chunk.iter().copied());
            let first = self.first_matches(&hashes[..chunk.len()]);
            for ((view, hash), first) in chunk.iter().zip(hashes).zip(&first) {
                let view = *view;
                let row = Row { rows, view, hash };
                let group_plus_one = if first.is_group_of(&self.keys, &row) {
                    first.group_plus_one
                } else {
                    self.slots.find(&row, &self.keys)
                };
                groups.push(group_plus_one.wrapping_sub(1));
            }
        }
    }
}

/// The view of the empty string.
const EMPTY: u128 = 0;

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::{Strategy, any, prop, proptest};

    use super::{BytesTable, HashBytes};
    use crate::views::{Arena, INLINE_LEN, Views, inline_view};
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
