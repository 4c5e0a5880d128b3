//! Finds stretches of a batch's rows that are in order already, by comparing neighbours.
//!
//! ```text
//! rows         │ 1 2 3 4 9 8 7 6 20 21 22 │
//! stretches    │ 1 2 3 4 9│8 7 6│20 21 22 │     the second one falls
//! ```
//!
//! A table's batches are joined of what several threads have read, so that a batch may hold a few
//! stretches of a table that is in order. One pass over the first key settles most: rows of no order
//! break so often that it ends at once. Only where the first key has ties do the other keys count.

use std::cmp::Ordering;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, AsArray, make_comparator};
use basalt_kernels::widest::{Loop, widest};
use datafusion::error::Result;

use super::layout::KeyColumn;
use super::options::Strategy;
use super::ordinal::{Kind, NarrowVisitor, Ordinal, visit_narrow};

/// Neighbours that are compared before a look at what was found.
const GROUP_ROWS: usize = 512;

/// Rows that stretches have at least, on average: shorter ones cost more than they save.
const MIN_STRETCH_ROWS: usize = 2048;

/// Stretches of a batch that are taken apart where that is asked for, however short they are.
const ASKED_STRETCHES: usize = 4096;

/// Most stretches of so many rows that are taken apart.
pub(super) fn most_stretches(num_rows: usize, strategy: Strategy) -> usize {
    let worth_it = num_rows / MIN_STRETCH_ROWS + 4;
    match strategy {
        Strategy::InOrder => worth_it.max(ASKED_STRETCHES),
        _ => worth_it,
    }
}

/// How rows follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// As the order wants them.
    Rising,
    /// The other way round, and the order may be turned without a tie changing its rows' places.
    Falling,
}

/// Rows that follow each other in one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) rows: Range<usize>,
    pub(super) direction: Direction,
}

/// The stretches of rows with these keys; none if they would be too short. With `keeps_ties`, rows with
/// the same keys must not change places.
pub(super) fn stretches(
    keys: &[ArrayRef],
    columns: &[KeyColumn],
    (strategy, keeps_ties): (Strategy, bool),
) -> Result<Vec<Stretch>> {
    let last = keys.len().saturating_sub(1);
    let num_alike = keys.iter().take(last).take_while(|key| is_one_value(key));
    let num_alike = num_alike.count();
    let (keys, columns) = (&keys[num_alike..], &columns[num_alike..]);
    let (Some(first), Some(column)) = (keys.first(), columns.first()) else {
        return Ok(Vec::new());
    };
    let has_more_keys = keys.len() > 1;
    if column.kind == Kind::Narrow && first.null_count() == 0 {
        let search = OfOneKey {
            key: first.as_ref(),
            is_descending: column.options.descending,
            keeps_ties: keeps_ties && !has_more_keys,
            strategy,
        };
        if let Some(found) = visit_narrow(first.data_type(), search) {
            let is_open = has_more_keys && found.has_ties;
            if !is_open || found.stretches.is_empty() {
                return Ok(found.stretches);
            }
        }
    }
    let comparators = keys.iter().zip(columns);
    let comparators = comparators.map(|(key, column)| make_comparator(key, key, column.options));
    let comparators = comparators.collect::<Result<Vec<_>, _>>()?;
    let compare = |row: usize| {
        let mut orders = comparators.iter().map(|compare| compare(row, row + 1));
        let order = orders.find(|order| order.is_ne());
        order.unwrap_or(Ordering::Equal)
    };
    let steps = |rows: Range<usize>| rows.map(compare).fold(Steps::default(), Steps::with);
    let most = most_stretches(first.len(), strategy);
    Ok(search((first.len(), most), keeps_ties, steps).stretches)
}

/// Whether a key tells no rows apart: all of them have the same number.
fn is_one_value(key: &ArrayRef) -> bool {
    key.null_count() == 0 && visit_narrow(key.data_type(), OneValue(key.as_ref())) == Some(true)
}

struct OneValue<'a>(&'a dyn Array);

impl NarrowVisitor for OneValue<'_> {
    type Output = bool;

    fn visit<T: Ordinal>(self) -> bool {
        let values = self.0.as_primitive::<T>().values();
        let Some(first) = values.first().map(|value| T::ordinal(*value)) else {
            return true;
        };
        values.chunks(GROUP_ROWS).all(|group| {
            let differing = group.iter().map(|value| T::ordinal(*value) ^ first);
            differing.fold(0, |all, bits| all | bits) == 0
        })
    }
}

