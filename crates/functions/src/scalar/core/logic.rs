//! Combines truth values: `and`, `or`, `xor`, `not`; any number but 0 is true.
//!
//! With NULLs `and` is the least and `or` the greatest of false < NULL < true.

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use basalt_error::{Error, ErrorCode, Result};
use basalt_types::DataType;

use super::numeric::{Num, array_of, map1, values, with_native};
use crate::function::with_nulls;
use crate::{Call, Column, Fails, Nulls, Resolved, ScalarFunction};

/// Logical functions.
pub const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction {
        name: "and",
        fails: Fails::Never,
        case_insensitive: true,
        nulls: Nulls::Own,
        syntax: "and(a, b, …)",
        description: "Returns 1 if all arguments are true.",
        resolve: |call| combined(call, |a, b| a.min(b)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "or",
        fails: Fails::Never,
        case_insensitive: true,
        nulls: Nulls::Own,
        syntax: "or(a, b, …)",
        description: "Returns 1 if at least one argument is true.",
        resolve: |call| combined(call, |a, b| a.max(b)),
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "xor",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "xor(a, b, …)",
        description: "Returns 1 if an odd number of arguments is true.",
        resolve: xor,
        ..ScalarFunction::BASE
    },
    ScalarFunction {
        name: "not",
        fails: Fails::Never,
        case_insensitive: true,
        syntax: "not(x)",
        description: "Returns 1 if the argument is false.",
        resolve: not,
        ..ScalarFunction::BASE
    },
];

/// 1 for every row whose number is not 0.
pub(crate) fn truths(column: &Column, num_rows: usize) -> Result<ArrayRef> {
    let num = Num::of_arrow(column.array.data_type())
        .ok_or_else(|| Error::bug("a condition is a number"))?;
    with_native!(num, T => {
        let zero = <T as Default>::default();
        map1::<T, u8>(column, num_rows, |x| u8::from(x != zero))
    })
}

fn check_types(call: &Call<'_>) -> Result<()> {
    if call.args.len() < 2 {
        return Err(Error::new(
            ErrorCode::TOO_FEW_ARGUMENTS_FOR_FUNCTION,
            format!(
                "Function {} takes at least 2 arguments, got {}",
                call.name,
                call.args.len()
            ),
        ));
    }
    for idx in 0..call.args.len() {
        call.expect_type(idx, is_condition)?;
    }
    Ok(())
}

fn is_condition(t: &DataType) -> bool {
    t.is_integer() || t.is_float() || *t.base() == DataType::Nothing
}

fn result_type(call: &Call<'_>) -> DataType {
    if call
        .args
        .iter()
        .any(|a| *a.data_type.base() == DataType::Bool)
    {
        DataType::Bool
    } else {
        DataType::UInt8
    }
}

const FALSE: u8 = 0;
const UNKNOWN: u8 = 1;
const TRUE: u8 = 2;

fn combined(
    call: &Call<'_>,
    combine: impl Fn(u8, u8) -> u8 + Copy + Send + Sync + 'static,
) -> Result<Resolved> {
    check_types(call)?;
    let plain = result_type(call);
    if !call.args.iter().any(|a| a.data_type.is_nullable()) {
        return Resolved::new(plain, move |columns, num_rows| {
            fold(columns, num_rows, combine, truths)
        });
    }
    Resolved::new(plain.to_nullable(), move |columns, num_rows| {
        let states = fold(columns, num_rows, combine, three_valued)?;
        let states = values::<u8>(states.as_ref())?;
        let nulls: NullBuffer = states.iter().map(|s| *s != UNKNOWN).collect();
        let truth = array_of(
            states
                .iter()
                .map(|s| u8::from(*s == TRUE))
                .collect::<Vec<u8>>(),
        );
        with_nulls(&truth, Some(nulls))
    })
}

fn fold(
    columns: &[Column],
    num_rows: usize,
    combine: impl Fn(u8, u8) -> u8,
    read: fn(&Column, usize) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let mut result = read(&columns[0], num_rows)?;
    for column in &columns[1..] {
        let next = read(column, num_rows)?;
        let pairs = values::<u8>(result.as_ref())?
            .iter()
            .zip(values::<u8>(next.as_ref())?);
        result = array_of(pairs.map(|(a, b)| combine(*a, *b)).collect::<Vec<u8>>());
    }
    Ok(result)
}

fn three_valued(column: &Column, num_rows: usize) -> Result<ArrayRef> {
    if *column.array.data_type() == arrow::datatypes::DataType::Null {
        return Ok(array_of(vec![UNKNOWN; num_rows]));
    }
    let truth = truths(column, num_rows)?;
    let truth = values::<u8>(truth.as_ref())?;
    let mut states: Vec<u8> = truth
        .iter()
        .map(|t| if *t == 0 { FALSE } else { TRUE })
        .collect();
    if let Some(nulls) = column.validity(num_rows) {
        for (state, is_valid) in states.iter_mut().zip(nulls.iter()) {
            *state = if is_valid { *state } else { UNKNOWN };
        }
    }
    Ok(array_of(states))
}

fn xor(call: &Call<'_>) -> Result<Resolved> {
    check_types(call)?;
    Resolved::new(result_type(call), |columns, num_rows| {
        fold(columns, num_rows, |a, b| a ^ b, truths)
    })
}

fn not(call: &Call<'_>) -> Result<Resolved> {
    call.expect_args(1..=1)?;
    call.expect_type(0, is_condition)?;
    Resolved::new(result_type(call), |columns, num_rows| {
        let truth = truths(&columns[0], num_rows)?;
        map1::<u8, u8>(&Column::new(truth), num_rows, |t| t ^ 1)
    })
}
