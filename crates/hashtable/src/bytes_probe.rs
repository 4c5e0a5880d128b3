//! Looks at the groups at which searches for byte strings most likely end, those of many rows at once.
//!
//! Each step is taken for all rows before the next one, and asks for the memory that the next one needs.

use std::ops::Deref;

use basalt_kernels::prefetch::prefetch;

use crate::bytes_slots::{BytesKeys, BytesSlots, hash_view};
use crate::hash::HashBytes;
use crate::runs::CHUNK;
use crate::views::{INLINE_LEN, LongKeys, Views, view_len};

/// Asks for both ends of a long string.
#[inline]
pub(crate) fn prefetch_ends(long: &[u8]) {
    prefetch(long, 0);
    prefetch(long, long.len().wrapping_sub(1));
}

/// Asks for the strings of some rows.
///
/// Rows that were split by hash have theirs anywhere in memory: a loop that waits for each before the next
/// takes a sixth longer, and three quarters where keys are not copied (benchmark `intern`, part `partitions`).
#[inline]
pub(crate) fn prefetch_strings<B: Deref<Target = [u8]>>(rows: &Views<'_, B>, views: &[u128]) {
    for view in views.iter().filter(|view| view_len(**view) > INLINE_LEN) {
        prefetch_ends(rows.long(*view));
    }
}

/// The hashes of at most [`CHUNK`] rows.
#[inline]
pub(crate) fn hashes_of<H: HashBytes, B: Deref<Target = [u8]>>(
    rows: &Views<'_, B>,
    views: &[u128],
) -> [u64; CHUNK] {
    prefetch_strings(rows, views);
    let mut hashes = [0; CHUNK];
    for (hash, view) in hashes.iter_mut().zip(views) {
        *hash = hash_view::<H, B>(rows, *view);
    }
    hashes
}

/// More groups than this have slots that the second-level cache does not hold.
const MANY_GROUPS: usize = 1 << 14;

/// For each hash the group plus one that the search most likely ends at, 0 if there is none, in the
/// slots that `slots_of` gives.
///
/// Where slots are far, that is the first group with the hash's tag; where they are near, going on
/// from the first slot, a branch that nobody can foretell, costs more than what it saves, and what
/// stands in the first slot must do.
#[inline]
pub(crate) fn first_matches<'a>(
    hashes: &[u64],
    keys: &BytesKeys,
    slots_of: impl Fn(u64) -> Option<&'a BytesSlots>,
) -> [u32; CHUNK] {
    if keys.views.len() > MANY_GROUPS {
        return far_matches(hashes, keys, slots_of);
    }
    let mut first = [0; CHUNK];
    for (first, hash) in first.iter_mut().zip(hashes) {
        *first = slots_of(*hash).map_or(0, |slots| slots.first(*hash));
    }
    first
}

/// For each hash the first group plus one that has the hash's tag, 0 if there is none; asks for their keys.
#[inline]
fn far_matches<'a>(
    hashes: &[u64],
    keys: &BytesKeys,
    slots_of: impl Fn(u64) -> Option<&'a BytesSlots>,
) -> [u32; CHUNK] {
    let mut first = [0; CHUNK];
    for hash in hashes {
        if let Some(slots) = slots_of(*hash) {
            slots.prefetch_first(*hash);
        }
    }
    for (first, hash) in first.iter_mut().zip(hashes) {
        *first = slots_of(*hash).map_or(0, |slots| slots.first_of_tag(*hash));
        prefetch(&keys.views, (*first as usize).wrapping_sub(1));
    }
    for first in &first[..hashes.len().min(CHUNK)] {
        let group = (*first as usize).wrapping_sub(1);
        let key = keys.views.get(group).copied().unwrap_or(0);
        if view_len(key) > INLINE_LEN {
            prefetch_ends(keys.long.get(key));
        }
    }
    first
}
