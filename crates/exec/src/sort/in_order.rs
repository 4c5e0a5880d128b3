//! Sees whether batches follow each other, and gives them as they are.
//!
//! ```text
//! batches    │ 7 8 9 │ 4 5 6 │ 3 2 1 │     the last one falls
//! result     │ 1 2 3 │ 4 5 6 │ 7 8 9 │     nothing is packed, only what falls is copied
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch, make_comparator};
use arrow::compute::interleave;
use datafusion::error::Result;

use super::direction::Direction;
use super::reversed::reversed;
use super::rows::Rows;

/// A batch that is in order, or in the opposite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ordered {
    pub(super) batch: usize,
    pub(super) direction: Direction,
}

impl Ordered {
    /// Rows `range` of it in order, in batches of at most `max_rows`.
    pub(super) fn batches(
        self,
        rows: &Rows,
        range: Range<usize>,
        max_rows: usize,
    ) -> Result<Vec<RecordBatch>> {
        let batch = &rows.batches[self.batch];
        let starts = range.clone().step_by(max_rows);
        let pieces = starts.map(|start| start..range.end.min(start + max_rows));
        match self.direction {
            Direction::Rising => Ok(pieces.map(|p| batch.slice(p.start, p.len())).collect()),
            Direction::Falling => {
                let num_rows = batch.num_rows();
                let turned = |p: Range<usize>| batch.slice(num_rows - p.end, p.len());
                pieces.map(|piece| reversed(&turned(piece))).collect()
            }
        }
    }
}

/// All batches in the order of the result, if each is in order and they follow each other. With
/// `keeps_ties`, rows of the same keys must not change places.
pub(super) fn ordered(rows: &Rows, keeps_ties: bool) -> Result<Option<Vec<Ordered>>> {
    let directions = rows.directions.iter().copied().enumerate();
    let batches = directions.map(|(batch, direction)| {
        let direction = direction?;
        Some(Ordered { batch, direction })
    });
    let Some(mut batches) = batches.collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let ends = Ends::new(rows, &batches)?;
    batches.sort_by(|a, b| ends.compare((a.batch, End::First), (b.batch, End::First)));
    let follows = |pair: &[Ordered]| match pair {
        [a, b] => match ends.compare((a.batch, End::Last), (b.batch, End::First)) {
            Ordering::Less => true,
            Ordering::Equal => !keeps_ties || a.batch < b.batch,
            Ordering::Greater => false,
        },
        _ => true,
    };
    let is_ordered = batches.windows(2).all(follows);
    Ok(is_ordered.then_some(batches))
}

/// An end of a batch that is in order.
#[derive(Clone, Copy, Debug)]
enum End {
    First,
    Last,
}

/// The keys at both ends of all batches.
struct Ends {
    comparators: Vec<Box<dyn Fn(usize, usize) -> Ordering + Send + Sync>>,
}

impl Ends {
    fn new(rows: &Rows, batches: &[Ordered]) -> Result<Self> {
        let ends = |ordered: &Ordered| {
            // A batch has rows.
            let last = rows.batches[ordered.batch].num_rows() - 1;
            let (first, last) = match ordered.direction {
                Direction::Rising => (0, last),
                Direction::Falling => (last, 0),
            };
            [(ordered.batch, first), (ordered.batch, last)]
        };
        let places: Vec<(usize, usize)> = batches.iter().flat_map(ends).collect();
        let columns = rows.columns.iter().enumerate();
        let comparators = columns.map(|(key, column)| {
            let keys: Vec<_> = rows.keys.iter().map(|keys| keys[key].as_ref()).collect();
            let ends: ArrayRef = interleave(&keys, &places)?;
            Ok(make_comparator(&ends, &ends, column.options)?)
        });
        Ok(Self {
            comparators: comparators.collect::<Result<_>>()?,
        })
    }

    fn compare(&self, a: (usize, End), b: (usize, End)) -> Ordering {
        let place = |(batch, end)| match end {
            End::First => 2 * batch,
            End::Last => 2 * batch + 1,
        };
        let (a, b) = (place(a), place(b));
        let mut orders = self.comparators.iter().map(|compare| compare(a, b));
        let order = orders.find(|order| order.is_ne());
        order.unwrap_or(Ordering::Equal)
    }
}
