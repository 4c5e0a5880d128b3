//! Reads and holds byte strings as 16-byte views.
//!
//! A view has the length in its low 4 bytes. Up to 12 bytes follow in the view itself, padded
//! with zeros; a longer string has its first 4 bytes there, then the number of the buffer and
//! the offset that it lies at. (The layout is that of Arrow's view arrays.)

use std::ops::Deref;

/// Longest string that a view holds itself.
pub const INLINE_LEN: usize = 12;

/// Bytes of an arena's first buffer. Each next one has twice as many as the one before: arenas of few strings
/// may be many.
const MIN_BUFFER_BYTES: usize = 1 << 12;

/// Most bytes of a buffer; longer strings get a buffer of their own.
const BUFFER_BYTES: usize = 1 << 20;

/// Views with the buffers that they point into.
#[derive(Clone, Copy, Debug)]
pub struct Views<'a, B> {
    /// One for each string.
    pub views: &'a [u128],
    /// Where long strings lie.
    pub buffers: &'a [B],
}

/// Length of the string that `view` stands for.
#[inline]
pub fn view_len(view: u128) -> usize {
    view as u32 as usize
}

/// Where a long string lies: number of the buffer and range in it.
#[inline]
pub(crate) fn place(view: u128) -> (usize, std::ops::Range<usize>) {
    let offset = (view >> 96) as u32 as usize;
    let buffer = (view >> 64) as u32 as usize;
    (buffer, offset..offset + view_len(view))
}

impl<'a, B: Deref<Target = [u8]>> Views<'a, B> {
    /// The bytes of a long string, one that its view does not hold itself.
    #[inline]
    pub fn long(&self, view: u128) -> &'a [u8] {
        let (buffer, range) = place(view);
        &self.buffers[buffer][range]
    }
}

/// Holds the long keys of a table.
pub trait LongKeys {
    /// The bytes of a long key by its view.
    fn get(&self, view: u128) -> &[u8];

    /// Memory held, in bytes.
    fn size_bytes(&self) -> usize;
}

/// Holds long keys that come from rows of which the strings lie in buffers `B`.
pub(crate) trait AddLong<B>: LongKeys {
    /// Adds the long string that `view` stands for among `rows`, and gives the view that finds it here.
    fn add(&mut self, rows: &Views<'_, B>, view: u128) -> u128;
}

/// Long strings, copied side by side.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    buffers: Vec<Vec<u8>>,
}

impl Arena {
    /// Without strings, and room for so many bytes of them if these are fewer than a buffer may have.
    pub fn with_capacity(num_bytes: usize) -> Self {
        let is_small = num_bytes > 0 && num_bytes < BUFFER_BYTES;
        let buffers = is_small.then(|| Vec::with_capacity(num_bytes));
        Self {
            buffers: buffers.into_iter().collect(),
        }
    }

    /// Copies a long string and gives the view that finds it here.
    pub fn push(&mut self, bytes: &[u8]) -> u128 {
        let has_room = |b: &Vec<u8>| b.capacity() - b.len() >= bytes.len();
        if !self.buffers.last().is_some_and(has_room) {
            let last = self.buffers.last().map_or(0, Vec::capacity);
            let usual = (last * 2).clamp(MIN_BUFFER_BYTES, BUFFER_BYTES);
            self.buffers
                .push(Vec::with_capacity(bytes.len().max(usual)));
        }
        let idx = self.buffers.len() - 1;
        let buffer = &mut self.buffers[idx];
        // A buffer with more than one string is at most BUFFER_BYTES long.
        let offset = buffer.len() as u128;
        buffer.extend_from_slice(bytes);
        let prefix = bytes
            .first_chunk::<4>()
            .map_or(0, |p| u32::from_le_bytes(*p));
        (offset << 96) | ((idx as u128) << 64) | (u128::from(prefix) << 32) | bytes.len() as u128
    }

    /// What the views point into.
    pub fn buffers(&self) -> &[Vec<u8>] {
        &self.buffers
    }

    /// Gives the buffers away.
    pub fn into_buffers(self) -> Vec<Vec<u8>> {
        self.buffers
    }
}

impl LongKeys for Arena {
    #[inline]
    fn get(&self, view: u128) -> &[u8] {
        let (buffer, range) = place(view);
        &self.buffers[buffer][range]
    }

    fn size_bytes(&self) -> usize {
        self.buffers.iter().map(Vec::capacity).sum()
    }
}

impl<B: Deref<Target = [u8]>> AddLong<B> for Arena {
    #[inline]
    fn add(&mut self, rows: &Views<'_, B>, view: u128) -> u128 {
        self.push(rows.long(view))
    }
}

/// The view of a string that fits into it.
#[cfg(test)]
pub(crate) fn inline_view(bytes: &[u8]) -> u128 {
    let mut view = [0; 16];
    view[..4].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
    view[4..4 + bytes.len()].copy_from_slice(bytes);
    u128::from_le_bytes(view)
}

#[cfg(test)]
mod tests {
    use super::{Arena, BUFFER_BYTES, LongKeys, MIN_BUFFER_BYTES, view_len};

    #[test]
    fn gives_back_what_was_pushed() {
        let mut arena = Arena::default();
        let lens = [13, 100, BUFFER_BYTES - 113, 14, BUFFER_BYTES + 1, 15];
        let strings: Vec<Vec<u8>> = lens
            .iter()
            .enumerate()
            .map(|(i, len)| vec![i as u8; *len])
            .collect();
        let views: Vec<u128> = strings.iter().map(|s| arena.push(s)).collect();
        for (view, string) in views.iter().zip(&strings) {
            assert_eq!(view_len(*view), string.len());
            assert_eq!(arena.get(*view), string);
        }
        assert_eq!(arena.buffers().len(), 5);
        assert!(arena.buffers()[0].capacity() < 2 * MIN_BUFFER_BYTES);
    }
}
