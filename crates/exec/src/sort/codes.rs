//! Turns the keys of rows into codes that are counted.
//!
//! Keys of few bits are codes themselves. Of others, the different ones are numbered if there are few.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::Strategy;
use super::dictionary::{Dictionary, FEW, seems_worth_it};
use super::layout::{Field, Layout};
use super::pack::{pack, unpack};
use super::parts::Cut;
use super::rows::Rows;

/// How keys become codes.
pub(super) struct Codes {
    pub(super) layout: Arc<Layout>,
    /// None if keys are the codes.
    dictionary: Option<Dictionary>,
}

impl Codes {
    /// Codes of the keys of `rows`, if these are to be counted; `clock` gets the time of all tasks.
    pub(super) async fn of(rows: &Arc<Rows>, cut: Cut, clock: &Time) -> Result<Option<Self>> {
        let layout = Arc::new(rows.layout_of_keys());
        let num_rows = rows.num_rows();
        let bits = cut.strategy.counted_bits(num_rows / cut.num_tasks.max(1));
        let Some(bits) = bits.filter(|_| layout.is_exact && num_rows > 0) else {
            return Ok(None);
        };
        if layout.key_bits() <= bits {
            let dictionary = None;
            return Ok(Some(Self { layout, dictionary }));
        }
        let most = 1 << bits;
        let is_forced = cut.strategy == Strategy::Counting;
        if layout.key_bits() > u64::BITS
            || !(is_forced || seems_worth_it(rows, &layout, (most, FEW)))
        {
            return Ok(None);
        }
        let dictionary = Dictionary::of(rows, &layout, (cut, most), clock).await?;
        Ok(dictionary.map(|dictionary| Self {
            layout,
            dictionary: Some(dictionary),
        }))
    }

    /// How many codes there may be.
    pub(super) fn len(&self) -> usize {
        match &self.dictionary {
            Some(dictionary) => dictionary.len(),
            None => 1 << self.layout.key_bits(),
        }
    }

    /// Whether codes are places among the keys that occur.
    pub(super) fn is_numbered(&self) -> bool {
        self.dictionary.is_some()
    }

    /// Makes `codes` those of the rows of a batch.
    pub(super) fn pack(&self, rows: &Rows, batch: usize, codes: &mut Vec<u16>) {
        let num_rows = rows.batches[batch].num_rows();
        match &self.dictionary {
            Some(dictionary) => {
                let mut words = vec![0u64; num_rows];
                pack(&self.layout, &rows.keys[batch], batch, &mut words);
                dictionary.codes(&words, codes);
            }
            None => {
                codes.clear();
                codes.resize(num_rows, 0);
                pack(&self.layout, &rows.keys[batch], batch, codes);
            }
        }
    }

    /// Where the value of a key column is in the keys, if it can be read back.
    pub(super) fn readable(&self, key: usize) -> Option<(&Field, u32)> {
        self.layout.readable(key)
    }

    /// The column that `field` holds in the keys of these codes, from bit `shift` on, so many rows of each.
    ///
    /// # Errors
    /// If the type is none that keys hold.
    pub(super) fn unpack(
        &self,
        codes: impl Iterator<Item = (usize, usize)>,
        field: (&Field, u32),
        data_type: &DataType,
    ) -> Result<ArrayRef> {
        // A code is at most 16 bits.
        let mut words = Vec::new();
        for (code, num_rows) in codes {
            let word = match &self.dictionary {
                Some(dictionary) => dictionary.word(code as u16),
                None => code as u64,
            };
            words.extend(std::iter::repeat_n(word, num_rows));
        }
        unpack(&words, field, data_type)
    }
}
