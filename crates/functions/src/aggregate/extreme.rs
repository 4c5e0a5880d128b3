//! `min` and `max`.

use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::{Array, ArrayRef};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_kernels::average::NUM_KEYS;
use basalt_kernels::fold::fold_lanes;
use basalt_types::DataType;

use super::byte_arena::ByteCodec;
use super::byte_order::is_before;
use super::defaults::default_array;
use super::extreme_bytes::ExtremeBytes;
use super::rows::Rows;
use super::values::{
    Primitive, PrimitiveVisitor, Value, column, primitive, primitive_array, visit_primitive,
};
use super::{AggregateCall, AggregateFunction, Aggregator, BoundAggregate, Groups};

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    AggregateFunction {
        name: "min",
        case_insensitive: true,
        syntax: "min(x)",
        description: "The least value; NaN only if there is no other.",
        resolve: resolve::<Least>,
        ..AggregateFunction::BASE
    },
    AggregateFunction {
        name: "max",
        case_insensitive: true,
        syntax: "max(x)",
        description: "The greatest value; NaN only if there is no other.",
        resolve: resolve::<Greatest>,
        ..AggregateFunction::BASE
    },
];

/// Which of two values is kept.
pub(super) trait Direction:
    Copy + Default + Send + Sync + std::fmt::Debug + 'static
{
    /// Whether NULLs inside of arrays and tuples come before all other values: they are worse than these.
    const NULLS_FIRST: bool;

    /// Whether `new` compares as strictly better than `old`, which nothing does to a NaN.
    fn before<V: Value>(new: V, old: V) -> bool;

    /// Whether `new` is strictly better than `old`; NaN is worse than all else.
    #[inline]
    fn better<V: Value>(new: V, old: V) -> bool {
        Self::before(new, old) || (old.is_nan() && !new.is_nan())
    }

    /// Whether the bytes `new` are strictly better than `old`.
    fn better_bytes(new: &[u8], old: &[u8]) -> bool;

    /// The value that nothing is worse than.
    fn worst<V: Value>() -> V;
}

/// Keeps the least.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Least;

/// Keeps the greatest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Greatest;

impl Direction for Least {
    const NULLS_FIRST: bool = false;

    #[inline]
    fn before<V: Value>(new: V, old: V) -> bool {
        new < old
    }

    #[inline]
    fn better_bytes(new: &[u8], old: &[u8]) -> bool {
        is_before(new, old)
    }

    /// For floats the greatest in total order is a NaN.
    fn worst<V: Value>() -> V {
        V::MAX_TOTAL_ORDER
    }
}

impl Direction for Greatest {
    const NULLS_FIRST: bool = true;

    #[inline]
    fn before<V: Value>(new: V, old: V) -> bool {
        new > old
    }

    #[inline]
    fn better_bytes(new: &[u8], old: &[u8]) -> bool {
        is_before(old, new)
    }

    /// For floats the least in total order is a NaN.
    fn worst<V: Value>() -> V {
        V::MIN_TOTAL_ORDER
    }
}

fn resolve<D: Direction>(call: &AggregateCall<'_>) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let data_type = call.types[0].clone();
    if matches!(data_type, DataType::AggregateFunction(_)) || data_type.has_variant() {
        return Err(call.illegal_type(0));
    }
    let arrow = data_type.physical();
    let bind = BindExtreme::<D>(data_type.clone(), PhantomData);
    if let Some(bound) = visit_primitive(&arrow, bind) {
        return Ok(bound);
    }
    // Checked here, so that making the states cannot fail.
    ByteCodec::with_nulls(&arrow, D::NULLS_FIRST)?;
    let state_types = vec![arrow.clone()];
    let return_type = data_type.clone();
    Ok(BoundAggregate::new(return_type, state_types, move || {
        let codec = ByteCodec::with_nulls(&arrow, D::NULLS_FIRST);
        ExtremeBytes::<D>::new(data_type.clone(), codec)
    }))
}

struct BindExtreme<D>(DataType, PhantomData<D>);

impl<D: Direction> PrimitiveVisitor for BindExtreme<D> {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let arrow = self.0.physical();
        let default = default_array(&self.0.base().clone(), 1);
        let default = default.and_then(|d| Ok(primitive::<T>(&d)?.values()[0]));
        let default = default.unwrap_or_default();
        BoundAggregate::new(self.0, vec![arrow.clone()], move || Extreme::<T, D> {
            default,
            values: Vec::new(),
            worst_seen: Vec::new(),
            arrow: arrow.clone(),
            direction: PhantomData,
        })
    }
}

/// The best value of each group so far, the worst possible one for none.
#[derive(Debug)]
struct Extreme<T: Primitive, D> {
    /// What is given where there is no value.
    default: T::Native,
    values: Vec<T::Native>,
    /// Groups that really had the worst possible value; shorter than `values`, as that is rare.
    worst_seen: Vec<bool>,
    arrow: ArrowType,
    direction: PhantomData<D>,
}

