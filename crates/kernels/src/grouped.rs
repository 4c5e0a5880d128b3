//! Folds values into the states of their groups, in the order of the rows.
//!
//! Where data lies in the order of its keys, such as a log by time, rows of one group follow each other. A row
//! then waits until its group's state, which the row before has just stored, can be loaded again. Such rows
//! are folded in a register: of whole numbers, many at a time. For floats the additions are the same, in the same
//! order.

use crate::widest::{Loop, widest};

/// Rows that follow each other in one group, on average, from which on looking for their ends pays.
const LONG_RUN: usize = 8;

/// Rows that are looked at together for the end of a run.
const CHUNK: usize = 16;

/// For each row, in order: `states[ids[row]] = step(states[ids[row]], values[row])`. There are as many
/// values as ids.
///
/// # Panics
/// If an id is no index of `states`.
#[inline]
pub fn fold_groups<S: Copy, T: Copy>(
    states: &mut [S],
    values: &[T],
    ids: &[u32],
    step: impl Fn(S, T) -> S + Copy,
) {
    if has_long_runs(ids) {
        return widest(FoldRuns {
            states,
            values,
            ids,
            step,
        });
    }
    for (value, id) in values.iter().zip(ids) {
        let state = &mut states[*id as usize];
        *state = step(*state, *value);
    }
}

/// The same for the numbers of rows.
///
/// # Panics
/// If an id is no index of `counts`.
pub fn count_groups(counts: &mut [u32], ids: &[u32]) {
    if has_long_runs(ids) {
        return widest(CountRuns { counts, ids });
    }
    for id in ids {
        counts[*id as usize] += 1;
    }
}

fn has_long_runs(ids: &[u32]) -> bool {
    let num_changes = widest(Changes(ids)) as usize;
    num_changes < ids.len() / LONG_RUN
}

/// How often an id differs from the one before.
struct Changes<'a>(&'a [u32]);

impl Loop for Changes<'_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let next = self.0.iter().skip(1);
        let pairs = self.0.iter().zip(next);
        pairs.map(|(a, b)| u32::from(a != b)).sum()
    }
}

/// Where the run of equal ids ends that starts at `start`.
#[inline(always)]
fn run_end(ids: &[u32], start: usize) -> usize {
    let id = ids[start];
    let mut end = start;
    for chunk in ids[start..].as_chunks::<CHUNK>().0 {
        if chunk.iter().fold(0, |bits, other| bits | (other ^ id)) != 0 {
            break;
        }
        end += CHUNK;
    }
    while ids.get(end) == Some(&id) {
        end += 1;
    }
    end
}

struct FoldRuns<'a, S, T, F> {
    states: &'a mut [S],
    values: &'a [T],
    ids: &'a [u32],
    step: F,
}

impl<S: Copy, T: Copy, F: Fn(S, T) -> S> Loop for FoldRuns<'_, S, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut start = 0;
        while start < self.ids.len() {
            let end = run_end(self.ids, start);
            let state = &mut self.states[self.ids[start] as usize];
            let mut folded = *state;
            for value in &self.values[start..end] {
                folded = (self.step)(folded, *value);
            }
            *state = folded;
            start = end;
        }
    }
}

struct CountRuns<'a> {
    counts: &'a mut [u32],
    ids: &'a [u32],
}

impl Loop for CountRuns<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut start = 0;
        while start < self.ids.len() {
            let end = run_end(self.ids, start);
            // A batch has fewer than 2^32 rows.
            self.counts[self.ids[start] as usize] += (end - start) as u32;
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop, proptest};

    use super::{count_groups, fold_groups, has_long_runs};
    use crate::level::at_every_level;

    proptest! {
        /// What a plain loop gives, to the last bit of floats, for runs of all lengths.
        #[test]
        fn runs_fold_like_rows(
            runs in prop::collection::vec((0u32..5, 1usize..80), 0..40),
            seed in 1u32..1000,
        ) {
            let runs = runs.iter();
            let ids: Vec<u32> = runs.flat_map(|(id, len)| std::iter::repeat_n(*id, *len)).collect();
            let numbers = (0..ids.len() as u32).map(|i| i.wrapping_mul(seed * 7919) % 1009);
            let floats: Vec<f64> = numbers.clone().map(|n| f64::from(n) / 7.0).collect();
            let words: Vec<i32> = numbers.map(|n| n.cast_signed() - 500).collect();
            let mut expected = ([0.5f64; 5], [7i64; 5], [3u32; 5]);
            for (row, id) in ids.iter().enumerate() {
                expected.0[*id as usize] += floats[row];
                expected.1[*id as usize] += i64::from(words[row]);
                expected.2[*id as usize] += 1;
            }
            at_every_level(|level| {
                let mut found = ([0.5f64; 5], [7i64; 5], [3u32; 5]);
                fold_groups(&mut found.0, &floats, &ids, |sum, v| sum + v);
                fold_groups(&mut found.1, &words, &ids, |sum, v| sum + i64::from(v));
                count_groups(&mut found.2, &ids);
                assert_eq!(found, expected, "{level}");
            });
        }
    }

    #[test]
    fn long_runs_are_told_from_short_ones() {
        let runs_of = |len: u32| (0..4096).map(|i| i / len % 3).collect::<Vec<u32>>();
        assert!(has_long_runs(&runs_of(100)) && has_long_runs(&runs_of(9)));
        assert!(!has_long_runs(&runs_of(7)) && !has_long_runs(&runs_of(1)));
        assert!(!has_long_runs(&[]) && !has_long_runs(&[1]));
    }
}
