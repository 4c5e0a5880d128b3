//! The quantiles: `quantileX(level)(x)`, `quantilesX(levels…)(x)`, `medianX(x)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{FieldRef, UInt64Type};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;
use basalt_types::physical::item_field;

use super::defaults::bug;
use super::row_log::list_of;
use super::values::{column, primitive};
use super::{AggregateCall, AggregateFunction, AggregateNulls, BoundAggregate, OnlyNulls};

mod bfloat16;
mod deterministic;
mod exact;
mod interpolated;
mod reservoir;
mod sketch;
mod t_digest;
mod timing;
mod weighted;

type Resolve = fn(&AggregateCall<'_>) -> Result<BoundAggregate>;

/// The entry of a function with one level.
const fn one(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    resolve: Resolve,
) -> AggregateFunction {
    AggregateFunction {
        name,
        aliases,
        // One, but wrong levels are reported first.
        max_params: usize::MAX,
        syntax: "[(level)](x)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The entry of a function with any number of levels.
const fn many(
    name: &'static str,
    description: &'static str,
    resolve: Resolve,
) -> AggregateFunction {
    AggregateFunction {
        name,
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::RefusedFirst,
        max_params: usize::MAX,
        syntax: "(level, ...)(x)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The entry of a function with an accuracy before its levels.
const fn sketched(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    resolve: Resolve,
) -> AggregateFunction {
    AggregateFunction {
        name,
        aliases,
        max_params: usize::MAX,
        syntax: "(accuracy[, level, ...])(x)",
        description,
        resolve,
        ..AggregateFunction::BASE
    }
}

/// The functions of this family.
pub(super) const FUNCTIONS: &[AggregateFunction] = &[
    one(
        "quantileExact",
        &["medianExact"],
        "Exact quantile: a value of the group.",
        |call| exact::resolve_exact(call, Levels::one(call)?),
    ),
    many(
        "quantilesExact",
        "Exact quantile: a value of the group.",
        |call| exact::resolve_exact(call, Levels::many(call)?),
    ),
    one(
        "quantileExactLow",
        &["medianExactLow"],
        "Exact quantile; the lower of the two middle values for level 0.5.",
        |call| exact::resolve_low(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactLow",
        "Exact quantile; the lower of the two middle values for level 0.5.",
        |call| exact::resolve_low(call, Levels::many(call)?),
    ),
    one(
        "quantileExactHigh",
        &["medianExactHigh"],
        "Exact quantile; the higher of the two middle values for level 0.5.",
        |call| exact::resolve_high(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactHigh",
        "Exact quantile; the higher of the two middle values for level 0.5.",
        |call| exact::resolve_high(call, Levels::many(call)?),
    ),
    one(
        "quantileExactInclusive",
        &["medianExactInclusive"],
        "Exact quantile, interpolated as Excel's PERCENTILE.INC does.",
        |call| exact::resolve_inclusive(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactInclusive",
        "Exact quantile, interpolated as Excel's PERCENTILE.INC does.",
        |call| exact::resolve_inclusive(call, Levels::many(call)?),
    ),
    one(
        "quantileExactExclusive",
        &["medianExactExclusive"],
        "Exact quantile, interpolated as Excel's PERCENTILE.EXC does.",
        |call| exact::resolve_exclusive(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactExclusive",
        "Exact quantile, interpolated as Excel's PERCENTILE.EXC does.",
        |call| exact::resolve_exclusive(call, Levels::many(call)?),
    ),
    one(
        "quantileExactWeighted",
        &["medianExactWeighted"],
        "Exact quantile of values with integer weights.",
        |call| weighted::resolve_exact(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactWeighted",
        "Exact quantile of values with integer weights.",
        |call| weighted::resolve_exact(call, Levels::many(call)?),
    ),
    one(
        "quantileInterpolatedWeighted",
        &["medianInterpolatedWeighted"],
        "Quantile of values with integer weights, interpolated between values.",
        |call| interpolated::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantilesInterpolatedWeighted",
        "Quantile of values with integer weights, interpolated between values.",
        |call| interpolated::resolve(call, Levels::many(call)?),
    ),
    one(
        "quantileExactWeightedInterpolated",
        &["medianExactWeightedInterpolated"],
        "Exact quantile of values repeated by their weights, interpolated, as Float64.",
        |call| interpolated::resolve_exact(call, Levels::one(call)?),
    ),
    many(
        "quantilesExactWeightedInterpolated",
        "Exact quantile of values repeated by their weights, interpolated, as Float64.",
        |call| interpolated::resolve_exact(call, Levels::many(call)?),
    ),
    sketched(
        "quantileGK",
        &["medianGK"],
        "Quantile by Greenwald and Khanna's sketch: ranks are wrong by 1/accuracy at most.",
        |call| sketch::resolve_gk(call, false),
    ),
    AggregateFunction {
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::RefusedFirst,
        ..sketched(
            "quantilesGK",
            &[],
            "Quantile by Greenwald and Khanna's sketch: ranks are wrong by 1/accuracy at most.",
            |call| sketch::resolve_gk(call, true),
        )
    },
    sketched(
        "quantileDD",
        &["medianDD"],
        "Quantile by a DDSketch: values are wrong by this share at most.",
        |call| sketch::resolve_dd(call, false),
    ),
    AggregateFunction {
        nulls: AggregateNulls::SkipNotNull,
        only_nulls: OnlyNulls::RefusedFirst,
        ..sketched(
            "quantilesDD",
            &[],
            "Quantile by a DDSketch: values are wrong by this share at most.",
            |call| sketch::resolve_dd(call, true),
        )
    },
    one(
        "quantileTDigest",
        &["medianTDigest"],
        "Approximate quantile by a t-digest, as Float32.",
        |call| t_digest::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantilesTDigest",
        "Approximate quantile by a t-digest, as Float32.",
        |call| t_digest::resolve(call, Levels::many(call)?),
    ),
    one(
        "quantileTDigestWeighted",
        &["medianTDigestWeighted"],
        "Approximate quantile of values with integer weights by a t-digest.",
        |call| t_digest::resolve_weighted(call, Levels::one(call)?),
    ),
    many(
        "quantilesTDigestWeighted",
        "Approximate quantile of values with integer weights by a t-digest.",
        |call| t_digest::resolve_weighted(call, Levels::many(call)?),
    ),
    one(
        "quantileTiming",
        &["medianTiming"],
        "Quantile of times from 0 to 30000, in steps of 16 above 1024 for large groups.",
        |call| timing::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantilesTiming",
        "Quantile of times from 0 to 30000, in steps of 16 above 1024 for large groups.",
        |call| timing::resolve(call, Levels::many(call)?),
    ),
    one(
        "quantileTimingWeighted",
        &["medianTimingWeighted"],
        "As quantileTiming, of values with integer weights.",
        |call| timing::resolve_weighted(call, Levels::one(call)?),
    ),
    many(
        "quantilesTimingWeighted",
        "As quantileTiming, of values with integer weights.",
        |call| timing::resolve_weighted(call, Levels::many(call)?),
    ),
    one(
        "quantileDeterministic",
        &["medianDeterministic"],
        "Approximate quantile of the values whose determinators' hashes are least.",
        |call| deterministic::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantilesDeterministic",
        "Approximate quantile of the values whose determinators' hashes are least.",
        |call| deterministic::resolve(call, Levels::many(call)?),
    ),
    one(
        "quantileBFloat16",
        &["medianBFloat16"],
        "Quantile of the values cut to the 16 bits of a bfloat16.",
        |call| bfloat16::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantilesBFloat16",
        "Quantile of the values cut to the 16 bits of a bfloat16.",
        |call| bfloat16::resolve(call, Levels::many(call)?),
    ),
    one(
        "quantileBFloat16Weighted",
        &["medianBFloat16Weighted"],
        "As quantileBFloat16, of values with integer weights.",
        |call| bfloat16::resolve_weighted(call, Levels::one(call)?),
    ),
    many(
        "quantilesBFloat16Weighted",
        "As quantileBFloat16, of values with integer weights.",
        |call| bfloat16::resolve_weighted(call, Levels::many(call)?),
    ),
    one(
        "quantile",
        &["median"],
        "Approximate quantile from a random sample of 8192 values, interpolated.",
        |call| reservoir::resolve(call, Levels::one(call)?),
    ),
    many(
        "quantiles",
        "Approximate quantile from a random sample of 8192 values, interpolated.",
        |call| reservoir::resolve(call, Levels::many(call)?),
    ),
];

/// The levels that a call asks for.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// The levels, in the order asked for.
    pub(super) levels: Vec<f64>,
    /// Whether the result is an array.
    many: bool,
}

impl Levels {
    fn one(call: &AggregateCall<'_>) -> Result<Self> {
        Self::new(call, false)
    }

    fn many(call: &AggregateCall<'_>) -> Result<Self> {
        Self::new(call, true)
    }

    /// The levels behind the first parameter, which is the accuracy.
    fn behind_accuracy(call: &AggregateCall<'_>, many: bool) -> Result<Self> {
        let most = if many { usize::MAX } else { 2 };
        call.expect_params(1..=most)?;
        let levels = AggregateCall {
            params: &call.params[1..],
            ..*call
        };
        Self::new(&levels, many)
    }

    fn new(call: &AggregateCall<'_>, many: bool) -> Result<Self> {
        let mut levels = Vec::with_capacity(call.params.len());
        for idx in 0..call.params.len() {
            if !call.params[idx].data_type.is_number() {
                return Err(Error::new(
                    ErrorCode::CANNOT_CONVERT_TYPE,
                    format!("Level {} of function {} is no number", idx + 1, call.name),
                ));
            }
            let level = call.param_f64(idx)?;
            if !(0.0..=1.0).contains(&level) {
                return Err(Error::new(
                    ErrorCode::PARAMETER_OUT_OF_BOUND,
                    format!(
                        "Quantile level is out of range [0..1]: {level} in function {}",
                        call.name
                    ),
                ));
            }
            levels.push(level);
        }
        if !many {
            call.expect_params(0..=1)?;
        }
        if levels.is_empty() {
            if many {
                return Err(Error::new(
                    ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
                    format!(
                        "Aggregate function {} requires at least one level",
                        call.name
                    ),
                ));
            }
            levels.push(0.5);
        }
        // ClickHouse has no quantiles of Date32, though of all other dates and times.
        if call.types.first() == Some(&DataType::Date32) {
            return Err(call.illegal_type(0));
        }
        Ok(Self { levels, many })
    }

    /// The result's type for quantiles of type `data_type`.
    pub(super) fn return_type(&self, data_type: DataType) -> DataType {
        if self.many {
            DataType::array(data_type)
        } else {
            data_type
        }
    }

    /// The result of groups from all their quantiles, group after group.
    pub(super) fn assemble(&self, values: ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
        if !self.many {
            return Ok(values);
        }
        let step = self.levels.len();
        let offsets: Vec<usize> = (0..=values.len() / step).map(|i| i * step).collect();
        let item: FieldRef = item_field(data_type);
        list_of(&values, &offsets, Arc::clone(&item))
    }
}

/// The error for arguments that are no value and weight.
pub(super) fn check_weight(call: &AggregateCall<'_>) -> Result<()> {
    call.expect_args(2..=2)?;
    call.expect_type(1, DataType::is_unsigned)
}

/// The weights of the rows: the second argument, or 1 each.
pub(in crate::aggregate) fn weights(args: &[ArrayRef], weighted: bool) -> Result<Vec<u64>> {
    if !weighted {
        return Ok(vec![1; args.first().map_or(0, |a| a.len())]);
    }
    let wide = arrow::compute::cast(column(args, 1)?, &arrow::datatypes::DataType::UInt64);
    let wide = wide.map_err(bug)?;
    Ok(primitive::<UInt64Type>(&wide)?.values().to_vec())
}
