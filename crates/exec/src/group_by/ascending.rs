//! Finds rows whose groups have numbers that ascend one by one, as where keys count upwards: generated
//! numbers, sorted identifiers, rows of a time each.
//!
//! The states of such rows are neighbours in the order of the rows. A loop over both has no indices then,
//! and the compiler makes vectors of it; the test is one too, and is soon left out for most rows where
//! it is in vain.

use std::ops::Range;

use basalt_kernels::widest::{Loop, widest};

/// Rows that are looked at together.
const CHUNK: usize = 1024;

/// Most chunks that are left out after one that was in vain.
const MAX_LEFT_OUT: u8 = 31;

/// Rows one after the other, and their groups.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// The rows, and as many groups in their order.
    Ascending(Range<usize>, Range<usize>),
    /// Rows of any groups.
    Any(Range<usize>),
}

/// Looks for ascending groups, and stops where there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct AscendingFinder {
    /// Chunks to leave out.
    num_left_out: u8,
    /// Chunks that were left out after the last one that was in vain.
    last_left_out: u8,
}

impl AscendingFinder {
    /// Gives all rows to `f`, of which row `i` is of group `ids[i]`, some at a time.
    pub(super) fn for_each_piece(&mut self, ids: &[u32], mut f: impl FnMut(Piece)) {
        let mut start = 0;
        while start < ids.len() {
            let left_out = usize::from(std::mem::take(&mut self.num_left_out)) * CHUNK;
            if left_out > 0 {
                let end = ids.len().min(start + left_out);
                f(Piece::Any(start..end));
                start = end;
                continue;
            }
            let end = ids.len().min(start + CHUNK);
            f(self.look(start..end, &ids[start..end]));
            start = end;
        }
    }

    fn look(&mut self, rows: Range<usize>, ids: &[u32]) -> Piece {
        if is_ascending(ids) {
            self.last_left_out = 0;
            let first = ids.first().map_or(0, |id| *id as usize);
            return Piece::Ascending(rows, first..first + ids.len());
        }
        // The first time is no reason yet: numbers may just have started again.
        self.num_left_out = self.last_left_out;
        self.last_left_out = (self.last_left_out * 2 + 1).min(MAX_LEFT_OUT);
        Piece::Any(rows)
    }
}

fn is_ascending(ids: &[u32]) -> bool {
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
        return true;
    };
    last.checked_sub(*first)
        .is_some_and(|d| d as usize == ids.len() - 1)
        && widest(Differs(ids, *first)) == 0
}

/// Bits in which numbers differ from those that ascend from a first one.
struct Differs<'a>(&'a [u32], u32);

impl Loop for Differs<'_> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self(ids, first) = self;
        let expected = (0..ids.len() as u32).map(|i| first.wrapping_add(i));
        ids.iter()
            .zip(expected)
            .fold(0, |bits, (id, expected)| bits | (id ^ expected))
    }
}

#[cfg(test)]
mod tests {
    use super::{AscendingFinder, CHUNK, Piece};

    /// Whether each row comes once, in its order, with its group.
    fn check(ids: &[u32]) -> Vec<bool> {
        let mut finder = AscendingFinder::default();
        let (mut next, mut found) = (0, Vec::new());
        finder.for_each_piece(ids, |piece| match piece {
            Piece::Ascending(rows, groups) => {
                assert_eq!(rows.start, next);
                let of_rows: Vec<usize> = ids[rows.clone()].iter().map(|id| *id as usize).collect();
                assert_eq!(of_rows, groups.collect::<Vec<_>>());
                next = rows.end;
                found.push(true);
            }
            Piece::Any(rows) => {
                assert_eq!(rows.start, next);
                next = rows.end;
                found.push(false);
            }
        });
        assert_eq!(next, ids.len());
        found
    }

    #[test]
    fn numbers_that_start_again_are_found() {
        let ids: Vec<u32> = (0..20 * CHUNK as u32).map(|i| i % 5000).collect();
        let found = check(&ids);
        assert_eq!(found.len(), 20);
        assert_eq!(
            found.iter().filter(|is_ascending| !**is_ascending).count(),
            4
        );
    }

    #[test]
    fn other_numbers_are_soon_left_alone() {
        let ids: Vec<u32> = (0..100 * CHUNK as u32)
            .map(|i| i.wrapping_mul(7919) % 5000)
            .collect();
        let found = check(&ids);
        assert!(found.len() < 16 && !found.contains(&true), "{found:?}");
        assert_eq!(check(&[]), Vec::<bool>::new());
        assert_eq!(check(&[7]), [true]);
        assert_eq!(check(&[7, 7, 9]), [false]);
        assert_eq!(check(&[u32::MAX, 0]), [false]);
    }
}
