//! Tells a scan which strings the top-N above it still wants, where all rows that pass the scan come to it.
//!
//! Strings are compared as a whole: texts such as addresses begin alike. Only the scan lowers this bound, by the
//! strings that it has handed up; the top-N's words may have less of a string than it takes to tell two apart.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arrow::array::{Array, AsArray, BinaryViewArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::SortOptions;
use arrow::datatypes::UInt16Type;

use super::key_bound::FirstRows;

/// Bytes of a string by which groups of rows are put in an order.
const PLACE_BYTES: usize = 8;

/// The strings of a column that are still wanted.
#[derive(Debug)]
pub(crate) struct TextBound {
    options: SortOptions,
    first: FirstRows,
    /// The farthest string in the order that is wanted, with its ties unless these lose.
    farthest: RwLock<Option<Arc<[u8]>>>,
    /// The best strings so far.
    best: Mutex<BinaryHeap<Ranked>>,
}

/// A string in an order that may fall.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ranked {
    text: Box<[u8]>,
    descending: bool,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.text.cmp(&other.text);
        if self.descending {
            order.reverse()
        } else {
            order
        }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl TextBound {
    /// A bound that wants everything yet.
    pub(super) fn new(options: SortOptions, first: FirstRows) -> Self {
        Self {
            options,
            first,
            farthest: RwLock::default(),
            best: Mutex::default(),
        }
    }

    /// The same, which wants everything yet.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.options, self.first)
    }

    /// The farthest string that is wanted; none if all are.
    pub(crate) fn farthest(&self) -> Option<Arc<[u8]>> {
        let farthest = self.farthest.read();
        farthest.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the order falls.
    pub(crate) fn is_descending(&self) -> bool {
        self.options.descending
    }

    /// Where a string stands in the order, by its first bytes.
    pub(crate) fn place(&self, text: &[u8]) -> u64 {
        let mut first = [0; PLACE_BYTES];
        let len = text.len().min(PLACE_BYTES);
        first[..len].copy_from_slice(&text[..len]);
        let place = u64::from_be_bytes(first);
        if self.options.descending {
            !place
        } else {
            place
        }
    }

    /// Whether a string is wanted where `farthest` is the last one that is.
    fn is_wanted(&self, text: &[u8], farthest: &[u8]) -> bool {
        let order = self.order(text, farthest);
        order.is_lt() || order.is_eq() && !self.first.loses_ties
    }

    /// Which of two strings comes first.
    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.options.descending {
            b.cmp(a)
        } else {
            a.cmp(b)
        }
    }

    /// Which rows with these keys are wanted, strings that may come with a dictionary; none if all may be.
    pub(super) fn wanted(&self, keys: &dyn Array) -> Option<BooleanArray> {
        let farthest = self.farthest()?;
        let wanted = |strings: &BinaryViewArray| {
            let wanted = strings.len();
            BooleanBuffer::collect_bool(wanted, |i| self.is_wanted(strings.value(i), &farthest))
        };
        let mut rows = match keys.as_dictionary_opt::<UInt16Type>() {
            None => wanted(keys.as_binary_view_opt()?),
            Some(strings) => {
                let values = wanted(strings.values().as_binary_view_opt()?);
                let values: Vec<bool> = values.iter().collect();
                let codes = strings.keys().values();
                // What stands in place of NULL may be no code.
                let is_wanted = |row: usize| values.get(usize::from(codes[row])) == Some(&true);
                BooleanBuffer::collect_bool(codes.len(), is_wanted)
            }
        };
        if let Some(nulls) = keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            rows = match self.options.nulls_first {
                true => &rows | &!nulls.inner(),
                false => &rows & nulls.inner(),
            };
        }
        Some(BooleanArray::new(rows, None))
    }

    /// As [`super::KeyBound::first_of`].
    pub(super) fn first_of(&self, keys: &dyn Array, passing: BooleanArray) -> BooleanArray {
        let has_nulls = keys.null_count() > 0 || passing.null_count() > 0;
        if has_nulls || !passing.has_true() || self.first.num_rows == 0 {
            return passing;
        }
        let (strings, codes) = match keys.as_dictionary_opt::<UInt16Type>() {
            Some(strings) => (
                strings.values().as_binary_view_opt(),
                Some(strings.keys().values()),
            ),
            None => (keys.as_binary_view_opt(), None),
        };
        let Some(strings) = strings else {
            return passing;
        };
        let text = |row: usize| match codes {
            Some(codes) => strings.value(usize::from(codes[row])),
            None => strings.value(row),
        };
        let farthest = self.farthest();
        let is_candidate = |text: &&[u8]| {
            let farthest = farthest.as_ref();
            farthest.is_none_or(|farthest| self.is_wanted(text, farthest))
        };
        let candidates = passing.values().set_indices().map(text);
        let mut candidates: Vec<&[u8]> = candidates.filter(is_candidate).collect();
        let num_rows = self.first.num_rows;
        if candidates.len() > num_rows {
            candidates.select_nth_unstable_by(num_rows - 1, |a, b| self.order(a, b));
            candidates.truncate(num_rows);
        }
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        for text in candidates {
            let is_full = best.len() == num_rows;
            let is_better = |last: &Ranked| self.order(text, &last.text).is_lt();
            if is_full && !best.peek().is_some_and(is_better) {
                continue;
            }
            if is_full {
                best.pop();
            }
            best.push(Ranked {
                text: text.into(),
                descending: self.options.descending,
            });
        }
        let last = best.peek().filter(|_| best.len() == num_rows);
        let Some(last) = last.map(|last| Arc::<[u8]>::from(&*last.text)) else {
            return passing;
        };
        let mut farthest = self
            .farthest
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *farthest = Some(Arc::clone(&last));
        drop(farthest);
        drop(best);
        // Rows of this batch that are the last ones are among those that were counted.
        let is_among = |text: &[u8]| self.order(text, &last).is_le();
        let rows = match codes {
            Some(codes) => {
                let values: Vec<bool> = (0..strings.len())
                    .map(|i| is_among(strings.value(i)))
                    .collect();
                BooleanBuffer::collect_bool(codes.len(), |row| values[usize::from(codes[row])])
            }
            None => BooleanBuffer::collect_bool(strings.len(), |row| is_among(strings.value(row))),
        };
        BooleanArray::new(&rows & passing.values(), None)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, BooleanArray, DictionaryArray, UInt16Array};
    use arrow::compute::{SortOptions, and};
    use proptest::prelude::*;

    use super::TextBound;
    use crate::sort::FirstRows;

    /// The first keys of rows in batches that pass, in their order: once of those that the bound leaves, once of all.
    fn first(
        batches: &[Vec<(Option<String>, bool)>],
        options: SortOptions,
        first: FirstRows,
        as_dictionary: bool,
    ) -> [Vec<Option<String>>; 2] {
        let bound = TextBound::new(options, first);
        let (mut given, mut all) = (Vec::new(), Vec::new());
        for batch in batches {
            let texts = batch.iter().map(|(text, _)| text.as_ref());
            let passing: BooleanArray = batch.iter().map(|(_, passes)| Some(*passes)).collect();
            let keys: ArrayRef = match as_dictionary {
                false => {
                    let texts = texts.clone().map(|text| text.map(String::as_bytes));
                    Arc::new(texts.collect::<BinaryViewArray>())
                }
                true => {
                    let values = texts.clone().flatten();
                    let values = BinaryViewArray::from_iter_values(values);
                    let mut code = 0;
                    let codes = texts.clone().map(|text| {
                        code += u16::from(text.is_some());
                        text.map(|_| code - 1)
                    });
                    let codes: UInt16Array = codes.collect();
                    Arc::new(DictionaryArray::try_new(codes, Arc::new(values)).unwrap())
                }
            };
            let wanted = match bound.wanted(keys.as_ref()) {
                Some(wanted) => and(&wanted, &passing).unwrap(),
                None => passing.clone(),
            };
            let wanted = bound.first_of(keys.as_ref(), wanted);
            let texts: Vec<Option<String>> = texts.map(|text| text.cloned()).collect();
            let picked = |mask: &BooleanArray| -> Vec<_> {
                let rows = (0..texts.len()).filter(|row| mask.value(*row));
                rows.map(|row| texts[row].clone()).collect()
            };
            given.extend(picked(&wanted));
            all.extend(picked(&passing));
        }
        [given, all].map(|mut texts| {
            texts.sort_by(|a, b| match (a, b) {
                (Some(a), Some(b)) if options.descending => b.cmp(a),
                (Some(a), Some(b)) => a.cmp(b),
                (a, b) if options.nulls_first => a.is_some().cmp(&b.is_some()),
                (a, b) => a.is_none().cmp(&b.is_none()),
            });
            let last = first
                .num_rows
                .checked_sub(1)
                .and_then(|last| texts.get(last));
            let last = last.cloned();
            let num = match last {
                Some(last) if !first.loses_ties => texts
                    .iter()
                    .rposition(|text| *text == last)
                    .map_or(0, |i| i + 1),
                _ => first.num_rows.min(texts.len()),
            };
            texts.truncate(num);
            texts
        })
    }

    proptest! {
        #[test]
        fn the_first_rows_are_among_those_that_are_given(
            batches in prop::collection::vec(
                prop::collection::vec((prop::option::weighted(0.9, "(http://same/)?[a-c]{0,3}"), any::<bool>()), 0..40),
                1..8,
            ),
            num_rows in 0_usize..12,
            descending: bool,
            nulls_first: bool,
            loses_ties: bool,
            as_dictionary: bool,
        ) {
            let options = SortOptions { descending, nulls_first };
            let wanted = FirstRows { num_rows, loses_ties };
            let [given, all] = first(&batches, options, wanted, as_dictionary);
            prop_assert_eq!(given, all);
        }
    }

    #[test]
    fn strings_beyond_the_last_one_are_left_out() {
        let options = SortOptions::default();
        let bound = TextBound::new(
            options,
            FirstRows {
                num_rows: 2,
                loses_ties: true,
            },
        );
        let keys = BinaryViewArray::from_iter_values(["b", "a", "c", "d"]);
        let passing = BooleanArray::from(vec![true, true, true, false]);
        let given = bound.first_of(&keys, passing);
        assert_eq!(given, BooleanArray::from(vec![true, true, false, false]));
        assert_eq!(bound.farthest().as_deref(), Some(&b"b"[..]));
        let wanted = bound.wanted(&keys).unwrap();
        assert_eq!(wanted, BooleanArray::from(vec![false, true, false, false]));
    }
}
