//! Tells a scan which values of the first key the top-N above it still wants.
//!
//! The rule that puts the top-N above a scan gives both the same bound. The top-N lowers it whenever it knows
//! better rows; the scan leaves out what is beyond it: groups of rows by their least and greatest values,
//! rows by their keys before it reads other columns. Where all rows that pass its filter come to the top-N,
//! the scan itself knows which of a batch can be among the first, and lowers the bound, too. Strings have a bound in
//! that case alone ([`super::text_bound`]). NaN is behind all other floats in both directions, so that it does not matter
//! that least and greatest values do not count it.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use arrow::array::{Array, AsArray, BooleanArray, BooleanBufferBuilder, PrimitiveArray};
use arrow::buffer::BooleanBuffer;
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Float32Type, Float64Type};

use super::layout::Field;
use super::ordinal::{NarrowVisitor, Ordinal, visit_narrow};
use super::text_bound::TextBound;

/// The values of a column that are still wanted.
#[derive(Debug)]
pub struct KeyBound {
    /// The column of the scan's result.
    column: usize,
    options: SortOptions,
    /// The farthest place in the order that is wanted: [`Ordinal::ordinal`], turned where the order falls.
    farthest: AtomicU64,
    /// Which rows are wanted, if all that pass the scan come to the top-N.
    first: Option<FirstRows>,
    /// The places of the best of them so far.
    best: Mutex<BinaryHeap<u64>>,
    /// The bound of strings instead of all that.
    texts: Option<TextBound>,
    /// The farthest place of a value that is not NaN.
    last: u64,
}

/// Most rows of which the scan knows the best: the top-N tells the bound of more.
const MAX_FIRST: usize = 1 << 12;

/// The first rows of an order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstRows {
    /// How many.
    pub(crate) num_rows: usize,
    /// Whether of rows with the key of the last one others are not wanted.
    pub(crate) loses_ties: bool,
}

impl KeyBound {
    /// A bound for column `column`, which wants everything yet; none for types without bounds.
    pub fn new(column: usize, data_type: &DataType, options: SortOptions) -> Option<Self> {
        // NaN stands where NULL does.
        let has_bound = data_type.is_integer() || data_type.is_floating() && !options.nulls_first;
        has_bound.then(|| Self {
            column,
            options,
            farthest: AtomicU64::new(u64::MAX),
            first: None,
            best: Mutex::default(),
            texts: None,
            last: last_place(data_type, options.descending),
        })
    }

    /// A bound for a column of strings of a scan of which all rows that pass come to the top-N; none if that wants
    /// many.
    pub(crate) fn of_texts(column: usize, options: SortOptions, first: FirstRows) -> Option<Self> {
        (first.num_rows <= MAX_FIRST).then(|| Self {
            column,
            options,
            farthest: AtomicU64::new(u64::MAX),
            first: None,
            best: Mutex::default(),
            texts: Some(TextBound::new(options, first)),
            last: u64::MAX,
        })
    }

    /// The bound of strings, if it is one.
    pub(crate) fn texts(&self) -> Option<&TextBound> {
        self.texts.as_ref()
    }

    /// The same for a scan of which all rows that pass come to the top-N, which wants the `first`.
    pub(crate) fn of_first(mut self, first: FirstRows) -> Self {
        self.first = Some(first).filter(|first| first.num_rows <= MAX_FIRST);
        self
    }

