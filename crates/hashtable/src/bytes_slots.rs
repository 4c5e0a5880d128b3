//! The array of slots of a table whose keys are byte strings, and the strings of its groups.

use std::ops::Deref;

use basalt_kernels::prefetch::prefetch;

use crate::hash::HashBytes;
use crate::runs::CHUNK;
use crate::views::{AddLong, Arena, INLINE_LEN, LongKeys, Views, view_len};
use crate::{MAX_GROUPS, TableFull};

const MIN_SLOTS: usize = 2 * CHUNK;

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// High bits of the hash: nearly all strings that differ are told apart by them.
    tag: u32,
    /// Number of the group plus one; 0 if the slot is empty.
    group_plus_one: u32,
}

#[inline]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

/// The string of each group.
#[derive(Clone, Debug, Default)]
pub(crate) struct BytesKeys<L = Arena> {
    /// Long ones lie in `long`.
    pub(crate) views: Vec<u128>,
    pub(crate) hashes: Vec<u64>,
    pub(crate) long: L,
}

impl<L: LongKeys + Default> BytesKeys<L> {
    /// Memory held, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.views.capacity() * (size_of::<u128>() + size_of::<u64>()) + self.long.size_bytes()
    }

    /// Forgets all groups.
    pub(crate) fn clear(&mut self) {
        self.views.clear();
        self.hashes.clear();
        self.long = L::default();
    }

    /// Fails if `additional` more groups are too many.
    pub(crate) fn check_room(&self, additional: usize) -> Result<(), TableFull> {
        if self.views.len() + additional > MAX_GROUPS {
            return Err(TableFull);
        }
        Ok(())
    }

    /// Adds a group that no key finds.
    pub(crate) fn push_unkeyed(&mut self) -> Result<u32, TableFull> {
        self.check_room(1)?;
        self.views.push(0);
        self.hashes.push(0);
        Ok(self.views.len() as u32 - 1)
    }

    fn push<B>(&mut self, row: &Row<'_, '_, B>) -> u32
    where
        L: AddLong<B>,
    {
        let key = if view_len(row.view) <= INLINE_LEN {
            row.view
        } else {
            self.long.add(row.rows, row.view)
        };
        self.views.push(key);
        self.hashes.push(row.hash);
        // Callers have at most `MAX_GROUPS` keys.
        self.views.len() as u32
    }

    /// Whether there is a group, and it is that of `row`.
    #[inline]
    pub(crate) fn is_group_of<B: Deref<Target = [u8]>>(
        &self,
        group_plus_one: u32,
        row: &Row<'_, '_, B>,
    ) -> bool {
        group_plus_one != 0 && self.is_key(group_plus_one, row)
    }

    #[inline]
    fn is_key<B: Deref<Target = [u8]>>(&self, group_plus_one: u32, row: &Row<'_, '_, B>) -> bool {
        let key = self.views[group_plus_one as usize - 1];
        if view_len(row.view) <= INLINE_LEN {
            return key == row.view;
        }
        // Length and first bytes, then the rest.
        key as u64 == row.view as u64 && equal(self.long.get(key), row.rows.long(row.view))
    }
}

