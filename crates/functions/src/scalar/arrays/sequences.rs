//! Looks at arrays as values over time: `arrayAutocorrelation`, `seriesOutliersDetectTukey`,
//! `financialNetPresentValue`.

use arrow::array::ArrayRef;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::floats::to_floats;
use super::lists::{Lists, OffsetsBuilder, bad_arguments, list_of};
use super::unify::element_type;
use crate::scalar::core::numeric::array_of;
use crate::{Call, Column, Resolved, ScalarFunction};

/// The functions of this file.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "arrayAutocorrelation",
        syntax: "arrayAutocorrelation(arr[, max_lag])",
        description: "How much the values depend on those before them, for each distance.",
        resolve: resolve_autocorrelation,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "seriesOutliersDetectTukey",
        syntax: "seriesOutliersDetectTukey(arr[, min_percentile, max_percentile, k])",
        description: "How far each value is outside of Tukey's fences.",
        resolve: resolve_outliers,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "financialNetPresentValue",
        syntax: "financialNetPresentValue(rate, cashflows[, start_from_zero])",
        description: "What payments at equal intervals are worth at the first of them.",
        resolve: resolve_present_value,
        ..ScalarFunction::BASE
    },
];

/// The arrays of floats that a function makes of arrays of numbers.
fn floats_of_rows(
    column: &Column,
    num_rows: usize,
    f: impl Fn(usize, &[f64]) -> Result<Vec<f64>>,
) -> Result<ArrayRef> {
    let lists = Lists::of(column)?;
    let floats = to_floats::<f64>(lists.values())?;
    let mut offsets = OffsetsBuilder::with_capacity(num_rows);
    let mut values = Vec::new();
    for row in 0..num_rows {
        let result = f(row, &floats[lists.range(row)])?;
        offsets.push(result.len())?;
        values.extend(result);
    }
    list_of(
        &DataType::array(DataType::Float64),
        offsets.finish(),
        array_of(values),
    )
}

fn resolve_autocorrelation(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=2)?;
    let element = element_type(call, 0)?;
    if element.is_nullable() || !element.is_number() && *element != DataType::Nothing {
        return Err(call.illegal_type(0));
    }
    if call.args.len() == 2 {
        call.expect_type(1, DataType::is_integer)?;
    }
    let is_empty = *element == DataType::Nothing;
    Resolved::new(
        DataType::array(DataType::Float64),
        move |columns, num_rows| {
            let lags = match columns.get(1) {
                Some(lags) => Some(super::integers::Integers::of(lags)?),
                None => None,
            };
            if is_empty {
                return floats_of_rows_without_values(num_rows);
            }
            floats_of_rows(&columns[0], num_rows, |row, values| {
                let max_lag = match &lags {
                    Some(lags) => usize::try_from(lags.value(row)).map_err(|_| {
                        bad_arguments("arrayAutocorrelation: max_lag must be non-negative")
                    })?,
                    None => values.len(),
                };
                Ok(autocorrelation(values, max_lag))
            })
        },
    )
}

fn floats_of_rows_without_values(num_rows: usize) -> Result<ArrayRef> {
    let offsets = arrow::buffer::OffsetBuffer::new_zeroed(num_rows);
    let list = DataType::array(DataType::Float64);
    list_of(&list, offsets, array_of(Vec::<f64>::new()))
}

fn autocorrelation(values: &[f64], max_lag: usize) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let apart: Vec<f64> = values.iter().map(|v| v - mean).collect();
    let variance: f64 = apart.iter().map(|d| d * d).sum();
    let lagged = |lag: usize| -> f64 {
        let pairs = apart[lag..].iter().zip(&apart);
        pairs.map(|(a, b)| a * b).sum()
    };
    (0..max_lag.min(values.len()))
        .map(|lag| lagged(lag) / variance)
        .collect()
}

fn resolve_outliers(call: &Call<'_>) -> Result<Resolved> {
    if !matches!(call.args.len(), 1 | 4) {
        return Err(Error::new(
            ErrorCode::NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
            "Function seriesOutliersDetectTukey takes an array, or also two percentiles and a factor",
        ));
    }
    let element = element_type(call, 0)?;
    if !element.is_integer() && !element.is_float() || element.is_nullable() {
        return Err(call.illegal_type(0));
    }
    let parameter = |idx: usize, default: f64| -> Result<f64> {
        match call.args.get(idx) {
            None => Ok(default),
            Some(_) => {
                call.expect_type(idx, |t| t.is_integer() || t.is_float())?;
                Ok(to_floats::<f64>(call.constant(idx)?)?[0])
            }
        }
    };
    let (low, high, factor) = (parameter(1, 0.25)?, parameter(2, 0.75)?, parameter(3, 1.5)?);
    let is_percentile = |p: f64| (0.02..=0.98).contains(&p);
    if !is_percentile(low) || !is_percentile(high) || high < low || factor < 0.0 {
        return Err(bad_arguments(
            "Give seriesOutliersDetectTukey percentiles from 0.02 to 0.98 and a positive factor",
        ));
    }
    Resolved::new(
        DataType::array(DataType::Float64),
        move |columns, num_rows| {
            floats_of_rows(&columns[0], num_rows, |_, values| {
                if values.len() < 4 {
                    return Err(bad_arguments(
                        "At least four data points are needed for function seriesOutliersDetectTukey",
                    ));
                }
                Ok(outside_of_fences(values, (low, high, factor)))
            })
        },
    )
}

fn outside_of_fences(values: &[f64], (low, high, factor): (f64, f64, f64)) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let percentile = |p: f64| {
        let place = p * sorted.len() as f64;
        let above = (place as usize).min(sorted.len() - 1);
        if place.fract() == 0.0 && above > 0 {
            return (sorted[above - 1] + sorted[above]) / 2.0;
        }
        sorted[above]
    };
    let (first, third) = (percentile(low), percentile(high));
    let range = factor * (third - first);
    let (least, most) = (first - range, third + range);
    let score = |v: &f64| (v - most).max(0.0) + (v - least).min(0.0);
    values.iter().map(score).collect()
}

fn resolve_present_value(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(2..=3)?;
    call.expect_type(0, DataType::is_float)?;
    let element = element_type(call, 1)?;
    if element.is_nullable() || !element.is_float() && !element.is_signed() {
        return Err(call.illegal_type(1));
    }
    let from_zero = match call.args.get(2) {
        None => true,
        Some(_) => {
            call.expect_type(2, |t| *t == DataType::Bool)?;
            call.constant_u64(2)? != 0
        }
    };
    Resolved::new(DataType::Float64, move |columns, num_rows| {
        let rates = to_floats::<f64>(&columns[0].array)?;
        let lists = Lists::of(&columns[1])?;
        let flows = to_floats::<f64>(lists.values())?;
        let mut values = Vec::with_capacity(num_rows);
        for row in 0..num_rows {
            let flows = &flows[lists.range(row)];
            if flows.is_empty() {
                return Err(Error::new(
                    ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                    "Cashflow array must not be empty",
                ));
            }
            values.push(present_value(rates[columns[0].row(row)], flows, from_zero));
        }
        Ok(array_of(values))
    })
}

fn present_value(rate: f64, flows: &[f64], from_zero: bool) -> f64 {
    let first = i32::from(!from_zero);
    let periods = first..;
    let flows = flows.iter().zip(periods);
    flows.map(|(flow, i)| flow / (1.0 + rate).powi(i)).sum()
}
