//! Numbers groups by byte strings that stay where the rows have them.
//!
//! Rows that were split by hash have their strings anywhere in memory, and every look at one waits for it. Here a
//! string is looked at only where another row has the same hash; a key that is new is not copied. Whoever wants
//! to have the keys copies them at last, only those of groups that are wanted.

use std::ops::{Deref, Range};

use crate::bytes_probe::{prefetch_ends, prefetch_strings};
use crate::bytes_slots::{BytesKeys, BytesSlots, Row};
use crate::kept_strings::KeptStrings;
use crate::runs::CHUNK;
use crate::views::{Arena, INLINE_LEN, LongKeys, Views, view_len};
use crate::{NOT_FOUND, TableFull};

/// Rows whose strings are asked for before they are compared: bench `intern`, part `partitions`.
const AHEAD: usize = 24;

/// Groups by byte string, for rows of which the hashes are known.
///
/// Memory of long keys is what the rows' buffers `B` hold; cloning one must not move it.
#[derive(Clone, Debug)]
pub struct KeptBytesTable<B> {
    slots: BytesSlots,
    keys: BytesKeys<KeptStrings<B>>,
}

impl<B> Default for KeptBytesTable<B> {
    fn default() -> Self {
        Self {
            slots: BytesSlots::default(),
            keys: BytesKeys::default(),
        }
    }
}

impl<B: Deref<Target = [u8]> + Clone> KeptBytesTable<B> {
    /// The key of each group, as a view of no use to others if it is a long one.
    pub fn keys(&self) -> &[u128] {
        &self.keys.views
    }

    /// The hash of each group's key.
    pub fn hashes(&self) -> &[u64] {
        &self.keys.hashes
    }

    /// Memory held, in bytes, besides the rows' buffers.
    pub fn size_bytes(&self) -> usize {
        self.slots.size_bytes() + self.keys.size_bytes()
    }

    /// Forgets all groups and keeps the memory, but no buffers of rows.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.keys.clear();
    }

    /// Adds a group that no key finds, such as that of NULL.
    ///
    /// # Errors
    /// If there are too many groups.
    pub fn add_unkeyed(&mut self) -> Result<u32, TableFull> {
        self.keys.push_unkeyed()
    }

    /// Appends the group of each row to `groups`; keys that are new become groups. `hashes` are those that
    /// [`BytesTable::hash`](crate::BytesTable::hash) gives.
    ///
    /// # Errors
    /// If there are too many groups; `groups` may then have got any.
    pub fn intern_hashed(
        &mut self,
        rows: &Views<'_, B>,
        hashes: &[u64],
        groups: &mut Vec<u32>,
    ) -> Result<(), TableFull> {
        debug_assert_eq!(rows.views.len(), hashes.len());
        self.keys.long.begin(rows.buffers.len());
        groups.reserve(rows.views.len());
        for (views, hashes) in rows.views.chunks(CHUNK).zip(hashes.chunks(CHUNK)) {
            self.keys.check_room(views.len())?;
            self.slots
                .reserve(self.keys.views.len() + views.len(), &self.keys.hashes);
            let ahead = views.len().min(AHEAD);
            let mut first = [0; CHUNK];
            for i in 0..ahead {
                first[i] = self.likely_group(rows, views[i], hashes[i]);
            }
            for i in 0..views.len() {
                if let Some(hash) = hashes.get(i + 2 * AHEAD) {
                    self.slots.prefetch_first(*hash);
                }
                let next = i + AHEAD;
                if next < views.len() {
                    first[next] = self.likely_group(rows, views[next], hashes[next]);
                }
                let (view, hash) = (views[i], hashes[i]);
                let row = Row { rows, view, hash };
                let keys = &mut self.keys;
                let group_plus_one = self.slots.find_first_or_insert(first[i], &row, keys);
                groups.push(group_plus_one - 1);
            }
        }
        Ok(())
    }

    /// The group plus one that a row most likely has, 0 if there is none yet; asks for both strings.
    #[inline]
    fn likely_group(&self, rows: &Views<'_, B>, view: u128, hash: u64) -> u32 {
        let first = self.slots.first_of_tag(hash);
        let key = self.keys.views.get((first as usize).wrapping_sub(1));
        if let Some(key) = key.filter(|key| view_len(**key) > INLINE_LEN) {
            prefetch_ends(self.keys.long.get(*key));
            prefetch_strings(rows, std::slice::from_ref(&view));
        }
        first
    }

    /// Appends the group of each row to `groups`, [`NOT_FOUND`](crate::NOT_FOUND) for keys that
    /// have none.
    pub fn find_hashed(&self, rows: &Views<'_, B>, hashes: &[u64], groups: &mut Vec<u32>) {
        if self.slots.is_empty() {
            groups.extend(rows.views.iter().map(|_| NOT_FOUND));
            return;
        }
        for (view, hash) in rows.views.iter().zip(hashes) {
            let (view, hash) = (*view, *hash);
            let group_plus_one = self.slots.find(&Row { rows, view, hash }, &self.keys);
            groups.push(group_plus_one.wrapping_sub(1));
        }
    }

    /// Bytes of the long keys of some groups.
    pub fn copied_bytes(&self, groups: Range<usize>) -> usize {
        let views = self.keys.views[groups].iter();
        views.filter_map(long_len).sum()
    }

    /// The keys of some groups: views into the long keys that come with them.
    pub fn copied(&self, groups: Range<usize>) -> (Vec<u128>, Arena) {
        let views = &self.keys.views[groups.clone()];
        let mut arena = Arena::with_capacity(self.copied_bytes(groups));
        let mut copied = Vec::with_capacity(views.len());
        for chunk in views.chunks(CHUNK) {
            for view in chunk.iter().filter(|view| long_len(view).is_some()) {
                prefetch_ends(self.keys.long.get(*view));
            }
            copied.extend(chunk.iter().map(|view| match long_len(view) {
                Some(_) => arena.push(self.keys.long.get(*view)),
                None => *view,
            }));
        }
        (copied, arena)
    }
}

/// The length of a key that its view does not hold itself.
#[inline]
fn long_len(view: &u128) -> Option<usize> {
    Some(view_len(*view)).filter(|len| *len > INLINE_LEN)
}
