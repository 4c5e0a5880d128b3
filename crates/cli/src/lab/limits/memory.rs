//! Reads and writes rows of memory.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use basalt_adapt::Random;
use basalt_error::Result;
use basalt_kernels::widest::{Loop, widest};

use crate::lab::Setup;

/// Sums that are added up side by side, so that none waits for the one before.
const NUM_SUMS: usize = 32;

/// Most rows that are read in random order.
pub(super) const MAX_STEPS: usize = 1 << 22;

/// Rows that a thread goes over in a round, at least.
const MIN_ROWS: usize = 1 << 25;

/// Memory that was never used, written once; and the seconds that took.
pub(super) fn first_written(setup: &Setup) -> Result<(Vec<u64>, f64)> {
    let mut rows = setup.allocate(setup.num_rows)?;
    let started = Instant::now();
    // Of zeros, the system might promise pages and give none.
    rows.resize(setup.num_rows, 1);
    let seconds = started.elapsed().as_secs_f64();
    Ok((rows, seconds))
}

/// Seconds of writing all rows.
pub(super) fn write(setup: &Setup, rows: &mut [u64]) -> f64 {
    let part_rows = rows.len().div_ceil(setup.num_threads).max(1);
    let passes = num_passes(rows.len());
    let started = Instant::now();
    std::thread::scope(|scope| {
        for part in rows.chunks_mut(part_rows) {
            scope.spawn(move || (0..passes).for_each(|_| black_box(&mut *part).fill(1)));
        }
    });
    started.elapsed().as_secs_f64() / passes as f64
}

/// Seconds of reading all rows.
pub(super) fn read(setup: &Setup, rows: &[u64]) -> f64 {
    let passes = num_passes(rows.len());
    let started = Instant::now();
    let sum = |range: Range<usize>| {
        let sums = (0..passes).map(|_| widest(Sum(black_box(&rows[range.clone()]))));
        sums.fold(0, u64::wrapping_add)
    };
    black_box(setup.in_parallel(sum));
    started.elapsed().as_secs_f64() / passes as f64
}

/// How often few rows are gone over, so that the start of threads is not what is measured.
fn num_passes(num_rows: usize) -> usize {
    (MIN_ROWS / num_rows.max(1)).max(1)
}

/// Reads from four places at once, as queries over several columns do: one stream of memory is slower.
struct Sum<'a>(&'a [u64]);

impl Loop for Sum<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let mut sums = [0u64; NUM_SUMS];
        let (groups, rest) = self.0.as_chunks::<NUM_SUMS>();
        let (first, second) = groups.split_at(groups.len() / 2);
        let ((a, b), (c, d)) = (
            first.split_at(first.len() / 2),
            second.split_at(second.len() / 2),
        );
        let mut add = |group: &[u64; NUM_SUMS]| {
            for (sum, value) in sums.iter_mut().zip(group) {
                *sum = sum.wrapping_add(*value);
            }
        };
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            [a, b, c, d].into_iter().for_each(&mut add);
        }
        // Halves may be longer than the shortest by a group or two.
        let num_common = a.len().min(b.len()).min(c.len()).min(d.len());
        let others = [a, b, c, d].map(|part| &part[num_common..]);
        others.into_iter().flatten().for_each(add);
        let all = sums.iter().chain(rest);
        all.fold(0, |all, sum| all.wrapping_add(*sum))
    }
}

/// Makes each row the place of another one, so that who follows them comes by all.
///
/// Sattolo's algorithm: one cycle, all of which are equally likely.
pub(super) fn link(rows: &mut [u64], random: &mut Random) {
    for (place, row) in (0..).zip(rows.iter_mut()) {
        *row = place;
    }
    for place in (1..rows.len()).rev() {
        rows.swap(place, random.below(place as u64) as usize);
    }
}

/// Seconds of reading `num_rows` of the rows, each of which says where the next one is.
pub(super) fn follow(rows: &[u64], num_rows: usize) -> f64 {
    let started = Instant::now();
    let mut place = 0;
    for _ in 0..num_rows {
        place = rows[place] as usize;
    }
    black_box(place);
    started.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use basalt_adapt::Random;

    use super::{Sum, link};
    use crate::lab::limits::memory::widest;

    #[test]
    fn a_cycle_comes_by_all_rows() {
        let mut rows = vec![0; 1000];
        link(&mut rows, &mut Random::new(3));
        let mut place = 0;
        let steps = (1..).find(|_| {
            place = rows[place] as usize;
            place == 0
        });
        assert_eq!(steps, Some(1000));
        assert_eq!(widest(Sum(&rows)), 999 * 500);
    }
}
