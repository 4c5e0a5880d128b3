//! Tells by a sample whether rows or words may be in order but for a few, so that a look at all of them is worth it.
//!
//! Runs that overlap look well, too, as each of them rises: but between neighbours of one there are words of others.

use std::ops::Range;

use super::layout::Layout;
use super::nearly::FEW;
use super::pack::pack;
use super::rows::Rows;
use super::word::Word;

/// Pieces of the sample, and words of each.
const SAMPLED_PIECES: usize = 32;
const PIECE_WORDS: usize = 64;

/// Pieces whose neighbourhood among all words is looked at.
const PLACED_PIECES: usize = 16;

/// Whether a sample of all rows looks as if few were out of order.
pub(super) fn rows_may_be_nearly(rows: &Rows, layout: &Layout) -> bool {
    let stride = rows.batches.len().div_ceil(SAMPLED_PIECES).max(1);
    let (mut rises, mut falls) = (0, 0);
    for batch in (0..rows.batches.len()).step_by(stride) {
        let len = rows.batches[batch].num_rows().min(PIECE_WORDS);
        let keys: Vec<_> = rows.keys[batch]
            .iter()
            .map(|key| key.slice(0, len))
            .collect();
        let mut words = vec![0u128; len];
        pack(layout, &keys, 0, &mut words);
        count_steps(&words, &mut rises, &mut falls);
    }
    direction(rises, falls).is_some()
}

fn count_steps<W: Word>(words: &[W], rises: &mut usize, falls: &mut usize) {
    for pair in words.windows(2) {
        *falls += usize::from(pair[1] < pair[0]);
        *rises += usize::from(pair[1] >= pair[0]);
    }
}

/// Whether words fall more often than they rise; none if they do both.
fn direction(rises: usize, falls: usize) -> Option<bool> {
    let few = (rises + falls) / (FEW / 2);
    if falls <= few {
        Some(false)
    } else {
        (rises <= few).then_some(true)
    }
}

/// Whether words of a sample fall more often than they rise; none if they do both.
pub(super) fn direction_of<W: Word>(words: &[W]) -> Option<bool> {
    let len = words.len().min(PIECE_WORDS);
    let (mut rises, mut falls) = (0, 0);
    for piece in 0..SAMPLED_PIECES {
        let start = (words.len() - len) * piece / SAMPLED_PIECES;
        count_steps(&words[start..start + len], &mut rises, &mut falls);
    }
    direction(rises, falls)
}

/// Whether a sample of the words of all tasks looks as if few were out of order.
pub(super) fn may_be_nearly<W: Word>(tasks: &[Vec<W>]) -> bool {
    let directions = tasks.iter().map(|words| direction_of(words));
    match directions.collect::<Option<Vec<_>>>() {
        // What falls is rare enough to be looked at.
        Some(falls) => falls.contains(&true) || !are_mixed(tasks),
        None => false,
    }
}

/// Words of a task between two places of the sample, of which the first is not above the last.
struct Rising<'a, W> {
    task: usize,
    rows: Range<usize>,
    words: &'a [W],
}

/// Whether words of other stretches are between most neighbours: such stretches cannot be put behind each other.
fn are_mixed<W: Word>(tasks: &[Vec<W>]) -> bool {
    let rising: Vec<Rising<'_, W>> = (tasks.iter().enumerate())
        .flat_map(|(task, words)| rising_ranges(task, words))
        .collect();
    let stride = rising.len().div_ceil(PLACED_PIECES).max(1);
    let (mut num_placed, mut num_mixed) = (0, 0);
    for of in rising.iter().step_by(stride) {
        // Ranges of equal runs begin at the same words, but for a few.
        let start = of.words.len() / 2;
        let piece = &of.words[start..of.words.len().min(start + PIECE_WORDS)];
        let (Some(low), Some(high)) = (piece.first(), piece.last()) else {
            continue;
        };
        let has_between = |other: &Rising<'_, W>| {
            let is_other = other.task != of.task || other.rows != of.rows;
            let place = other.words.partition_point(|word| word <= low);
            is_other && other.words.get(place).is_some_and(|word| word < high)
        };
        let spans = |other: &&Rising<'_, W>| {
            other.words.first() <= Some(low) && other.words.last() >= Some(high)
        };
        num_placed += 1;
        num_mixed += usize::from(rising.iter().filter(spans).any(has_between));
    }
    2 * num_mixed > num_placed
}

fn rising_ranges<W: Word>(task: usize, words: &[W]) -> impl Iterator<Item = Rising<'_, W>> {
    let place = |i: usize| words.len() * i / SAMPLED_PIECES;
    let ranges = (0..SAMPLED_PIECES).map(move |i| place(i)..place(i + 1));
    ranges.filter_map(move |rows| {
        let words = &words[rows.clone()];
        let rises = words.first()? <= words.last()?;
        rises.then_some(Rising { task, rows, words })
    })
}

#[cfg(test)]
mod tests {
    use super::may_be_nearly;

    fn mixed(i: u64) -> u64 {
        i.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// A run of random words.
    fn run(seed: u64, len: u64) -> Vec<u64> {
        let mut words: Vec<u64> = (0..len).map(|i| mixed(seed * len + i + 1) >> 20).collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn runs_that_overlap_are_told_from_rows_in_order() {
        let in_order: Vec<u64> = (0..100_000).collect();
        assert!(may_be_nearly(std::slice::from_ref(&in_order)));
        // Two threads that take turns at blocks of rows.
        let of_thread = |thread: u64| {
            let blocks = (0..10).map(move |block| (2 * block + thread) * 5000);
            blocks.flat_map(|start| start..start + 5000).collect()
        };
        assert!(may_be_nearly(&[of_thread(0), of_thread(1)]));
        let mut disorder = in_order;
        for place in (7..100_000).step_by(50) {
            disorder[place] = mixed(place as u64) % 100_000;
        }
        assert!(may_be_nearly(&[disorder]));
        for num_runs in [2, 5, 16, 40] {
            let runs: Vec<Vec<u64>> = (0..num_runs).map(|seed| run(seed, 9000)).collect();
            assert!(!may_be_nearly(&[runs.concat()]), "{num_runs}");
            assert!(!may_be_nearly(&runs), "{num_runs}");
        }
        assert!(!may_be_nearly(&[(0..10_000).map(mixed).collect()]));
        assert!(may_be_nearly::<u64>(&[]));
        assert!(may_be_nearly::<u64>(&[vec![], vec![1], vec![2, 2, 2]]));
    }
}
