//! Decides which bits of a word hold which part of the keys.
//!
//! ```text
//! | NULL? | a - min(a) | NULL? | max(b) - b | … | batch | row |      b is DESC
//! ```
//!
//! The order of words is the order of rows. Of keys that do not fit, the first bits are taken; then
//! equal words need a look at the rows themselves. Where all columns can be read back from the word,
//! it has no place of the row.
//!
//! ```text
//! a string that does not fit:   | before, with or after what most begin with | bytes | how many |
//! ```
//!
//! A few other strings, empty ones say, so do not make the first bytes of all the rest the same; and
//! strings that end within the bytes need no further look.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;

use super::ordinal::Kind;
use super::range::Range;
use super::step::ExactDivisor;

/// Bits of the widest word.
const MAX_BITS: u32 = 128;

/// Bytes that are taken of strings which do not fit.
const PREFIX_BYTES: u32 = 8;

/// Bits that say how many these are, or that there are more.
const OPEN_LEN_BITS: u32 = 4;

/// Bits that say how a string compares to those with the usual beginning.
const CLASS_BITS: u32 = 2;

/// A key column as far as the layout must know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyColumn {
    pub(super) kind: Kind,
    pub(super) options: SortOptions,
}

impl KeyColumn {
    /// A key of a type that the operator takes.
    pub(super) fn new(data_type: &DataType, options: SortOptions) -> Self {
        Self {
            kind: Kind::of(data_type).unwrap_or(Kind::Bytes),
            options,
        }
    }
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
    /// What differences of ordinals are divided by.
    pub(super) step: ExactDivisor,
    /// Ordinals that no value has: where they begin to be left out, and how many they are, a multiple of the step.
    pub(super) gap: Gap,
    /// Whether one more value, that which is apart, comes after the others.
    pub(super) has_apart: bool,
    /// Bytes that are left out where a string begins with them.
    pub(super) skipped: Arc<[u8]>,
    /// Bits that tell whether a string is before, among or after those that begin with these bytes; 0
    /// if all do.
    pub(super) class_bits: u32,
    /// Bytes that are taken.
    pub(super) num_bytes: u32,
    /// Bits that tell how many bytes there are, one more than are taken if there are more; 0 if nothing
    /// tells it.
    pub(super) len_bits: u32,
    /// Whether strings may be longer than what is taken.
    is_open: bool,
    /// Whether the key's values are other ones than the column's.
    is_changed: bool,
    /// If values are places among these, these in order.
    pub(super) values: Option<ArrayRef>,
}

/// Ordinals between zero and the least float above it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// Ordinals above this one are moved down.
    after: u64,
    len: u64,
}

impl Gap {
    /// The gap of values that are on both sides of it.
    fn of(range: &Range) -> Self {
        let step = range.step.divisor().get();
        let (Some((zero, above)), Some((min, _))) = (range.above_zero, range.ordinals) else {
            return Self::default();
        };
        if min > u128::from(zero) {
            return Self::default();
        }
        Self {
            after: zero,
            len: (above - zero).div_ceil(step).saturating_sub(1) * step,
        }
    }

    /// Whether there is none.
    pub(super) fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The place of an ordinal without the gap.
    #[inline(always)]
    pub(super) fn close(self, ordinal: u64) -> u64 {
        if ordinal > self.after {
            ordinal.wrapping_sub(self.len)
        } else {
            ordinal
        }
    }

    /// The ordinal of a place that [`Gap::close`] gave.
    #[inline(always)]
    pub(super) fn open(self, place: u64) -> u64 {
        if place > self.after {
            place.wrapping_add(self.len)
        } else {
            place
        }
    }
}

impl Field {
    /// Bits of the value and of its NULL.
    pub(super) fn total_bits(&self) -> u32 {
        self.bits + u32::from(self.has_null_bit)
    }

    /// Steps from the smallest to the largest ordinal.
    pub(super) fn num_steps(&self) -> u128 {
        let gap = u128::from(self.gap.len);
        (self.ordinals.1 - self.ordinals.0 - gap) / u128::from(self.step.get())
    }

    fn is_whole(&self) -> bool {
        self.dropped_bits == 0 && !self.is_open
    }

