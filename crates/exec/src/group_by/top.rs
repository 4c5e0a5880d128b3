//! Leaves out groups that a LIMIT above an ORDER BY does not want, before they become rows.
//!
//! Only groups that are behind `num_rows` others *by the first thing that is ordered by* are left
//! out. Those that are equal stay if it is ordered by more: so the sort above has the same best rows as
//! without it, in the same order. Else any of them will do, and no more than `num_rows` are kept. What
//! one partition has found to be the least value that is wanted holds for all.

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

/// What a sort with a limit wants.
#[derive(Clone, Copy, Debug)]
pub struct TopOrder {
    /// Whether the highest come first.
    pub is_descending: bool,
    /// Groups that are wanted.
    pub num_rows: usize,
    /// Whether groups that are equal to the last one that is wanted are wanted, too.
    pub with_ties: bool,
}

/// Which groups a sort with a limit wants.
#[derive(Debug)]
pub struct TopGroups {
    /// The aggregate whose results come first in the order.
    pub(super) aggregate: usize,
    pub(super) order: TopOrder,
    /// Groups that have been kept: there are as many groups of this rank or a better one.
    least: AtomicU64,
}

impl TopGroups {
    /// The best `num_rows` groups by the result of an aggregate.
    pub(super) fn new(aggregate: usize, order: TopOrder) -> Self {
        Self {
            aggregate,
            order,
            least: AtomicU64::new(0),
        }
    }

    /// The same, of which no group was seen yet.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.aggregate, self.order)
    }

    /// The groups among `num_groups` that may be wanted; `None` if these are too many to be worth
    /// picking out, or if the aggregate has no ranks.
    pub(super) fn wanted(
        &self,
        states: &mut States,
        num_groups: usize,
    ) -> Result<Option<Vec<Range<usize>>>> {
        let mut best = Best::new(self.order.num_rows, self.least.load(Ordering::Relaxed));
        for portion in portions(num_groups) {
            let Some(ranks) = self.ranks(states, portion)? else {
                return Ok(None);
            };
            ranks.into_iter().for_each(|rank| best.push(rank));
        }
        let mut limit = self.limit(best.least());
        let mut wanted: Vec<Range<usize>> = Vec::new();
        for portion in portions(num_groups) {
            let ranks = self.ranks(states, portion.clone())?.unwrap_or_default();
            for (group, _) in portion.zip(ranks).filter(|(_, rank)| limit.keeps(*rank)) {
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

    /// Which ranks are kept by the partition that has found `least`.
    fn limit(&self, found: Least) -> Limit {
        let before = self.least.fetch_max(found.rank, Ordering::Relaxed);
        let rank = before.max(found.rank);
        let num_equal = if self.order.with_ties || rank == 0 {
            usize::MAX
        } else if found.rank > before {
            self.order.num_rows.saturating_sub(found.num_better)
        } else {
            // Whoever found this rank first keeps as many as are wanted.
            0
        };
        Limit { rank, num_equal }
    }

    /// Ranks of some groups: the better, the higher.
    fn ranks(&self, states: &mut States, groups: Range<usize>) -> Result<Option<Vec<u64>>> {
        let mut ranks = states.ranks(self.aggregate, groups)?;
        if let (false, Some(ranks)) = (self.order.is_descending, &mut ranks) {
            ranks.iter_mut().for_each(|rank| *rank = !*rank);
        }
        Ok(ranks)
    }
}

fn portions(num_groups: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..num_groups).step_by(PORTION);
    starts.map(move |start| start..num_groups.min(start + PORTION))
}

/// The least rank that is wanted, and how many groups of it.
struct Limit {
    rank: u64,
    num_equal: usize,
}

impl Limit {
    #[inline]
    fn keeps(&mut self, rank: u64) -> bool {
        if rank == self.rank && self.num_equal > 0 {
            self.num_equal -= 1;
            return true;
        }
        rank > self.rank
    }
}

/// The last of the best ranks.
struct Least {
    rank: u64,
    /// How many are better.
    num_better: usize,
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

    fn least(mut self) -> Least {
        self.shrink();
        let rank = self.least;
        Least {
            rank,
            num_better: self.ranks.iter().filter(|r| **r > rank).count(),
        }
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
            let least = best.least();
            assert_eq!(least.rank, sorted[len - 1]);
            let num_better = ranks.iter().filter(|rank| **rank > least.rank).count();
            assert_eq!(least.num_better, num_better);
        }
    }

    fn top(with_ties: bool) -> TopGroups {
        let order = TopOrder {
            is_descending: true,
            num_rows: 3,
            with_ties,
        };
        TopGroups::new(0, order)
    }

    #[test]
    fn of_equal_groups_no_more_are_kept_than_are_wanted() {
        let kept = |top: &TopGroups, ranks: &[u64]| {
            let mut best = Best::new(top.order.num_rows, top.least.load(Ordering::Relaxed));
            ranks.iter().for_each(|rank| best.push(*rank));
            let mut limit = top.limit(best.least());
            ranks.iter().filter(|rank| limit.keeps(**rank)).count()
        };
        let any = top(false);
        assert_eq!(kept(&any, &[1, 1]), 2, "too few to leave any out");
        assert_eq!(kept(&any, &[1, 2, 1, 1, 1]), 3);
        assert_eq!(kept(&any, &[1, 1, 1, 1]), 0, "three are kept already");
        assert_eq!(kept(&any, &[1, 4, 3, 1]), 2);
        assert_eq!(kept(&any, &[4, 4, 4, 4]), 3);
        let all = top(true);
        assert_eq!(kept(&all, &[1, 2, 1, 1, 1]), 5);
        assert_eq!(kept(&all, &[1, 1, 1, 1]), 4);
        assert_eq!(kept(&top(false), &[0, 0, 0, 0]), 4);
    }

    #[test]
    fn nothing_is_unwanted_if_there_are_too_few() {
        let mut best = Best::new(3, 0);
        best.push(5);
        best.push(7);
        assert_eq!(best.least().rank, 0);
        let mut best = Best::new(3, 6);
        best.push(5);
        best.push(7);
        assert_eq!(best.least().rank, 6);
    }
}
