//! Tells what characters all strings of a column have: one look at the whole column is much cheaper than one at each string.

use std::ops::Range;

use arrow::array::{BinaryViewArray, ByteView};
use arrow::buffer::Buffer;

/// What is known of all strings of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Characters {
    /// They are ASCII.
    Ascii,
    /// They are UTF-8.
    Utf8,
    /// Nothing.
    Any,
}

impl Characters {
    /// What holds where this and `other` do.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, _) | (_, Self::Any) => Self::Any,
            (Self::Utf8, _) | (_, Self::Utf8) => Self::Utf8,
            (Self::Ascii, Self::Ascii) => Self::Ascii,
        }
    }

    fn of(bytes: &[u8]) -> Self {
        if bytes.is_ascii() {
            Self::Ascii
        } else if is_utf8(bytes) {
            Self::Utf8
        } else {
            Self::Any
        }
    }
}

/// Whether bytes are UTF-8: several times as fast as the standard library where many are not ASCII.
#[inline]
pub fn is_utf8(bytes: &[u8]) -> bool {
    simdutf8::basic::from_utf8(bytes).is_ok()
}

/// Where the long strings of one buffer lie.
#[derive(Clone, Copy, Debug)]
struct Region {
    begin: usize,
    end: usize,
    /// Bytes of all its strings.
    used: usize,
}

/// Longest string that a view holds itself.
const INLINE_LEN: u32 = 12;

/// The number of a long string's buffer, and where in it the string lies; none if the view holds the string.
#[inline]
fn place(view: u128) -> Option<(usize, Range<usize>)> {
    let view = ByteView::from(view);
    let begin = view.offset as usize;
    let is_long = view.length > INLINE_LEN;
    is_long.then(|| {
        let end = begin + view.length as usize;
        (view.buffer_index as usize, begin..end)
    })
}

/// The characters of all strings; `Any` too where finding out would mean to look at more than the strings.
pub(crate) fn characters(array: &BinaryViewArray) -> Characters {
    let nothing = Region {
        begin: usize::MAX,
        end: 0,
        used: 0,
    };
    let mut regions = vec![nothing; array.data_buffers().len()];
    let mut short_bits = 0;
    for view in array.views() {
        let Some((buffer, range)) = place(*view) else {
            short_bits |= view >> 32;
            continue;
        };
        let region = &mut regions[buffer];
        region.begin = region.begin.min(range.start);
        region.end = region.end.max(range.end);
        region.used += range.len();
    }
    let mut found = match short_bits & (u128::MAX / 0xFF * 0x80) {
        0 => Characters::Ascii,
        _ => of_short(array),
    };
    for (region, buffer) in regions.iter().zip(array.data_buffers()) {
        if found == Characters::Any {
            return found;
        }
        if region.used > 0 {
            found = found.and(of_region(region, buffer));
        }
    }
    if found == Characters::Utf8 && !are_whole(array) {
        return Characters::Any;
    }
    found
}

fn of_short(array: &BinaryViewArray) -> Characters {
    let views = array.views().iter().enumerate();
    let short = views.filter(|(_, view)| place(**view).is_none());
    short.fold(Characters::Ascii, |found, (row, _)| {
        found.and(Characters::of(array.value(row)))
    })
}

fn of_region(region: &Region, buffer: &Buffer) -> Characters {
    // Most of it may be other strings' where a filter left few.
    match buffer.get(region.begin..region.end) {
        Some(bytes) if bytes.len() <= 2 * region.used => Characters::of(bytes),
        _ => Characters::Any,
    }
}

/// Whether no long string begins or ends within a character; what they lie in is UTF-8.
fn are_whole(array: &BinaryViewArray) -> bool {
    let is_within = |buffer: &Buffer, at| buffer.get(at).is_some_and(|b: &u8| b & 0xC0 == 0x80);
    let mut places = array.views().iter().filter_map(|view| place(*view));
    places.all(|(buffer, range)| {
        let buffer = &array.data_buffers()[buffer];
        !is_within(buffer, range.start) && !is_within(buffer, range.end)
    })
}
