//! Finds the strings of a column that contain a text.
//!
//! The long strings of some rows are searched as one stretch of bytes, and a place that is found is then
//! given to its row: a row without the text costs its bytes, not a call. Strings that lie one behind the
//! other in a buffer are such a stretch; others, like those of a dictionary, are copied into one, which
//! takes a third of the time of a call for each (`LIKE` over 50 million rows, a fifth of them long).

use arrow::array::{Array, BinaryViewArray, ByteView};
use arrow::buffer::Buffer;
use memchr::memmem::Finder;

/// Rows that are looked at together: a bit of a word each.
const GROUP: usize = 64;

/// Strings up to this length lie in their views.
const MAX_INLINE: u32 = 12;

/// For each row whether it contains what `finder` looks for, which is not empty: 1 if that is as `wanted`,
/// 0 if not.
pub fn rows_containing(strings: &BinaryViewArray, finder: &Finder<'_>, wanted: bool) -> Vec<u8> {
    let mut found = Vec::with_capacity(strings.len());
    let inline = InlineNeedle::new(finder.needle());
    let (mut group, mut copied) = (Group::new(), Vec::new());
    for views in strings.views().chunks(GROUP) {
        group.fill(views);
        let mut hits = group.search(strings.data_buffers(), finder, &mut copied);
        if let Some(needle) = inline.as_ref().filter(|n| n.len <= group.longest_inline) {
            hits |= needle.hits(views);
        }
        let first = u8::from(!wanted);
        match hits {
            0 => found.resize(found.len() + views.len(), first),
            _ => found.extend((0..views.len()).map(|row| (hits >> row & 1) as u8 ^ first)),
        }
    }
    found
}

/// The long strings among some rows.
struct Group {
    /// Their rows, in order.
    rows: [u8; GROUP],
    strings: [ByteView; GROUP],
    len: usize,
    /// Length of the longest of the other strings.
    longest_inline: u32,
}

impl Group {
    fn new() -> Self {
        Self {
            rows: [0; GROUP],
            strings: [ByteView::default(); GROUP],
            len: 0,
            longest_inline: 0,
        }
    }

    fn fill(&mut self, views: &[u128]) {
        (self.len, self.longest_inline) = (0, 0);
        // Without branches: where lengths are mixed no processor foresees them.
        for (row, view) in views.iter().enumerate() {
            let view = ByteView::from(*view);
            let is_long = view.length > MAX_INLINE;
            self.rows[self.len] = row as u8;
            self.strings[self.len] = view;
            self.len += usize::from(is_long);
            let inline = if is_long { 0 } else { view.length };
            self.longest_inline = self.longest_inline.max(inline);
        }
    }

    fn strings(&self) -> &[ByteView] {
        &self.strings[..self.len]
    }

    /// Bits of the rows whose long strings contain what `finder` looks for.
    fn search(&self, buffers: &[Buffer], finder: &Finder<'_>, copied: &mut Vec<u8>) -> u64 {
        if self.len == 0 {
            return 0;
        }
        if let Some((bytes, begin)) = self.stretch(buffers) {
            let begins = self.strings().iter().map(|s| s.offset as usize - begin);
            return self.hits(bytes, begins, finder);
        }
        copied.clear();
        for string in self.strings() {
            let (begin, len) = (string.offset as usize, string.length as usize);
            copied.extend_from_slice(&buffers[string.buffer_index as usize][begin..begin + len]);
        }
        let begins = self.strings().iter().scan(0, |end, string| {
            let begin = *end;
            *end += string.length as usize;
            Some(begin)
        });
        self.hits(copied, begins, finder)
    }

