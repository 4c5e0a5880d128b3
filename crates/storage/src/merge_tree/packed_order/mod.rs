//! Sorts rows by keys of integers: each row's keys and its number are packed into one word.
//!
//! A key takes the bits of its range in the rows at hand, so that keys of several columns and the number of
//! a row often fit into 64 bits. Words are sorted digit by digit. The numbers of the rows make all words different, so
//! that rows with equal keys stay in their order.
//!
//! Of keys that are wider, up to 128 bits with the row's number, a word has what fits, from the highest bit down. The
//! rest of each key waits in the order of the rows, is taken in that of the sorted words, and orders those whose
//! bits were the same so far. (Sorting words of 128 bits takes twice as long.)
//!
//! Rows that follow each other often have the same keys, as what one user does comes together: where two are
//! such a run in the mean, runs are sorted instead of rows, each by one word with its number.
//!
//! | module | owns |
//! |---|---|
//! | [`keys`] | integers of a key as numbers from 0 up, and back |
//! | [`cut`] | which of a key's bits a word has, and which its rest |
//! | [`pack`] | the words and rests of rows, or of runs of rows |

mod cut;
mod keys;
mod pack;
#[cfg(test)]
mod tests;

use std::ops::Range;

use arrow::array::{ArrayRef, UInt32Array};
use basalt_kernels::radix_sort::{RadixWord, radix_sort};

use cut::Cut;
pub(super) use cut::low_bits;
use keys::Key;
use pack::{have_runs, pack_rows, pack_runs};

use super::permutation::{Permutation, Runs};

/// Words that are sorted by insertion.
const FEW: usize = 24;

/// Memory for words, which the next part of an insert needs again.
#[derive(Debug, Default)]
pub(super) struct SortMemory {
    pub(super) words: Vec<u64>,
    pub(super) scratch: Vec<u64>,
    rests: Vec<u64>,
    /// The rows that runs begin with.
    starts: Vec<u32>,
}

/// Rows in the order of their keys.
#[derive(Debug)]
pub(super) struct PackedOrder {
    pub(super) permutation: Permutation,
    /// The columns of the keys, which are cheaper to take out of the words than to gather; none for those with
    /// NULLs, and if rows stay where they are.
    pub(super) keys: Vec<Option<ArrayRef>>,
}

/// The order of rows by `columns`, each of which is in pieces, NULL last; none if some are no integers, or take too many
/// bits.
pub(super) fn packed_order(
    columns: &[&[ArrayRef]],
    num_rows: u32,
    memory: &mut SortMemory,
) -> Option<PackedOrder> {
    let keys = columns
        .iter()
        .map(|pieces| Key::of(pieces))
        .collect::<Option<Vec<_>>>()?;
    let row_bits = u32::BITS - num_rows.leading_zeros();
    let key_bits = keys.iter().map(|key| key.num_bits).sum::<u32>();
    let cut = Cut {
        row_bits,
        rest_bits: (key_bits + row_bits).saturating_sub(u64::BITS),
    };
    (cut.rest_bits <= u64::BITS).then(|| order(&keys, cut, memory))
}

/// The order of rows by their keys.
fn order(keys: &[Key<'_>], cut: Cut, memory: &mut SortMemory) -> PackedOrder {
    let has_runs = have_runs(keys);
    let num_falls = match has_runs {
        true => pack_runs(keys, cut, memory),
        false => pack_rows(keys, cut, memory),
    };
    if num_falls == 0 {
        return PackedOrder {
            permutation: Permutation::Identity,
            keys: vec![None; keys.len()],
        };
    }
    let SortMemory {
        words,
        scratch,
        rests,
        starts,
    } = memory;
    scratch.resize(words.len().max(scratch.len()), 0);
    let scratch = &mut scratch[..words.len()];
    radix_sort(words, scratch);
    let sorted_rests: &[u64] = match cut.rest_bits {
        0 => rests,
        _ => {
            let taken = scratch.iter_mut().zip(words.iter());
            taken.for_each(|(rest, word)| *rest = rests[cut.row(*word) as usize]);
            sort_rests(words, scratch, cut);
            scratch
        }
    };
    let runs: Option<Vec<Range<u32>>> = has_runs.then(|| {
        let runs = words.iter().map(|word| cut.row(*word) as usize);
        runs.map(|run| starts[run]..starts[run + 1]).collect()
    });
    let mut shift = 0;
    let mut columns: Vec<_> = keys
        .iter()
        .rev()
        .map(|key| {
            let place = (shift, key.num_bits);
            shift += key.num_bits;
            key.column(runs.as_deref(), &mut |start, numbers| {
                let rows = start..start + numbers.len();
                cut.take((&words[rows.clone()], &sorted_rests[rows]), place, numbers);
            })
        })
        .collect();
    columns.reverse();
    PackedOrder {
        permutation: match runs {
            Some(runs) => Permutation::Runs(Runs::new(runs)),
            None => {
                let rows = words.iter().map(|word| cut.row(*word));
                Permutation::Rows(UInt32Array::from_iter_values(rows))
            }
        },
        keys: columns,
    }
}

/// Sorts words that are sorted but for the rests of their keys, with these.
fn sort_rests(words: &mut [u64], rests: &mut [u64], cut: Cut) {
    let mut end = 0;
    while let Some(next) = (end + 1..words.len()).find(|i| {
        let is_same = cut.prefix(words[i - 1]) == cut.prefix(words[*i]);
        is_same && rests[i - 1] > rests[*i]
    }) {
        let prefix = cut.prefix(words[next]);
        let is_same = |word: &u64| cut.prefix(*word) == prefix;
        // What stands before is in order, and what follows is not known yet.
        let before = words[..next]
            .iter()
            .rev()
            .take_while(|w| is_same(w))
            .count();
        end = next + words[next..].iter().take_while(|w| is_same(w)).count();
        let run = next - before..end;
        sort_run((&mut words[run.clone()], &mut rests[run]), prefix, cut);
    }
}

/// Sorts words with the same bits above the rows' numbers by the rests of their keys.
fn sort_run((words, rests): (&mut [u64], &mut [u64]), prefix: u64, cut: Cut) {
    let whole = words.iter().zip(rests.iter());
    let whole =
        whole.map(|(word, rest)| u128::from(*rest) << cut.row_bits | u128::from(cut.row(*word)));
    let mut whole: Vec<u128> = whole.collect();
    match whole.len() {
        0..=FEW => whole.sort_unstable(),
        num => radix_sort(&mut whole, &mut vec![0; num]),
    }
    for ((word, rest), whole) in words.iter_mut().zip(rests).zip(whole) {
        *word = prefix << cut.row_bits | whole.low() & low_bits(cut.row_bits);
        *rest = (whole >> cut.row_bits).low();
    }
}