    /// The same, which wants everything yet.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            column: self.column,
            options: self.options,
            farthest: AtomicU64::new(u64::MAX),
            first: self.first,
            best: Mutex::default(),
            texts: self.texts.as_ref().map(TextBound::fresh),
            last: self.last,
        }
    }

    /// The column of the scan's result.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Leaves out what comes after a place in the order.
    pub(crate) fn lower_to(&self, place: u64) {
        self.farthest.fetch_min(place, Ordering::Relaxed);
    }

    /// Leaves out what comes after the first key, in `field`, of a word with `lower_bits` bits below it; with
    /// `loses_ties` what has the same key, too.
    pub(super) fn lower(&self, word: u128, field: &Field, lower_bits: u32, loses_ties: bool) {
        let Some(key) = word
            .checked_shr(lower_bits)
            .filter(|_| self.texts.is_none())
        else {
            return;
        };
        let value = key & u128::from(u64::MAX >> (u64::BITS - field.bits.clamp(1, 64)));
        let is_null =
            field.has_null_bit && ((key >> field.bits) & 1 == 1) != field.options.nulls_first;
        if is_null {
            // Where NULLs come last, all values are wanted; where they come first, none is, but that is rare.
            return;
        }
        let (min, max) = (field.ordinals.0 as u64, field.ordinals.1 as u64);
        let place = if self.options.descending {
            // The field counts from the greatest ordinal of the type, a place from that of 64 bits.
            !max.wrapping_sub(value as u64)
        } else {
            min.wrapping_add(value as u64)
        };
        // Where the last row that is wanted is NaN, all are.
        if place <= self.last {
            self.lower_to(place.saturating_sub(u64::from(loses_ties)));
        }
    }

    /// The first place in the order that a group of rows has, of which the least and the greatest value are
    /// given as their 64 bits; none if it is not known.
    pub(crate) fn nearest(
        &self,
        data_type: &DataType,
        (least, greatest): (u64, u64),
        has_nulls: bool,
    ) -> Option<u64> {
        if has_nulls && self.options.nulls_first {
            return None;
        }
        let nearest = if self.options.descending {
            greatest
        } else {
            least
        };
        let ordinal = if data_type.is_unsigned_integer() {
            nearest
        } else if data_type.is_signed_integer() {
            nearest ^ (1 << 63)
        } else {
            return None;
        };
        Some(if self.options.descending {
            !ordinal
        } else {
            ordinal
        })
    }

    /// As [`KeyBound::nearest`], for the least and the greatest value as arrays of one value.
    pub(crate) fn nearest_in(
        &self,
        (least, greatest): (&dyn Array, &dyn Array),
        may_have_nulls: bool,
    ) -> Option<u64> {
        if may_have_nulls && self.options.nulls_first {
            return None;
        }
        let nearest = if self.options.descending {
            greatest
        } else {
            least
        };
        let places = self.places(nearest)?;
        // Whoever counts NaN among the values says nothing of the others.
        let is_known = |place: &u64| nearest.is_valid(0) && *place <= self.last;
        places.first().copied().filter(is_known)
    }

    /// Whether anything is known to be beyond it, or will be before other columns are read.
    pub(crate) fn is_known(&self) -> bool {
        self.first.is_some() || self.farthest.load(Ordering::Relaxed) < u64::MAX
    }

    /// Whether rows at a place in the order are still wanted.
    pub(crate) fn wants(&self, place: u64) -> bool {
        place <= self.farthest.load(Ordering::Relaxed)
    }

    /// Which rows with these keys are wanted; none if all may be.
    pub(crate) fn wanted(&self, keys: &dyn Array) -> Option<BooleanArray> {
        if let Some(texts) = &self.texts {
            return texts.wanted(keys);
        }
        let farthest = self.farthest.load(Ordering::Relaxed);
        if farthest == u64::MAX {
            return None;
        }
        let places = self.places(keys)?;
        let mut wanted = BooleanBuffer::collect_bool(places.len(), |row| places[row] <= farthest);
        if let Some(nulls) = keys.nulls().filter(|nulls| nulls.null_count() > 0) {
            // What stands in place of NULL is no value.
            wanted = if self.options.nulls_first {
                &wanted | &!nulls.inner()
            } else {
                &wanted & nulls.inner()
            };
        }
        Some(BooleanArray::new(wanted, None))
    }

    /// Those of the `passing` rows, which have these keys, that can be among the first of all that were asked
    /// for; what comes after them is not wanted from now on. Each row is asked for once, and all that are
    /// given must come to the top-N.
    pub(crate) fn first_of(&self, keys: &dyn Array, passing: BooleanArray) -> BooleanArray {
        if let Some(texts) = &self.texts {
            return texts.first_of(keys, passing);
        }
        let Some(first) = self.first else {
            return passing;
        };
        if keys.null_count() > 0 || passing.null_count() > 0 || !passing.has_true() {
            return passing;
        }
        let Some(places) = self.places(keys) else {
            return passing;
        };
        let rows = passing.values().set_indices();
        let mut rows: Vec<(u64, usize)> = rows.map(|row| (places[row], row)).collect();
        first.keep_best(&mut rows);
        if let Some(last) = first.last_of_all(&self.best, &rows) {
            rows.retain(|(place, _)| *place <= last);
            self.lower_to(last.saturating_sub(u64::from(first.loses_ties)));
        }
        let mut first = BooleanBufferBuilder::new(keys.len());
        first.append_n(keys.len(), false);
        rows.iter().for_each(|(_, row)| first.set_bit(*row, true));
        BooleanArray::new(first.finish(), None)
    }

    /// The places of values in the order, whatever stands where a row is NULL.
    pub(crate) fn places(&self, keys: &dyn Array) -> Option<Vec<u64>> {
        if let Some(floats) = keys.as_primitive_opt::<Float64Type>() {
            return Some(self.places_of(floats, |value| value + 0.0));
        }
        if let Some(floats) = keys.as_primitive_opt::<Float32Type>() {
            return Some(self.places_of(floats, |value| value + 0.0));
        }
        let mut places = visit_narrow(keys.data_type(), Ordinals(keys))?;
        if self.options.descending {
            places.iter_mut().for_each(|place| *place = !*place);
        }
        Some(places)
    }
}

