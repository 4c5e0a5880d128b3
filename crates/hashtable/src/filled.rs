//! Sets rows apart whose string is empty: more often than not they are most of a column.

use basalt_kernels::prefetch::{LINE_BYTES, prefetch};

/// The view of the empty string.
pub(crate) const EMPTY: u128 = 0;

/// Rows that are looked at together: enough for full chunks where most strings are empty.
pub(crate) const PART: usize = 2048;

/// Views of a line of memory.
const LINE_VIEWS: usize = LINE_BYTES / size_of::<u128>();

/// Views that are asked for ahead of time: the processor itself does not look beyond a page.
const AHEAD: usize = 512;

/// The rows of a part whose string is not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled {
    places: Vec<u16>,
    pub(crate) views: Vec<u128>,
    /// The group of each, for callers to write.
    pub(crate) groups: Vec<u32>,
}

impl Filled {
    /// Finds the rows of a part of at most [`PART`] rows and gives their number; their views are
    /// set if they are not all rows.
    pub(crate) fn find(&mut self, part: &[u128]) -> usize {
        self.places.resize(PART, 0);
        let mut num_filled = 0;
        let mut place = 0;
        for line in part.chunks(LINE_VIEWS) {
            prefetch(part, usize::from(place) + AHEAD);
            for view in line {
                // Half of the strings of a column are empty more often than not: no branch on that.
                self.places[num_filled] = place;
                num_filled += usize::from(*view != EMPTY);
                place += 1;
            }
        }
        if num_filled == part.len() {
            return num_filled;
        }
        self.views.clear();
        let filled = self.places[..num_filled].iter();
        self.views
            .extend(filled.map(|place| part[usize::from(*place)]));
        num_filled
    }

    /// Appends the groups of all rows of a part: those in `groups` where they belong, `empty` elsewhere.
    pub(crate) fn spread(&self, empty: u32, num_rows: usize, groups: &mut Vec<u32>) {
        let start = groups.len();
        groups.resize(start + num_rows, empty);
        let all = &mut groups[start..];
        for (place, group) in self.places.iter().zip(&self.groups) {
            all[usize::from(*place)] = *group;
        }
    }
}