/// What a search has found.
#[derive(Debug, Default)]
struct Found {
    stretches: Vec<Stretch>,
    /// Whether neighbours within a stretch are equal.
    has_ties: bool,
}

/// Finds the stretches of so many rows, if there are not more than so many; `steps` tells what is between some rows and
/// the one after each.
fn search(
    (num_rows, most): (usize, usize),
    keeps_ties: bool,
    steps: impl Fn(Range<usize>) -> Steps,
) -> Found {
    let mut found = Found::default();
    let mut start = 0;
    while start < num_rows {
        if found.stretches.len() == most {
            return Found::default();
        }
        let (end, within) = stretch_end(start, num_rows, keeps_ties, &steps);
        found.has_ties |= within.tie;
        found.stretches.push(Stretch {
            rows: start..end,
            direction: within.direction(keeps_ties).unwrap_or(Direction::Rising),
        });
        start = end;
    }
    found
}

/// Where the stretch from `start` on ends, and what is within.
fn stretch_end(
    start: usize,
    num_rows: usize,
    keeps_ties: bool,
    steps: &impl Fn(Range<usize>) -> Steps,
) -> (usize, Steps) {
    let mut found = Steps::default();
    let mut row = start;
    while row + 1 < num_rows {
        let group_end = (row + GROUP_ROWS).min(num_rows - 1);
        let with = found.and(steps(row..group_end));
        if with.direction(keeps_ties).is_some() {
            (found, row) = (with, group_end);
            continue;
        }
        for last in row..group_end {
            let with = found.and(steps(last..last + 1));
            if with.direction(keeps_ties).is_none() {
                // Of two rows the first may be the end of what came before the batch.
                return if last == start + 1 {
                    (last, Steps::default())
                } else {
                    (last + 1, found)
                };
            }
            found = with;
        }
        row = group_end;
    }
    (num_rows, found)
}

/// What was found between neighbours.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    rise: bool,
    fall: bool,
    tie: bool,
}

impl Steps {
    fn directed(self, is_descending: bool) -> Self {
        if is_descending {
            Self {
                rise: self.fall,
                fall: self.rise,
                ..self
            }
        } else {
            self
        }
    }

    fn direction(self, keeps_ties: bool) -> Option<Direction> {
        if !self.fall {
            Some(Direction::Rising)
        } else if !(self.rise || self.tie && keeps_ties) {
            Some(Direction::Falling)
        } else {
            None
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            rise: self.rise | other.rise,
            fall: self.fall | other.fall,
            tie: self.tie | other.tie,
        }
    }

    fn with(mut self, order: Ordering) -> Self {
        match order {
            Ordering::Less => self.rise = true,
            Ordering::Equal => self.tie = true,
            Ordering::Greater => self.fall = true,
        }
        self
    }
}

/// Finds the stretches of an array without NULLs.
struct OfOneKey<'a> {
    key: &'a dyn Array,
    is_descending: bool,
    keeps_ties: bool,
    strategy: Strategy,
}

impl NarrowVisitor for OfOneKey<'_> {
    type Output = Found;

    fn visit<T: Ordinal>(self) -> Found {
        let values = self.key.as_primitive::<T>().values();
        let steps = |rows: Range<usize>| {
            let found = widest(StepsOfValues {
                before: &values[rows.clone()],
                after: &values[rows.start + 1..=rows.end],
                ordinal: T::ordinal,
            });
            found.directed(self.is_descending)
        };
        let most = most_stretches(values.len(), self.strategy);
        search((values.len(), most), self.keeps_ties, steps)
    }
}

struct StepsOfValues<'a, V, F> {
    before: &'a [V],
    after: &'a [V],
    ordinal: F,
}