    /// The bytes of a buffer in which the strings lie in their order with little between, and where these
    /// begin.
    fn stretch<'a>(&self, buffers: &'a [Buffer]) -> Option<(&'a [u8], usize)> {
        let first = self.strings().first()?;
        let begin = first.offset as usize;
        let (mut end, mut len) = (begin, 0);
        for string in self.strings() {
            let at = string.offset as usize;
            if string.buffer_index != first.buffer_index || at < end {
                return None;
            }
            end = at + string.length as usize;
            len += string.length as usize;
        }
        let is_dense = end - begin <= 2 * len;
        let bytes = buffers.get(first.buffer_index as usize)?.get(begin..end)?;
        is_dense.then_some((bytes, begin))
    }

    /// Bits of the rows whose strings, which begin at `begins` of `bytes`, contain it.
    fn hits(&self, bytes: &[u8], begins: impl Iterator<Item = usize>, finder: &Finder<'_>) -> u64 {
        let find_from = |at: usize| finder.find(&bytes[at..]).map(|n| at + n);
        let Some(mut next) = find_from(0) else {
            return 0;
        };
        let mut hits = 0;
        for ((begin, string), row) in begins.zip(self.strings()).zip(self.rows) {
            if next < begin {
                match find_from(begin) {
                    Some(found) => next = found,
                    None => break,
                }
            }
            let end = begin + string.length as usize;
            let is_hit = next + finder.needle().len() <= end;
            hits |= u64::from(is_hit) << row;
        }
        hits
    }
}

/// A text of at most 12 bytes, compared with what lies in views.
struct InlineNeedle {
    needle: u128,
    mask: u128,
    len: u32,
}

impl InlineNeedle {
    fn new(needle: &[u8]) -> Option<Self> {
        let len = u32::try_from(needle.len())
            .ok()
            .filter(|n| *n <= MAX_INLINE)?;
        let mut bytes = [0; 16];
        bytes[..needle.len()].copy_from_slice(needle);
        Some(Self {
            needle: u128::from_le_bytes(bytes),
            mask: (1 << (8 * len)) - 1,
            len,
        })
    }

    /// Bits of the rows whose strings lie in their views and contain the text.
    fn hits(&self, views: &[u128]) -> u64 {
        let flags = views
            .iter()
            .map(|view| (*view as u32) <= MAX_INLINE && self.is_in(*view));
        flags
            .enumerate()
            .fold(0, |hits, (row, is_hit)| hits | u64::from(is_hit) << row)
    }

    /// Whether the string in a view, behind its length, contains the text.
    fn is_in(&self, view: u128) -> bool {
        let len = view as u32;
        let mut bytes = view >> 32;
        for _ in self.len..=len {
            if bytes & self.mask == self.needle {
                return true;
            }
            bytes >>= 8;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, BinaryViewArray};
    use memchr::memmem::Finder;
    use proptest::prelude::*;

    use super::rows_containing;

    proptest! {
        #[test]
        fn rows_are_those_that_contain_the_text(
            values in prop::collection::vec("[ab]{0,20}", 0..200),
            needle in "[ab]{1,14}",
            from in 0usize..50,
            step in 1usize..9,
        ) {
            let strings = BinaryViewArray::from_iter_values(&values);
            let whole = strings.slice(from.min(strings.len()), strings.len().saturating_sub(from));
            let every = (0..strings.len()).step_by(step).rev().map(|row| strings.value(row));
            let scattered = BinaryViewArray::from_iter_values(every);
            let finder = Finder::new(&needle);
            for strings in [&strings, &whole, &scattered, &taken(&strings, step)] {
                let expected: Vec<u8> =
                    strings.bytes_iter().map(|value| finder.find(value).is_some().into()).collect();
                prop_assert_eq!(rows_containing(strings, &finder, true), &expected[..]);
                let opposite: Vec<u8> = expected.iter().map(|hit| 1 - hit).collect();
                prop_assert_eq!(rows_containing(strings, &finder, false), opposite);
            }
        }
    }

    /// Rows whose buffers are those of `strings`, some twice, out of order.
    fn taken(strings: &BinaryViewArray, step: usize) -> BinaryViewArray {
        let len = strings.len();
        let views = (0..len).map(|row| strings.views()[(row * step / 2 + row % 3) % len]);
        let buffers = strings.data_buffers().to_vec();
        BinaryViewArray::try_new(views.collect(), buffers, None).expect("views of the buffers")
    }
}
