//! Merges what several tasks have counted under the same ordinals, a range of these at a time.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::DataType as ArrowType;
use basalt_analyzer::into_plan_error;
use basalt_functions::aggregate::Groups;
use datafusion::common::internal_datafusion_err;
use datafusion::error::Result;

use super::Grouping;
use super::counts;
use super::grouping::AggregateSpec;
use super::states::Exported;

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
    if counts.iter().all(|count| *count > 0) {
        return rows.collect();
    }
    let rows = rows.zip(counts).filter(|(_, count)| **count > 0);
    rows.map(|(row, _)| row).collect()
}

/// The groups of a range of ordinals.
pub(super) struct MergeRange<'a> {
    aggregates: &'a [AggregateSpec],
    parts: &'a [DensePart],
    range: Range<usize>,
    /// The ordinals that are groups of any part.
    rows: Vec<u32>,
}

impl<'a> MergeRange<'a> {
    pub(super) fn new(grouping: &'a Grouping, parts: &'a [DensePart], range: Range<usize>) -> Self {
        let mut counts = vec![0; range.len()];
        parts.iter().for_each(|p| p.count(range.start, &mut counts));
        Self {
            aggregates: &grouping.aggregates,
            parts,
            rows: counted(&range, &counts),
            range,
        }
    }

    /// The ordinals that are groups.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Results of all aggregates.
    pub(super) fn columns(&self) -> Result<Vec<ArrayRef>> {
        let mut own_rows = None;
        let of_one = |(i, spec): (usize, &AggregateSpec)| -> Result<ArrayRef> {
            if let Some(words) = self.words(i) {
                return Ok(word_array(spec, words));
            }
            let own_rows = own_rows.get_or_insert_with(|| self.own_rows());
            self.merge(i, spec, own_rows)
        };
        self.aggregates.iter().enumerate().map(of_one).collect()
    }

    /// Counts or sums; `None` if the function at `i` merges its states itself.
    fn words(&self, i: usize) -> Option<Vec<u64>> {
        let mut words = vec![0_u64; self.range.len()];
        for part in self.parts {
            match part.states.get(i)? {
                Exported::Counts(counts) => counts.add_to(self.range.start, &mut words),
                Exported::Sums(sums) => counts::add(sums, self.range.start, &mut words),
                Exported::Columns(_) => return None,
            }
        }
        if self.rows.len() == words.len() {
            return Some(words);
        }
        let places = self.rows.iter().map(|row| self.place(*row));
        Some(places.map(|place| words[place]).collect())
    }

    fn place(&self, row: u32) -> usize {
        row as usize - self.range.start
    }

    /// For each part, the ordinals that are its own groups and which groups of the result they are.
    fn own_rows(&self) -> Vec<(Vec<u32>, Vec<usize>)> {
        let mut groups = vec![0; self.range.len()];
        for (group, row) in self.rows.iter().enumerate() {
            groups[self.place(*row)] = group;
        }
        let own = |part: &DensePart| {
            let rows = part.rows(self.range.clone());
            let ids = rows.iter().map(|row| groups[self.place(*row)]).collect();
            (rows, ids)
        };
        self.parts.iter().map(own).collect()
    }

    /// Results of one function that merges its states itself.
    fn merge(
        &self,
        i: usize,
        spec: &AggregateSpec,
        own_rows: &[(Vec<u32>, Vec<usize>)],
    ) -> Result<ArrayRef> {
        let mut states = (spec.bound.factory)();
        for (part, (rows, ids)) in self.parts.iter().zip(own_rows) {
            let Some(Exported::Columns(columns)) = part.states.get(i) else {
                return Err(internal_datafusion_err!("states of another function"));
            };
            let indices = UInt32Array::from(rows.clone());
            let columns = columns.iter().map(|c| take(c, &indices, None));
            let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
            let groups = Groups {
                ids: Some(ids),
                num_groups: self.rows.len(),
                num_rows: ids.len(),
            };
            states.merge(&columns, groups).map_err(into_plan_error)?;
        }
        states.finish(0..self.rows.len()).map_err(into_plan_error)
    }
}

/// Counts or sums as a column of the result.
fn word_array(spec: &AggregateSpec, words: Vec<u64>) -> ArrayRef {
    if spec.bound.return_type.physical() == ArrowType::Int64 {
        let signed = words.into_iter().map(u64::cast_signed);
        return Arc::new(Int64Array::from_iter_values(signed));
    }
    Arc::new(UInt64Array::from(words))
}
