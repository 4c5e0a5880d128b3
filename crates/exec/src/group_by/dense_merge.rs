//! Merges what several tasks have counted under the same ordinals, a range of these at a time.

use std::ops::Range;

use basalt_functions::aggregate::Groups;
use basalt_kernels::widest::{Loop, widest};
use datafusion::error::Result;

use super::Grouping;
use super::counts;
use super::states::{Exported, States};

/// The states of one task, indexed by ordinal.
pub(super) struct DensePart {
    pub(super) states: Vec<Exported>,
    /// Which ordinals are groups, if no count says so; others beyond its end are none.
    pub(super) seen: Option<Vec<bool>>,
}

impl DensePart {
    /// The ordinals in `range` that are groups.
    pub(super) fn rows(&self, range: Range<usize>) -> Vec<u32> {
        let mut counts = vec![0; range.len()];
        self.count(range.start, &mut counts);
        counted(&range, &counts)
    }

    /// Adds a number to `counts` for each ordinal from `start` on that is a group.
    fn count(&self, start: usize, counts: &mut [u64]) {
        match (&self.seen, Exported::row_counts(&self.states)) {
            (Some(seen), _) => {
                let seen = seen.get(start..).unwrap_or_default();
                let flags = counts.iter_mut().zip(seen);
                flags.for_each(|(count, seen)| *count += u64::from(*seen));
            }
            (None, Some(of_part)) => of_part.add_to(start, counts),
            (None, None) => {}
        }
    }
}

/// The ordinals in `range` whose count is not 0.
fn counted(range: &Range<usize>, counts: &[u64]) -> Vec<u32> {
    // Ordinals have at most 31 bits.
    let rows = range.start as u32..range.end as u32;
    if widest(CountZeros(counts)) == 0 {
        return rows.collect();
    }
    let rows = rows.zip(counts).filter(|(_, count)| **count > 0);
    rows.map(|(row, _)| row).collect()
}

/// How many of some numbers are 0: all are looked at, which vectors do faster than to stop at the first.
struct CountZeros<'a>(&'a [u64]);

impl Loop for CountZeros<'_> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        self.0.iter().map(|count| u64::from(*count == 0)).sum()
    }
}

/// The groups of a range of ordinals.
pub(super) struct MergeRange<'a> {
    grouping: &'a Grouping,
    parts: &'a [DensePart],
    range: Range<usize>,
    /// The ordinals that are groups of any part.
    rows: Vec<u32>,
    /// Rows of each ordinal, if the count of the aggregate at this place has told which are groups.
    counts: Option<(usize, Vec<u64>)>,
}

impl<'a> MergeRange<'a> {
    pub(super) fn new(grouping: &'a Grouping, parts: &'a [DensePart], range: Range<usize>) -> Self {
        let mut counts = vec![0; range.len()];
        parts.iter().for_each(|p| p.count(range.start, &mut counts));
        let is_told = parts.iter().all(|part| part.seen.is_none());
        let place = parts.first().filter(|_| is_told);
        let place = place.and_then(|part| Exported::place_of_row_counts(&part.states));
        Self {
            grouping,
            parts,
            rows: counted(&range, &counts),
            range,
            counts: place.map(|place| (place, counts)),
        }
    }

    /// The ordinals that are groups.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// States of the groups: group `i` is ordinal `rows()[i]`.
    pub(super) fn states(&mut self) -> Result<States> {
        let mut states = States::new(self.grouping);
        let words = (0..self.grouping.aggregates.len()).map(|i| self.words(i));
        if let Some(words) = words.collect::<Option<Vec<_>>>() {
            states.set_words(words);
            return Ok(states);
        }
        let mut groups = vec![0; self.range.len()];
        for (group, row) in self.rows.iter().enumerate() {
            groups[self.place(*row)] = group as u32;
        }
        for part in self.parts {
            let rows = part.rows(self.range.clone());
            let ids: Vec<u32> = rows.iter().map(|row| groups[self.place(*row)]).collect();
            let groups = Groups {
                ids: Some(&ids),
                num_groups: self.rows.len(),
                num_rows: ids.len(),
            };
            states.merge(&part.states, &rows, groups)?;
        }
        Ok(states)
    }

    /// Counts or sums of the groups, added up at once; `None` if the aggregate at `i` is another.
    fn words(&mut self, i: usize) -> Option<Vec<u64>> {
        let words = match self.counts.take_if(|(place, _)| *place == i) {
            Some((_, counts)) => counts,
            None => self.sums(i)?,
        };
        if self.rows.len() == words.len() {
            return Some(words);
        }
        let places = self.rows.iter().map(|row| self.place(*row));
        Some(places.map(|place| words[place]).collect())
    }

    /// What all parts have counted or summed up for each ordinal.
    fn sums(&self, i: usize) -> Option<Vec<u64>> {
        let mut words = vec![0_u64; self.range.len()];
        for part in self.parts {
            match part.states.get(i)? {
                Exported::Counts(counts) => counts.add_to(self.range.start, &mut words),
                Exported::Sums(sums) => counts::add(sums, self.range.start, &mut words),
                Exported::Distinct(_) | Exported::Columns(_) => return None,
            }
        }
        Some(words)
    }

    fn place(&self, row: u32) -> usize {
        row as usize - self.range.start
    }
}
