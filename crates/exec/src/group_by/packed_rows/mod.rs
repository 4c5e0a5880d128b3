//! Keys of fixed width and strings as rows of bytes, packed without padding.
//!
//! ```text
//! ┌ fixed: values side by side, then a bit for each NULL ┬ string ─────────┬ last string ┐
//! │ as in a word, in whole bytes                         │ u32 len · bytes │ bytes       │
//! └──────────────────────────────────────────────────────┴─────────────────┴─────────────┘
//! ```
//!
//! Rows of at most 12 bytes are their own view and touch no other memory: most strings of a column
//! are short or empty. Strings come out again as views into the rows, without a copy.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewArray};
use arrow::buffer::{NullBuffer, ScalarBuffer};
use arrow::datatypes::DataType as ArrowType;
use basalt_hashtable::{HashKeys, Word, Word256};
use datafusion::error::Result;

use self::read::{strings_of, word_of};
use self::write::{Strings, write_rows};
use super::bytes_form::BytesGroups;
use super::key_form::{KeyForm, Keys};
use super::pack::{Place, pack, unpack, width};
use super::string_keys::StringKeys;

/// Most bits of the fixed part.
const MAX_FIXED_BITS: u32 = 256;

/// Bytes of the length in front of a string that is not the last.
const LEN_BYTES: usize = size_of::<u32>();

/// What a key column becomes.
#[derive(Clone, Debug)]
enum Part {
    Fixed(Place),
    /// A string, with the bit that says NULL.
    String(Option<u32>),
}

/// Where columns lie in a row.
#[derive(Clone, Debug)]
pub(super) struct RowLayout {
    parts: Vec<Part>,
    fixed_bits: u32,
}

impl RowLayout {
    /// The layout for keys of these types, each with whether it may be NULL; `None` if one is
    /// neither a string nor of fixed width, or those are too wide.
    pub(super) fn of(keys: &[(ArrowType, bool)]) -> Option<Self> {
        let mut fixed_bits = 0;
        let mut parts = Vec::with_capacity(keys.len());
        for (arrow, _) in keys {
            if *arrow == ArrowType::BinaryView {
                parts.push(Part::String(None));
                continue;
            }
            parts.push(Part::Fixed(Place {
                arrow: arrow.clone(),
                shift: fixed_bits,
                null_shift: None,
            }));
            fixed_bits += width(arrow)?;
        }
        let nullable = parts.iter_mut().zip(keys).filter(|(_, (_, null))| *null);
        for (part, _) in nullable {
            match part {
                Part::Fixed(place) => place.null_shift = Some(fixed_bits),
                Part::String(null_shift) => *null_shift = Some(fixed_bits),
            }
            fixed_bits += 1;
        }
        (fixed_bits <= MAX_FIXED_BITS).then_some(Self { parts, fixed_bits })
    }

    /// Number of columns.
    pub(super) fn num_columns(&self) -> usize {
        self.parts.len()
    }

    fn fixed_bytes(&self) -> usize {
        self.fixed_bits.div_ceil(8) as usize
    }

    fn encode<W: Word>(&self, columns: &[ArrayRef]) -> Result<StringKeys> {
        let num_rows = columns.first().map_or(0, |c| c.len());
        let mut words = vec![W::default(); num_rows];
        let mut strings = Vec::new();
        for (column, part) in columns.iter().zip(&self.parts) {
            match part {
                Part::Fixed(place) => pack(column, place, &mut words)?,
                Part::String(null_shift) => {
                    let strings_of = Strings::of(column)?;
                    let nulls = strings_of.nulls.iter().flat_map(|nulls| nulls.iter());
                    for (word, is_valid) in words.iter_mut().zip(nulls) {
                        let bit = u64::from(!is_valid);
                        *word = word.union(null_shift.map_or(W::default(), |s| W::place(bit, s)));
                    }
                    strings.push(strings_of);
                }
            }
        }
        write_rows(&words, self.fixed_bytes(), &strings)
    }

    fn columns_of(&self, rows: &BinaryViewArray) -> Result<Vec<ArrayRef>> {
        match self.fixed_bits {
            0..=64 => self.decode::<u64>(rows),
            65..=128 => self.decode::<u128>(rows),
            _ => self.decode::<Word256>(rows),
        }
    }

    fn decode<W: Word>(&self, rows: &BinaryViewArray) -> Result<Vec<ArrayRef>> {
        let fixed_bytes = self.fixed_bytes();
        let word = |i: usize| word_of::<W>(&rows.value(i)[..fixed_bytes]);
        let words: Vec<W> = (0..rows.len()).map(word).collect();
        let num_strings = self.parts.iter().filter(|p| matches!(p, Part::String(_)));
        let mut strings = strings_of(rows, fixed_bytes, num_strings.count()).into_iter();
        let column = |part: &Part| match part {
            Part::Fixed(place) => unpack(&words, place, None),
            Part::String(null_shift) => {
                let views = ScalarBuffer::from(strings.next().unwrap_or_default());
                let is_valid = |shift| words.iter().map(|w| w.extract(shift) & 1 == 0).collect();
                let nulls = null_shift.map(is_valid);
                let nulls = nulls.filter(|nulls: &NullBuffer| nulls.null_count() > 0);
                let buffers = rows.data_buffers().to_vec();
                let column = BinaryViewArray::try_new(views, buffers, nulls)?;
                Ok(Arc::new(column) as ArrayRef)
            }
        };
        self.parts.iter().map(column).collect()
    }
}

/// Keys of fixed width and strings, as rows of bytes.
#[derive(Debug)]
pub(super) struct PackedRowForm<H> {
    layout: RowLayout,
    hash: PhantomData<H>,
}

impl<H> PackedRowForm<H> {
    /// Keys in this layout.
    pub(super) fn new(layout: &RowLayout) -> Self {
        Self {
            layout: layout.clone(),
            hash: PhantomData,
        }
    }
}

impl<H: HashKeys> KeyForm for PackedRowForm<H> {
    type Table = BytesGroups<H>;

    const ARE_FAR: bool = true;

    fn table(&self) -> BytesGroups<H> {
        BytesGroups::default()
    }

    fn two_level_table(&self, bits: u32) -> BytesGroups<H> {
        BytesGroups::two_level(bits)
    }

    fn merged_table(&self) -> BytesGroups<H> {
        BytesGroups::kept()
    }

    fn encode(&self, columns: Vec<ArrayRef>) -> Result<Keys<Self>> {
        match self.layout.fixed_bits {
            0..=64 => self.layout.encode::<u64>(&columns),
            65..=128 => self.layout.encode::<u128>(&columns),
            _ => self.layout.encode::<Word256>(&columns),
        }
    }

    fn columns(&self, keys: &Keys<Self>) -> Result<Vec<ArrayRef>> {
        self.layout.columns_of(&keys.array()?)
    }

    fn decode(&self, table: &BytesGroups<H>, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.layout.columns_of(&table.array(range)?)
    }
}
