//! Sees whether the rows of a batch are in order already, by comparing neighbours.
//!
//! One pass over the first key settles most: it ends where it meets both a rise and a fall, which in rows
//! of no order is at once. Only where the first key has ties do the other keys count.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, make_comparator};
use basalt_kernels::widest::{Loop, widest};
use datafusion::error::Result;

use super::layout::KeyColumn;
use super::ordinal::{Kind, NarrowVisitor, Ordinal, visit_narrow};

/// Neighbours that are compared before a look at what was found.
const GROUP_ROWS: usize = 512;

/// How the rows of a batch follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// As the order wants them.
    Rising,
    /// The other way round, and the order may be turned without a tie changing its rows' places.
    Falling,
}

/// The direction of rows with these keys, if they have one. With `keeps_ties`, rows with the same keys
/// must not change places.
pub(super) fn direction(
    keys: &[ArrayRef],
    columns: &[KeyColumn],
    keeps_ties: bool,
) -> Result<Option<Direction>> {
    let (Some(first), Some(column)) = (keys.first(), columns.first()) else {
        return Ok(None);
    };
    let steps = if column.kind == Kind::Narrow && first.null_count() == 0 {
        visit_narrow(first.data_type(), StepsOf(first.as_ref()))
    } else {
        None
    };
    match steps.map(|steps| steps.directed(column.options.descending)) {
        Some(steps) if steps.rise && steps.fall => Ok(None),
        Some(steps) if keys.len() == 1 || !steps.tie => Ok(steps.direction(keeps_ties)),
        Some(_) | None => Ok(compared(keys, columns)?.direction(keeps_ties)),
    }
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
}

/// Compares neighbours by all keys.
fn compared(keys: &[ArrayRef], columns: &[KeyColumn]) -> Result<Steps> {
    let comparators = keys.iter().zip(columns);
    let comparators = comparators.map(|(key, column)| make_comparator(key, key, column.options));
    let comparators = comparators.collect::<Result<Vec<_>, _>>()?;
    let num_rows = keys.first().map_or(0, |key| key.len());
    let mut steps = Steps::default();
    for row in 1..num_rows {
        let mut orders = comparators.iter().map(|compare| compare(row - 1, row));
        match orders.find(|order| order.is_ne()) {
            Some(Ordering::Less) => steps.rise = true,
            Some(_) => steps.fall = true,
            None => steps.tie = true,
        }
        if steps.rise && steps.fall {
            break;
        }
    }
    Ok(steps)
}

/// Compares neighbours of an array without NULLs.
struct StepsOf<'a>(&'a dyn Array);

impl NarrowVisitor for StepsOf<'_> {
    type Output = Steps;

    fn visit<T: Ordinal>(self) -> Steps {
        let values = self.0.as_primitive::<T>().values();
        widest(StepsOfValues {
            values,
            ordinal: T::ordinal,
        })
    }
}

struct StepsOfValues<'a, V, F> {
    values: &'a [V],
    ordinal: F,
}

impl<V: Copy, F: Fn(V) -> u64> Loop for StepsOfValues<'_, V, F> {
    type Output = Steps;

    #[inline(always)]
    fn run(self) -> Steps {
        let mut steps = Steps::default();
        let Some(others) = self.values.get(1..) else {
            return steps;
        };
        let groups = self
            .values
            .chunks(GROUP_ROWS)
            .zip(others.chunks(GROUP_ROWS));
        for (before, after) in groups {
            // Without branches, so that it becomes vector code.
            for (a, b) in before.iter().zip(after) {
                let (a, b) = ((self.ordinal)(*a), (self.ordinal)(*b));
                steps.rise |= a < b;
                steps.fall |= a > b;
                steps.tie |= a == b;
            }
            if steps.rise && steps.fall {
                break;
            }
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, BinaryViewArray, Float64Array, Int32Array};
    use arrow::compute::SortOptions;

    use super::{Direction, direction};
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
        let found = direction(&keys, &columns, keeps_ties).unwrap();
        assert_eq!(found, expected, "{keys:?}");
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