/// Whether two views of the same rows stand for the same string.
#[inline]
pub(crate) fn is_same_string<B: Deref<Target = [u8]>>(
    rows: &Views<'_, B>,
    a: u128,
    b: u128,
) -> bool {
    // Length and first bytes, then the rest.
    let is_long = view_len(a) > INLINE_LEN;
    a == b || (is_long && a as u64 == b as u64 && equal(rows.long(a), rows.long(b)))
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

/// A string to look for.
pub(crate) struct Row<'a, 'b, B> {
    pub(crate) rows: &'a Views<'b, B>,
    pub(crate) view: u128,
    pub(crate) hash: u64,
}

/// The hash of the string that `view` stands for.
#[inline]
pub(crate) fn hash_view<H: HashBytes, B: Deref<Target = [u8]>>(
    rows: &Views<'_, B>,
    view: u128,
) -> u64 {
    if view_len(view) <= INLINE_LEN {
        H::hash(view)
    } else {
        H::hash_bytes(rows.long(view))
    }
}

/// Slots in open addressing with linear probing.
///
/// The number of slots is 0 or a power of two, at least twice the number of keys in them.
#[derive(Clone, Debug, Default)]
pub(crate) struct BytesSlots {
    slots: Vec<Slot>,
}

impl BytesSlots {
    /// Memory held, in bytes.
    pub(crate) fn size_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// Whether there are no slots, which there are from the first key on.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Empties all slots.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(Slot::default());
    }

    /// Groups of the keys in slots, in no order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = u32> {
        let taken = self.slots.iter().filter(|slot| slot.group_plus_one != 0);
        taken.map(|slot| slot.group_plus_one - 1)
    }

    /// What the slot at which a hash starts probing says of its group; there are slots.
    #[inline]
    pub(crate) fn first(&self, hash: u64) -> u32 {
        self.slots[hash as usize & (self.slots.len() - 1)].group_plus_one
    }

    /// Asks for the slot at which a hash starts probing; there are slots.
    #[inline]
    pub(crate) fn prefetch_first(&self, hash: u64) {
        prefetch(&self.slots, hash as usize & (self.slots.len() - 1));
    }

    /// The first group plus one that has the hash's tag, which is the hash's own but for one in
    /// billions; 0 if there is none. There are slots.
    #[inline]
    pub(crate) fn first_of_tag(&self, hash: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut position = hash as usize & mask;
        loop {
            let slot = self.slots[position];
            if slot.group_plus_one == 0 || slot.tag == tag(hash) {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
    }

    /// The group of a row plus one; 0 if there is none.
    pub(crate) fn find<B: Deref<Target = [u8]>, L: LongKeys + Default>(
        &self,
        row: &Row<'_, '_, B>,
        keys: &BytesKeys<L>,
    ) -> u32 {
        let mask = self.slots.len().wrapping_sub(1);
        let mut position = row.hash as usize & mask;
        while let Some(slot) = self.slots.get(position) {
            let is_row = slot.group_plus_one != 0
                && slot.tag == tag(row.hash)
                && keys.is_key(slot.group_plus_one, row);
            if slot.group_plus_one == 0 || is_row {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
        0
    }

    /// As [`BytesSlots::find_or_insert`], for a row whose group plus one most likely is `first`.
    #[inline]
    pub(crate) fn find_first_or_insert<B: Deref<Target = [u8]>, L: AddLong<B> + Default>(
        &mut self,
        first: u32,
        row: &Row<'_, '_, B>,
        keys: &mut BytesKeys<L>,
    ) -> u32 {
        if keys.is_group_of(first, row) {
            return first;
        }
        self.find_or_insert(row, keys)
    }

    /// The group of a row plus one; a key that is not there is pushed to `keys`. There is room.
    pub(crate) fn find_or_insert<B: Deref<Target = [u8]>, L: AddLong<B> + Default>(
        &mut self,
        row: &Row<'_, '_, B>,
        keys: &mut BytesKeys<L>,
    ) -> u32 {
        let mask = self.slots.len() - 1;
        let mut position = row.hash as usize & mask;
        loop {
            let slot = self.slots[position];
            if slot.group_plus_one == 0 {
                let group_plus_one = keys.push(row);
                self.slots[position] = Slot {
                    tag: tag(row.hash),
                    group_plus_one,
                };
                return group_plus_one;
            }
            if slot.tag == tag(row.hash) && keys.is_key(slot.group_plus_one, row) {
                return slot.group_plus_one;
            }
            position = (position + 1) & mask;
        }
    }

    /// Makes room for `num_keys` keys in all.
    #[inline]
    pub(crate) fn reserve(&mut self, num_keys: usize, hashes: &[u64]) {
        if num_keys * 2 > self.slots.len() {
            self.grow(num_keys, hashes);
        }
    }

    fn grow(&mut self, needed: usize, hashes: &[u64]) {
        let factor = if self.slots.len() < (1 << 16) { 4 } else { 2 };
        let wanted = (needed * 2).next_power_of_two().max(MIN_SLOTS);
        let num_slots = wanted.max(self.slots.len() * factor);
        let mask = num_slots - 1;
        let mut grown = vec![Slot::default(); num_slots];
        for slot in self.slots.iter().filter(|s| s.group_plus_one != 0) {
            let hash = hashes[slot.group_plus_one as usize - 1];
            let mut position = hash as usize & mask;
            while grown[position].group_plus_one != 0 {
                position = (position + 1) & mask;
            }
            grown[position] = *slot;
        }
        self.slots = grown;
    }
}
