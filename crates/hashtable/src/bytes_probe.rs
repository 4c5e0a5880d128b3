//! Looks at the groups at which searches for byte strings most likely end, those of many rows at once.

use std::hint::black_box;
use std::ops::Deref;

use crate::bytes_slots::{BytesKeys, BytesSlots, Row, hash_view};
use crate::hash::HashBytes;
use crate::runs::CHUNK;
use crate::views::{INLINE_LEN, Views, view_len};

/// The group that a search most likely ends at: the first with the hash's tag, or that of the first slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FirstMatch {
    /// Its number plus one; 0 if there is none.
    pub(crate) group_plus_one: u32,
    key: u128,
    /// First bytes of a key that its view does not hold.
    head: u64,
}

impl FirstMatch {
    /// Whether there is a group, and it is that of `row`.
    #[inline]
    pub(crate) fn is_group_of<B: Deref<Target = [u8]>>(
        &self,
        keys: &BytesKeys,
        row: &Row<'_, '_, B>,
    ) -> bool {
        if self.group_plus_one == 0 {
            return false;
        }
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

/// Gets both ends of long strings into the cache, all at once.
///
/// Rows that were split by hash have their strings anywhere in memory: a hash that waits for one
/// before it goes on to the next takes three times as long (benchmark `intern`, the last).
#[inline]
fn fetch<B: Deref<Target = [u8]>>(rows: &Views<'_, B>, views: impl Iterator<Item = u128>) {
    let mut bits = 0;
    for view in views {
        if view_len(view) > INLINE_LEN {
            let long = rows.long(view);
            bits |= long.first().unwrap_or(&0) | long.last().unwrap_or(&0);
        }
    }
    black_box(bits);
}

/// The hashes of at most [`CHUNK`] rows.
#[inline]
pub(crate) fn hashes_of<H: HashBytes, B: Deref<Target = [u8]>>(
    rows: &Views<'_, B>,
    views: impl Iterator<Item = u128> + Clone,
) -> [u64; CHUNK] {
    fetch(rows, views.clone());
    let mut hashes = [0; CHUNK];
    for (hash, view) in hashes.iter_mut().zip(views) {
        *hash = hash_view::<H, B>(rows, view);
    }
    hashes
}

/// More groups than this have slots that the second-level cache does not hold.
const MANY_GROUPS: usize = 1 << 14;

/// What stands where each hash is to be found in the slots that `slots_of` gives, none if it has none.
///
/// Loads that depend on nothing but the round before: the processor waits for many of them at
/// once. Where slots are far, those at which searches start are all fetched before the first search
/// goes on from its own, which is a branch that nobody can foretell; where they are near, going on
/// costs more than what it saves, and the first slot must do.
#[inline]
pub(crate) fn first_matches<'a>(
    hashes: &[u64],
    keys: &BytesKeys,
    slots_of: impl Fn(u64) -> Option<&'a BytesSlots>,
) -> [FirstMatch; CHUNK] {
    let mut first = [FirstMatch::default(); CHUNK];
    for (first, hash) in first.iter_mut().zip(hashes) {
        first.group_plus_one = slots_of(*hash).map_or(0, |slots| slots.first(*hash));
    }
    if keys.views.len() > MANY_GROUPS {
        for (first, hash) in first.iter_mut().zip(hashes) {
            first.group_plus_one = slots_of(*hash).map_or(0, |slots| slots.first_of_tag(*hash));
        }
    }
    let sought = &mut first[..hashes.len().min(CHUNK)];
    for first in sought.iter_mut() {
        let group = (first.group_plus_one as usize).wrapping_sub(1);
        first.key = keys.views.get(group).copied().unwrap_or(0);
    }
    for first in sought {
        if view_len(first.key) > INLINE_LEN {
            first.head = head(keys.arena.get(first.key));
        }
    }
    first
}
