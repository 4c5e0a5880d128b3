//! Sees whether stretches of batches follow each other, and gives them as they are.
//!
//! ```text
//! batches    │ 1 2 9 10 11 · 3 4 │ 5 6 7 8 │ 14 13 12 │     the first has two stretches, the last one falls
//! result     │ 1 2 │ 3 4 │ 5 6 7 8 │ 9 10 11 │ 12 13 14 │     nothing is packed, only what falls is copied
//! ```
//!
//! The stretch that begins first comes first, as far as it is before the one that begins next. Two threads
//! that take turns at reading a table so give batches that are taken apart again.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::interleave;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::error::Result;

use super::direction::{Direction, Stretch, most_stretches};
use super::options::Strategy;
use super::reversed::reversed;
use super::rows::Rows;

/// Pieces from which on they must not be short: finding where one ends takes longer than to sort a few rows.
const MIN_PIECES: usize = 32;

/// Rows of a piece on average, at least.
const MIN_PIECE_ROWS: usize = 512;

/// Pieces that are found where that is asked for, however short they are.
const ASKED_PIECES: usize = 1 << 12;

/// A stretch of a batch's rows that are in order, or in the opposite one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ordered {
    batch: usize,
    stretch: Stretch,
}

impl Ordered {
    /// The place of a row in the batch, counted in the order of the result.
    fn row(&self, place: usize) -> usize {
        match self.stretch.direction {
            Direction::Rising => self.stretch.rows.start + place,
            Direction::Falling => self.stretch.rows.end - 1 - place,
        }
    }

    /// The first rows, so many of them, and the rest.
    fn split(&self, num_rows: usize) -> (Self, Self) {
        let Range { start, end } = self.stretch.rows;
        let part = |rows| Self {
            batch: self.batch,
            stretch: Stretch {
                rows,
                direction: self.stretch.direction,
            },
        };
        match self.stretch.direction {
            Direction::Rising => (part(start..start + num_rows), part(start + num_rows..end)),
            Direction::Falling => (part(end - num_rows..end), part(start..end - num_rows)),
        }
    }

    /// How many rows it has.
    pub(super) fn num_rows(&self) -> usize {
        self.stretch.rows.len()
    }

    /// Whether its rows are in the opposite order.
    pub(super) fn is_falling(&self) -> bool {
        self.stretch.direction == Direction::Falling
    }

    /// Rows `range` of it in order, in batches of at most `max_rows`.
    pub(super) fn batches(
        &self,
        rows: &Rows,
        range: Range<usize>,
        max_rows: usize,
    ) -> Result<Vec<RecordBatch>> {
        let batch = &rows.batches[self.batch];
        let Range { start, end } = self.stretch.rows;
        let starts = range.clone().step_by(max_rows);
        let pieces = starts.map(|first| first..range.end.min(first + max_rows));
        match self.stretch.direction {
            Direction::Rising => {
                let slice = |p: Range<usize>| Ok(batch.slice(start + p.start, p.len()));
                pieces.map(slice).collect()
            }
            Direction::Falling => {
                let turned = |p: Range<usize>| reversed(&batch.slice(end - p.end, p.len()));
                pieces.map(turned).collect()
            }
        }
    }
}