    /// If equal fields are equal keys: those of strings that end within the bytes taken, from the
    /// lowest bit of the field on.
    fn is_decided(&self, lowest: u64) -> bool {
        if self.len_bits == 0 {
            return self.is_whole();
        }
        let mask = (1 << self.len_bits) - 1;
        let lowest = if self.options.descending {
            !lowest
        } else {
            lowest
        };
        self.is_whole() || (lowest & mask) <= u64::from(self.num_bytes)
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
    /// Columns that are no keys, which stand below these instead of the row's place; the key of each is the number
    /// of its column.
    pub(super) carried: Vec<Field>,
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
            carried: Vec::new(),
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

    /// The first of `num_keys` keys that words do not hold whole, and whether it is the last key.
    pub(super) fn first_open_key(&self, num_keys: usize) -> (usize, bool) {
        let num_whole = self.fields.iter().take_while(|field| field.is_whole());
        let key = num_whole.count();
        (key, key + 1 == num_keys && self.fields.len() == num_keys)
    }

    /// Whether words with these keys, from the lowest bit of the last on, are those of equal rows of `num_keys` keys.
    pub(super) fn decides(&self, lowest: u64, num_keys: usize) -> bool {
        let (_, is_last) = self.first_open_key(num_keys);
        let last = self.fields.last();
        self.is_exact || is_last && last.is_some_and(|field| field.is_decided(lowest))
    }

    /// Bits of all keys.
    pub(super) fn key_bits(&self) -> u32 {
        self.fields.iter().map(Field::total_bits).sum()
    }

    /// The same with other columns in the place of the row's place.
    pub(super) fn carrying(&self, carried: Vec<Field>) -> Self {
        Self {
            batch_bits: 0,
            row_bits: 0,
            carried,
            ..self.clone()
        }
    }

    /// Whether words have columns that are no keys.
    pub(super) fn is_carrying(&self) -> bool {
        !self.carried.is_empty()
    }

    /// Bits below the keys, which do not order rows: their places, or columns.
    pub(super) fn place_bits(&self) -> u32 {
        let carried = self.carried.iter().map(Field::total_bits);
        self.batch_bits + self.row_bits + carried.sum::<u32>()
    }

    /// Where the value of a key column begins, if the word has all of it and it can be read back.
    pub(super) fn readable(&self, key: usize) -> Option<(&Field, u32)> {
        let found = find(&self.fields, key, self.place_bits())?;
        let Field {
            kind, is_changed, ..
        } = found.0;
        let is_readable = *kind != Kind::Bytes && !is_changed && found.0.is_whole();
        is_readable.then_some(found)
    }

    /// Where the value of a carried column begins.
    pub(super) fn carried(&self, column: usize) -> Option<(&Field, u32)> {
        find(&self.carried, column, 0)
    }
}

/// The field of a key and where it begins, in fields that end at bit `end`.
fn find(fields: &[Field], key: usize, end: u32) -> Option<(&Field, u32)> {
    let mut shift = end;
    for field in fields.iter().rev() {
        if field.key == key {
            return Some((field, shift));
        }
        shift += field.total_bits();
    }
    None
}

/// The field of a column with all of its values, if there is room.
pub(super) fn whole_field(
    key: usize,
    column: KeyColumn,
    range: &Range,
    room: u32,
) -> Option<Field> {
    field(key, column, range, room).filter(Field::is_whole)
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
        step: range.step.divisor(),
        gap: Gap::of(range),
        has_apart: range.has_apart,
        skipped: Arc::default(),
        class_bits: 0,
        num_bytes: 0,
        len_bits: 0,
        is_open: false,
        is_changed: range.is_changed,
        values: range.values.clone(),
    };
    if column.kind == Kind::Bytes {
        take_bytes(&mut field, range, room);
    } else {
        let most = field.num_steps() + u128::from(field.has_apart);
        let bits = u128::BITS - most.leading_zeros();
        field.bits = bits.min(room);
        field.dropped_bits = bits - field.bits;
    }
    Some(field)
}

fn take_bytes(field: &mut Field, range: &Range, room: u32) {
    let prefix = range.prefix.as_deref().unwrap_or_default();
    field.skipped = prefix.into();
    let len = (range.max_len - prefix.len().min(range.max_len)).min(255) as u32;
    // One more than is needed, so that strings which are all the same have a length, too.
    let len_bits = (len + 1).next_power_of_two().trailing_zeros().max(1);
    if len <= 16 && 8 * len + len_bits <= room {
        field.num_bytes = len;
        field.len_bits = len_bits;
    } else {
        field.is_open = true;
        let usual = range.usual_prefix();
        if usual.len() > prefix.len() && room >= CLASS_BITS + 8 {
            field.skipped = usual.into();
            field.class_bits = CLASS_BITS;
        }
        let room = room - field.class_bits;
        field.num_bytes = PREFIX_BYTES.min(room / 8);
        if 8 * field.num_bytes + OPEN_LEN_BITS <= room {
            field.len_bits = OPEN_LEN_BITS;
        }
    }
    field.bits = field.class_bits + 8 * field.num_bytes + field.len_bits;
}