impl<V: Copy, F: Fn(V) -> u64> Loop for StepsOfValues<'_, V, F> {
    type Output = Steps;

    #[inline(always)]
    fn run(self) -> Steps {
        let mut steps = Steps::default();
        // Without branches, so that it becomes vector code.
        for (a, b) in self.before.iter().zip(self.after) {
            let (a, b) = ((self.ordinal)(*a), (self.ordinal)(*b));
            steps.rise |= a < b;
            steps.fall |= a > b;
            steps.tie |= a == b;
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int32Array};
    use arrow::compute::SortOptions;

    use super::{Direction, Strategy, Stretch, stretches};
    use crate::sort::layout::KeyColumn;

    fn check(keys: &[(ArrayRef, bool)], keeps_ties: bool, expected: Option<Direction>) {
        let column = |(key, descending): &(ArrayRef, bool)| {
            let options = SortOptions {
                descending: *descending,
                nulls_first: false,
            };
            KeyColumn::new(key.data_type(), options)
        };
        let columns: Vec<KeyColumn> = keys.iter().map(column).collect();
        let keys: Vec<ArrayRef> = keys.iter().map(|(key, _)| Arc::clone(key)).collect();
        let found = stretches(&keys, &columns, (Strategy::Auto, keeps_ties)).unwrap();
        let direction = match found.as_slice() {
            [] => Some(Direction::Rising),
            [all] => Some(all.direction),
            _ => None,
        };
        assert_eq!(direction, expected, "{keys:?}");
    }

    /// Where stretches of integers end, negative if they fall.
    fn ends(values: impl IntoIterator<Item = i32>) -> Vec<isize> {
        let key = integers(values);
        let columns = [KeyColumn::new(key.data_type(), SortOptions::default())];
        let found = stretches(&[key], &columns, (Strategy::Auto, true)).unwrap();
        let mut start = 0;
        let end = |stretch: &Stretch| {
            assert_eq!(stretch.rows.start, start);
            start = stretch.rows.end;
            match stretch.direction {
                Direction::Rising => start as isize,
                Direction::Falling => -(start as isize),
            }
        };
        found.iter().map(end).collect()
    }

    #[test]
    fn batches_are_cut_where_the_direction_changes() {
        assert_eq!(ends((5..900).chain(0..3)), [895, 898]);
        assert_eq!(
            ends((0..700).chain((200..300).rev()).chain(800..2000)),
            [700, -800, 2000]
        );
        // The last row of another stretch.
        assert_eq!(ends([99].into_iter().chain(0..600)), [1, 601]);
        assert_eq!(ends([7, 7, 7, 6, 5, 4]), [3, -6]);
        assert!(ends((0..5000).map(|i| i * 7919 % 5003)).is_empty());
        let saw = |i: i32| i % 2100 - i / 2100 * 2100;
        assert_eq!(ends((0..21_000).map(saw)).len(), 10);
    }

    fn integers(values: impl IntoIterator<Item = i32>) -> ArrayRef {
        Arc::new(values.into_iter().collect::<Int32Array>())
    }

    #[test]
    fn one_key() {
        use Direction::{Falling, Rising};
        let rising = || integers(-700..900);
        check(&[(rising(), false)], true, Some(Rising));
        check(&[(rising(), true)], true, Some(Falling));
        for late in [0, 511, 512, 513, 1599] {
            let values = (-700..900).map(|i| if i == late - 700 { 77 } else { i });
            check(&[(integers(values), false)], true, None);
        }
        let tied = || integers([1, 1, 2]);
        check(&[(tied(), false)], true, Some(Rising));
        check(&[(tied(), true)], true, None);
        check(&[(tied(), true)], false, Some(Falling));
        check(&[(integers([]), true)], true, Some(Rising));
        check(&[(integers([3]), true)], true, Some(Rising));
        let floats = Arc::new(Float64Array::from(vec![
            -2.0,
            -1.0,
            f64::INFINITY,
            f64::NAN,
        ]));
        check(&[(floats, false)], true, Some(Rising));
    }

    #[test]
    fn later_keys_decide_ties() {
        use Direction::{Falling, Rising};
        let texts =
            |values: [&str; 4]| -> ArrayRef { Arc::new(BinaryViewArray::from_iter_values(values)) };
        let first = || (integers([1, 1, 2, 2]), false);
        let keys = |values| [first(), (texts(values), false)];
        check(&keys(["a", "b", "a", "a"]), true, Some(Rising));
        check(&keys(["b", "a", "a", "b"]), true, None);
        let turned = |values| [(integers([2, 2, 1, 1]), false), (texts(values), false)];
        check(&turned(["b", "a", "z", "x"]), true, Some(Falling));
        check(&turned(["b", "b", "z", "x"]), true, None);
        check(&turned(["b", "b", "z", "x"]), false, Some(Falling));
        // One that is the same everywhere decides nothing.
        let same = || (integers([7, 7, 7, 7]), true);
        let below = |values: [i32; 4]| [same(), same(), (integers(values), false)];
        check(&below([1, 2, 3, 4]), true, Some(Rising));
        check(&below([4, 3, 2, 1]), true, Some(Falling));
        check(&below([4, 3, 4, 1]), true, None);
        check(&[same()], true, Some(Rising));
    }

    #[test]
    fn nulls_have_their_end() {
        let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None]));
        check(
            &[(Arc::clone(&values), false)],
            true,
            Some(Direction::Rising),
        );
        check(&[(values, true)], true, None);
    }
}