/// All rows in the order of the result, if every batch has stretches and these are to be cut into few
/// pieces. With `keeps_ties`, rows of the same keys must not change places.
pub(super) fn ordered(
    rows: &Rows,
    (strategy, keeps_ties): (Strategy, bool),
) -> Result<Option<Vec<Ordered>>> {
    if rows.batches.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if rows.stretches.iter().any(Vec::is_empty) {
        return Ok(None);
    }
    let of_batch = |(batch, stretches): (usize, &Vec<Stretch>)| -> Vec<Ordered> {
        let ordered = |stretch: &Stretch| Ordered {
            batch,
            stretch: stretch.clone(),
        };
        stretches.iter().map(ordered).collect()
    };
    let stretches = rows.stretches.iter().enumerate().flat_map(of_batch);
    let keys = Keys::new(rows)?;
    let mut open = keys.open(stretches.collect())?;
    let is_forced = strategy == Strategy::InOrder;
    let asked = if is_forced { ASKED_PIECES } else { 0 };
    let most = asked.max(most_stretches(rows.num_rows(), strategy) + open.len());
    let (mut found, mut num_placed) = (Vec::new(), 0);
    while let Some(Reverse(first)) = open.pop() {
        let num_rows = match open.peek() {
            Some(Reverse(next)) => keys.num_before(&first, next, keeps_ties)?,
            None => first.ordered.num_rows(),
        };
        num_placed += num_rows;
        let are_short = found.len() >= MIN_PIECES && num_placed < found.len() * MIN_PIECE_ROWS;
        if found.len() == most || are_short && !is_forced {
            return Ok(None);
        }
        if num_rows < first.ordered.num_rows() {
            let (before, rest) = first.ordered.split(num_rows);
            open.push(Reverse(Open {
                first: keys.row(&rest, 0)?,
                ordered: rest,
                last: first.last,
            }));
            found.push(before);
        } else {
            found.push(first.ordered);
        }
    }
    Ok(Some(found))
}

/// A stretch that is still to be placed, with the keys at its ends.
struct Open {
    first: OwnedRow,
    last: OwnedRow,
    ordered: Ordered,
}

impl Open {
    /// What decides between stretches that begin with the same keys.
    fn place(&self) -> (usize, usize) {
        (self.ordered.batch, self.ordered.stretch.rows.start)
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        let order = self.first.cmp(&other.first);
        order.then_with(|| self.place().cmp(&other.place()))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

/// Compares the keys of single rows.
struct Keys<'a> {
    rows: &'a Rows,
    converter: RowConverter,
}

impl<'a> Keys<'a> {
    fn new(rows: &'a Rows) -> Result<Self> {
        let first = rows.keys.first().map_or(&[][..], Vec::as_slice);
        let fields = first.iter().zip(&rows.columns);
        let fields = fields.map(|(key, column)| {
            SortField::new_with_options(key.data_type().clone(), column.options)
        });
        Ok(Self {
            rows,
            converter: RowConverter::new(fields.collect())?,
        })
    }

    /// Stretches by the keys that they begin with.
    fn open(&self, stretches: Vec<Ordered>) -> Result<BinaryHeap<Reverse<Open>>> {
        // A stretch has rows.
        let ends = |ordered: &Ordered| {
            let last = ordered.num_rows() - 1;
            [0, last].map(|place| (ordered.batch, ordered.row(place)))
        };
        let places: Vec<(usize, usize)> = stretches.iter().flat_map(ends).collect();
        let columns = (0..self.rows.columns.len()).map(|key| {
            let keys = self.rows.keys.iter().map(|keys| keys[key].as_ref());
            interleave(&keys.collect::<Vec<_>>(), &places)
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, _>>()?;
        let ends = self.converter.convert_columns(&columns)?;
        let open = stretches.into_iter().enumerate().map(|(i, ordered)| {
            Reverse(Open {
                first: ends.row(2 * i).owned(),
                last: ends.row(2 * i + 1).owned(),
                ordered,
            })
        });
        Ok(open.collect())
    }

    /// The keys of one row of a stretch.
    fn row(&self, ordered: &Ordered, place: usize) -> Result<OwnedRow> {
        let keys = self.rows.keys[ordered.batch].iter();
        let keys: Vec<ArrayRef> = keys.map(|key| key.slice(ordered.row(place), 1)).collect();
        Ok(self.converter.convert_columns(&keys)?.row(0).owned())
    }

    /// How many rows of `a`, at least one, come before the rows of `b`, which does not begin before it.
    fn num_before(&self, a: &Open, b: &Open, keeps_ties: bool) -> Result<usize> {
        let takes_ties = !keeps_ties || a.place() < b.place();
        let is_before = |row: &OwnedRow| match row.cmp(&b.first) {
            Ordering::Less => true,
            Ordering::Equal => takes_ties,
            Ordering::Greater => false,
        };
        let num_rows = a.ordered.num_rows();
        if is_before(&a.last) {
            return Ok(num_rows);
        }
        let (mut low, mut high) = (1, num_rows - 1);
        while low < high {
            let middle = low.midpoint(high);
            if is_before(&self.row(&a.ordered, middle)?) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
