//! Exact quantiles: keep all values, select at the end.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::ArrowNativeTypeOp;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::Levels;
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::{
    Primitive, PrimitiveVisitor, Value, primitive, primitive_array, to_floats, visit_primitive,
};
use crate::aggregate::{AggregateCall, BoundAggregate};

/// `quantileExact`.
pub(super) fn resolve_exact(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    resolve_position(call, levels, position)
}

/// `quantileExactLow`.
pub(super) fn resolve_low(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    resolve_position(call, levels, |level, len| {
        if level == 0.5 && len % 2 == 0 {
            len / 2 - 1
        } else {
            position(level, len)
        }
    })
}

/// `quantileExactHigh`.
pub(super) fn resolve_high(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    resolve_exact(call, levels)
}

/// Where the quantile is in `len` sorted values, at least one.
pub(super) fn position(level: f64, len: usize) -> usize {
    if level < 1.0 {
        (level * len as f64) as usize
    } else {
        len - 1
    }
}

/// `quantileExactInclusive`.
pub(super) fn resolve_inclusive(
    call: &AggregateCall<'_>,
    levels: Levels,
) -> Result<BoundAggregate> {
    resolve_interpolated(call, levels, |level, len| level * (len - 1) as f64 + 1.0)
}

/// `quantileExactExclusive`.
pub(super) fn resolve_exclusive(
    call: &AggregateCall<'_>,
    levels: Levels,
) -> Result<BoundAggregate> {
    if levels.levels.iter().any(|l| *l == 0.0 || *l == 1.0) {
        return Err(Error::new(
            ErrorCode::BAD_ARGUMENTS,
            "quantileExactExclusive cannot interpolate for the levels 0 and 1",
        ));
    }
    resolve_interpolated(call, levels, |level, len| level * (len + 1) as f64)
}

fn resolve_interpolated(
    call: &AggregateCall<'_>,
    levels: Levels,
    place: fn(level: f64, len: usize) -> f64,
) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let is_moment = |t: &DataType| matches!(t, DataType::Date | DataType::DateTime(_));
    call.expect_type(0, |t| t.is_integer() || t.is_float() || is_moment(t))?;
    let return_type = levels.return_type(DataType::Float64);
    Ok(bind_collected(
        return_type,
        call.types,
        Interpolated { levels, place },
    ))
}

/// Quantiles between two neighbours.
#[derive(Debug)]
struct Interpolated {
    levels: Levels,
    /// Place among `len` sorted values, counted from 1.
    place: fn(level: f64, len: usize) -> f64,
}

impl RowsFunction for Interpolated {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let column = to_floats(&rows.columns[0])?;
        let mut quantiles = Vec::with_capacity(range.len() * self.levels.levels.len());
        for group in range {
            let group = column[rows.rows(group)].iter().copied();
            let mut values: Vec<f64> = group.filter(|v| !v.is_nan()).collect();
            values.sort_unstable_by(f64::total_cmp);
            for level in &self.levels.levels {
                let place = (self.place)(*level, values.len().max(1));
                quantiles.push(match (values.first(), values.last()) {
                    (Some(first), Some(last)) => {
                        let left = place as usize;
                        if left < 1 {
                            *first
                        } else if left >= values.len() {
                            *last
                        } else {
                            let (low, high) = (values[left - 1], values[left]);
                            low + (place - left as f64) * (high - low)
                        }
                    }
                    _ => f64::NAN,
                });
            }
        }
        let values: ArrayRef = Arc::new(Float64Array::from(quantiles));
        self.levels.assemble(values, &DataType::Float64)
    }
}

/// Where in `len` sorted values (at least one) the quantile of a level is.
type Position = fn(level: f64, len: usize) -> usize;

fn resolve_position(
    call: &AggregateCall<'_>,
    levels: Levels,
    position: Position,
) -> Result<BoundAggregate> {
    call.expect_args(1..=1)?;
    let data_type = call.types[0].clone();
    let bind = Bind {
        types: call.types,
        levels,
        position,
    };
    let takes = data_type.is_number() || data_type.is_date_or_time();
    takes
        .then(|| visit_primitive(&data_type.physical(), bind))
        .flatten()
        .ok_or_else(|| call.illegal_type(0))
}

struct Bind<'a> {
    types: &'a [DataType],
    levels: Levels,
    position: Position,
}

impl PrimitiveVisitor for Bind<'_> {
    type Output = BoundAggregate;

    fn visit<T: Primitive>(self) -> BoundAggregate {
        let data_type = self.types[0].clone();
        let function = AtPosition::<T> {
            levels: self.levels,
            position: self.position,
            data_type: data_type.clone(),
            values: PhantomData,
        };
        let return_type = function.levels.return_type(data_type);
        bind_collected(return_type, self.types, function)
    }
}

#[derive(Debug)]
struct AtPosition<T> {
    levels: Levels,
    position: Position,
    data_type: DataType,
    values: PhantomData<fn() -> T>,
}

/// The quantile of no value.
pub(super) fn of_nothing<V: Value>() -> V {
    // Only floats have a NaN, which is the greatest in their total order.
    if V::MAX_TOTAL_ORDER.is_nan() {
        V::ZERO.div_wrapping(V::ZERO)
    } else {
        V::default()
    }
}

impl<T: Primitive> RowsFunction for AtPosition<T> {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let column = primitive::<T>(&rows.columns[0])?.values();
        let mut quantiles = Vec::with_capacity(range.len() * self.levels.levels.len());
        let mut values: Vec<T::Native> = Vec::new();
        for group in range {
            values.clear();
            let group = column[rows.rows(group)].iter().copied();
            values.extend(group.filter(|v| !v.is_nan()));
            for level in &self.levels.levels {
                if values.is_empty() {
                    quantiles.push(of_nothing());
                    continue;
                }
                let position = (self.position)(*level, values.len()).min(values.len() - 1);
                let (_, value, _) = values.select_nth_unstable_by(position, |a, b| a.compare(*b));
                quantiles.push(*value);
            }
        }
        let physical = self.data_type.physical();
        let quantiles = primitive_array::<T>(quantiles, None, &physical);
        self.levels.assemble(quantiles, &self.data_type)
    }
}
