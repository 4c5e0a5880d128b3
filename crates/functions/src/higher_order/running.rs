//! Runs along each array: cumulative sums, differences of neighbours, runs of equal elements.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{ArrowNativeTypeOp, Decimal128Type, i256};
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::aggregate::sum_type;
use super::flat::{Flat, element, too_few};
use super::{HigherOrderCall, HigherOrderFunction};
use crate::scalar::arrays::lists::Picks;
use crate::scalar::arrays::matching::Ids;
use crate::scalar::core::decimals::{Ticks, decimal_array, math_overflow};
use crate::scalar::core::numeric::{self, FromNum, Native, Num, array_of, with_native};

const RUNNING: HigherOrderFunction = HigherOrderFunction {
    lambda_is_optional: true,
    return_type: |name, body, types| Ok(DataType::array(sum_type(name, body, types)?)),
    ..HigherOrderFunction::BASE
};

/// The functions of this file.
pub(super) const FUNCTIONS: &[HigherOrderFunction] = &[
    HigherOrderFunction {
        name: "arrayCumSum",
        syntax: "arrayCumSum([x -> ...,] arr, ...)",
        description: "For each element the sum of all up to it.",
        eval: |call| eval_sums(call, "arrayCumSum", false),
        ..RUNNING
    },
    HigherOrderFunction {
        name: "arrayCumSumNonNegative",
        syntax: "arrayCumSumNonNegative([x -> ...,] arr, ...)",
        description: "For each element the sum of all up to it, set to 0 whenever it falls below.",
        eval: |call| eval_sums(call, "arrayCumSumNonNegative", true),
        ..RUNNING
    },
    HigherOrderFunction {
        name: "arrayDifference",
        syntax: "arrayDifference([x -> ...,] arr, ...)",
        description: "For each element its difference to the one before, 0 for the first.",
        return_type: difference_type,
        eval: eval_difference,
        ..RUNNING
    },
    HigherOrderFunction {
        name: "arrayCompact",
        syntax: "arrayCompact([x -> ...,] arr, ...)",
        description: "The array without elements that equal the one before.",
        return_type: |name, _, types| {
            if types.is_empty() {
                return Err(too_few(name));
            }
            Ok(DataType::array(element(name, 0, types)?.clone()))
        },
        eval: eval_compact,
        ..RUNNING
    },
];

fn eval_sums(call: &HigherOrderCall<'_>, name: &str, floor: bool) -> Result<ArrayRef> {
    let flat = Flat::of(call, name)?;
    let values = flat.values(call)?;
    let DataType::Array(result) = call.return_type else {
        return Err(Error::bug("sums are arrays"));
    };
    let sums = if let Some(num) = Num::of_arrow(values.data_type()) {
        with_native!(num, T => {
            let values = numeric::values::<T>(values.as_ref())?;
            match **result {
                DataType::UInt64 => running_sums::<T, u64>(&flat, values, floor),
                DataType::Int64 => running_sums::<T, i64>(&flat, values, floor),
                _ => running_sums::<T, f64>(&flat, values, floor),
            }
        })
    } else if values.as_primitive_opt::<Decimal128Type>().is_some() {
        decimal_sums::<i128>(&flat, &values, (result, floor))?
    } else {
        decimal_sums::<i256>(&flat, &values, (result, floor))?
    };
    flat.with_values(call.return_type, sums)
}

fn running_sums<T: Native, S: Native + FromNum<T>>(
    flat: &Flat,
    values: &[T],
    floor: bool,
) -> ArrayRef {
    let mut sums: Vec<S> = Vec::with_capacity(values.len());
    for row in 0..flat.num_rows() {
        let mut sum = S::default();
        for value in &values[flat.range(row)] {
            sum = sum.add_wrapping(S::from_num(*value));
            if floor && sum < S::default() {
                sum = S::default();
            }
            sums.push(sum);
        }
    }
    array_of(sums)
}

