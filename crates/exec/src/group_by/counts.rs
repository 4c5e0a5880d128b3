//! Numbers of rows of groups, in 32 bits as long as no group can have more.
//!
//! Half the bytes are half the cache misses, and half the fresh pages where there are millions of
//! groups. Every 2^32 rows, at the latest, all counts are carried over into words of 64 bits.

use std::ops::Range;

use basalt_functions::aggregate::Groups;
use basalt_kernels::average::NUM_KEYS;
use basalt_kernels::grouped::count_groups;
use basalt_kernels::widest::{Loop, widest};

use super::ascending::{AscendingFinder, Piece};
use super::sums::grow;
use super::touched::Touched;

/// Numbers of rows, one a group; groups beyond those ever counted have none.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Rows that are not in `carried`.
    narrow: Vec<u32>,
    /// Empty until there is something to carry.
    carried: Vec<u64>,
    /// At least the largest number in `narrow`.
    max_narrow: u32,
    ascending: AscendingFinder,
    /// Where `narrow` may have something else than zeros.
    touched: Touched,
}

impl Counts {
    /// These numbers.
    pub(super) fn of(counts: Vec<u64>) -> Self {
        Self {
            carried: counts,
            ..Self::default()
        }
    }

    /// Rows of a group.
    #[inline]
    pub(super) fn get(&self, group: usize) -> u64 {
        let narrow = self.narrow.get(group).copied().unwrap_or(0);
        u64::from(narrow) + self.carried.get(group).copied().unwrap_or(0)
    }

    /// Adds the rows of a batch to their groups.
    pub(super) fn add_rows(&mut self, groups: Groups<'_>) {
        let num_rows = groups.num_rows as u64;
        let Some(ids) = groups.ids else {
            grow(&mut self.carried, groups.num_groups.min(1));
            self.carried.iter_mut().take(1).for_each(|c| *c += num_rows);
            return;
        };
        self.resize(groups.num_groups);
        // A batch has fewer than 2^32 rows.
        self.make_room(num_rows as u32);
        let (counts, touched) = (self.narrow.as_mut_slice(), &mut self.touched);
        self.ascending.for_each_piece(ids, |piece| match piece {
            Piece::Ascending(_, groups) => {
                touched.add(groups.clone());
                widest(AddOne(&mut counts[groups]));
            }
            Piece::Any(rows) => {
                touched.add_any();
                count_groups(counts, &ids[rows]);
            }
        });
    }

    /// Adds the rows of a batch, of which row `i` belongs to group `keys[i]`: in four tables in
    /// turn, so that a key that repeats does not wait for its last count.
    pub(super) fn add_bytes(&mut self, keys: &[u8]) {
        self.resize(NUM_KEYS);
        self.make_room(keys.len() as u32);
        self.touched.add_any();
        let mut tables = [[0u32; NUM_KEYS]; 4];
        let (fours, rest) = keys.as_chunks::<4>();
        for four in fours {
            for (table, key) in tables.iter_mut().zip(four) {
                table[usize::from(*key)] += 1;
            }
        }
        for key in rest {
            tables[0][usize::from(*key)] += 1;
        }
        for (key, count) in self.narrow[..NUM_KEYS].iter_mut().enumerate() {
            *count += tables.iter().map(|table| table[key]).sum::<u32>();
        }
    }

    /// Adds the numbers that stand at `rows` of `from` to `groups`.
    pub(super) fn merge(&mut self, from: &Counts, rows: &[u32], groups: Groups<'_>) {
        let ids = groups.ids.unwrap_or(&[0]);
        self.resize(groups.num_groups);
        if from.carried.is_empty() {
            let count = |row: &u32| from.narrow.get(*row as usize).copied().unwrap_or(0);
            self.make_room(rows.iter().map(count).max().unwrap_or(0));
            self.touched.add_any();
            for (row, id) in rows.iter().zip(ids) {
                self.narrow[*id as usize] += count(row);
            }
            return;
        }
        grow(&mut self.carried, groups.num_groups);
        for (row, id) in rows.iter().zip(ids) {
            self.carried[*id as usize] += from.get(*row as usize);
        }
    }

