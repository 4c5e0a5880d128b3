//! Knows stretches of groups that no row was ever added to.
//!
//! Keys that count upwards are dealt out to tasks in stretches, so of arrays for all groups every task leaves
//! most as they were: whoever merges them need not read these parts, which are in no cache.

use std::ops::Range;

/// Groups of a stretch.
const STRETCH: usize = 8 << 10;

/// Which stretches have had rows.
#[derive(Debug, Default)]
pub(super) struct Touched {
    stretches: Vec<bool>,
    /// Rows came whose groups nobody looked at.
    is_any: bool,
}

impl Touched {
    /// Rows are added to some of the groups in `range`.
    pub(super) fn add(&mut self, range: Range<usize>) {
        if self.is_any || range.is_empty() {
            return;
        }
        let stretches = range.start / STRETCH..range.end.div_ceil(STRETCH);
        if self.stretches.len() < stretches.end {
            self.stretches.resize(stretches.end, false);
        }
        self.stretches[stretches].fill(true);
    }

    /// Rows are added to any groups.
    pub(super) fn add_any(&mut self) {
        self.is_any = true;
    }

    /// Whether there may be rows of groups in `range`.
    pub(super) fn may_be(&self, range: Range<usize>) -> bool {
        let end = range.end.div_ceil(STRETCH).min(self.stretches.len());
        let start = (range.start / STRETCH).min(end);
        self.is_any || self.stretches[start..end].contains(&true)
    }
}

#[cfg(test)]
mod tests {
    use super::{STRETCH, Touched};

    #[test]
    fn only_stretches_without_rows_are_left_out() {
        let mut touched = Touched::default();
        assert!(!touched.may_be(0..usize::MAX));
        touched.add(STRETCH - 1..STRETCH + 1);
        touched.add(5 * STRETCH..5 * STRETCH);
        touched.add(3 * STRETCH..3 * STRETCH + 1);
        let of = |stretch: usize| stretch * STRETCH..(stretch + 1) * STRETCH;
        let found = (0..6).map(|stretch| touched.may_be(of(stretch)));
        assert_eq!(
            found.collect::<Vec<_>>(),
            [true, true, false, true, false, false]
        );
        assert!(touched.may_be(2 * STRETCH..4 * STRETCH));
        touched.add_any();
        assert!(touched.may_be(of(4)));
    }
}
