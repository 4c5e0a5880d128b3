//! Decides which bits of a word hold which part of the keys.
//!
//! ```text
//! | NULL? | a - min(a) | NULL? | max(b) - b | … | batch | row |      b is DESC
//! ```
//!
//! The order of words is the order of rows. Of keys that do not fit, the first bits are taken; then
//! equal words need a look at the rows themselves. Where all columns can be read back from the word,
//! it has no place of the row.

use arrow::compute::SortOptions;

use super::ordinal::Kind;
use super::range::Range;

/// Bits of the widest word.
const MAX_BITS: u32 = 128;

/// Bytes that are taken of strings which do not fit.
const PREFIX_BYTES: u32 = 8;

/// A key column as far as the layout must know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyColumn {
    pub(super) kind: Kind,
    pub(super) options: SortOptions,
}

/// Where a word has the value of a key column.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// Which of the keys.
    pub(super) key: usize,
    pub(super) kind: Kind,
    pub(super) options: SortOptions,
    /// Whether a bit above says that the row is NULL.
    pub(super) has_null_bit: bool,
    /// Bits of the value.
    pub(super) bits: u32,
    /// Bits of the value that had no room.
    pub(super) dropped_bits: u32,
    /// The smallest and the largest ordinal.
    pub(super) ordinals: (u128, u128),
    /// Bytes that all values begin with, which are left out.
    pub(super) skipped_bytes: usize,
    /// Bytes that are taken.
    pub(super) num_bytes: u32,
    /// Bits that tell how long a string is; 0 if strings are not taken whole.
    pub(super) len_bits: u32,
    /// Whether the key's values are other ones than the column's.
    is_changed: bool,
}

impl Field {
    fn total_bits(&self) -> u32 {
        self.bits + u32::from(self.has_null_bit)
    }

    fn is_whole(&self) -> bool {
        self.dropped_bits == 0 && (self.kind != Kind::Bytes || self.len_bits > 0)
    }
}

/// Where a word has what.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) fields: Vec<Field>,
    /// Whether equal words are equal keys.
    pub(super) is_exact: bool,
    /// Bits of a batch's number.
    pub(super) batch_bits: u32,
    /// Bits of a row's number in its batch.
    pub(super) row_bits: u32,
}

impl Layout {
    /// A layout for `keys`; `place_bits` says how many bits batches and their rows need, if some column is
    /// not read back from the word.
    pub(super) fn new(keys: &[(KeyColumn, &Range)], place_bits: Option<(u32, u32)>) -> Self {
        let (batch_bits, row_bits) = place_bits.unwrap_or((0, 0));
        let mut layout = Self {
            fields: Vec::new(),
            is_exact: true,
            batch_bits,
            row_bits,
        };
        let mut room = MAX_BITS.saturating_sub(layout.place_bits());
        for (i, (key, range)) in keys.iter().enumerate() {
            let Some(field) = field(i, *key, range, room) else {
                layout.is_exact = false;
                return layout;
            };
            room -= field.total_bits();
            let is_whole = field.is_whole();
            layout.fields.push(field);
            if !is_whole {
                layout.is_exact = false;
                return layout;
            }
        }
        layout
    }

    /// Bits of all keys.
    pub(super) fn key_bits(&self) -> u32 {
        self.fields.iter().map(Field::total_bits).sum()
    }

    /// Bits below the keys that tell a row's place.
    pub(super) fn place_bits(&self) -> u32 {
        self.batch_bits + self.row_bits
    }

    /// Where the value of a key column begins, if the word has all of it and it can be read back.
    pub(super) fn readable(&self, key: usize) -> Option<(&Field, u32)> {
        let mut shift = self.key_bits() + self.place_bits();
        for field in &self.fields {
            shift -= field.total_bits();
            if field.key == key {
                let is_readable =
                    field.kind != Kind::Bytes && !field.is_changed && field.is_whole();
                return is_readable.then_some((field, shift));
            }
        }
        None
    }
}

fn field(key: usize, column: KeyColumn, range: &Range, room: u32) -> Option<Field> {
    let null_bits = u32::from(range.has_nulls);
    if room < null_bits {
        return None;
    }
    let room = room - null_bits;
    let ordinals = range.ordinals.unwrap_or((0, 0));
    let mut field = Field {
        key,
        kind: column.kind,
        options: column.options,
        has_null_bit: range.has_nulls,
        bits: 0,
        dropped_bits: 0,
        ordinals,
        skipped_bytes: 0,
        num_bytes: 0,
        len_bits: 0,
        is_changed: range.is_changed,
    };
    if column.kind == Kind::Bytes {
        take_bytes(&mut field, range, room);
    } else {
        let bits = u128::BITS - (ordinals.1 - ordinals.0).leading_zeros();
        field.bits = bits.min(room);
        field.dropped_bits = bits - field.bits;
    }
    Some(field)
}

fn take_bytes(field: &mut Field, range: &Range, room: u32) {
    let skipped = range.prefix.as_ref().map_or(0, Vec::len);
    field.skipped_bytes = skipped;
    let len = (range.max_len - skipped.min(range.max_len)).min(255) as u32;
    // One more than is needed, so that strings which are all the same have a length, too.
    let len_bits = (len + 1).next_power_of_two().trailing_zeros().max(1);
    if len <= 16 && 8 * len + len_bits <= room {
        field.num_bytes = len;
        field.len_bits = len_bits;
    } else {
        field.num_bytes = PREFIX_BYTES.min(room / 8);
    }
    field.bits = 8 * field.num_bytes + field.len_bits;
}
