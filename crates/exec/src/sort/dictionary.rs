//! Numbers the different keys of rows in their order, where there are few of them but many are possible.
//!
//! A sample of the rows tells whether the look at all of them is worth it: most of it must have been met
//! more than once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::runtime::SpawnedTask;
use datafusion::error::Result;
use datafusion::physical_plan::metrics::Time;

use super::layout::Layout;
use super::pack::pack;
use super::parts::{Cut, batches_of_tasks};
use super::rows::{Rows, joined};
use crate::report::clock::timed;

/// Pieces of the sample, and rows of each.
const SAMPLED_PIECES: usize = 32;
const PIECE_ROWS: usize = 256;

/// One of so many rows of a sample may have a key that no other row of it has.
pub(super) const FEW: usize = 16;

/// Places of the table for each key.
const PLACES_PER_KEY: usize = 4;

/// The different keys of rows.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// In their order.
    words: Vec<u64>,
    table: Table,
}

impl Dictionary {
    /// The different keys of all rows, found in tasks; none if there are more than `most`.
    pub(super) async fn of(
        rows: &Arc<Rows>,
        layout: &Arc<Layout>,
        (cut, most): (Cut, usize),
        clock: &Time,
    ) -> Result<Option<Self>> {
        let has_too_many = Arc::new(AtomicBool::new(false));
        let tasks = batches_of_tasks(rows, cut.num_tasks).into_iter();
        let tasks = tasks.map(|batches| {
            let (rows, layout) = (Arc::clone(rows), Arc::clone(layout));
            let has_too_many = Arc::clone(&has_too_many);
            let find = async move { Ok(distinct(&rows, &layout, (batches, most), &has_too_many)) };
            SpawnedTask::spawn(timed(clock.clone(), find))
        });
        let found = joined(tasks.collect()).await?;
        if has_too_many.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let mut words = found.concat();
        words.sort_unstable();
        words.dedup();
        Ok((words.len() <= most).then(|| Self::new(words)))
    }

    /// A dictionary of words that rise.
    fn new(words: Vec<u64>) -> Self {
        let mut table = Table::new(words.len());
        words.iter().for_each(|word| {
            table.insert(*word);
        });
        Self { words, table }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The key with a code.
    pub(super) fn word(&self, code: u16) -> u64 {
        self.words[usize::from(code)]
    }

    /// The codes of keys, all of which are known.
    pub(super) fn codes(&self, words: &[u64], codes: &mut Vec<u16>) {
        codes.clear();
        codes.extend(words.iter().map(|word| self.table.number(*word)));
    }
}

/// Whether there seem to be few different keys: at most `most` in a sample, where one of `few` rows at most
/// has a key of its own.
pub(super) fn seems_worth_it(rows: &Rows, layout: &Layout, (most, few): (usize, usize)) -> bool {
    let num_batches = rows.batches.len();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    let mut num_sampled = 0;
    let mut words = Vec::new();
    for piece in 0..SAMPLED_PIECES {
        // Of few batches, several pieces each.
        let batch = piece * num_batches / SAMPLED_PIECES;
        let num_rows = rows.batches[batch].num_rows();
        let len = num_rows.min(PIECE_ROWS);
        let start = (num_rows - len) * piece / SAMPLED_PIECES;
        let keys: Vec<_> = rows.keys[batch]
            .iter()
            .map(|key| key.slice(start, len))
            .collect();
        words.clear();
        words.resize(len, 0u64);
        pack(layout, &keys, batch, &mut words);
        num_sampled += len;
        words
            .iter()
            .for_each(|word| *counts.entry(*word).or_default() += 1);
        if counts.len() > most {
            return false;
        }
    }
    let num_single = counts.values().filter(|count| **count == 1).count();
    num_single * few <= num_sampled
}

/// The different keys of some batches, unless there are more than `most`.
fn distinct(
    rows: &Rows,
    layout: &Layout,
    (batches, most): (Range<usize>, usize),
    has_too_many: &AtomicBool,
) -> Vec<u64> {
    let mut table = Table::new(most + 1);
    let mut found = Vec::new();
    let mut words = Vec::new();
    for batch in batches {
        if has_too_many.load(Ordering::Relaxed) {
            break;
        }
        words.clear();
        words.resize(rows.batches[batch].num_rows(), 0u64);
        pack(layout, &rows.keys[batch], batch, &mut words);
        for word in &words {
            if table.insert(*word) {
                found.push(*word);
                if found.len() > most {
                    has_too_many.store(true, Ordering::Relaxed);
                    return found;
                }
            }
        }
    }
    found
}

/// Numbers words in the order in which they come.
#[derive(Debug)]
struct Table {
    /// Each with its number, which is `EMPTY` where there is none.
    places: Vec<(u64, u32)>,
    shift: u32,
    len: u32,
}

const EMPTY: u32 = u32::MAX;

impl Table {
    /// A table with room for `most` words.
    fn new(most: usize) -> Self {
        let num_places = (PLACES_PER_KEY * most.max(1)).next_power_of_two();
        Self {
            places: vec![(0, EMPTY); num_places],
            shift: u64::BITS - num_places.trailing_zeros(),
            len: 0,
        }
    }

    /// The place of a word, or the free one where it would be.
    #[inline(always)]
    fn place(&self, word: u64) -> usize {
        let mask = self.places.len() - 1;
        // Fibonacci hashing: the highest bits of the product depend on all bits of the word.
        let mut place = (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize & mask;
        while self.places[place].0 != word && self.places[place].1 != EMPTY {
            place = (place + 1) & mask;
        }
        place
    }

    /// Whether the word is new.
    #[inline(always)]
    fn insert(&mut self, word: u64) -> bool {
        let place = self.place(word);
        let is_new = self.places[place].1 == EMPTY;
        if is_new {
            self.places[place] = (word, self.len);
            self.len += 1;
        }
        is_new
    }

    /// The number of a word that is here. A dictionary has fewer than 2^16.
    #[inline(always)]
    fn number(&self, word: u64) -> u16 {
        self.places[self.place(word)].1 as u16
    }
}

#[cfg(test)]
mod tests {
    use super::Dictionary;

    #[test]
    fn codes_are_places_in_the_order() {
        let words: Vec<u64> = (0..700).map(|i| i * i * 12_345_678_901).collect();
        let dictionary = Dictionary::new(words.clone());
        let mut codes = Vec::new();
        dictionary.codes(&words, &mut codes);
        assert!(codes.iter().copied().eq(0..700));
        assert!(
            codes
                .iter()
                .zip(&words)
                .all(|(code, word)| dictionary.word(*code) == *word)
        );
    }
}