impl KeyBound {
    /// The places of floats, of which `with_one_zero` has the same for both zeros.
    fn places_of<T: Ordinal>(
        &self,
        floats: &PrimitiveArray<T>,
        with_one_zero: impl Fn(T::Native) -> T::Native,
    ) -> Vec<u64> {
        let place = |value: &T::Native| {
            let ordinal = T::ordinal(with_one_zero(*value));
            let place = if self.options.descending {
                !ordinal
            } else {
                ordinal
            };
            match value.partial_cmp(value) {
                Some(_) => place,
                None => u64::MAX,
            }
        };
        floats.values().iter().map(place).collect()
    }
}

/// The farthest place of a value of a type that is not NaN.
fn last_place(data_type: &DataType, descending: bool) -> u64 {
    let of_float = |greatest: u64, least: u64| if descending { !least } else { greatest };
    match data_type {
        DataType::Float64 => of_float(
            Float64Type::ordinal(f64::INFINITY),
            Float64Type::ordinal(f64::NEG_INFINITY),
        ),
        DataType::Float32 => of_float(
            Float32Type::ordinal(f32::INFINITY),
            Float32Type::ordinal(f32::NEG_INFINITY),
        ),
        _ => u64::MAX,
    }
}

impl FirstRows {
    /// Keeps the first of some rows, given as their places and numbers.
    fn keep_best(self, rows: &mut Vec<(u64, usize)>) {
        if self.num_rows == 0 || rows.len() <= self.num_rows {
            return;
        }
        let (_, last, _) = rows.select_nth_unstable(self.num_rows - 1);
        let (last, _) = *last;
        if self.loses_ties {
            rows.truncate(self.num_rows);
        } else {
            rows.retain(|(place, _)| *place <= last);
        }
    }

    /// The last place that is wanted once these rows are there, besides those of the `best` before; none if
    /// there are not enough.
    fn last_of_all(self, best: &Mutex<BinaryHeap<u64>>, rows: &[(u64, usize)]) -> Option<u64> {
        let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
        for (place, _) in rows {
            if best.len() < self.num_rows {
                best.push(*place);
            } else if let Some(mut last) = best.peek_mut()
                && *place < *last
            {
                *last = *place;
            }
        }
        best.peek().copied().filter(|_| best.len() == self.num_rows)
    }
}

struct Ordinals<'a>(&'a dyn Array);

