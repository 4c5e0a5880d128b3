//! `quantileExactWeighted`: values count as often as their weights say.

use std::marker::PhantomData;
use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::datatypes::ArrowNativeTypeOp;
use basalt_error::Result;
use basalt_types::DataType;

use super::exact::of_nothing;
use super::{Levels, check_weight, weights};
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, Value, primitive, primitive_array, visit_primitive,
};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// `quantileExactWeighted`.
pub(super) fn resolve_exact(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    call.expect_type(0, |t| t.is_number() || t.is_date_or_time())?;
    let bind = Bind {
        types: call.types,
        levels,
    };
    visit_primitive(&call.types[0].physical(), bind).ok_or_else(|| call.illegal_type(0))
}

struct Bind<'a> {
    types: &'a [DataType],
    levels: Levels,
}

impl PrimitiveVisitor for Bind<'_> {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let data_type = self.types[0].clone();
        let return_type = self.levels.return_type(data_type.clone());
        let function = Weighted::<T> {
            levels: self.levels,
            data_type,
            values: PhantomData,
        };
        bind_collected(return_type, self.types, function)
    }
}

#[derive(Debug)]
struct Weighted<T> {
    levels: Levels,
    data_type: DataType,
    values: PhantomData<fn() -> T>,
}

/// The first of the sorted `pairs` up to which the weights reach `level` of their sum.
pub(super) fn at_weight<V: Copy>(pairs: &[(V, u64)], level: f64) -> Option<V> {
    let total: u64 = pairs.iter().fold(0, |sum, p| sum.wrapping_add(p.1));
    let threshold = (level * total as f64).ceil() as u64;
    let mut sum = 0u64;
    for (value, weight) in pairs {
        sum = sum.wrapping_add(*weight);
        if sum >= threshold {
            return Some(*value);
        }
    }
    pairs.last().map(|p| p.0)
}

impl<T: Primitive> RowsFunction for Weighted<T> {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = primitive::<T>(&rows.columns[0])?.values();
        let weights = weights(&rows.columns, true)?;
        let mut quantiles = Vec::with_capacity(range.len() * self.levels.levels.len());
        for group in range {
            let mut pairs: Vec<(T::Native, u64)> = rows
                .rows(group)
                .map(|row| (values[row], weights[row]))
                .filter(|p| !p.0.is_nan())
                .collect();
            pairs.sort_unstable_by(|a, b| a.0.compare(b.0));
            for level in &self.levels.levels {
                quantiles.push(at_weight(&pairs, *level).unwrap_or_else(of_nothing));
            }
        }
        let quantiles = primitive_array::<T>(quantiles, None, &self.data_type.physical());
        self.levels.assemble(quantiles, &self.data_type)
    }
}