fn decimal_sums<T: Ticks>(
    flat: &Flat,
    values: &ArrayRef,
    (result, floor): (&DataType, bool),
) -> Result<ArrayRef> {
    let values = T::of_array(values.as_ref())?;
    let mut sums = Vec::with_capacity(values.len());
    for row in 0..flat.num_rows() {
        let mut sum = T::ZERO;
        for value in &values[flat.range(row)] {
            sum = sum.add_checked(*value).map_err(|_| math_overflow())?;
            if floor && sum.is_lt(T::ZERO) {
                sum = T::ZERO;
            }
            sums.push(sum);
        }
    }
    decimal_array(sums, result, None)
}

fn difference_type(name: &str, body: &DataType, types: &[DataType]) -> Result<DataType> {
    for idx in 0..types.len().max(1) {
        element(name, idx, types)?;
    }
    let difference = match body.without_low_cardinality() {
        DataType::UInt8 | DataType::Int8 | DataType::Bool => DataType::Int16,
        DataType::UInt16 | DataType::Int16 | DataType::Date => DataType::Int32,
        DataType::UInt32
        | DataType::Int32
        | DataType::UInt64
        | DataType::Int64
        | DataType::DateTime(_) => DataType::Int64,
        DataType::Float32 | DataType::Float64 => DataType::Float64,
        decimal @ DataType::Decimal { .. } => decimal.clone(),
        other => {
            return Err(Error::new(
                ErrorCode::ILLEGAL_TYPE_OF_ARGUMENT,
                format!("{name} cannot process values of type {other}"),
            ));
        }
    };
    Ok(DataType::array(difference))
}

fn eval_difference(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arrayDifference")?;
    let values = flat.values(call)?;
    let DataType::Array(result) = call.return_type else {
        return Err(Error::bug("differences are arrays"));
    };
    let differences = if let Some(num) = Num::of_arrow(values.data_type()) {
        with_native!(num, T => {
            let values = numeric::values::<T>(values.as_ref())?;
            match **result {
                DataType::Int16 => array_of(differences::<T, i16>(&flat, values)),
                DataType::Int32 => array_of(differences::<T, i32>(&flat, values)),
                DataType::Int64 => array_of(differences::<T, i64>(&flat, values)),
                _ => array_of(differences::<T, f64>(&flat, values)),
            }
        })
    } else if values.as_primitive_opt::<Decimal128Type>().is_some() {
        decimal_array(
            between(&flat, &i128::of_array(values.as_ref())?),
            result,
            None,
        )?
    } else {
        decimal_array(
            between(&flat, &i256::of_array(values.as_ref())?),
            result,
            None,
        )?
    };
    flat.with_values(call.return_type, differences)
}

fn differences<T: Native, D: Native + FromNum<T>>(flat: &Flat, values: &[T]) -> Vec<D> {
    let wide: Vec<D> = values.iter().map(|v| D::from_num(*v)).collect();
    between(flat, &wide)
}

/// Differences of neighbours in each row.
fn between<D: ArrowNativeTypeOp>(flat: &Flat, values: &[D]) -> Vec<D> {
    let mut differences = Vec::with_capacity(values.len());
    for row in 0..flat.num_rows() {
        let values = &values[flat.range(row)];
        if !values.is_empty() {
            differences.push(D::ZERO);
        }
        differences.extend(values.windows(2).map(|w| w[1].sub_wrapping(w[0])));
    }
    differences
}

fn eval_compact(call: &HigherOrderCall<'_>) -> Result<ArrayRef> {
    let flat = Flat::of(call, "arrayCompact")?;
    let ids = Ids::new(&[&flat.values(call)?])?;
    let ids = ids.of(0);
    let mut picks = Picks::with_capacity(flat.num_rows(), flat.rows.len());
    for row in 0..flat.num_rows() {
        let range = flat.range(row);
        let start = range.start;
        picks.extend(range.filter(|i| *i == start || ids[*i] != ids[*i - 1]));
        picks.end_row()?;
    }
    picks.finish(call.return_type, &flat.elements[0])
}
