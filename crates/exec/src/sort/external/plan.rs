//! Decides how many ranges are merged at once, and how large they are, by the memory there is for them.
//!
//! ```text
//! a range takes:   two blocks of each run, and its result, which waits for the ranges before it
//! ```
//!
//! A range reads a block of each run that it shares with the range before. So it should be worth several
//! times as many blocks; where memory is too short for that, or one thread is all there is, rows are merged
//! in one range, whose batches go out one by one.

use super::merge::most_blocks;
use super::run::Run;

/// Runs that are merged at a time, at most and at least.
const MAX_MERGED_RUNS: usize = 64;
const MIN_MERGED_RUNS: usize = 8;

/// Times that a range's own blocks should be those that it shares.
const MIN_TIMES_SHARED: usize = 2;

/// Ranges for each task: tasks end at about the same time.
const RANGES_OF_TASK: usize = 4;

/// Bytes of a range at least, unless thresholds are tiny, and at most.
const RANGE_BYTES: (usize, usize) = (1 << 20, 32 << 20);

/// What a merge may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// Bytes that are free.
    pub(super) free_bytes: usize,
    pub(super) num_tasks: usize,
    /// Whether ranges may be as small as they like, so that tests have many.
    pub(super) is_tiny: bool,
}

/// How to merge some runs in several ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Bytes of a range, about.
    pub(super) range_bytes: usize,
    /// Ranges that are merged, or wait for others before them, at once.
    pub(super) num_ahead: usize,
    /// Memory that it takes in all.
    pub(super) size_bytes: usize,
}

/// What is known of runs.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    num_runs: usize,
    block_bytes: usize,
    all_bytes: usize,
}

impl Sizes {
    fn of(runs: &[Run]) -> Self {
        let blocks = || runs.iter().flat_map(|run| &run.blocks);
        let all_bytes = blocks().map(|block| block.size_bytes).sum();
        Self {
            num_runs: runs.len(),
            block_bytes: usize::div_ceil(all_bytes, blocks().count().max(1)),
            all_bytes,
        }
    }

    fn input_bytes(self) -> usize {
        most_blocks(self.num_runs) * self.block_bytes
    }
}

/// Memory that it takes to merge runs in one range.
pub(super) fn sequential_bytes(runs: &[Run]) -> usize {
    Sizes::of(runs).input_bytes()
}

impl Means {
    /// How many of these runs can be merged at once.
    pub(super) fn most_runs(self, runs: &[Run]) -> usize {
        let blocks = self.free_bytes / Sizes::of(runs).block_bytes.max(1);
        // As `most_blocks` says.
        (blocks / 2).clamp(MIN_MERGED_RUNS, MAX_MERGED_RUNS)
    }

    /// How to merge runs in parallel; none if that is not possible or not worth it.
    pub(super) fn parallel(self, runs: &[Run]) -> Option<Plan> {
        self.parallel_of(Sizes::of(runs))
    }

    fn parallel_of(self, sizes: Sizes) -> Option<Plan> {
        let (least, most) = RANGE_BYTES;
        let least = if self.is_tiny {
            1
        } else {
            least.max(MIN_TIMES_SHARED * sizes.num_runs * sizes.block_bytes)
        };
        let shared = sizes.all_bytes / (RANGES_OF_TASK * self.num_tasks);
        // One more than there are tasks, so that none waits for who reads the result.
        (2..=self.num_tasks + 1).rev().find_map(|num_ahead| {
            let input_bytes = sizes.input_bytes();
            let room = (self.free_bytes / num_ahead).checked_sub(input_bytes)?;
            let range_bytes = room.min(most.max(least)).min(shared.max(least));
            let is_enough = range_bytes >= least && self.num_tasks > 1;
            is_enough.then_some(Plan {
                range_bytes,
                num_ahead,
                size_bytes: num_ahead * (input_bytes + range_bytes),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Means, Plan, Sizes};

    fn plan(num_runs: usize, free_mib: usize, num_tasks: usize) -> Option<(usize, usize)> {
        let means = Means {
            free_bytes: free_mib << 20,
            num_tasks,
            is_tiny: false,
        };
        let sizes = Sizes {
            num_runs,
            block_bytes: 256 << 10,
            all_bytes: 2 << 30,
        };
        let plan: Option<Plan> = means.parallel_of(sizes);
        plan.map(|plan| {
            assert!(plan.size_bytes <= means.free_bytes);
            (plan.num_ahead, plan.range_bytes >> 20)
        })
    }

    #[test]
    fn memory_decides_how_many_ranges_are_merged_at_once() {
        assert_eq!(plan(16, 512, 2), Some((3, 32)));
        assert_eq!(plan(16, 512, 8), Some((9, 32)));
        assert_eq!(plan(16, 64, 8), Some((3, 12)));
        assert_eq!(plan(64, 64, 8), None);
        assert_eq!(plan(16, 512, 1), None);
    }
}
