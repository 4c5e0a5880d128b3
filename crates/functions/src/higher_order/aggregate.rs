//! Sums up each array: `arraySum`, `arrayAvg`, `arrayProduct`, `arrayMin`, `arrayMax`.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{Decimal128Type, i256};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::flat::{Flat, too_few};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::scalar::arrays::floats::to_floats;
use crate::scalar::arrays::lists::{take, with_default};
use crate::scalar::arrays::order::Order;
use crate::scalar::core::decimals::{Ticks, decimal_array, math_overflow};
use crate::scalar::core::numeric::{self, FromNum, Native, Num, array_of, with_native};

const AGGREGATE: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    ..HigherOrderFunction::BASE
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arraySum",
        syntax: "arraySum([x -> ...,] arr, ...)",
        description: "Sum of the elements, or of the lambda's values.",
        return_type: |name, body, types| sum_type(name, body, types),
        eval: eval_sum,
        ..AGGREGATE
    },
    HigherOrderFunction {
        name: "arrayAvg",
        syntax: "arrayAvg([x -> ...,] arr, ...)",
        description: "Average of the elements, or of the lambda's values.",
        return_type: float_type,
        eval: |call| {
            eval_floats(
                call,
                "arrayAvg",
                |sum, x| sum + x,
                |sum, len| sum / len as f64,
            )
        },
        ..AGGREGATE
    },
    HigherOrderFunction {
        name: "arrayProduct",
        syntax: "arrayProduct([x -> ...,] arr, ...)",
        description: "Product of the elements, or of the lambda's values.",
        return_type: float_type,
        eval: |call| {
            eval_floats(
                call,
                "arrayProduct",
                |product, x| product * x,
                |product, _| product,
            )
        },
        ..AGGREGATE
    },
    HigherOrderFunction {
        name: "arrayMin",
        syntax: "arrayMin([x -> ...,] arr, ...)",
        description: "Least element, or least value of the lambda.",
        return_type: extreme_type,
        eval: |call| eval_extreme(call, "arrayMin", false),
        ..AGGREGATE
    },
    HigherOrderFunction {
        name: "arrayMax",
        syntax: "arrayMax([x -> ...,] arr, ...)",
        description: "Greatest element, or greatest value of the lambda.",
        return_type: extreme_type,
        eval: |call| eval_extreme(call, "arrayMax", true),
        ..AGGREGATE
    },
];

fn extreme_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    for idx in 0..types.len() {
        super::flat::element(name, idx, types)?;
    }
    if types.is_empty() {
        return Err(too_few(name));
    }
    Ok(body.clone())
}

/// Type of a sum of values of type `body`.
pub(super) fn sum_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    extreme_type(name, body, types)?;
    let body = body.without_low_cardinality();
    Ok(match body {
        DataType::Decimal { precision, scale } => DataType::Decimal {
            precision: if *precision <= 38 { 38 } else { 76 },
            scale: *scale,
        },
        _ if body.is_nullable() => return Err(not_summable(name, body)),
        _ if body.is_unsigned() => DataType::UInt64,
        _ if body.is_signed() => DataType::Int64,
        _ if body.is_float() => DataType::Float64,
        _ => return Err(not_summable(name, body)),
    })
}

fn not_summable(name: &str, body: &DataType) -> Error {
    Error::new(
        ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
        format!("Function {name} cannot add values of type {body}"),
    )
}

fn float_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    sum_type(name, body, types)?;
    Ok(DataType::Float64)
}

fn eval_sum(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arraySum")?;
    let values = flat.values(call)?;
    if let Some(num) = Num::of_arrow(values.data_type()) {
        return with_native!(num, T => {
            let values = numeric::values::<T>(values.as_ref())?;
            match call.return_type {
                DataType::UInt64 => Ok(sums::<T, u64>(&flat, values)),
                DataType::Int64 => Ok(sums::<T, i64>(&flat, values)),
                _ => Ok(sums::<T, f64>(&flat, values)),
            }
        });
    }
    if values.as_primitive_opt::<Decimal128Type>().is_some() {
        decimal_sums::<i128>(&flat, &values, call.return_type)
    } else {
        decimal_sums::<i256>(&flat, &values, call.return_type)
    }
}

fn decimal_sums<T: Ticks>(flat: &Flat, values: &ArrayRef, result: &DataType) -> Result<ArrayRef> {
    let values = T::of_array(values.as_ref())?;
    let mut sums = Vec::with_capacity(flat.num_rows());
    for row in 0..flat.num_rows() {
        let sum = values[flat.range(row)]
            .iter()
            .try_fold(T::ZERO, |a, b| a.add_checked(*b));
        sums.push(sum.map_err(|_| math_overflow())?);
    }
    decimal_array(sums, result, None)
}

fn sums<T: Native, S: Native + FromNum<T>>(flat: &Flat, values: &[T]) -> ArrayRef {
    let sum = |row| {
        let values = values[flat.range(row)].iter();
        values.fold(S::default(), |sum, v| sum.add_wrapping(S::from_num(*v)))
    };
    array_of((0..flat.num_rows()).map(sum).collect::<Vec<S>>())
}

/// Folds each row's floats; rows without elements give 0.
fn eval_floats(
    call: &HigherOrderCall<'_>,
    name: &str,
    fold: fn(f64, f64) -> f64,
    finish: fn(f64, usize) -> f64,
) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let values: Vec<f64> = to_floats(&flat.values(call)?)?;
    let result = |row| {
        let values = &values[flat.range(row)];
        let folded = values.iter().copied().reduce(fold);
        folded.map_or(0.0, |folded| finish(folded, values.len()))
    };
    Ok(array_of(
        (0..flat.num_rows()).map(result).collect::<Vec<f64>>(),
    ))
}

fn eval_extreme(call: &HigherOrderCall<'_>, name: &str, greatest: bool) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let values = flat.values(call)?;
    let order = Order::new(&values, greatest)?;
    let missing = values.len();
    let mut misses = false;
    let mut indices = Vec::with_capacity(flat.num_rows());
    for row in 0..flat.num_rows() {
        let first = order.first(flat.range(row));
        misses |= first.is_none();
        indices.push(first.unwrap_or(missing) as u32);
    }
    if misses {
        take(&with_default(&values, call.return_type)?, indices)
    } else {
        take(&values, indices)
    }
}