impl<T: Primitive, D: Direction> Extreme<T, D> {
    fn resize(&mut self, num_groups: usize) {
        if num_groups > self.values.len() {
            self.values.resize(num_groups, D::worst::<T::Native>());
        }
    }

    #[inline]
    fn is_worst(value: T::Native) -> bool {
        value == D::worst::<T::Native>() || value.is_nan()
    }

    #[inline]
    fn offer(&mut self, group: usize, value: T::Native) {
        self.offer_each(std::iter::once((value, group)));
    }

    /// Offers values to groups. The states are borrowed once for all: their place is not looked up
    /// again for each value.
    #[inline]
    fn offer_each(&mut self, values: impl Iterator<Item = (T::Native, usize)>) {
        let (best, worst_seen) = (self.values.as_mut_slice(), &mut self.worst_seen);
        for (value, group) in values {
            let best_of_group = &mut best[group];
            if D::better(value, *best_of_group) {
                *best_of_group = value;
            } else if Self::is_worst(value) {
                mark(worst_seen, group, best.len());
            }
        }
    }

    fn offer_all(&mut self, values: &[T::Native], rows: &Rows<'_>) {
        match (rows.ids, &rows.valid) {
            (Some(ids), None) => {
                let rows = values.iter().zip(ids);
                return self.offer_each(rows.map(|(value, group)| (*value, *group as usize)));
            }
            (Some(_), Some(_)) => {
                return rows.for_each(|row, group| self.offer(group, values[row]));
            }
            (None, _) => {}
        }
        if rows.num_valid() == 0 || self.values.is_empty() {
            return;
        }
        // From a first number on, a NaN never compares as better: the loop needs no test for it.
        let is_valid = |row: &usize| rows.valid.as_ref().is_none_or(|v| v.is_valid(*row));
        let mut numbers = (0..values.len()).filter(is_valid);
        let Some(first) = numbers.find(|row| !values[*row].is_nan()) else {
            self.offer(0, D::worst());
            return;
        };
        let step = |best, value| if D::before(value, best) { value } else { best };
        let best = fold_lanes(values, rows.validity(), values[first], step, step);
        self.offer(0, best);
    }

    fn is_empty(&self, group: usize) -> bool {
        Self::is_worst(self.values[group]) && !self.worst_seen.get(group).is_some_and(|seen| *seen)
    }
}

#[cold]
fn mark(seen: &mut Vec<bool>, group: usize, num_groups: usize) {
    if group >= seen.len() {
        seen.resize(num_groups, false);
    }
    seen[group] = true;
}

impl<T: Primitive, D: Direction> Aggregator for Extreme<T, D> {
    fn update(&mut self, args: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.resize(groups.num_groups);
        let values = primitive::<T>(column(args, 0)?)?.values();
        self.offer_all(values, &Rows::new(args, groups)?);
        Ok(())
    }

    fn update_bytes(&mut self, args: &[ArrayRef], keys: &[u8]) -> Result<bool> {
        let values = primitive::<T>(column(args, 0)?)?;
        if values.null_count() > 0 {
            return Ok(false);
        }
        self.resize(NUM_KEYS);
        let Some(best) = self.values.first_chunk_mut::<NUM_KEYS>() else {
            return Ok(false);
        };
        for (value, key) in values.values().iter().zip(keys) {
            // A byte is in the table: no bounds are checked.
            let best_of_group = &mut best[usize::from(*key)];
            if D::better(*value, *best_of_group) {
                *best_of_group = *value;
            } else if Self::is_worst(*value) {
                mark(&mut self.worst_seen, usize::from(*key), NUM_KEYS);
            }
        }
        Ok(true)
    }

    fn merge(&mut self, states: &[ArrayRef], groups: Groups<'_>) -> Result<()> {
        self.update(states, groups)
    }

    fn finish(&mut self, range: Range<usize>) -> Result<ArrayRef> {
        self.resize(range.end);
        let best = range.map(|group| {
            if self.is_empty(group) {
                self.default
            } else {
                self.values[group]
            }
        });
        Ok(primitive_array::<T>(best.collect(), None, &self.arrow))
    }

    fn states(&mut self, range: Range<usize>) -> Result<Vec<ArrayRef>> {
        self.resize(range.end);
        let values = self.values[range.clone()].to_vec();
        let filled = BooleanBuffer::collect_bool(range.len(), |i| !self.is_empty(range.start + i));
        let nulls = Some(NullBuffer::new(filled)).filter(|n| n.null_count() > 0);
        Ok(vec![primitive_array::<T>(values, nulls, &self.arrow)])
    }

    fn finishes_again(&self) -> bool {
        true
    }

    fn size_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T::Native>() + self.worst_seen.capacity()
    }
}
