//! Sorts entries by part, some thousand at a time.
//!
//! A counting sort: to push each entry to the buffer of its part at once would touch the heads and
//! ends of hundreds of buffers in no order, and ask each time whether it is full.

use basalt_hashtable::radix::partition_of;

use super::entry::{Entry, Value};

/// Entries that are sorted together: they and their copies stay in the second cache.
const TOGETHER: usize = 4096;

/// Most bits that choose a part.
const MAX_BITS: u32 = 8;

/// Room for entries on their way to their parts.
#[derive(Debug, Default)]
pub(super) struct Scatter<E> {
    entries: Vec<E>,
    /// The part of each entry.
    parts: Vec<u8>,
    sorted: Vec<E>,
}

impl<E: Entry> Scatter<E> {
    /// Calls `f` with entries of each part, for all entries; `bits` of the hash of the value, at most 8,
    /// choose the part.
    pub(super) fn run(
        &mut self,
        entries: impl Iterator<Item = E>,
        bits: u32,
        mut f: impl FnMut(usize, &[E]),
    ) {
        debug_assert!(bits <= MAX_BITS, "parts are numbered by bytes");
        let mut entries = entries.peekable();
        while entries.peek().is_some() {
            self.entries.clear();
            self.entries.extend(entries.by_ref().take(TOGETHER));
            self.sort(bits, &mut f);
        }
    }

    fn sort(&mut self, bits: u32, f: &mut impl FnMut(usize, &[E])) {
        let mut ends = [0usize; 1 << MAX_BITS];
        self.parts.clear();
        self.parts.extend(self.entries.iter().map(|entry| {
            let part = partition_of(entry.value().hash(), bits) as u8;
            ends[usize::from(part)] += 1;
            part
        }));
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        self.sorted.resize(TOGETHER, E::default());
        for (entry, part) in self.entries.iter().zip(&self.parts) {
            let place = &mut ends[usize::from(*part)];
            self.sorted[*place] = *entry;
            *place += 1;
        }
        let mut start = 0;
        for (part, end) in ends[..1 << bits].iter().enumerate() {
            if start < *end {
                f(part, &self.sorted[start..*end]);
            }
            start = *end;
        }
    }
}
