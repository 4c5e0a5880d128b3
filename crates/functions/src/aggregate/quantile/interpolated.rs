//! Quantiles of values with weights, interpolated between neighbours.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array};
use arrow::datatypes::DataType as ArrowType;
use basalt_error::Result;
use basalt_types::DataType;

use super::{Levels, check_weight, weights};
use crate::aggregate::collected::{RowsFunction, bind_collected};
use crate::aggregate::defaults::bug;
use crate::aggregate::row_log::Sealed;
use crate::aggregate::values::to_floats;
use crate::aggregate::{AggregateCall, BoundAggregate};

/// `quantileInterpolatedWeighted`, of the values' own type.
pub(super) fn resolve(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    call.expect_type(0, |t| t.is_number() || t.is_date_or_time())?;
    let data_type = call.types[0].clone();
    bind(call, levels, data_type, at_level)
}

/// `quantileExactWeightedInterpolated`: as if each value were there as often as its weight says.
pub(super) fn resolve_exact(call: &AggregateCall<'_>, levels: Levels) -> Result<BoundAggregate> {
    check_weight(call)?;
    call.expect_type(0, |t| t.is_integer() || t.is_float())?;
    bind(call, levels, DataType::Float64, at_rank)
}

type Quantile = fn(&[(f64, u64)], f64) -> f64;

fn bind(
    call: &AggregateCall<'_>,
    levels: Levels,
    data_type: DataType,
    quantile: Quantile,
) -> Result<BoundAggregate> {
    let return_type = levels.return_type(data_type.clone());
    let function = Interpolated {
        levels,
        data_type,
        quantile,
    };
    Ok(bind_collected(return_type, call.types, function))
}

#[derive(Debug)]
struct Interpolated {
    levels: Levels,
    data_type: DataType,
    quantile: Quantile,
}

/// Each value stands at the middle of its weight.
fn at_level(pairs: &[(f64, u64)], level: f64) -> f64 {
    let total: f64 = pairs.iter().map(|p| p.1 as f64).sum();
    let mut sum = 0.0;
    let mut before: Option<(f64, f64)> = None;
    for (value, weight) in pairs {
        sum += *weight as f64;
        let place = (sum - *weight as f64 / 2.0) / total;
        if place >= level {
            return match before {
                None => *value,
                Some((place_before, value_before)) => {
                    let share = (level - place_before) / (place - place_before);
                    value_before + share * (value - value_before)
                }
            };
        }
        before = Some((place, *value));
    }
    before.map_or(f64::NAN, |(_, value)| value)
}

/// Between the two values around the rank `level * (total - 1)`.
fn at_rank(pairs: &[(f64, u64)], level: f64) -> f64 {
    let total: u64 = pairs.iter().map(|p| p.1).sum();
    let Some(last) = total.checked_sub(1) else {
        return f64::NAN;
    };
    let rank = level * last as f64;
    let (low, share) = (rank.floor(), rank - rank.floor());
    let value_at = |rank: f64| {
        let mut sum = 0;
        for (value, weight) in pairs {
            sum += weight;
            if sum as f64 > rank {
                return *value;
            }
        }
        pairs.last().map_or(f64::NAN, |p| p.0)
    };
    let below = value_at(low);
    if share == 0.0 {
        return below;
    }
    let above = value_at(low + 1.0);
    below + share * (above - below)
}

impl RowsFunction for Interpolated {
    fn finish(&self, rows: &Sealed, range: Range<usize>) -> Result<ArrayRef> {
        let values = to_floats(&rows.columns[0])?;
        let weights = weights(&rows.columns, true)?;
        let mut quantiles = Vec::with_capacity(range.len() * self.levels.levels.len());
        for group in range {
            let mut pairs: Vec<(f64, u64)> = rows
                .rows(group)
                .map(|row| (values[row], weights[row]))
                .filter(|(value, weight)| !value.is_nan() && *weight > 0)
                .collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            pairs.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = kept.1.wrapping_add(next.1);
                }
                same
            });
            for level in &self.levels.levels {
                quantiles.push((self.quantile)(&pairs, *level));
            }
        }
        let physical = self.data_type.physical();
        let quantiles: ArrayRef = match physical {
            ArrowType::Float64 => Arc::new(Float64Array::from(quantiles)),
            _ => {
                let whole = quantiles
                    .into_iter()
                    .map(|q| if q.is_nan() { 0.0 } else { q });
                let floats = Float64Array::from_iter_values(whole);
                arrow::compute::cast(&floats, &physical).map_err(bug)?
            }
        };
        self.levels.assemble(quantiles, &self.data_type)
    }
}