impl NarrowVisitor for Ordinals<'_> {
    type Output = Vec<u64>;

    fn visit<T: Ordinal>(self) -> Vec<u64> {
        let array: &PrimitiveArray<T> = self.0.as_primitive();
        array
            .values()
            .iter()
            .map(|value| T::ordinal(*value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, BooleanArray, Float64Array, Int32Array};
    use arrow::compute::{SortOptions, and};
    use arrow::datatypes::{DataType, Float64Type};

    use super::{FirstRows, KeyBound, Ordinal};

    /// Numbers that look random.
    fn next(state: &mut u64) -> u64 {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        *state >> 33
    }

    /// The best keys of rows in batches that pass, once as the scan gives them, once of all; NULLs come last.
    fn best(num_rows: usize, descending: bool, loses_ties: bool, seed: u64) -> [Vec<i32>; 2] {
        let options = SortOptions {
            descending,
            nulls_first: false,
        };
        let bound = KeyBound::new(0, &DataType::Int32, options).expect("integers");
        let bound = bound.of_first(FirstRows {
            num_rows,
            loses_ties,
        });
        let (mut given, mut all, mut state) = (Vec::new(), Vec::new(), seed);
        for batch in 0..20 {
            let row = |_| {
                let key = next(&mut state) as i32 % 40 - 20;
                let is_null = batch % 5 == 3 && next(&mut state).is_multiple_of(4);
                (
                    (!is_null).then_some(key),
                    next(&mut state).is_multiple_of(3),
                )
            };
            let (keys, passing): (Vec<_>, Vec<_>) = (0..50).map(row).unzip();
            let keys = Arc::new(Int32Array::from(keys));
            let passing = BooleanArray::from(passing);
            let picked = |mask: &BooleanArray| -> Vec<i32> {
                let rows = (0..keys.len()).filter(|row| mask.value(*row) && keys.is_valid(*row));
                rows.map(|row| keys.value(row)).collect()
            };
            all.extend(picked(&passing));
            let wanted = match bound.wanted(keys.as_ref()) {
                Some(wanted) => and(&wanted, &passing).expect("as long"),
                None => passing,
            };
            given.extend(picked(&bound.first_of(keys.as_ref(), wanted)));
        }
        [given, all].map(|mut keys| {
            keys.sort_unstable();
            if descending {
                keys.reverse();
            }
            let last = num_rows
                .checked_sub(1)
                .and_then(|last| keys.get(last).copied());
            if loses_ties {
                keys.truncate(num_rows);
            } else if let Some(last) = last {
                keys.retain(|key| {
                    if descending {
                        *key >= last
                    } else {
                        *key <= last
                    }
                });
            }
            keys
        })
    }

    /// Compares what `best` gives with all rows, in both directions, with and without ties.
    fn check<T: PartialEq + std::fmt::Debug>(
        numbers_of_rows: &[usize],
        best: impl Fn(usize, bool, bool, u64) -> [Vec<T>; 2],
    ) {
        for num_rows in numbers_of_rows {
            for (descending, loses_ties) in
                [(false, false), (false, true), (true, false), (true, true)]
            {
                for seed in 0..20 {
                    let [given, all] = best(*num_rows, descending, loses_ties, seed);
                    assert_eq!(given, all, "{num_rows} {descending} {loses_ties} {seed}");
                }
            }
        }
    }

    #[test]
    fn the_first_rows_are_among_those_that_are_given() {
        check(&[1, 2, 7, 50, 2000], best);
    }

    /// The best floats of rows in batches as the scan gives them, and of all, as their keys.
    fn best_floats(
        num_rows: usize,
        descending: bool,
        loses_ties: bool,
        seed: u64,
    ) -> [Vec<u64>; 2] {
        let options = SortOptions {
            descending,
            nulls_first: false,
        };
        let bound = KeyBound::new(0, &DataType::Float64, options).expect("floats");
        let bound = bound.of_first(FirstRows {
            num_rows,
            loses_ties,
        });
        let some = [
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            1.5,
        ];
        let (mut given, mut all, mut state) = (Vec::new(), Vec::new(), seed);
        for _ in 0..20 {
            let value = |_| match some.get(next(&mut state) as usize % 20) {
                Some(value) => *value,
                None => next(&mut state) as f64 % 40.0 - 20.0,
            };
            let keys = Float64Array::from_iter_values((0..50).map(value));
            // NaN are behind all others, and zeros are equal.
            let place = |row: usize| match keys.value(row) {
                value if value.is_nan() => u64::MAX,
                value if descending => !Float64Type::ordinal(value + 0.0),
                value => Float64Type::ordinal(value + 0.0),
            };
            all.extend((0..keys.len()).map(place));
            let everything = BooleanArray::from(vec![true; keys.len()]);
            let wanted = bound.wanted(&keys).unwrap_or(everything);
            let first = bound.first_of(&keys, wanted);
            given.extend((0..keys.len()).filter(|row| first.value(*row)).map(place));
        }
        [given, all].map(|mut places| {
            places.sort_unstable();
            let last = places.get(num_rows - 1).copied().unwrap_or(u64::MAX);
            match loses_ties {
                true => places.truncate(num_rows),
                false => places.retain(|place| *place <= last),
            }
            places
        })
    }

    #[test]
    fn the_first_floats_are_among_those_that_are_given() {
        check(&[1, 7, 50, 400, 990], best_floats);
    }
}
