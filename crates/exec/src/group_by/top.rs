//! Leaves out groups that a LIMIT above an ORDER BY does not want, before they become rows.
//!
//! Only groups that are behind `num_rows` others *by the first thing that is ordered by* are left
//! out; those that are equal stay. So the sort above has the same best rows as without it, in the
//! same order, whatever else it orders by. What one partition has found to be the least value that is
//! wanted holds for all.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::ArrayRef;
use arrow::compute::concat;
use datafusion::error::Result;

use super::states::States;

/// Groups whose ranks are looked at together.
const PORTION: usize = 64 << 10;

/// Most pieces of consecutive groups that rows are made of one by one.
const MAX_PIECES: usize = 1024;

/// Which groups a sort with a limit wants.
#[derive(Debug)]
pub struct TopGroups {
    /// The aggregate whose results come first in the order.
    pub(super) aggregate: usize,
    pub(super) is_descending: bool,
    /// Groups that are wanted.
    pub(super) num_rows: usize,
    /// There are as many groups of this rank or a better one.
    least: AtomicU64,
}

impl TopGroups {
    /// The best `num_rows` groups by the result of an aggregate.
    pub(super) fn new(aggregate: usize, is_descending: bool, num_rows: usize) -> Self {
        Self {
            aggregate,
            is_descending,
            num_rows,
            least: AtomicU64::new(0),
        }
    }

    /// The same, of which no group was seen yet.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.aggregate, self.is_descending, self.num_rows)
    }

    /// The groups among `num_groups` that may be wanted; `None` if these are too many to be worth
    /// picking out, or if the aggregate has no ranks.
    pub(super) fn wanted(
        &self,
        states: &mut States,
        num_groups: usize,
    ) -> Result<Option<Vec<Range<usize>>>> {
        let mut best = Best::new(self.num_rows, self.least.load(Ordering::Relaxed));
        for portion in portions(num_groups) {
            let Some(ranks) = self.ranks(states, portion)? else {
                return Ok(None);
            };
            ranks.into_iter().for_each(|rank| best.push(rank));
        }
        let found = best.least();
        let least = self.least.fetch_max(found, Ordering::Relaxed).max(found);
        let mut wanted: Vec<Range<usize>> = Vec::new();
        for portion in portions(num_groups) {
            let ranks = self.ranks(states, portion.clone())?.unwrap_or_default();
            for (group, _) in portion.zip(ranks).filter(|(_, rank)| *rank >= least) {
                let num_pieces = wanted.len();
                match wanted.last_mut() {
                    Some(last) if last.end == group => last.end += 1,
                    _ if num_pieces == MAX_PIECES => return Ok(None),
                    _ => wanted.push(group..group + 1),
                }
            }
        }
        Ok(Some(wanted))
    }

    /// Ranks of some groups: the better, the higher.
    fn ranks(&self, states: &mut States, groups: Range<usize>) -> Result<Option<Vec<u64>>> {
        let mut ranks = states.ranks(self.aggregate, groups)?;
        if let (false, Some(ranks)) = (self.is_descending, &mut ranks) {
            ranks.iter_mut().for_each(|rank| *rank = !*rank);
        }
        Ok(ranks)
    }
}

fn portions(num_groups: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..num_groups).step_by(PORTION);
    starts.map(move |start| start..num_groups.min(start + PORTION))
}

/// The highest of all ranks so far.
struct Best {
    len: usize,
    /// At least the best ones that are not below `least`, in any order.
    ranks: Vec<u64>,
    least: u64,
}

impl Best {
    fn new(len: usize, least: u64) -> Self {
        Self {
            len,
            ranks: Vec::new(),
            least,
        }
    }

    #[inline]
    fn push(&mut self, rank: u64) {
        if rank >= self.least {
            self.ranks.push(rank);
            if self.ranks.len() >= self.len * 2 + 1024 {
                self.shrink();
            }
        }
    }

    /// Keeps `len` ranks; those below all of them are not wanted any more.
    fn shrink(&mut self) {
        if self.len == 0 || self.ranks.len() < self.len {
            return;
        }
        let by_rank = |a: &u64, b: &u64| b.cmp(a);
        let (_, least, _) = self.ranks.select_nth_unstable_by(self.len - 1, by_rank);
        self.least = *least;
        self.ranks.truncate(self.len);
    }

    fn least(mut self) -> u64 {
        self.shrink();
        self.least
    }
}

/// The columns that `of` gives for some ranges of groups, one after the other.
pub(super) fn columns_of(
    ranges: &[Range<usize>],
    mut of: impl FnMut(Range<usize>) -> Result<Vec<ArrayRef>>,
) -> Result<Vec<ArrayRef>> {
    let pieces = ranges.iter().cloned().map(&mut of);
    let pieces: Vec<Vec<ArrayRef>> = pieces.collect::<Result<_>>()?;
    if pieces.is_empty() {
        return of(0..0);
    }
    let num_columns = pieces.first().map_or(0, Vec::len);
    let column = |i: usize| {
        let pieces: Vec<_> = pieces.iter().map(|piece| piece[i].as_ref()).collect();
        Ok(concat(&pieces)?)
    };
    (0..num_columns).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_ranks_are_found_among_many() {
        for len in [1, 3, 700] {
            let ranks: Vec<u64> = (0..20_000u64).map(|n| n * 7919 % 5003).collect();
            let mut best = Best::new(len, 0);
            ranks.iter().for_each(|rank| best.push(*rank));
            let mut sorted = ranks.clone();
            sorted.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(best.least(), sorted[len - 1]);
        }
    }

    #[test]
    fn nothing_is_unwanted_if_there_are_too_few() {
        let mut best = Best::new(3, 0);
        best.push(5);
        best.push(7);
        assert_eq!(best.least(), 0);
        let mut best = Best::new(3, 6);
        best.push(5);
        best.push(7);
        assert_eq!(best.least(), 6);
    }
}
