//! Finds the strings of a column that contain a text.
//!
//! Strings that lie one behind the other in a buffer are searched as one stretch of bytes, and a
//! place that is found is then given to its row: a row without the text costs its bytes, not a call.

use arrow::array::{Array, BinaryViewArray, ByteView};
use memchr::memmem::Finder;

/// Rows that are looked at together.
const GROUP: usize = 64;

/// Strings up to this length lie in their views.
const MAX_INLINE: u32 = 12;

/// For each row whether it contains what `finder` looks for, which is not empty.
pub fn rows_containing(strings: &BinaryViewArray, finder: &Finder<'_>) -> Vec<bool> {
    let mut found = Vec::with_capacity(strings.len());
    let inline = InlineNeedle::new(finder.needle());
    for (idx, group) in strings.views().chunks(GROUP).enumerate() {
        match Stretch::of(group, strings) {
            Some(stretch) => stretch.search(group, finder, inline.as_ref(), &mut found),
            None => {
                let rows = idx * GROUP..idx * GROUP + group.len();
                found.extend(rows.map(|row| finder.find(strings.value(row)).is_some()));
            }
        }
    }
    found
}

/// The bytes in which all long strings of some rows lie, in their order and with little between.
struct Stretch<'a> {
    bytes: &'a [u8],
    /// Where the bytes begin in their buffer.
    begin: usize,
}

impl<'a> Stretch<'a> {
    fn of(views: &[u128], strings: &'a BinaryViewArray) -> Option<Self> {
        let (mut buffer, mut begin, mut end, mut len) = (None, 0, 0, 0);
        for view in views {
            let view = ByteView::from(*view);
            if view.length <= MAX_INLINE {
                continue;
            }
            let at = view.offset as usize;
            if buffer.is_none() {
                (buffer, begin, end) = (Some(view.buffer_index), at, at);
            }
            if buffer != Some(view.buffer_index) || at < end {
                return None;
            }
            end = at + view.length as usize;
            len += view.length as usize;
        }
        if end - begin > 2 * len {
            return None;
        }
        let bytes = match buffer {
            Some(idx) => strings.data_buffers().get(idx as usize)?.get(begin..end)?,
            None => &[],
        };
        Some(Self { bytes, begin })
    }

    fn search(
        &self,
        views: &[u128],
        finder: &Finder<'_>,
        inline: Option<&InlineNeedle>,
        found: &mut Vec<bool>,
    ) {
        let find_from = |at: usize| {
            finder
                .find(&self.bytes[at..])
                .map_or(usize::MAX, |n| at + n)
        };
        let needle_len = finder.needle().len();
        let mut next = find_from(0);
        for view in views {
            let fields = ByteView::from(*view);
            if fields.length <= MAX_INLINE {
                found.push(inline.is_some_and(|needle| needle.is_in(*view)));
                continue;
            }
            let at = fields.offset as usize - self.begin;
            if next < at {
                next = find_from(at);
            }
            let last = at + fields.length as usize;
            found.push(next < last && next + needle_len <= last);
        }
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
                let expected: Vec<bool> =
                    strings.bytes_iter().map(|value| finder.find(value).is_some()).collect();
                prop_assert_eq!(rows_containing(strings, &finder), expected);
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