    /// Adds the numbers of the groups from `start` on to `sums`.
    pub(super) fn add_to(&self, start: usize, sums: &mut [u64]) {
        if self.touched.may_be(start..start + sums.len()) {
            add(&self.narrow, start, sums);
        }
        add(&self.carried, start, sums);
    }

    /// Numbers of the groups in `range`.
    pub(super) fn range(&self, range: Range<usize>) -> Vec<u64> {
        if self.narrow.is_empty()
            && let Some(counts) = self.carried.get(range.clone())
        {
            return counts.to_vec();
        }
        let mut counts = vec![0; range.len()];
        self.add_to(range.start, &mut counts);
        counts
    }

    /// Memory that `num_groups` groups take, in bytes: the rest of what is reserved was never
    /// touched.
    pub(super) fn size_bytes(&self, num_groups: usize) -> usize {
        let carried = if self.carried.is_empty() {
            0
        } else {
            size_of::<u64>()
        };
        num_groups * (size_of::<u32>() + carried)
    }

    fn resize(&mut self, num_groups: usize) {
        grow(&mut self.narrow, num_groups);
    }

    /// Makes sure that any count may grow by `num_rows`.
    fn make_room(&mut self, num_rows: u32) {
        if let Some(max) = self.max_narrow.checked_add(num_rows) {
            self.max_narrow = max;
            return;
        }
        grow(&mut self.carried, self.narrow.len());
        for (to, from) in self.carried.iter_mut().zip(&mut self.narrow) {
            *to += u64::from(std::mem::take(from));
        }
        self.max_narrow = num_rows;
    }
}

/// Counts one more row of each group.
struct AddOne<'a>(&'a mut [u32]);

impl Loop for AddOne<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.0.iter_mut().for_each(|count| *count += 1);
    }
}

/// Adds the words from `start` on to `sums`; there may be fewer.
pub(super) fn add<T: Copy + Into<u64>>(words: &[T], start: usize, sums: &mut [u64]) {
    let words = words.get(start..).unwrap_or_default();
    widest(Add { words, sums });
}

struct Add<'a, T> {
    words: &'a [T],
    sums: &'a mut [u64],
}

impl<T: Copy + Into<u64>> Loop for Add<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (sum, word) in self.sums.iter_mut().zip(self.words) {
            *sum = sum.wrapping_add((*word).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use basalt_functions::aggregate::Groups;

    use super::Counts;

    fn groups(ids: &[u32]) -> Groups<'_> {
        Groups {
            ids: Some(ids),
            num_groups: 3,
            num_rows: ids.len(),
        }
    }

    #[test]
    fn counts_are_carried_before_they_overflow() {
        let mut counts = Counts::default();
        counts.add_rows(groups(&[0, 2, 2]));
        counts.max_narrow = u32::MAX - 1;
        counts.narrow[2] = u32::MAX - 1;
        counts.add_rows(groups(&[2, 2, 1]));
        assert_eq!(counts.range(0..4), [1, 1, u64::from(u32::MAX) + 1, 0]);
        assert_eq!(counts.get(2), u64::from(u32::MAX) + 1);
        let mut merged = Counts::default();
        merged.add_rows(groups(&[0, 0]));
        merged.merge(&counts, &[2, 0], groups(&[0, 1]));
        assert_eq!(merged.range(0..2), [u64::from(u32::MAX) + 3, 1]);
    }

    #[test]
    fn merging_narrow_counts_makes_room_first() {
        let mut full = Counts::default();
        full.add_rows(groups(&[0]));
        full.narrow[0] = u32::MAX;
        full.max_narrow = u32::MAX;
        let mut counts = Counts::default();
        counts.add_rows(groups(&[0]));
        counts.merge(&full, &[0], groups(&[0]));
        counts.merge(&full, &[0], groups(&[0]));
        assert_eq!(counts.get(0), 2 * u64::from(u32::MAX) + 1);
    }

    #[test]
    fn rows_without_keys_are_of_the_first_group() {
        let mut counts = Counts::default();
        let all = Groups {
            ids: None,
            num_groups: 1,
            num_rows: 7,
        };
        counts.add_rows(all);
        counts.add_rows(all);
        assert_eq!(counts.range(0..1), [14]);
        assert_eq!(Counts::of(vec![1, 2]).range(1..3), [2, 0]);
    }
}
